#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A heat equation and a gather as array expressions, whose temporaries come and go.

Debian package: python3-numpy.
"""

import numpy as np

n, steps = 2100, 30
field = np.add.outer(np.arange(n) % 17, np.arange(n) % 23).astype(float)
for _ in range(steps):
    inner = field[1:-1, 1:-1]
    flow = field[:-2, 1:-1] + field[2:, 1:-1] + field[1:-1, :-2] + field[1:-1, 2:] - 4 * inner
    field[1:-1, 1:-1] = inner + 0.125 * flow

order = (np.arange(1 << 22, dtype=np.uint64) * 2654435761) % (1 << 22)
table = np.arange(1 << 22, dtype=np.float64)
for _ in range(16):
    table = table[order] + 1

print(f"field {field.sum():.6f}, table {table.sum():.0f}, first {table[:4].astype(int).tolist()}")
