# SPDX-License-Identifier: Apache-2.0
"""One trial as the report sees it: arms with their samples by round, paired with base. Tolerates what is missing."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from okosu.records.types import Envelope, Record, Verdict
from okosu.stats.eprocess import bounds

BASE = "base"
STAGES = ("screening", "confirmation")
EXPLAINING = ("cpu", "rss", "minflt", "nvcsw", "nivcsw")
_RUNNING_POINTS = 150


@dataclass(frozen=True)
class Pair:
    """One round in which an arm and base both ran: values in the metric's unit, x = ln arm - ln base."""

    round: int
    arm: float
    base: float

    @property
    def x(self) -> float:
        """Return the log-ratio."""
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
    """What a records file says, with every field that is missing or of another type replaced by something harmless."""

    envelope: Envelope
    arms: list[Arm] = field(default_factory=list)
    records: dict[tuple[str, str, str], Record] = field(default_factory=dict)

    @property
    def plan(self) -> dict[str, Any]:
        """Return the plan as it was stored."""
        return self.envelope.plan

    @property
    def options(self) -> dict[str, Any]:
        """Return what the user asked for; in files of `okosu try` it lies in the plan, flat or as `options`."""
        nested = self.plan.get("options")
        return nested if isinstance(nested, dict) else self.plan

    @property
    def command(self) -> list[str]:
        """Return the program and its arguments; [] if no record and no plan names them."""
        words = self.plan.get("command")
        if isinstance(words, list) and words:
            return [str(word) for word in words]
        return [record.subject for record in self.envelope.records[:1] if record.subject]

    @property
    def alpha(self) -> float:
        """Return the level of the intervals' errors, 0.05 where the plan has none that makes sense."""
        return number(self.plan, "alpha", 0.05, 0.0, 1.0)

    @property
    def delta(self) -> float:
        """Return the smallest effect of interest, as a share."""
        return number(self.plan, "min_effect", 0.01, -1e-12, 1.0)

    @property
    def metric(self) -> str:
        """Return the metric of the records that the verdicts were read from."""
        there = {record.metric for record in self.envelope.records}
        for name in ("judged", str(self.plan.get("metric", "wall")), "wall"):
            if name in there:
                return name
        others = sorted(there - set(EXPLAINING))
        return others[0] if others else "wall"

    def comparisons(self, stage: str) -> int:
        """Return K, the number of arms that share the interval's error in that stage."""
        if stage == "confirmation":
            return max(1, len({name for at, name, _ in self.records if at == stage and name != BASE}))
        counted = sum(arm.kind in ("lever", "user") for arm in self.arms)
        return int(number(self.plan, "k", max(1, counted), 0.0, math.inf))

    def samples(self, stage: str, arm: str, metric: str) -> dict[int, float]:
        """Return the samples by the round's stored number."""
        record = self.records.get((stage, arm, metric))
        if record is None:
            return {}
        numbers = record.rounds or list(range(len(record.samples)))
        return dict(zip(numbers, record.samples, strict=True))

    def round_index(self, stage: str) -> dict[int, int]:
        """Return 1, 2, … for the stored numbers of the rounds of a stage, which may have gaps."""
        numbers = set(self.samples(stage, BASE, self.metric))
        for at, name, metric in self.records:
            if at == stage and metric == self.metric:
                numbers.update(self.samples(stage, name, metric))
        return {stored: index for index, stored in enumerate(sorted(numbers), 1)}

    def pairs(self, stage: str, arm: str) -> list[Pair]:
        """Return the rounds in which both the arm and base gave a value that has a ratio, in order."""
        index = self.round_index(stage)
        base = self.samples(stage, BASE, self.metric)
        mine = self.samples(stage, arm, self.metric)
        both = [(index[n], mine[n], base[n]) for n in sorted(mine) if n in base]
        return [Pair(i, a, b) for i, a, b in both if sane(a) and sane(b)]

    def rounds(self) -> int:
        """Return how many rounds base has run, over both stages."""
        return sum(len(self.samples(stage, BASE, self.metric)) for stage in STAGES)

    def by_predecessor(self) -> dict[str, list[float]]:
        """Return base's screening samples by the arm that ran just before, in the order of the arms."""
        record = self.records.get(("screening", BASE, self.metric))
        found: dict[str, list[float]] = {arm.name: [] for arm in self.arms}
        if record is not None:
            for before, value in zip(record.predecessor, record.samples, strict=False):
                if before:
                    found.setdefault(before, []).append(value)
        return {name: values for name, values in found.items() if values}


def sane(value: float) -> bool:
    """Say whether a value is positive and of a size that is ever measured: only such are compared and drawn."""
    return 1e-12 < value < 1e15


def number(source: dict[str, Any], key: str, default: float, above: float, below: float) -> float:
    """Return source[key] if it is a number in the open range, else the default."""
    value = source.get(key)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and above < value < below:
        return float(value)
    return float(default)


def running(pairs: list[Pair], k: int, alpha: float) -> list[Running]:
    """Return the interval after each round that has one (of very many rounds, an even choice with the last)."""
    step = max(1, len(pairs) // _RUNNING_POINTS)
    found = []
    for n in range(1, len(pairs) + 1):
        if n % step and n != len(pairs):
            continue
        xs = sorted(pair.x for pair in pairs[:n])
        limits = bounds(xs, k, alpha)
        if limits is not None:
            found.append(Running(pairs[n - 1].round, math.exp(median(xs)), math.exp(limits[0]), math.exp(limits[1])))
    return found


def load(envelope: Envelope) -> Trial:
    """Return the trial that an envelope holds, its arms in the order of the plan, then of the verdicts and records."""
    trial = Trial(envelope)
    kinds: dict[str, str] = {}
    options: dict[str, list[str]] = {}
    listed = envelope.plan.get("arms")
    for item in listed if isinstance(listed, list) else []:
        if isinstance(item, dict) and isinstance(item.get("name"), str):
            kinds[item["name"]] = str(item.get("kind", "lever"))
            made = item.get("options")
            options[item["name"]] = [str(option) for option in made] if isinstance(made, list) else []
    verdicts = {verdict.arm: verdict for verdict in envelope.verdicts}
    for verdict in envelope.verdicts:
        kinds.setdefault(verdict.arm, verdict.arm if verdict.arm in (BASE, "placebo") else "lever")
    for record in envelope.records:
        name = record.lever or record.variant
        fallback = name if name in (BASE, "placebo") else "user" if record.variant else "lever"
        kinds.setdefault(name, fallback)
        trial.records[record.stage, name, record.metric] = record
    for name, kind in kinds.items():
        judged = verdicts.get(name)
        made = options.get(name) or (judged.options if judged else [])
        trial.arms.append(Arm(name, kind, made, judged))
    trial.arms.sort(key=lambda arm: arm.name != BASE)
    return trial
