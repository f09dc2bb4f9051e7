# SPDX-License-Identifier: Apache-2.0
"""The policies of the scheduling hardware, which a program chooses at its start, by program."""

from __future__ import annotations

from collections.abc import Sequence

from papers.scheduling_hardware.machine import Machine
from papers.scheduling_hardware.plan.model import PES
from papers.scheduling_hardware.run import POLICIES, Run, policy_flags

PROGRAMS: dict[str, tuple[str, ...]] = {
    "model": ("40", "125", "4"),
    "tree": ("9", "100"),
    "queens": (),
    "matmul": (),
    "producer": (),
}
"""The paper's model with 500 cycles a thread, and programs of which threads wait for each other."""


def runs(policies: Sequence[str] = POLICIES, programs: Sequence[str] = tuple(PROGRAMS)) -> list[Run]:
    """Return the runs, each of which takes the program's cycles from reset to its end."""
    machine = Machine(pes=PES)
    found = []
    for program in programs:
        for policy in policies:
            told: dict[str, str | float] = {"policy": policy}
            found.append(Run(program, PROGRAMS[program], machine, "ssh", policy_flags(policy), told, cycles=True))
    return found
