# SPDX-License-Identifier: Apache-2.0
"""What the tests of the series um-rep-movs and its figures share: its objects in a program of user space."""

from __future__ import annotations

import subprocess
from pathlib import Path

from lab.tests.long.kernel_commits import Workbench

SERIES = "um-rep-movs"
OBJECT = "arch/x86/um/string_64.o"
ORIGINAL = ("arch/x86/lib/memcpy_64.o", "arch/x86/lib/memset_64.o")
PROGRAM = Path(__file__).with_name("rep_movs.c")


def program(bench: Workbench, folder: Path) -> Path:
    """Compile rep_movs.c with the objects of the series' last commit in `folder`, and return it."""
    bench.checkout(bench.commits[-1])
    objects = bench.make(bench.config("um"), OBJECT, *ORIGINAL)
    made = folder / "rep_movs"
    # The routines are called by name; the stack below its pointer belongs to whom assembler calls.
    flags = ["-std=gnu17", "-O2", "-Wall", "-Wextra", "-Werror", "-fno-builtin", "-mno-red-zone", "-no-pie"]
    files = [PROGRAM, *(objects / path for path in (OBJECT, *ORIGINAL))]
    subprocess.run(["gcc", *flags, "-Wl,-z,noexecstack", "-o", made, *files], check=True)
    return made
