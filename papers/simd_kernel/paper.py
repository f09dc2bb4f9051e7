# SPDX-License-Identifier: Apache-2.0
"""Saito and Oikawa's SIMD unit in the kernel: vectorised loops, a profile, memcpy by SSE, on User-Mode Linux."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from lab.kernel import build
from lab.run import uml
from okosu.errors import OkosuError
from okosu.records.types import Record
from papers.common.base import LabExperiment, Measured, Ours, Paper, Say
from papers.common.entries import Target
from papers.common.points import Found
from papers.simd_kernel import plan
from papers.simd_kernel.compare import Beside, compiled_routines, figure6, table1, tables2to4
from papers.simd_kernel.run import break_even, copybench, histogram, machine_code, profiling, survey

_SHOWN = f"okosu lab run uml -- sh -c 'cd {copybench.FOLDER}; echo {plan.FIGURE6.asked} > bench && cat bench'"


class SimdKernel(Paper):
    """Utilization of a SIMD unit in the OS kernel."""

    name: ClassVar[str] = "simd-kernel"

    def experiments(self) -> list[LabExperiment]:
        """Return what is measured, the short ones first."""
        return [
            LabExperiment("figure6", _figure6, _SHOWN, _is_built(), _figure6_quick),
            LabExperiment("code", _code, "okosu lab build uml --fragment um-fixed"),
            LabExperiment(
                "profile",
                lambda say: profiling.measure(alone=plan.ALONE, say=say),
                f"okosu lab profile uml --alone {plan.ALONE}",
            ),
            LabExperiment("histogram", histogram.measure, "okosu lab profile uml --histogram"),
            LabExperiment("break-even", break_even.measure, "okosu lab break-even"),
            LabExperiment("survey", lambda say: survey.survey(say=say), "okosu lab survey"),
        ]

    def compare(self, measured: Measured) -> dict[str, Ours]:
        """Return ours by the id of the published entry."""
        there = {entry.id for entry in self.published()}
        profiled = measured.records.get("profile", [])
        found = [
            *_section5(measured),
            *table1.compare(measured.records.get("survey", []), tables2to4.first(profiled)),
            *tables2to4.compare(profiled),
            *figure6.compare(measured.records.get("figure6", [])),
            *compiled_routines.compare(measured.records.get("code", [])),
        ]
        return {name: Ours(value, why) for name, value, why in found if value is not None and name in there}

    def sides(self, target: Target, measured: Measured) -> Found:
        """Return what a target compares, boot by boot."""
        records = measured.records.get(target.experiment, [])
        if target.experiment == "figure6":
            return figure6.target_sides(target.id, records)
        return tables2to4.sides(records)


def _is_built() -> bool:
    """Say whether the kernel is there, so that --quick need not build it for minutes."""
    try:
        return build.cached(uml.RECIPE)
    except OkosuError:
        return False


def _figure6(say: Say, timing: plan.Timing = plan.FIGURE6) -> Iterator[Record]:
    built = uml.build(say=say)

    def boots() -> Iterator[copybench.Boot]:
        return copybench.boots(lambda command: uml.run(built, command, say=say), timing, say)

    yield from copybench.measure(boots, timing, built.version)


def _figure6_quick(say: Say) -> Iterator[Record]:
    return _figure6(say, plan.QUICK)


def _code(say: Say) -> Iterator[Record]:
    plain, fixed = uml.build(say=say), uml.build(fragments=plan.FIXED, say=say)
    yield from machine_code.records(plain.path / "vmlinux", fixed.path / "vmlinux", plain.version)


def _section5(measured: Measured) -> Beside:
    """Yield the machine's own: section 5.1."""
    records = [record for held in measured.records.values() for record in held]
    kernel = next((found for one in records if (found := re.match(r"linux (\d+\.\d+)(\S*)", one.subject))), None)
    yield "5.1.kernel", float(kernel[1]) if kernel else None, f"Linux {kernel[1]}{kernel[2]}" if kernel else ""
    surveyed = table1.nearest(measured.records.get("survey", []))
    compiler = next((str(one.parameters.get("compiler", "")) for one in records if one.variant == surveyed), "")
    version = re.search(r" (\d+\.\d+)\.\d+$", compiler)
    yield "5.1.gcc", float(version[1]) if version else None, f"{compiler}, of the configuration {surveyed}"
    here = measured.facts
    yield "5.1.ram", here.memory.total_kb / 2**20 if here and here.memory.total_kb else None, "another machine"
    routines = {record.variant for record in measured.records.get("figure6", [])}
    widths = {"avx512": 512.0, "avx2": 256.0, "sse2": 128.0}
    widest = next((name for name in widths if name in routines), None)
    yield "5.1.width", widths[widest] if widest else None, f"the widest that a routine here could use: {widest}"
