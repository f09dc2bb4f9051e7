# SPDX-License-Identifier: Apache-2.0
"""The lever text: what it offers, how it is undone, and its proof as a function of what was measured."""

from __future__ import annotations

import msgspec
import pytest

from okosu.levers import launcher, load, text
from okosu.machine.model import Machine, Rights, Thp
from okosu.machine.program import Program
from okosu.records.measurement import Measurement, Memory

TEXT = load()["text"]
HERE = Machine(thp=Thp("madvise", pmd_size=2 << 20))
CLANG = Program("/usr/bin/clang", "glibc")
MIB = 1024
BASE = Measurement(wall_ns=10**9, user_ns=10**9, minflt=30_000)


def run(huge_kb: int, faults: int = 10_000, **other: object) -> Measurement:
    return msgspec.structs.replace(BASE, minflt=faults, exit=Memory(file_huge_kb=huge_kb), **other)


@pytest.mark.parametrize(
    ("measured", "holds", "words"),
    [
        (run(104 * MIB), True, "104 MiB of code mapped by huge pages, 10,000 page faults instead of 30,000"),
        (run(2 * MIB), True, "2 MiB"),
        (run(2 * MIB - 4), False, "none of its code"),
        (run(208 * MIB, processes=3), True, "208 MiB of code mapped by huge pages in 3 processes"),
        (run(0, peak=Memory(file_huge_kb=8 * MIB)), True, "8 MiB"),
        (BASE, False, "none of its code"),
        (run(0, traced=False, faults=28_500), True, "page faults"),
        (run(0, traced=False, faults=28_501), False, "page faults"),
    ],
)
def test_the_pilots_proof(measured: Measurement, holds: bool, words: str) -> None:
    proof = TEXT.proof("cache", measured, BASE, None)
    assert proof.holds is holds
    assert words in proof.text


def test_base_that_has_huge_pages_already_is_told() -> None:
    had = run(104 * MIB)
    assert not TEXT.proof("cache", had, had, None).holds
    assert "base has as much" in TEXT.proof("cache", had, had, None).text


@pytest.mark.parametrize(
    ("measured", "holds"),
    [
        (run(100 * MIB), True),
        (run(50 * MIB), True),
        (run(49 * MIB), False),
        (run(25 * MIB, user_ns=5 * 10**8), True),
        (BASE, False),
    ],
)
def test_later_runs_have_half_of_the_pilots(measured: Measurement, holds: bool) -> None:
    assert TEXT.proof("cache", measured, BASE, run(100 * MIB)).holds is holds


@pytest.mark.parametrize(
    ("machine", "words"),
    [
        (Machine(), "no transparent huge pages"),
        (Machine(thp=Thp("never", pmd_size=2 << 20)), "switched off"),
        (Machine(thp=Thp("madvise", pmd_size=512 << 20)), "512 MiB"),
        (msgspec.structs.replace(HERE, rights=Rights(thp_disabled=True)), "PR_SET_THP_DISABLE"),
    ],
)
def test_what_it_needs(machine: Machine, words: str) -> None:
    assert TEXT.needs(HERE).ok
    available = TEXT.needs(machine)
    assert not available.ok
    assert words in available.why
    assert available.fix


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The values that the launcher is asked about; it finds code in libraries alone, and nothing is in use."""
    values: list[str] = []

    def plan(_lever: str, value: str, _program: str, _root: str = "/") -> launcher.Plan:
        values.append(value)
        files = [name for name in value.partition(":")[2].split(":") if ".so" in name] or ["/usr/lib/own.so"]
        if value.endswith(":/bin/sh"):
            return launcher.Plan(False, "too small", "another")
        return launcher.Plan(True, text=files)

    monkeypatch.setattr(launcher, "plan", plan)
    monkeypatch.setattr(text, "free", lambda files: [name for name in files if "used" not in name])
    return values


def test_what_base_had_mapped_is_brought(asked: list[str]) -> None:
    base = msgspec.structs.replace(BASE, files=["/bin/sh", "/lib/a.so", "/lib/used.so", "/lib/b.so"])
    assert TEXT.values(HERE, CLANG, base) == [["cache:/lib/a.so:/lib/b.so"]]
    assert asked == ["cache:/bin/sh:/lib/a.so:/lib/b.so"]


def test_before_there_is_a_base_the_program_says_what_it_needs(asked: list[str]) -> None:
    assert TEXT.values(HERE, CLANG, None) == TEXT.values(HERE, CLANG, BASE) == [["cache"]]


def test_files_in_use_and_files_without_code_leave_nothing(asked: list[str]) -> None:
    used = msgspec.structs.replace(BASE, files=["/lib/used.so"])
    assert TEXT.values(HERE, CLANG, used) == []
    assert "mapped by other processes" in TEXT.nothing(HERE, CLANG, used).why
    small = msgspec.structs.replace(BASE, files=["/bin/sh"])
    assert TEXT.values(HERE, CLANG, small) == []
    assert "has 2 MiB of code" in TEXT.nothing(HERE, CLANG, small).why


def test_the_page_cache_is_settled_for_those_with_it_and_without(asked: list[str]) -> None:
    huge, small = (TEXT.settle("cache:/lib/a.so:/lib/b.so", applied, "clang") for applied in (True, False))
    assert [huge[0].rsplit("/")[-1], *huge[1:]] == ["okosu-textcache", "huge", "/lib/a.so", "/lib/b.so"]
    assert small[1:] == ["small", "/lib/a.so", "/lib/b.so"]
    assert TEXT.settle("cache", True, "clang")[1:] == ["huge", "/usr/lib/own.so"]


def test_levers_that_leave_nothing_settle_nothing() -> None:
    for name, lever in load().items():
        assert name == "text" or lever.settle("on", True, "true") == []
