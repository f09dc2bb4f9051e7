# SPDX-License-Identifier: Apache-2.0
"""Records as the simulator gives them for scheduling-hardware, of a machine whose costs are given here."""

from __future__ import annotations

from typing import Any

from okosu.records.types import Record
from papers.scheduling_hardware.machine import Machine
from papers.scheduling_hardware.paper import BACKENDS, COUNTS, SOFT, _figure6, _figure8
from papers.scheduling_hardware.plan import locks, model, policies, primitives, scaling
from papers.scheduling_hardware.run import Run, records

CREATE = {"software": 400.0, "ssh soft": 150.0, "ssh mem": 100.0, "ssh banked": 80.0}
"""Cycles of main for each thread, by variant."""
SWITCH = {"software": 300.0, "ssh soft": 90.0, "ssh mem": 60.0, "ssh banked": 0.0}
PRIMITIVES = {
    "create": (16, 18),
    "join_finished": (19, 19),
    "mutex_lock": (13, 13),
    "join_wake": (37, 37),
    "barrier_last_to_last": (28, 29),
}
SWITCHES = {"yield_command": (7, 8), "yield_switch": (12, 13), "join_wake_moved": (60, 70)}
GRAINS = (40, 80, 120, 200, 500, 1000, 2500, 10000)


def said(numbers: dict[str, tuple[int, ...]]) -> str:
    return "".join(f"{name} {' '.join(map(str, values))}\n" for name, values in numbers.items())


def parallel(run: Run) -> tuple[float, float]:
    """Return a task's cycles, and those of all: main creates one after the other, and each PE switches."""
    threads, steps = int(run.arguments[0]), int(run.arguments[1])
    pes = run.machine.pes
    work = steps * model.STEP[str(run.told["task"])] + 20.0
    made = CREATE[run.variant] * threads
    done = threads * (work + SWITCH[run.variant]) / min(pes, threads)
    return work, made + done


def result(run: Run) -> dict[str, Any]:
    """Return what sweeps.record() would say of a run."""
    numbers: dict[str, tuple[int, ...]] = {}
    if run.program == "model" and not run.cycles:
        work, whole = parallel(run)
        threads, sample = int(run.arguments[0]), int(run.arguments[2])
        numbers["sequential"] = (round(work * sample),)
        numbers["creating"] = (round(CREATE[run.variant] * threads),)
        numbers["parallel"] = (round(whole),)
        numbers["instructions"] = (20 * int(run.arguments[1]) * threads,)
    elif run.program == "primitives":
        factor = 20 if run.backend == "software" else 1
        numbers = {name: (factor * least, factor * most) for name, (least, most) in PRIMITIVES.items()}
    elif run.program == "switches":
        numbers = dict(SWITCHES)
    elif run.program == "primitives_all":
        numbers = {"create_all": (16, 40), "create_all_mean": (24,)}
    elif run.program == "contend":
        spun = {"mutex": 1, "exchange": 4, "look": 2}[str(run.told["lock"])]
        numbers = {"contended": (50 * spun * int(float(run.told["taken"])),), "reads": (9000 // spun,)}
    return {"stdout": said(numbers), "cycles": 5000 + len(run.flags), "counters": counters(run)}


def counters(run: Run) -> list[dict[str, Any]]:
    if not run.sections:
        return []
    threads = int(run.arguments[0])
    each = {"create": CREATE[run.variant], "switch": SWITCH[run.variant], "join": 10.0, "lock": 0.0}
    per_pe = {name: {"execute": cost * threads / 8, "memory": 0.0, "scheduler": 1.0} for name, cost in each.items()}
    return [{"pe": pe, **per_pe} for pe in range(8)]


def of(name: str, runs: list[Run]) -> list[Record]:
    return [record for run in runs for record in records(name, run, result(run))]


def grains(name: str, machine: Machine, backend: str = "ssh") -> list[Record]:
    return of(name, [model.run(machine, 40, work, backend) for work in GRAINS])


def everything() -> dict[str, list[Record]]:
    """Return the records of every experiment."""
    return {
        "table4": of("table4", primitives.of_paper()),
        "figure6": of("figure6", _figure6()),
        "figure7": [record for backend in BACKENDS for record in grains("figure7", SOFT, backend)],
        "figure8": of("figure8", _figure8(COUNTS)),
        "primitives": of("primitives", primitives.runs(["soft", "mem", "banked"])),
        "break-even": [*grains("break-even", Machine(context="mem")), *grains("break-even", Machine())],
        "policies": of("policies", policies.runs()),
        "locks": of("locks", locks.runs((2, 4, 8))),
        "scaling": of("scaling", scaling.runs()),
    }
