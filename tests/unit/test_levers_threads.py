# SPDX-License-Identifier: Apache-2.0
"""The lever threads: where it is offered, what it can save at most, and its proof from the library's counts."""

from __future__ import annotations

import msgspec
import pytest

from okosu import levers
from okosu.machine.model import Machine
from okosu.machine.program import Program
from okosu.records.measurement import Measurement
from okosu.records.types import Proof

THREADS = levers.load()["threads"]
BASE = Measurement(wall_ns=10**9, user_ns=10**9)
HERE = Machine(arch="x86_64", glibc="2.36")
DYNAMIC = Program("/bin/x", "glibc")


def run(served: int, made: int, passed: int = 0, closed: str = "", **changes: object) -> Measurement:
    line = {"by": "threads", "served": served, "made": made, "passed": passed, "closed": closed}
    return msgspec.structs.replace(BASE, preload=[{"pid": 1}, line], **changes)


def prove(measured: Measurement, pilot: Measurement | None = None) -> Proof:
    return THREADS.proof("on", measured, BASE, pilot)


@pytest.mark.parametrize(
    ("measured", "holds", "words"),
    [
        (run(1592, 8), True, "1,592 of 1,600 threads started in finished ones"),
        (run(1, 1), True, "1 of 2 threads"),
        (run(1, 4, 58, "the program called nice"), True, "1 of 63 threads"),
        (run(0, 0), False, "the program makes no threads by pthread_create"),
        (run(0, 3), False, "none of 3 threads was served: none had finished"),
        (run(0, 0, 9), False, "they have attributes"),
        (run(0, 1, 9, "the program called nice"), False, "none of 10 threads was served: the program called nice"),
        (BASE, False, "libokosu-threads.so was not loaded"),
    ],
)
def test_the_pilots_proof(measured: Measurement, holds: bool, words: str) -> None:
    proof = prove(measured)
    assert proof.holds is holds
    assert words in proof.text


def test_the_processes_are_added_up() -> None:
    both = msgspec.structs.replace(BASE, preload=run(5, 1).preload + run(0, 1, 0, "a child of fork").preload)
    assert prove(both).text == "5 of 7 threads started in finished ones"
    assert prove(both).values == {"served": 5.0, "threads": 7.0}


@pytest.mark.parametrize(
    ("measured", "holds"),
    [
        (run(100, 8), True),
        (run(25, 8), True),
        (run(24, 8), False),
        (run(13, 8, user_ns=5 * 10**8), True),
        (BASE, False),
    ],
)
def test_later_runs_serve_a_quarter_of_the_pilots(measured: Measurement, holds: bool) -> None:
    assert prove(measured, run(100, 8)).holds is holds


@pytest.mark.parametrize(
    ("base", "offered"),
    [
        (None, True),
        (BASE, True),  # threads were not followed
        (msgspec.structs.replace(BASE, threads=2, thread_names=["x"]), True),
        (msgspec.structs.replace(BASE, threads=1, thread_names=["x"]), False),
        (msgspec.structs.replace(BASE, threads=0, thread_names=["x"]), False),
    ],
)
def test_it_is_offered_where_a_thread_may_be_served(base: Measurement | None, offered: bool) -> None:
    assert THREADS.values(HERE, DYNAMIC, base) == ([["on"]] if offered else [])
    if not offered:
        assert "only later ones can be served" in THREADS.nothing(HERE, DYNAMIC, base).why


def test_few_threads_cannot_matter() -> None:
    followed = msgspec.structs.replace(BASE, threads=4, thread_names=["x"])
    bound = THREADS.bound(HERE, [followed], None)
    assert bound is not None
    assert bound.share == pytest.approx(0.002)
    assert bound.why == "4 threads cost 2 ms at most"
    assert THREADS.bound(HERE, [BASE], None) is None
    told = THREADS.bound(HERE, [BASE], run(90, 8, 2))
    assert told is not None
    assert told.share == pytest.approx(0.05)
    mostly_asleep = msgspec.structs.replace(followed, user_ns=10**7)
    of_cpu = THREADS.bound(HERE, [mostly_asleep], None)
    assert of_cpu is not None
    assert of_cpu.share == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("machine", "ok"),
    [
        (HERE, True),
        (Machine(), True),
        (Machine(arch="x86_64", glibc="2.35"), True),
        (Machine(arch="x86_64", glibc="2.31"), False),
        (Machine(arch="aarch64", glibc="2.36"), False),
    ],
)
def test_it_needs_threads_whose_state_is_known(machine: Machine, ok: bool) -> None:
    assert THREADS.needs(machine).ok is ok
