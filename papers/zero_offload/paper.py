# SPDX-License-Identifier: Apache-2.0
"""The poster on clearing huge pages by an integrated GPU: what a launch costs, and what the same core gains by it."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from papers.common import points
from papers.common.base import Experiment, LabExperiment, Measured, Ours, Paper
from papers.common.entries import Target
from papers.common.points import Found, Point, Sides
from papers.zero_offload import compare, lever

PAGES = ("--only", "fault-2m", "--variant", "thp-touch,hugetlb-touch,pool-take,pool-take-read,pool-take-read-again")
GPU = Path("/dev/nvidiactl")
"""It is there where NVIDIA's driver is."""


class ZeroOffload(Paper):
    """Clearing huge pages in the Linux kernel by an integrated GPU."""

    name: ClassVar[str] = "zero-offload"

    def experiments(self) -> list[Experiment | LabExperiment]:
        """Return the benches, then the lever on whole programs."""

        def bench(name: str, full: tuple[str, ...], quick: tuple[str, ...]) -> Experiment:
            return Experiment(name, f"okosu-bench-{name}", full, quick)

        return [
            bench("fault", ("--rounds", "15", *PAGES), ("--rounds", "5", *PAGES)),
            bench("zero-engines", ("--rounds", "9"), ("--rounds", "3", "--sizes", "2097152")),
            bench("corunner", ("--rounds", "21"), ("--rounds", "8", "--variant", "nt")),
            LabExperiment(
                "try",
                lever.measure,
                lever.shown(lever.ROUNDS),
                quick=True,
                thin=lever.measure_few,
                thin_shown=lever.shown(lever.FEW),
            ),
        ]

    def targets(self) -> list[Target]:
        """Return the targets, those of a GPU only where there is one."""
        return [one for one in super().targets() if one.select.variant != "cuda-mailbox" or GPU.exists()]

    def compare(self, measured: Measured) -> dict[str, Ours]:
        """Return ours by the id of the published entry."""
        return {name: Ours(value, why) for name, value, why in compare.values(measured) if value is not None}

    def sides(self, target: Target, measured: Measured) -> Found:
        """Return the runs of whole programs without the lever and with it, for the targets that are not on benches."""
        if target.bench:
            return super().sides(target, measured)
        program = target.id.removeprefix("try-").removesuffix("-busy")
        busy = "busy" if target.id.endswith("-busy") else "idle"
        by_arm = {
            record.variant: points.by_round(record)
            for record in measured.records.get("try", [])
            if (record.subject, record.parameters["cpus"]) == (program, busy)
        }
        if not {"base", "prezero"} <= by_arm.keys():
            return Found([], [measured.missing.get("try", f"{program} was not run")])
        sides = Sides(Point(mode=busy), program, "prezero", "base", by_arm["prezero"], by_arm["base"])
        return Found([sides], [])
