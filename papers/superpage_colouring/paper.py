# SPDX-License-Identifier: Apache-2.0
"""Hayasaka and Shimizu's page colouring joined with super pages: a transposition on modelled machines, seed by seed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from lab.kernel import base as bases
from okosu.errors import usage
from papers.common.base import LabExperiment, Measured, Ours, Paper
from papers.common.entries import Target
from papers.common.points import Found
from papers.superpage_colouring import colour_model, compare, costs, plan, run, targets
from papers.superpage_colouring.plan import CELERON, LAST, PENTIUM4, SEEDS, TABLE2, Boot, figures, odd

QUICK = {CELERON: (*TABLE2, 101, 121, 151, 199), PENTIUM4: (125, 151, 171, 181, 185, 221, 299)}
"""Dimensions of --quick: Table 2's, and some beside them."""


class SuperpageColouring(Paper):
    """Evaluation of Memory Performance by Linux Super Page and Page Coloring."""

    name: ClassVar[str] = "superpage-colouring"

    def __init__(self, base: str = bases.DEFAULT) -> None:
        self.base = base
        self.chosen = ("--base", base) if base != bases.DEFAULT else ()

    def on_base(self, base: str) -> Paper:
        if base not in bases.names():
            raise usage(f"no base is called {base!r}", "", f"one of {', '.join(bases.names())}")
        return SuperpageColouring(base)

    def experiments(self) -> list[LabExperiment]:
        """Return what is run: what targets are judged on first, then what none is."""
        celeron, pentium4 = ((machine, odd(LAST[machine])) for machine in (CELERON, PENTIUM4))
        return [
            self._experiment("celeron", lambda: figures(*celeron, SEEDS), lambda: figures(CELERON, QUICK[CELERON], 1)),
            self._experiment(
                "pentium4", lambda: figures(*pentium4, SEEDS), lambda: figures(PENTIUM4, QUICK[PENTIUM4], 1)
            ),
            costs.experiment(self.base),
            self._experiment("wide", plan.wide),
            self._experiment("colours", plan.colours, lambda: plan.colours(1, 20)),
            self._experiment("one-colour", plan.one_colour, lambda: plan.one_colour(1)),
            self._experiment("fresh", plan.fresh),
            self._experiment("baselines", plan.baselines),
            self._experiment("remainder", plan.remainder),
            self._experiment("strides", plan.strides, lambda: plan.strides(1)[:4]),
            self._experiment("beside", plan.beside, lambda: plan.beside(1)),
            self._experiment("hashed", plan.hashed, lambda: plan.hashed(1)),
            self._experiment("build", plan.build),
        ]

    def compare(self, measured: Measured) -> dict[str, Ours]:
        """Return ours by the id of the published entry."""
        records = [record for held in measured.records.values() for record in held]
        published = {entry.id: entry.value for entry in self.published()}
        return compare.compare(colour_model.read(records), published)

    def sides(self, target: Target, measured: Measured) -> Found:
        """Return what a target compares."""
        records = measured.records.get(target.experiment, [])
        if target.experiment == costs.NAME:
            return costs.sides(target.id, records)
        values = {entry.id: entry.value for entry in self.published()}
        gains = {n: values[f"t2.{n}.colour"] / values[f"t2.{n}.stock"] for n in TABLE2}
        return targets.sides(target.id, colour_model.read(records), target.experiment, gains)

    def _experiment(
        self, name: str, boots: Callable[[], Sequence[Boot]], thin: Callable[[], Sequence[Boot]] | None = None
    ) -> LabExperiment:
        """Return an experiment of these boots, and of fewer with --quick."""
        all_of_them = boots()
        machines = ", ".join(dict.fromkeys(boot.setting.machine for boot in all_of_them))
        shown = " ".join([f"{len(all_of_them)} boots of okosu lab run x86", *self.chosen, "--machine", machines])
        return LabExperiment(
            name,
            lambda say: run.measure(name, all_of_them, say, self.base),
            shown,
            quick=thin is not None,
            thin=None if thin is None else lambda say: run.measure(name, thin(), say, self.base),
            core_seconds=plan.core_seconds(all_of_them),
            thin_core_seconds=plan.core_seconds(thin()) if thin else 0.0,
        )
