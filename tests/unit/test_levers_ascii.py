# SPDX-License-Identifier: Apache-2.0
"""The lever ascii: for which programs and locales it is offered, and its proof from the library's counts."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest

from okosu import levers
from okosu.machine.model import Machine
from okosu.machine.program import Program
from okosu.records.measurement import Measurement
from okosu.records.types import Proof

ASCII = levers.load()["ascii"]
HERE = Machine()
BASE = Measurement(wall_ns=10**9, user_ns=10**9)
CALLS = Program(shutil.which("bash") or "/bin/bash", "glibc")
"""It compares names by strcoll and matches by regexec."""
CALLS_NOT = Program(shutil.which("true") or "/bin/true", "glibc")


def run(compared: int, searched: int, passed: int = 0, **changes: object) -> Measurement:
    line = {"by": "ascii", "compared": compared, "searched": searched, "passed": passed}
    return msgspec.structs.replace(BASE, preload=[{"pid": 1}, line], **changes)


def prove(measured: Measurement, pilot: Measurement | None = None) -> Proof:
    return ASCII.proof("on", measured, BASE, pilot)


@pytest.mark.parametrize(
    ("measured", "holds", "words"),
    [
        (run(5_000, 0), True, "5,000 comparisons and 0 searches served, 0 left to libc"),
        (run(0, 2_000_000, 17), True, "0 comparisons and 2,000,000 searches served, 17 left to libc"),
        (run(2_499, 2_500), False, "hardly compares or matches ASCII text by libc: 2,499"),
        (run(0, 0, 10**9), False, "hardly compares"),
        (BASE, False, "libokosu-ascii.so was not loaded"),
    ],
)
def test_the_pilots_proof(measured: Measurement, holds: bool, words: str) -> None:
    proof = prove(measured)
    assert proof.holds is holds
    assert words in proof.text


def test_the_processes_are_added_up() -> None:
    both = msgspec.structs.replace(BASE, preload=run(5_000, 1).preload + run(1, 7, 2).preload)
    assert prove(both).values == {"compared": 5_001.0, "searched": 8.0}
    assert prove(both).text.endswith("2 left to libc")


@pytest.mark.parametrize(
    ("measured", "holds"),
    [
        (run(10_000, 0), True),
        (run(0, 5_000), True),
        (run(4_999, 0), False),
        (run(2_500, 0, user_ns=5 * 10**8), True),
        (BASE, False),
    ],
)
def test_later_runs_serve_half_of_the_pilots(measured: Measurement, holds: bool) -> None:
    assert prove(measured, run(9_000, 1_000)).holds is holds


@pytest.mark.parametrize(
    ("variables", "offered"),
    [
        ({"LANG": "en_US.UTF-8"}, True),
        ({"LC_ALL": "C.UTF-8"}, True),
        ({"LANG": "C", "LC_COLLATE": "de_DE.UTF-8"}, True),
        ({"LANG": "de_DE.UTF-8", "LC_ALL": "C"}, False),
        ({"LANG": "POSIX"}, False),
        ({}, False),
    ],
)
def test_it_is_offered_where_the_environment_names_a_locale(
    variables: dict[str, str], offered: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LC_ALL", "LC_CTYPE", "LC_COLLATE", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert ASCII.values(HERE, CALLS, None) == ([["on"]] if offered else [])
    if not offered:
        assert "no locale but C" in ASCII.nothing(HERE, CALLS, None).why


def test_it_is_offered_to_programs_that_call_what_it_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    assert ASCII.values(HERE, CALLS_NOT, None) == []
    assert "neither the program nor a library calls strcoll" in ASCII.nothing(HERE, CALLS_NOT, None).why
    closed = Program(CALLS.path, "glibc", preloadable=False, why="it is static")
    assert ASCII.values(HERE, closed, None) == []
    assert ASCII.nothing(HERE, closed, None).why == "it is static"


def test_what_base_mapped_says_more_than_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A program may set its locale itself, and start others: a script of a shell is its programs."""
    monkeypatch.setenv("LC_ALL", "C")
    mapped = [CALLS.path, "/usr/lib/locale/locale-archive"]
    assert ASCII.values(HERE, CALLS_NOT, msgspec.structs.replace(BASE, files=mapped)) == [["on"]]
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    assert ASCII.values(HERE, CALLS, msgspec.structs.replace(BASE, files=[CALLS.path])) == []
    other = [CALLS_NOT.path, "/usr/lib/locale/C.utf8/LC_CTYPE"]
    assert ASCII.values(HERE, CALLS, msgspec.structs.replace(BASE, files=other)) == []
