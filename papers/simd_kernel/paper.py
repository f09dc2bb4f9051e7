# SPDX-License-Identifier: Apache-2.0
"""Saito and Oikawa's SIMD unit in the kernel: vectorised loops, a profile, memcpy by SSE, on User-Mode Linux."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from lab import build, uml
from okosu.errors import OkosuError
from okosu.records.types import Record
from papers.common.base import LabExperiment, Measured, Ours, Paper, Say
from papers.common.entries import Target
from papers.common.points import Found as Points
from papers.simd_kernel import copybench, profile, survey
from papers.simd_kernel.compare import break_even as break_even_beside
from papers.simd_kernel.compare import code as code_beside
from papers.simd_kernel.compare import figure6 as figure6_beside
from papers.simd_kernel.compare import histogram as histogram_beside
from papers.simd_kernel.compare import profile as profile_beside
from papers.simd_kernel.compare import survey as survey_beside
from papers.simd_kernel.compare.survey import Found
from papers.simd_kernel.copybench import Boot, Plan

QUICK = Plan(boots=2, rounds=2, calls=1000, step=64)
"""Two boots of a few seconds: a first impression, and too few for any interval."""
ALONE = 2
"""Rounds in which each workload has boots of its own, beside those of the whole set."""
FIXED = (*uml.RECIPE.fragments, "um-fixed")
FIGURE6 = {"figure6-best-orig": "orig", "figure6-best-movsb": "movsb", "figure6-best-paper": "paper"}
"""What okosu's best routine is compared with, by target."""


class SimdKernel(Paper):
    """Utilization of a SIMD unit in the OS kernel."""

    name: ClassVar[str] = "simd-kernel"

    def experiments(self) -> list[LabExperiment]:
        """Return what is measured, the short ones first."""
        return [
            LabExperiment("figure6", _figure6, "okosu lab run uml -- …/um_copy/bench", _is_built(), _figure6_quick),
            LabExperiment("code", _code, "okosu lab build uml --fragment um-fixed"),
            LabExperiment("profile", lambda say: profile.measure(alone=ALONE, say=say), "okosu lab profile"),
            LabExperiment("histogram", histogram_beside.measure, "okosu lab profile --histogram"),
            LabExperiment("break-even", break_even_beside.measure, "okosu lab break-even"),
            LabExperiment("survey", lambda say: survey.survey(say=say), "okosu lab survey"),
        ]

    def compare(self, measured: Measured) -> dict[str, Ours]:
        """Return ours by the id of the published entry."""
        there = {entry.id for entry in self.published()}
        profiled = measured.records.get("profile", [])
        found = [
            *_section5(measured),
            *survey_beside.compare(measured.records.get("survey", []), profile_beside.first(profiled)),
            *profile_beside.compare(profiled),
            *figure6_beside.compare(measured.records.get("figure6", [])),
            *code_beside.compare(measured.records.get("code", [])),
        ]
        return {name: Ours(value, why) for name, value, why in found if value is not None and name in there}

    def sides(self, target: Target, measured: Measured) -> Points:
        """Return what a target compares, boot by boot."""
        records = measured.records.get(target.experiment, [])
        if target.experiment == "figure6":
            return _figure6_sides(target.id, records)
        return profile_beside.sides(records)


def _is_built() -> bool:
    """Say whether the kernel is there, so that --quick need not build it for minutes."""
    try:
        return build.cached(uml.RECIPE)
    except OkosuError:
        return False


def _figure6(say: Say, plan: Plan = copybench.FIGURE6) -> Iterator[Record]:
    built = uml.build(say=say)

    def boots() -> Iterator[Boot]:
        return copybench.boots(lambda command: uml.run(built, command, say=say), plan, say)

    yield from figure6_beside.measure(boots, plan, built.version)


def _figure6_quick(say: Say) -> Iterator[Record]:
    return _figure6(say, QUICK)


def _figure6_sides(name: str, records: list[Record]) -> Points:
    timed = figure6_beside.read(records)
    if name == "figure6-paper-orig":
        above = {size: routines for size, routines in timed.items() if size >= figure6_beside.BLOCK}
        return figure6_beside.sides(above, "paper", "orig")
    # One routine is meant, whatever it is compared with: the best where the most sizes were timed.
    ours = figure6_beside.best(timed)
    if name in FIGURE6:
        return figure6_beside.sides(timed, ours, FIGURE6[name])
    printed = figure6_beside.read(records, figure6_beside.PRINTED)
    if name == "boot-512":
        printed = {size: routines for size, routines in printed.items() if size == figure6_beside.BLOCK}
    return figure6_beside.sides(printed, ours, "movsb")


def _code(say: Say) -> Iterator[Record]:
    plain, fixed = uml.build(say=say), uml.build(fragments=FIXED, say=say)
    yield from code_beside.records(plain.path / "vmlinux", fixed.path / "vmlinux", plain.version)


def _section5(measured: Measured) -> Found:
    """Yield the machine's own: section 5.1."""
    records = [record for held in measured.records.values() for record in held]
    kernel = next((found for one in records if (found := re.match(r"linux (\d+\.\d+)(\S*)", one.subject))), None)
    yield "5.1.kernel", float(kernel[1]) if kernel else None, f"Linux {kernel[1]}{kernel[2]}" if kernel else ""
    surveyed = survey_beside.nearest(measured.records.get("survey", []))
    compiler = next((str(one.parameters.get("compiler", "")) for one in records if one.variant == surveyed), "")
    version = re.search(r" (\d+\.\d+)\.\d+$", compiler)
    yield "5.1.gcc", float(version[1]) if version else None, f"{compiler}, of the configuration {surveyed}"
    here = measured.facts
    yield "5.1.ram", here.memory.total_kb / 2**20 if here and here.memory.total_kb else None, "another machine"
    routines = {record.variant for record in measured.records.get("figure6", [])}
    widths = {"avx512": 512.0, "avx2": 256.0, "sse2": 128.0}
    widest = next((name for name in widths if name in routines), None)
    yield "5.1.width", widths[widest] if widest else None, f"the widest that a routine here could use: {widest}"
