# SPDX-License-Identifier: Apache-2.0
"""A paper on a kernel: its experiments run in the lab, and are planted here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from okosu.records.types import Record
from papers.common import points
from papers.common.base import LabExperiment, Measured, Ours, Paper, Say
from papers.common.entries import About, Published, Target
from papers.common.points import Found, Point, Sides

BOOTS = 10
FLOOR = Target(id="floor", text="never below", kind="floor", experiment="copy", value=0.95)
LEAST = Target(id="least", text="at least", kind="at-least", experiment="copy", value=1.5)
MOST = Target(id="most", text="at most", kind="at-most", experiment="faults", value=1.05)


def record(variant: str, cost: float, size: int = 512, metric: str = "cycles", **fields: Any) -> Record:
    """Return what one variant cost in each boot, within 2 %."""
    samples = [cost * (1 + 0.002 * (boot % 5 - 2)) for boot in range(BOOTS)]
    usual: dict[str, Any] = {"subject": "memcpy", "platform": "uml", "stage": "bench", "unit": "cycles"}
    usual |= {"parameters": {"size": size}, "samples": samples, "rounds": list(range(BOOTS))}
    return Record(tool="okosu 0", machine="", variant=variant, metric=metric, **{**usual, **fields})


def ours_and_theirs(ours: float, theirs: float) -> Callable[[Say], Iterator[Record]]:
    def run(say: Say) -> Iterator[Record]:
        say("10 boots")
        yield record("ours", ours)
        yield record("theirs", theirs)

    return run


class OnAKernel(Paper):
    """A paper of two lab experiments, the first of which is quick."""

    name: ClassVar[str] = "kernel"
    asked: ClassVar[list[Target]] = [FLOOR]
    copy: Callable[[Say], Iterator[Record]] = staticmethod(ours_and_theirs(100, 200))
    faults: Callable[[Say], Iterator[Record]] = staticmethod(ours_and_theirs(104, 100))

    def about(self) -> About:
        return About(name=self.name, title="t", title_en="On a kernel", authors="Nobody", machine="none")

    def published(self) -> list[Published]:
        return [Published(id="a", mark="value", where="table 1", text="cycles of a copy", value=3, unit="cycles")]

    def targets(self) -> list[Target]:
        return self.asked

    def target_source(self) -> str:
        return "the test"

    def experiments(self) -> list[LabExperiment]:
        return [
            LabExperiment("copy", self.copy, "okosu lab copy --boots 10", quick=True),
            LabExperiment("faults", self.faults, "okosu lab faults"),
        ]

    def compare(self, measured: Measured) -> dict[str, Ours]:
        ours = [one for one in measured.records.get("copy", []) if one.variant == "ours"]
        return {"a": Ours(ours[0].samples[0], "another machine")} if ours else {}

    def sides(self, target: Target, measured: Measured) -> Found:
        by_name = {one.variant: one for one in measured.records.get(target.experiment, [])}
        if not {"ours", "theirs"} <= by_name.keys():
            return Found([], ["no two variants"])
        ours, theirs = (points.by_round(by_name[name]) for name in ("ours", "theirs"))
        return Found([Sides(Point(n=512), "memcpy", "ours", "theirs", ours, theirs)], [])
