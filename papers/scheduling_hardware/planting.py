# SPDX-License-Identifier: Apache-2.0
"""Bugs planted in copies of the RTL: alone, or all of them in one model, in which each is chosen at run time.

A bug is a stretch of a source file in which marks say what is right and what stands there instead:
`valid_i && «ready_o → 1'b1»`. The stretch has to stand in the file exactly once. It is compared token by token, so
that white space and comments do not matter; everything else does.
"""

from __future__ import annotations

import itertools
import re
import shutil
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from okosu.errors import LAUNCHER_FAILED, OkosuError
from papers.scheduling_hardware import ROOM

VARIABLE = "OKOSU_MUTANT"
"""The environment variable that chooses a bug of a model by its number, from 1 on; 0, or none: the right text."""
_PACKAGE = "mutant_pkg"
_CHOOSES = rf"""// SPDX-License-Identifier: Apache-2.0
package {_PACKAGE};
  int number = $c32("(std::getenv(\"{VARIABLE}\") ? std::atoi(std::getenv(\"{VARIABLE}\")) : 0)");
endpackage
"""
# What simulators, proofs and benches are made from.
_SOURCES = (
    *("files.f", "foreign.f", "board.f", "rtl", "sim", "formal"),
    *("dv/core", "dv/sched", "dv/foreign", "dv/board"),
)
_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*")
    |(?P<name>[A-Za-z_$`][\w$]*)
    |(?P<number>\d*'[bhdoBHDO]?[0-9a-fA-F_xzXZ]+|\d+)
    |(?P<mark>'\{|>>>|<<<|===|!==|&&|\|\||==|!=|<=|>=|<<|>>|\+:|-:|::|.)""",
    re.VERBOSE | re.DOTALL,
)
_MARKED = re.compile(r"«(.*?)→(.*?)»", re.DOTALL)


@dataclass(frozen=True)
class Token:
    """A word or mark of a source and the offset where it begins."""

    text: str
    at: int

    @property
    def end(self) -> int:
        return self.at + len(self.text)


def tokens(text: str) -> list[Token]:
    """Return the tokens of SystemVerilog; white space, comments and strings are none."""
    return [Token(found[0], found.start()) for found in _TOKEN.finditer(text) if found.lastgroup != "space"]


def contains(source: str, part: str) -> bool:
    """Say whether the tokens of `part` stand in `source` one behind the other."""
    return bool(_starts([token.text for token in tokens(part)], [token.text for token in tokens(source)]))


def _starts(wanted: Sequence[str], words: Sequence[str]) -> list[int]:
    return [n for n in range(len(words) - len(wanted) + 1) if words[n : n + len(wanted)] == wanted]


@dataclass(frozen=True)
class Bug:
    """What is wrong in words; the file, relative to the room; and the marked text (see above)."""

    says: str
    file: str
    text: str

    def places(self, source: str) -> list[tuple[int, int, str]]:
        """Return what is to be replaced in the file's text: from where, to where, by what.

        OkosuError (125) where the text does not stand in it exactly once.
        """
        wanted: list[str] = []
        marks: list[tuple[int, int, str]] = []
        behind = 0
        for mark in _MARKED.finditer(self.text):
            wanted += [token.text for token in tokens(self.text[behind : mark.start()])]
            first = len(wanted)
            wanted += [token.text for token in tokens(mark[1])]
            marks.append((first, len(wanted), mark[2].strip()))
            behind = mark.end()
        wanted += [token.text for token in tokens(self.text[behind:])]
        there = tokens(source)
        starts = _starts(wanted, [token.text for token in there])
        if len(starts) != 1 or any(first == last for first, last, _ in marks) or not marks:
            raise OkosuError(
                f"the bug {self.says!r} cannot be planted",
                f"{self.file} has its text {len(starts)} times" if marks else "nothing is marked in its text",
                "mend the text, which is to stand in the file once",
                LAUNCHER_FAILED,
            )
        at = starts[0]
        return [(there[at + first].at, there[at + last - 1].end, wrong) for first, last, wrong in marks]


def read(path: Path) -> list[Bug]:
    """Return the bugs of a TOML file with a table for each source file: what is wrong = the marked text."""
    tables: dict[str, dict[str, str]] = tomllib.loads(path.read_text())
    return [Bug(says, file, text) for file, table in tables.items() for says, text in table.items()]


def copy(to: Path) -> Path:
    """Copy the sources that simulators, proofs and benches are made from into the new folder `to`; return it."""
    to.mkdir(parents=True)
    for name in _SOURCES:
        if (ROOM / name).is_dir():
            shutil.copytree(ROOM / name, to / name)
        else:
            shutil.copy(ROOM / name, to / name)
    return to


def plant(room: Path, bug: Bug) -> None:
    """Replace the text in the copy in `room` by the wrong one."""
    path = room / bug.file
    text = path.read_text()
    for start, end, wrong in reversed(bug.places(text)):
        text = text[:start] + wrong + text[end:]
    path.write_text(text)


def plant_all(room: Path, bugs: Sequence[Bug]) -> None:
    """Plant all bugs in the copy in `room`, whose marked texts are expressions then; VARIABLE chooses one by number."""
    for file in sorted({bug.file for bug in bugs}):
        source = (room / file).read_text()
        places = [
            (*place, number) for number, bug in enumerate(bugs, 1) if bug.file == file for place in bug.places(source)
        ]
        places.sort(reverse=True)
        if any(before[1] > after[0] for after, before in itertools.pairwise(places)):
            raise OkosuError(f"{file}: two bugs change the same text", "", "plant them apart", LAUNCHER_FAILED)
        text = source
        for start, end, wrong, number in places:
            text = f"{text[:start]}({chosen(number)} ? ({wrong}) : ({text[start:end]})){text[end:]}"
        (room / file).write_text(text)
    add_chooser(room)


def chosen(number: int) -> str:
    """Return the expression in SystemVerilog that is true where the bug of this number is chosen."""
    return f"{_PACKAGE}::number == {number}"


def settle(text: str, number: int) -> str:
    """Return a source with all bugs in it in which the one of this number is chosen, without a package."""
    return text.replace(f"{_PACKAGE}::number", f"32'd{number}")


def add_chooser(room: Path) -> None:
    """Add what chooses to the copy's sources; its lint is off, for a choice between two constants is no fault there."""
    (room / f"{_PACKAGE}.sv").write_text(_CHOOSES)
    # A bug may close a loop that the right text leaves open; "*" alone does not stand for that warning.
    (room / "mutants.vlt").write_text('`verilator_config\nlint_off -file "*"\nlint_off -rule UNOPTFLAT -file "*"\n')
    files = room / "files.f"
    files.write_text(f"mutants.vlt\n{_PACKAGE}.sv\n{files.read_text()}")
