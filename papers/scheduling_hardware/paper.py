# SPDX-License-Identifier: Apache-2.0
"""Sasaki and others' scheduling hardware: threads created, switched and joined by SSH or in software, in simulation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar

from okosu.errors import usage
from okosu.records.types import Record
from papers.common.base import LabExperiment, Measured, Ours, Paper, Say
from papers.common.entries import Target
from papers.common.points import Found
from papers.scheduling_hardware import compare
from papers.scheduling_hardware.cross_compile import BACKENDS
from papers.scheduling_hardware.machine import CONTEXTS, ISAS, Machine
from papers.scheduling_hardware.plan import locks, model, policies, primitives, scaling
from papers.scheduling_hardware.plan.model import LOAD, PES, THREADS
from papers.scheduling_hardware.run import Run, measure

SOFT = Machine(pes=PES, context="soft")
"""The paper's machine: the library saves contexts, and there is no data cache."""
GRAINS = (4, 20, 40, 60, 100, 160, 250, 400, 500, 630, 800, 1000, 1250, 1600, 2500, 5000, 10000)
"""Cycles per thread in Figure 7, and below: the hardware here pays earlier than the paper's."""
FEW_GRAINS = (4, 40, 160, 400, 630, 1000, 10000)
FINE = (4, 20, 40, 60, 80, 100, 120, 140, 160, 200, 300, 500, 1000, 2500, 10000)
"""Cycles per thread where the hardware switches contexts."""
COUNTS = (1, 2, 4, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24, 32, 40)
"""Threads in Figures 8 and 9."""
OTHER_CONTEXTS = tuple(one for one in CONTEXTS if one != "soft")
FINER = 8
"""Grains more between the last that does not pay and the first that does."""
Measure = Callable[[Say], Iterator[Record]]


class SchedulingHardware(Paper):
    """Scheduling Support Hardware for Multiprocessor System and its Evaluations."""

    name: ClassVar[str] = "scheduling-hardware"

    def __init__(self, isa: str = ISAS[0]) -> None:
        self.isa = isa
        self.chosen = ("--isa", isa) if isa != ISAS[0] else ()

    def on(self, isa: str) -> Paper:
        if isa not in ISAS:
            raise usage(f"no processor has the instruction set {isa!r}", "", f"one of {', '.join(ISAS)}")
        return SchedulingHardware(isa)

    def experiments(self) -> list[LabExperiment]:
        """Return what is simulated: the paper's configuration first, the largest machines last."""
        return [
            self._experiment("table4", primitives.of_paper, "primitives.c"),
            self._experiment("figure6", _figure6, "model.c 16 …"),
            self._sweep("figure7", _figure7(), GRAINS, FEW_GRAINS),
            self._experiment("figure8", _figure8, "model.c 1 …", lambda: _figure8((1, 8, 40))),
            self._experiment(
                "primitives", primitives.all_contexts, "primitives.c", lambda: primitives.runs(["banked"])
            ),
            self._sweep("break-even", _break_even(OTHER_CONTEXTS), FINE, FEW_GRAINS, _break_even(["banked"])),
            self._experiment(
                "policies", policies.runs, "tree.c …", lambda: policies.runs(("fifo", "lifo"), ("model",))
            ),
            self._experiment("locks", lambda: locks.runs((2, 4, 8, 16)), "contend.c …", lambda: locks.runs((8,))),
            self._experiment("scaling", scaling.runs, "model.c …", lambda: scaling.runs((PES,), ("25 %",))),
        ]

    def compare(self, measured: Measured) -> dict[str, Ours]:
        return compare.published(measured)

    def sides(self, target: Target, measured: Measured) -> Found:
        return compare.sides(target, measured)

    def _experiment(
        self, name: str, runs: Callable[[], Sequence[Run]], shown: str, thin: Callable[[], Sequence[Run]] | None = None
    ) -> LabExperiment:
        """Return an experiment of these runs, and of fewer with --quick."""

        def those(chosen: Callable[[], Sequence[Run]]) -> Measure:
            return lambda say: measure(name, [one.on(self.isa) for one in chosen()], say)

        return LabExperiment(name, those(runs), self._shown(shown), True, those(thin) if thin else None)

    def _sweep(
        self, name: str, at: Sequence[Run], works: Sequence[float], few: Sequence[float], thin: Sequence[Run] = ()
    ) -> LabExperiment:
        """Return the sweep of these runs over cycles per thread, finer where it begins to pay; `few` with --quick."""

        def those(chosen: Sequence[Run], swept: Sequence[float], finer: int) -> Measure:
            return lambda say: model.sweeps(name, [one.on(self.isa) for one in chosen], swept, say, finer)

        shown = self._shown("model.c 40 …")
        return LabExperiment(name, those(at, works, FINER), shown, True, those(thin or at, few, 0))

    def _shown(self, words: str) -> str:
        return " ".join(["okosu lab run rtl", *self.chosen, "--", f"sw/programs/{words}"])


def _figure6() -> list[Run]:
    return [model.run(SOFT, 16, LOAD / 16, backend, sections=True) for backend in BACKENDS]


def _figure7() -> list[Run]:
    return [model.run(SOFT, THREADS, 0, backend) for backend in BACKENDS]


def _figure8(counts: Sequence[int] = COUNTS) -> list[Run]:
    return [
        model.run(SOFT, threads, LOAD / threads, backend, sections=True) for backend in BACKENDS for threads in counts
    ]


def _break_even(contexts: Sequence[str]) -> list[Run]:
    return [model.run(Machine(pes=PES, context=context), THREADS, 0) for context in contexts]
