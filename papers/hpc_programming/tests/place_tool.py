# SPDX-License-Identifier: Apache-2.0
"""Builds place_tool.c with the sources of the area place under ASan and UBSan, and runs it."""

from __future__ import annotations

import ctypes
import functools
import json
import mmap
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

from preload_tool import build

HERE = Path(__file__).resolve().parent
NATIVE = HERE.parents[2] / "native"
PLACE = HERE.parent / "place"
FOLDERS = (NATIVE / "include", NATIVE / "src", PLACE)
FILES = (
    HERE / "programs/place_tool.c",
    *sorted(PLACE.glob("*.c")),
    *sorted((NATIVE / "src/topo").glob("*.c")),
    NATIVE / "src/base/file.c",
    NATIVE / "src/base/cgroup.c",
)
WORDS = (*(f"-I{folder}" for folder in FOLDERS), *map(str, FILES), "-lpthread")
"""What compiles the tool, behind a compiler and its options."""

BIND, INTERLEAVE, FIRST_TOUCH = 0, 1, 2
TOUCH, MOVE, HUGE, SMALL, HUGETLB = 1, 2, 4, 8, 16


@functools.cache
def program() -> Path:
    sanitize = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all") if platform.machine() == "x86_64" else ()
    return build("place-tool", *sanitize, *WORDS)


def run(*words: str | Path, prefix: tuple[str, ...] = ()) -> dict[str, Any]:
    """Run the tool; return what it printed."""
    command = [*prefix, program(), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def alloc(policy: int, nodes: str, size: int, flags: int = 0, *touching: str, deny: str = "") -> dict[str, Any]:
    """Have the tool allocate memory; return what became of it."""
    return run(*([deny] if deny else []), "alloc", str(policy), nodes, str(size), str(flags), *touching)


@functools.cache
def numa() -> bool:
    """Say whether this kernel can bind memory, asked without okosu: by setting a policy without nodes, MPOL_DEFAULT."""
    number = {"x86_64": 237, "aarch64": 235}[platform.machine()]
    libc = ctypes.CDLL(None, use_errno=True)
    page = mmap.mmap(-1, mmap.PAGESIZE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    arguments = (address, mmap.PAGESIZE, 0, 0, 0, 0)
    return libc.syscall(ctypes.c_long(number), *(ctypes.c_ulong(word) for word in arguments)) == 0


def allowed() -> list[int]:
    """The CPUs that this process may use."""
    return sorted(os.sched_getaffinity(0))
