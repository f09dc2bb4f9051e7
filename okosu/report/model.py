# SPDX-License-Identifier: Apache-2.0
"""One trial as the report sees it: arms with their samples by round, paired with base."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from statistics import median

from okosu.records.types import BASE, PLACEBO, Place, Record, TryFile, Verdict
from okosu.stats.verdict import interval

EXPLAINING = ("cpu", "rss", "minflt", "nvcsw", "nivcsw")
_RUNNING_POINTS = 150


@dataclass(frozen=True)
class Pair:
    """One round (or part of one) in which an arm and base both ran. Values are in the metric's unit; rounds count from
    1.

    A part of a split round is counted as if it were a round.
    """

    round: int
    arm: float
    base: float

    @property
    def x(self) -> float:
        """ln(arm) - ln(base)."""
        return math.log(self.arm) - math.log(self.base)


@dataclass(frozen=True)
class Running:
    """The interval as it stood after `round`, and the ratio then."""

    round: int
    ratio: float
    low: float
    high: float


@dataclass(frozen=True)
class Arm:
    """One arm: how it is made, and what was concluded (None: nothing yet)."""

    name: str
    kind: str
    options: list[str]
    verdict: Verdict | None


@dataclass
class Trial:
    """What a file of `okosu try` holds, with its records by stage, arm and metric."""

    file: TryFile
    arms: list[Arm] = field(default_factory=list)
    records: dict[tuple[str, str, str], Record] = field(default_factory=dict)

    @property
    def alpha(self) -> float:
        """The level of the intervals' errors."""
        return self.file.plan.options.alpha

    @property
    def delta(self) -> float:
        """The smallest effect of interest, as a share."""
        return self.file.plan.options.min_effect

    @property
    def metric(self) -> str:
        """The metric of the records that the verdicts were read from."""
        asked = self.file.plan.options.metric
        return "judged" if asked == "regex" else asked

    @property
    def k(self) -> int:
        """The number of arms that share the intervals' error."""
        return max(1, self.file.plan.k)

    def kind(self, arm: str) -> str:
        """The kind of an arm; "" for one that the trial does not have."""
        return next((one.kind for one in self.arms if one.name == arm), "")

    def samples(self, arm: str, metric: str) -> dict[Place, float]:
        """The samples of the rounds by their places."""
        record = self.records.get(("rounds", arm, metric))
        return {} if record is None else dict(zip(record.places(), record.samples, strict=True))

    def pairs(self, arm: str) -> list[Pair]:
        """The rounds in which both the arm and base gave a value that has a ratio, in order."""
        base, mine = self.samples(BASE, self.metric), self.samples(arm, self.metric)
        run = {place for at, name, metric in self.records if (at, metric) == ("rounds", self.metric)
               for place in self.samples(name, metric)}  # fmt: skip
        index = {place: number for number, place in enumerate(sorted(run), 1)}
        both = [(index[place], mine[place], base[place]) for place in sorted(mine) if place in base]
        return [Pair(number, a, b) for number, a, b in both if sane(a) and sane(b)]

    def rounds(self) -> int:
        """How often base ran in the rounds; for a file without base's records, the largest number of rounds of any
        verdict.
        """
        told = [verdict.rounds for verdict in self.file.verdicts]
        return len(self.samples(BASE, self.metric)) or max(told, default=0)

    def by_predecessor(self) -> dict[str, list[float]]:
        """Base's samples in the rounds by the arm that ran just before, in the order of the arms."""
        record = self.records.get(("rounds", BASE, self.metric))
        found: dict[str, list[float]] = {arm.name: [] for arm in self.arms}
        if record is not None:
            for before, value in zip(record.predecessor, record.samples, strict=False):
                if before:
                    found.setdefault(before, []).append(value)
        return {name: values for name, values in found.items() if values}


def sane(value: float) -> bool:
    """Say whether a value is positive and of a plausible size; others are neither compared nor drawn."""
    return 1e-12 < value < 1e15


def running(pairs: list[Pair], k: int, alpha: float) -> list[Running]:
    """The interval after each round that has one; of very many rounds, an even selection that includes the last."""
    step = max(1, len(pairs) // _RUNNING_POINTS)
    found = []
    for n in range(1, len(pairs) + 1):
        if n % step and n != len(pairs):
            continue
        xs = [pair.x for pair in pairs[:n]]
        if limits := interval(xs, k, alpha):
            found.append(Running(pairs[n - 1].round, math.exp(median(xs)), *limits))
    return found


def load(file: TryFile) -> Trial:
    """The trial that a file holds, its arms in the order of the plan, then of the verdicts and records."""
    trial = Trial(file, records={(record.stage, record.arm, record.metric): record for record in file.records})
    verdicts = {verdict.arm: verdict for verdict in file.verdicts}
    planned = {arm.name: arm for arm in file.plan.arms}
    measured = {record.arm: "user" if record.variant else "lever" for record in file.records}
    for name in {**planned, **verdicts, **measured}:
        judged = verdicts.get(name)
        if name in planned:
            arm = Arm(name, planned[name].kind, planned[name].options, judged)
        else:
            kind = name if name in (BASE, PLACEBO) else measured.get(name, "lever")
            arm = Arm(name, kind, judged.options if judged else [], judged)
        trial.arms.append(arm)
    trial.arms.sort(key=lambda arm: arm.name != BASE)
    return trial
