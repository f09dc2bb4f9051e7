# SPDX-License-Identifier: Apache-2.0
"""What a compiled kernel holds: the bytes of its code, and the instructions of one function."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from okosu.errors import LAUNCHER_FAILED, OkosuError
from okosu.records.types import Record
from papers.simd_kernel.run.records import record

FIXED_NAMES = r"memcpy_\d+|um_copy_\d+_\w+"
"""The functions of the routines for fixed sizes."""
ROUTINES = {"orig": "memcpy_orig", "paper": "um_copy_paper", "fixed-512": "um_copy_512_paper"}
"""The functions whose instructions are counted, by routine."""

_SECTIONS = (".text", ".init.text", ".exit.text")
_INSTRUCTION = re.compile(r"^\s*[0-9a-f]+:\t(?P<words>\S.*)$")
_LOAD = re.compile(r"^v?mov(dqu|dqa|ups|aps)\S* +[^%,]*\([^)]*\),%[xyz]mm")
_BRANCH = re.compile(r"^j(?!mp)\w+ ")


@dataclass(frozen=True)
class Function:
    """Counts of instructions in a function."""

    instructions: int
    strings: int
    """rep movs, of any width."""
    loads: int
    """Of vector registers, from memory."""
    branches: int
    """Conditional ones."""


def code_bytes(program: Path) -> int:
    """Return the bytes of code in a kernel or object file, by size(1); OkosuError (125) if it cannot be read."""
    rows = [line.split() for line in _said(["size", "-A", str(program)], program).splitlines()]
    found = [int(words[1]) for words in rows if len(words) == 3 and words[0] in _SECTIONS]
    if not found:
        raise OkosuError(f"{program.name} has no section of code", "", "", LAUNCHER_FAILED)
    return sum(found)


def bytes_of(program: Path, names: str) -> int:
    """Return the bytes of the functions whose whole names match the regular expression `names`, by nm(1)."""
    rows = [line.split() for line in _said(["nm", "-S", "--defined-only", str(program)], program).splitlines()]
    return sum(int(words[1], 16) for words in rows if len(words) == 4 and re.fullmatch(names, words[3]))


def function(program: Path, symbol: str) -> Function | None:
    """Return the instructions of a function by objdump(1), None where the program has no such function."""
    words = ["objdump", "-d", "--no-show-raw-insn", f"--disassemble={symbol}", str(program)]
    return count(_said(words, program))


def count(disassembly: str) -> Function | None:
    """Return the instructions that a disassembly lists, None where it lists none."""
    found = [re.sub(r"\s+", " ", line["words"]) for line in map(_INSTRUCTION.match, disassembly.splitlines()) if line]
    # Padding behind the function is left out.
    while found and re.match(r"(nop|int3|xchg %ax,%ax|cs nop|data16)", found[-1]):
        found.pop()
    if not found:
        return None
    return Function(
        len(found),
        sum(bool(re.match(r"(rep|repz) movs", text)) for text in found),
        sum(bool(_LOAD.match(text)) for text in found),
        sum(bool(_BRANCH.match(text)) for text in found),
    )


def records(plain: Path, fixed: Path, version: str) -> Iterator[Record]:
    """Yield the code's bytes without and with the routines for fixed sizes, and each routine's instructions."""
    subject = f"linux {version}"
    for variant, program in (("plain", plain), ("fixed", fixed)):
        yield record(subject, variant, "code", "bytes", code_bytes(program))
    yield record(subject, "fixed", "routines", "bytes", bytes_of(fixed, FIXED_NAMES))
    for variant, symbol in ROUTINES.items():
        if found := function(fixed, symbol):
            for metric in ("instructions", "strings", "loads", "branches"):
                yield record(subject, variant, metric, metric, getattr(found, metric))


def _said(words: list[str], program: Path) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        why = done.stderr.strip() or f"{words[0]} ended with {done.returncode}"
        raise OkosuError(f"the code of {program.name} cannot be read", why, "", LAUNCHER_FAILED)
    return done.stdout
