# SPDX-License-Identifier: Apache-2.0
"""1 to 64 PEs: grain's task, tasks that load and store, and creation by one thread or by several."""

from __future__ import annotations

from collections.abc import Sequence

from papers.scheduling_hardware.machine import Machine
from papers.scheduling_hardware.plan.model import run
from papers.scheduling_hardware.run import Run

PES = (1, 2, 4, 8, 16, 32, 64)
PER_PE, WORK = 10, 1000
"""Threads for each PE, and cycles (of tasks that load and store: instructions) of each."""
POLICIES = ("fifo", "lifo", "affinity")
"""Policies by which main, when it is woken, is queued behind all new threads, and policies by which it is not."""
MEMORY = ("5 %", "10 %", "25 %")
LEAF_CREATORS = 4
"""PEs for each creator of a tree of creations."""


def runs(pes: Sequence[int] = PES, memory: Sequence[str] = MEMORY) -> list[Run]:
    found = []
    for count in pes:
        machine = Machine(pes=count)
        threads = PER_PE * count
        found += [run(machine, threads, WORK, task="grain", policy=policy) for policy in POLICIES]
        found += [run(machine, threads, WORK, task=task) for task in ("registers", *memory)]
        if count > LEAF_CREATORS:
            found.append(run(machine, threads, WORK, task="grain", creators=count // LEAF_CREATORS))
    return found
