# SPDX-License-Identifier: Apache-2.0
"""The scheduling policies of the machine in rtl/: which thread runs first, which one is preempted, and which one
returns."""

from __future__ import annotations

import pytest

from okosu.errors import OkosuError
from papers.scheduling_hardware import ROOM, cross_compile, simulation, verilator
from papers.scheduling_hardware.machine import Machine
from papers.scheduling_hardware.tests.long.shared import NEEDS

PROGRAM = ROOM / "sw/programs/policies.c"
LIMIT = 40_000
FIFO, RR, LIFO, EDF, AFFINITY = 0, 1, 2, 4, 5

pytestmark = NEEDS


def said(what: str, policy: int, pes: int = 1, quantum: int = 0) -> list[str]:
    """Return the lines that the program prints on a checked machine with this policy."""
    settings = [f"-Wl,--defsym=__okosu_policy={policy}", f"-Wl,--defsym=__okosu_quantum={quantum}"]
    program = cross_compile.compile_(cross_compile.parse([str(PROGRAM), *settings, "--", what]), "ssh")
    machine = Machine(pes=pes)
    outcome = simulation.run(verilator.build(machine, checked=True), program, max_cycles=LIMIT)
    assert outcome.status == 0
    return outcome.stdout.decode().splitlines()


def test_fifo_runs_threads_as_they_came() -> None:
    assert said("order", FIFO) == ["abcde"]


def test_lifo_runs_the_latest_first() -> None:
    """The first one is in the PE's prefetch slot before the others come."""
    assert said("order", LIFO) == ["aedcb"]


def test_priorities_decide_who_runs() -> None:
    assert said("ranks", FIFO) == ["edcba"]


def test_edf_runs_by_deadlines() -> None:
    """The last one to come to the barrier just goes on; without edf the others follow as they came."""
    assert said("goals", EDF) == ["edcba"]
    assert said("goals", FIFO) == ["eabcd"]


def test_affinity_lets_a_woken_thread_go_before_new_ones() -> None:
    """The second thread is in the slot when the first one ends, for which main waits."""
    assert said("woken", AFFINITY) == ["abmcde"]
    assert said("woken", FIFO) == ["abcdem"]


@pytest.mark.parametrize("pes", [1, 2])
def test_a_running_thread_makes_way_for_a_higher_priority(pes: int) -> None:
    assert said("urgent", FIFO, pes=pes)[-1] == "ok"


def test_the_quantum_gives_everyone_a_turn() -> None:
    assert said("turns", RR, quantum=500) == ["ok"]
    with pytest.raises(OkosuError, match="has not ended"):
        said("turns", RR, quantum=0)
