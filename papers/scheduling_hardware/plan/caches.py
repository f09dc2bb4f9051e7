# SPDX-License-Identifier: Apache-2.0
"""With data caches: threads by hardware and in software over grain, kinds of contexts, 1 to 64 PEs and policies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from papers.scheduling_hardware.cross_compile import BACKENDS
from papers.scheduling_hardware.machine import CONTEXTS, Machine
from papers.scheduling_hardware.plan import model, policies, scaling
from papers.scheduling_hardware.plan.model import PES, THREADS
from papers.scheduling_hardware.plan.scaling import PER_PE
from papers.scheduling_hardware.run import Run

DCACHE = 4096
GRAINS = (20, 40, 100, 300, 1000, 3000, 10000, 30000)
"""Cycles of a task in registers, nearly."""
SOFTWARE_POLICIES = ("fifo", "lifo", "priority")
"""The policies that the software back end has, too (sw/software/scheduler.c)."""


def cached(runs: Sequence[Run], dcache: int) -> list[Run]:
    """Return the same runs on machines with data caches of so many bytes, and memory on the pipelined bus."""
    return [replace(one, machine=replace(one.machine, dcache=dcache, bus="pipelined")) for one in runs]


def contexts() -> list[Run]:
    """Return the grain of threads on 8 PEs, with each kind of contexts and in software."""
    hardware = [model.run(Machine(pes=PES, context=kind), THREADS, grain) for kind in CONTEXTS for grain in GRAINS]
    return [*hardware, *(model.run(Machine(pes=PES), THREADS, grain, "software") for grain in GRAINS)]


def grains(pes: int) -> list[Run]:
    """Return the grain of threads on so many PEs, with both back ends and as many threads for each as in scaling.py."""
    machine = Machine(pes=pes)
    return [model.run(machine, PER_PE * pes, grain, backend) for backend in BACKENDS for grain in GRAINS]


def scaled(pes: int) -> list[Run]:
    """Return the runs of scaling.py on so many PEs, and in software those whose policy it has."""
    return [one for run in scaling.runs([pes]) for one in (run, *_in_software(run))]


def by_policy() -> list[Run]:
    """Return the runs of policies.py, and in software those whose policy it has."""
    return [one for run in policies.runs() for one in (run, *_in_software(run))]


def _in_software(run: Run) -> list[Run]:
    return [replace(run, backend="software")] if run.told["policy"] in SOFTWARE_POLICIES else []
