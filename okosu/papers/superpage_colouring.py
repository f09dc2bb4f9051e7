# SPDX-License-Identifier: Apache-2.0
"""Hayasaka and Shimizu's page colouring joined with super pages: a transposition on modelled machines, seed by seed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from okosu.lab import colour_model
from okosu.papers import _spc_compare, _spc_costs, _spc_plan, _spc_runs, _spc_targets
from okosu.papers._spc_plan import CELERON, LAST, PENTIUM4, SEEDS, TABLE2, Boot, figures, odd
from okosu.papers.base import LabExperiment, Measured, Ours, Paper
from okosu.papers.entries import Target
from okosu.papers.points import Found

QUICK = {CELERON: (*TABLE2, 101, 121, 151, 199), PENTIUM4: (125, 151, 171, 181, 185, 221, 299)}
"""Dimensions of --quick: Table 2's, and some beside them."""


class SuperpageColouring(Paper):
    """Evaluation of Memory Performance by Linux Super Page and Page Coloring."""

    name: ClassVar[str] = "superpage-colouring"

    def experiments(self) -> list[LabExperiment]:
        """Return what is run: the paper's figures first, then what goes beyond them."""
        celeron, pentium4 = ((machine, odd(LAST[machine])) for machine in (CELERON, PENTIUM4))
        return [
            _experiment("celeron", lambda: figures(*celeron, SEEDS), lambda: figures(CELERON, QUICK[CELERON], 1)),
            _experiment("pentium4", lambda: figures(*pentium4, SEEDS), lambda: figures(PENTIUM4, QUICK[PENTIUM4], 1)),
            _experiment("wide", _spc_plan.wide),
            _experiment("colours", _spc_plan.colours, lambda: _spc_plan.colours(1, 20)),
            _experiment("one-colour", _spc_plan.one_colour, lambda: _spc_plan.one_colour(1)),
            _experiment("fresh", _spc_plan.fresh),
            _experiment("baselines", _spc_plan.baselines),
            _experiment("remainder", _spc_plan.remainder),
            _experiment("strides", _spc_plan.strides, lambda: _spc_plan.strides(1)[:4]),
            _experiment("beside", _spc_plan.beside, lambda: _spc_plan.beside(1)),
            _experiment("hashed", _spc_plan.hashed, lambda: _spc_plan.hashed(1)),
            _experiment("build", _spc_plan.build),
            _spc_costs.experiment(),
        ]

    def compare(self, measured: Measured) -> dict[str, Ours]:
        """Return ours by the id of the published entry."""
        records = [record for held in measured.records.values() for record in held]
        published = {entry.id: entry.value for entry in self.published()}
        return _spc_compare.compare(colour_model.read(records), published)

    def sides(self, target: Target, measured: Measured) -> Found:
        """Return what a target compares."""
        records = measured.records.get(target.experiment, [])
        if target.experiment == _spc_costs.NAME:
            return _spc_costs.sides(target.id, records)
        values = {entry.id: entry.value for entry in self.published()}
        gains = {n: values[f"t2.{n}.colour"] / values[f"t2.{n}.stock"] for n in TABLE2}
        return _spc_targets.sides(target.id, colour_model.read(records), target.experiment, gains)


def _experiment(
    name: str, boots: Callable[[], Sequence[Boot]], thin: Callable[[], Sequence[Boot]] | None = None
) -> LabExperiment:
    """Return an experiment of these boots, and of fewer with --quick."""
    all_of_them = boots()
    machines = ", ".join(dict.fromkeys(boot.setting.machine for boot in all_of_them))
    shown = f"okosu lab run x86 --machine {machines} … ({len(all_of_them)} boots)"
    return LabExperiment(
        name,
        lambda say: _spc_runs.measure(name, all_of_them, say),
        shown,
        quick=thin is not None,
        thin=None if thin is None else lambda say: _spc_runs.measure(name, thin(), say),
        core_seconds=_spc_plan.core_seconds(all_of_them),
        thin_core_seconds=_spc_plan.core_seconds(thin()) if thin else 0.0,
    )
