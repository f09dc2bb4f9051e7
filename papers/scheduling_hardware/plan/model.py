# SPDX-License-Identifier: Apache-2.0
"""The paper's parallel model (its Figure 4) on the machine: runs of sw/programs/model.c, and what they say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from okosu.errors import OkosuError
from okosu.records.types import Record
from papers.common.base import Say
from papers.scheduling_hardware.machine import Machine
from papers.scheduling_hardware.run import Run, measure, policy_flags
from papers.scheduling_hardware.thread_model import SECTIONS, bracket, read

LOAD = 30_000
"""Cycles of all tasks together in Figures 6, 8 and 9."""
PES, THREADS = 8, 40
"""The machine of all figures, and how many threads Figure 7 has."""
STEP = {"registers": 4, "5 %": 20, "10 %": 20, "25 %": 20, "grain": 30}
"""Cycles of a step of each task (work.h) on an idle bus, but for what loads and stores wait; of grain's, nearly."""
FLAGS = {"registers": (), "grain": ("-DGRAIN",)} | {f"{n} %": (f"-DMEMORY={n}",) for n in (5, 10, 25)}
SAMPLE = 4
"""Tasks that are done one after the other to know how long all would take."""


def run(
    machine: Machine,
    threads: int,
    work: float,
    backend: str = "ssh",
    task: str = "registers",
    creators: int = 0,
    sections: bool = False,
    policy: str = "fifo",
) -> Run:
    """Return a run of so many threads of about `work` cycles each; `creators` threads create them, main with 0."""
    sample = min(threads, SAMPLE)
    steps = round(work / STEP[task])
    told: dict[str, str | float] = {"threads": float(threads), "task": task, "sample": float(sample)}
    told |= {"steps": float(steps), "creators": float(creators), "policy": policy}
    words = (str(threads), str(steps), str(sample), str(creators))
    return Run(
        "model", words, machine, backend, (*FLAGS[task], *policy_flags(policy)), told, SECTIONS if sections else ()
    )


def sweep(of: str, at: Run, works: Sequence[float], say: Say, finer: int) -> Iterator[Record]:
    """Yield the records of `at` with tasks of these many cycles, then of `finer` more where it begins to pay."""
    held: list[Record] = []

    def records(chosen: Sequence[float]) -> Iterator[Record]:
        task, threads = str(at.told["task"]), int(float(at.told["threads"]))
        runs = [run(at.machine, threads, work, at.backend, task) for work in chosen]
        for record in measure(of, runs, say):
            held.append(record)
            yield record

    yield from records(works)
    step = STEP[str(at.told["task"])]
    pair = bracket(sorted((one for one in read(held) if one.variant == at.variant), key=lambda one: one.work))
    if pair is None or not finer:
        return
    first, last = pair[0].steps, pair[1].steps
    between = sorted({first + round((last - first) * i / (finer + 1)) for i in range(1, finer + 1)} - {first, last})
    yield from records([steps * step for steps in between])


def sweeps(of: str, at: Sequence[Run], works: Sequence[float], say: Say, finer: int) -> Iterator[Record]:
    """Yield the records of a sweep of each run in `at`; the others go on where one fails, and OkosuError follows."""
    failed: list[OkosuError] = []
    for one in at:
        try:
            yield from sweep(of, one, works, say, finer)
        except OkosuError as error:
            failed.append(error)
    if failed:
        raise OkosuError("; ".join(error.what for error in failed), "\n       ".join(error.why for error in failed))
