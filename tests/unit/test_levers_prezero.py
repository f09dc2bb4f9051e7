# SPDX-License-Identifier: Apache-2.0
"""The proof of the lever prezero, as a function of the pool's evidence."""

from __future__ import annotations

import msgspec
import pytest

from okosu import levers
from okosu.machine.model import Machine, Rights
from okosu.machine.program import Program
from okosu.records.measurement import Measurement, Memory
from okosu.records.types import Proof

PREZERO = levers.load()["prezero"]
BASE = Measurement(wall_ns=10**9, minflt=300_000)
MIB = 1 << 20
DYNAMIC = Program("/bin/x", "glibc")
HERE = Machine(cpus_online=[0, 1], rights=Rights(cpus=[0, 1]))


def line(served: int, there: int, clean: int = 0, blocks: int = 9) -> dict[str, object]:
    return {"pid": 1, "by": "prezero", "blocks": blocks, "bytes": served, "there": there, "clean": clean, "cleared": 0}


def run(*lines: dict[str, object], faults: int = 10_000) -> Measurement:
    return Measurement(wall_ns=10**9, minflt=faults, preload=[{"pid": 1, "superpage": ""}, *lines])


def prove(measured: Measurement, pilot: Measurement | None = None) -> Proof:
    return PREZERO.proof("on", measured, BASE, pilot)


def test_what_all_processes_were_served() -> None:
    proof = prove(run(line(64 * MIB, 48 * MIB, 8 * MIB), line(0, 0, blocks=0)))
    assert proof.holds
    assert proof.text == (
        "9 blocks of 64 MiB, 75 % of it there before the touch; 2,048 pages served clean, 290,000 faults avoided"
    )
    assert proof.values["clean_pages"] == 2048


@pytest.mark.parametrize(
    ("served", "there", "holds"),
    [(16 * MIB, 16 * MIB, True), (16 * MIB - 1, 16 * MIB - 1, False), (99 * MIB, 16 * MIB - 1, False), (0, 0, False)],
)
def test_enough_is_served_without_a_fault(served: int, there: int, holds: bool) -> None:
    assert prove(run(line(served, there))).holds is holds


def test_no_evidence_is_no_proof() -> None:
    assert not prove(run()).holds
    assert "not loaded" in prove(run()).text


@pytest.mark.parametrize(("served", "there", "holds"), [(32 * MIB, 0, True), (32 * MIB - 1, 32 * MIB - 1, False)])
def test_later_runs_are_not_judged_by_how_much_was_ready(served: int, there: int, holds: bool) -> None:
    """How much was ready depends on how much the machine idled, and so on the very time that is being judged."""
    assert prove(run(line(served, there)), run(line(64 * MIB, 64 * MIB))).holds is holds


def test_programs_without_large_blocks_are_left_alone() -> None:
    large = Measurement(wall_ns=1, minflt=700, exit=Memory(anon_kb=4096))
    small = Measurement(wall_ns=1, minflt=200, exit=Memory(anon_kb=900), peak=Memory(anon_kb=2047))
    assert PREZERO.values(HERE, DYNAMIC, large) == PREZERO.values(HERE, DYNAMIC, None) == [["on"]]
    assert PREZERO.values(HERE, DYNAMIC, small) == []
    assert "never holds 2 MiB" in PREZERO.nothing(HERE, DYNAMIC, small).why
    # The memory was freed before any sample saw it, but the page faults show it.
    assert PREZERO.values(HERE, DYNAMIC, msgspec.structs.replace(small, minflt=600)) == [["on"]]


def test_what_it_needs() -> None:
    assert PREZERO.needs(HERE).ok
    assert not PREZERO.needs(HERE).why
    one = PREZERO.needs(msgspec.structs.replace(HERE, rights=Rights(cpus=[1])))
    assert one.ok
    assert "one CPU only" in one.why
    large = PREZERO.needs(msgspec.structs.replace(HERE, page_size=65536))
    assert not large.ok
    assert "64 KiB" in large.why
    assert large.fix
