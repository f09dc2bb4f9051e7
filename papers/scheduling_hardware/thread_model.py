# SPDX-License-Identifier: Apache-2.0
"""Records of runs of sw/programs/model.c, read back: threads that a creator makes and joins, and what they gain."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from okosu.records.types import Record
from papers.scheduling_hardware.simulation import KINDS

SECTIONS = ("create", "join", "switch", "lock")
"""The sections in which a run spends the library's cycles."""
SAVING = ("execute", "memory")
"""Kinds of cycles of a context switch that save and restore; the third is the wait for a thread."""
PAPER, SOFTWARE, BEST = "ssh soft", "software", "ssh banked"
"""Variants: the paper's machine, the software back end, and our best."""
SUBJECT = "rtl model.c"
_CYCLES = {"sequential", "parallel", "creating", "instructions"}


@dataclass(frozen=True)
class Modelled:
    """A run of the model as its records tell it: cycles of all tasks one after the other, of all in parallel, and of
    the creations alone; `spent` is the cycles of all PEs by section and kind."""

    variant: str
    task: str
    policy: str
    pes: int
    threads: int
    steps: int
    creators: int
    sequential: float
    parallel: float
    creating: float
    instructions: float
    spent: dict[str, dict[str, float]] = field(default_factory=dict)

    @property
    def work(self) -> float:
        """Cycles of one task."""
        return self.sequential / self.threads

    @property
    def speedup(self) -> float:
        """How many times as fast the tasks are done in parallel as one after the other."""
        return self.sequential / self.parallel

    @property
    def efficiency(self) -> float:
        """The share of all PEs' cycles that the tasks take."""
        return self.speedup / self.pes

    def section(self, name: str, kinds: Sequence[str] = KINDS) -> float:
        """Return the cycles of all PEs in a section of the library."""
        return sum(self.spent.get(name, {}).get(kind, 0.0) for kind in kinds)


class _Key(NamedTuple):
    variant: str
    task: str
    policy: str
    pes: int
    threads: int
    steps: int
    creators: int


def read(records: Sequence[Record]) -> list[Modelled]:
    """Return the runs of the model whose records are complete, in their order; other records are passed over."""
    told: dict[_Key, dict[str, float]] = {}
    spent: dict[_Key, dict[str, dict[str, float]]] = {}
    sample: dict[_Key, float] = {}
    for one in records:
        key = _key(one)
        if key is None or not one.samples:
            continue
        if "kind" in one.parameters:
            spent.setdefault(key, {}).setdefault(one.metric, {})[str(one.parameters["kind"])] = one.samples[0]
        elif one.samples[0] >= 0:
            told.setdefault(key, {})[one.metric] = one.samples[0]
            sample[key] = float(one.parameters["sample"])
    return [
        Modelled(
            *key,
            each["sequential"] * key.threads / sample[key],
            each["parallel"],
            each["creating"],
            each["instructions"],
            spent.get(key, {}),
        )
        for key, each in told.items()
        if each.keys() >= _CYCLES and min(each["sequential"], each["parallel"]) > 0
    ]


def _key(record: Record) -> _Key | None:
    """Return what tells a run from others, None where a file that was altered does not."""
    said = record.parameters
    try:
        numbers = [int(float(said[name])) for name in ("pes", "threads", "steps", "creators", "sample")]
    except (KeyError, ValueError, OverflowError):
        return None
    if record.subject != SUBJECT or "task" not in said or min(numbers) < 0 or 0 in (*numbers[:2], numbers[4]):
        return None
    return _Key(record.variant, str(said["task"]), str(said.get("policy")), *numbers[:4])


def break_even(runs: Sequence[Modelled]) -> float | None:
    """Return from how many cycles per thread parallel execution pays: where it does so at every coarser grain, too.

    Between the last run that does not pay and the next one the speedup is taken for linear. None where none pays, or
    all do, so that the runs do not enclose it.
    """
    ordered = sorted(runs, key=lambda one: one.work)
    pair = bracket(ordered)
    if pair is None:
        return None
    low, high = pair
    return low.work + (high.work - low.work) * (1 - low.speedup) / (high.speedup - low.speedup)


def bracket(ordered: Sequence[Modelled]) -> tuple[Modelled, Modelled] | None:
    """Return the last run that does not pay and the one after it, of runs in order of their grain."""
    losing = [i for i, one in enumerate(ordered) if one.speedup < 1]
    if not losing or losing[-1] + 1 >= len(ordered):
        return None
    return ordered[losing[-1]], ordered[losing[-1] + 1]


def bound(task: str, pes: int) -> float:
    """Return the most instructions per cycle that the bus lets all PEs together do: 1/(3f), and one for each PE.

    `task` is a share of loads and stores such as "5 %", or a task in registers.
    """
    share = re.fullmatch(r"([1-9]\d*) %", task)
    return min(float(pes), 100 / (3 * int(share[1]))) if share else float(pes)
