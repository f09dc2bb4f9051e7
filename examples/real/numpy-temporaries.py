#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""An array expression whose temporaries come and go: numpy-temporaries.py [MIB [TURNS]] (default 8 MiB, 160 turns).

Debian package: python3-numpy.
"""

import sys

import numpy as np

mib, turns = [int(word) for word in sys.argv[1:]] + [8, 160][len(sys.argv) - 1 :]
a, b = np.full(mib << 17, 1.5), np.full(mib << 17, 0.25)
for _ in range(turns):
    c = a * 2.0 + b * 3.0 - (a - b)
print(c.sum())
