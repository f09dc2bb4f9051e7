# SPDX-License-Identifier: Apache-2.0
"""Cycles of the machine in rtl/ to the last one: arbitration, waits and switches stay as long as they are."""

from __future__ import annotations

import copy
import re
import tomllib

import pytest

from papers.scheduling_hardware import ROOM, compare, simulation, verilator
from papers.scheduling_hardware.dv import cycles
from papers.scheduling_hardware.machine import Machine
from papers.scheduling_hardware.tests.long.shared import NEEDS

pytestmark = NEEDS
TABLE = cycles.table()


@pytest.mark.parametrize("point", cycles.POINTS, ids=lambda point: point.name)
def test_a_program_takes_the_cycles_that_it_took(point: cycles.Point) -> None:
    """After an intended change: python -m papers.scheduling_hardware.dv.cycles --write."""
    if cycles.compiler() != TABLE["compiler"]:
        pytest.skip(f"the table's programs are {TABLE['compiler']}'s")
    moved = cycles.differences(TABLE["points"][point.name], cycles.run(point))
    assert not moved, "\n".join(["if this is meant: python -m papers.scheduling_hardware.dv.cycles --write", *moved])


ALWAYS = ("create", "join-finished", "mutex-lock", "barrier", "join-wake")
STAGED = {
    "banked": (cycles.MACHINES["staged"], (*ALWAYS, "yield-command", "yield-switch")),
    # The next thread of a PE with one bank is not loaded when the running one yields.
    "local": (Machine(pes=3, context="local", contexts=4, scheduler="staged"), ALWAYS),
    "mem": (Machine(pes=3, context="mem", scheduler="staged"), ALWAYS),
    "8 PEs": (Machine(pes=8, scheduler="staged"), (*ALWAYS, "yield-command", "yield-switch")),
}
# The README's row of a staged SSH-m: the most cycles of each call on the machine that the targets are of.
EIGHT = {
    "create": 16,
    "join-finished": 20,
    "mutex-lock": 13,
    "barrier": 25,
    "yield-command": 4,
    "yield-switch": 12,
    "join-wake": 39,
}


@pytest.mark.parametrize("name", STAGED)
def test_calls_hold_their_targets_where_the_scheduler_is_staged(name: str) -> None:
    """Those of targets.toml that are of calls."""
    bounds = {target["id"]: target["value"] for target in tomllib.loads((ROOM / "targets.toml").read_text())["target"]}
    machine, calls = STAGED[name]
    simulator = verilator.build(machine, checked=True)
    told: dict[str, int] = {}
    for source in ("primitives.c", "switches.c"):
        program = cycles.Point("staged", source).compiled()
        said = simulation.run(simulator, program, max_cycles=cycles.LIMIT).stdout.decode()
        told |= {name: int(most) for name, most in re.findall(r"^(\w+) (?:\d+ )?(\d+)$", said, re.MULTILINE)}
    assert {call for call in calls if told[compare.CALLS[call]] > bounds[call]} == set()
    # One cycle later than an SSH-m that answers in one, whose 19 is a row of the README.
    assert told["join_finished"] == 20
    if name == "8 PEs":
        assert {call: told[compare.CALLS[call]] for call in EIGHT} == EIGHT


def test_the_table_has_these_programs_and_no_others() -> None:
    assert set(TABLE["points"]) == {point.name for point in cycles.POINTS}


def test_what_moved_is_named() -> None:
    expected = TABLE["points"][cycles.POINTS[0].name]
    here = copy.deepcopy(expected)
    here["cycles"] += 3
    counts = here["counters"][1].split()
    counts[2] = str(int(counts[2]) + 3)
    here["counters"][1] = " ".join(counts)
    assert cycles.differences(expected, expected) == []
    assert cycles.differences(expected, here) == [
        f"cycles: {here['cycles']}, in the table {expected['cycles']}",
        f"PE 1: user/memory {counts[2]} (+3)",
    ]


def test_another_program_is_no_fault_of_the_machine() -> None:
    expected = TABLE["points"][cycles.POINTS[0].name]
    said = cycles.differences(expected, {**expected, "code": "another", "cycles": 1})
    assert len(said) == 1
    assert "compiler" in said[0]
