# SPDX-License-Identifier: Apache-2.0
"""What the tests of the series um-rep-movs and its figures share: a kernel with it, its objects in a program of user
space, and where a kernel's image has its code."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from lab.kernel import series, source, tree
from lab.kernel.build import Built
from lab.run import uml
from lab.tests.long.kernel_commits import Workbench

SERIES = "um-rep-movs"
OBJECT = "arch/x86/um/string_64.o"
ORIGINAL = ("arch/x86/lib/memcpy_64.o", "arch/x86/lib/memset_64.o")
PROGRAM = Path(__file__).with_name("rep_movs.c")


def kernel(base: str, *wanted: str) -> Built:
    """Return a kernel with the series `wanted`, which runs on a host with AMX, too.

    Linux 6.12 needs the first patch of um-simd for that, which is no part of um-rep-movs; 7.3 has it.
    """
    simd = series.find("um-simd", base)
    sized = tuple(patch for patch in simd.patches if patch.name.startswith("0001-"))
    applied = [replace(simd, patches=sized), *(series.find(name, base) for name in wanted)]
    return uml.build(series=(), source=tree.patched(source.find(base=base), applied), base=base)


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


@dataclass(frozen=True)
class Instruction:
    address: int
    code: bytes
    text: str


def disassembled(image: Path, function: str) -> list[Instruction]:
    """Return the instructions of one function of an image."""
    words = ["objdump", "-dw", f"--disassemble={function}", str(image)]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    found = re.findall(r"^ +([0-9a-f]+):\t((?:[0-9a-f]{2} )+) *\t(.*)$", said, re.M)
    return [Instruction(int(at, 16), bytes.fromhex(code), text) for at, code, text in found]


def places(image: Path, name: str) -> tuple[list[int], int]:
    """Return what is reached after each string instruction of memcpy() or memset() (`name`), and where the loop begins.

    In either place %rdx holds the length.
    """
    code = [one for function in (name, f"__{name}") for one in disassembled(image, function)]
    by_string = [after.address for one, after in pairwise(code) if one.text.startswith("rep ")]
    assert by_string, code
    return by_string, disassembled(image, f"{name}_orig")[0].address


def plant(image: Path, to: Path, name: str, branch: str) -> None:
    """Copy an image to `to` with the function's one `branch` (jb, je) taken where it was not, and not where it was."""
    function = disassembled(image, name)
    (one,) = (one for one in function if one.text.split()[0] == branch)
    code, data = b"".join(each.code for each in function), image.read_bytes()
    assert data.count(code) == 1
    # The lowest bit of a conditional branch's opcode, whose first byte may be a prefix, inverts its condition.
    at = data.index(code) + one.address - function[0].address + (one.code[0] == 0x0F)
    to.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
    to.chmod(0o755)
