# SPDX-License-Identifier: Apache-2.0
"""What a kernel with gprof's clock leaves, for tests without one: samples of three functions, and their names."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

from papers.simd_kernel.run import symbols

IMAGE = symbols.parse("1000 T memcpy\n1004 T um_copy_sse2\n1008 T userspace\n100c T end\n")


def write(path: Path, counts: Sequence[int]) -> Path:
    """Write a gmon.out with these samples of memcpy, um_copy_sse2 and userspace; return its path."""
    head = struct.pack("<QQii15sc", 0x1000, 0x100C, 3, 100, b"seconds", b"s")
    path.write_bytes(b"gmon" + struct.pack("<i12x", 1) + b"\0" + head + struct.pack("<3H", *counts))
    return path
