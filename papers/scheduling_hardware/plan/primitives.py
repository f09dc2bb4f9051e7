# SPDX-License-Identifier: Apache-2.0
"""What each call of the thread library costs: sw/programs/primitives*.c and switches.c."""

from __future__ import annotations

from collections.abc import Sequence

from papers.scheduling_hardware.machine import CONTEXTS, Machine
from papers.scheduling_hardware.plan.model import PES
from papers.scheduling_hardware.run import Run


def of_paper() -> list[Run]:
    """Return the runs beside Table 4: both back ends, contexts saved by the library."""
    machine = Machine(pes=PES, context="soft")
    return [Run("primitives", (), machine, backend) for backend in ("ssh", "software")]


def runs(contexts: Sequence[str]) -> list[Run]:
    """Return the runs of every call, alone and with all PEs at it, in these context modes."""
    machines = [Machine(pes=PES, context=context) for context in contexts]
    programs = ("primitives", "primitives_all", "switches")
    found = [Run(program, (), machine) for machine in machines for program in programs]
    if "soft" in contexts:
        soft = Machine(pes=PES, context="soft")
        found += [Run(program, (), soft, "software") for program in programs if program != "switches"]
    return found


def beside_clocks(scheduler: str, threads: int) -> list[Run]:
    """Return the runs whose cycles stand beside the clock of a machine with this SSH-m."""
    machine = Machine(pes=PES, threads=threads, scheduler=scheduler)
    return [Run(program, (), machine) for program in ("primitives", "switches")]


def all_contexts() -> list[Run]:
    return runs(CONTEXTS)
