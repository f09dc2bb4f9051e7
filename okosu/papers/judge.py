# SPDX-License-Identifier: Apache-2.0
"""Whether a target holds.

A floor ("never below", "parity") fails only where the 95 % interval, corrected (Bonferroni) over all points of its
sweep, lies wholly below it, and does so again in a fresh process. An at-least holds when the median reaches it at every
point. Both print the point where it is worst.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from statistics import median

from okosu.papers.base import Target
from okosu.papers.points import Found, Sides
from okosu.records.types import Claim
from okosu.stats import paired

ALPHA = 0.05
PARTS = 3
"""A target that is to be held over time must be reached in each so-manieth part of the rounds."""


@dataclass(frozen=True)
class Judged:
    """One point: the ratio that the target bounds, and its interval (null where the rounds are too few for one)."""

    sides: Sides
    ratio: float
    interval: tuple[float, float] | None
    weakest: float
    """The lowest of what must reach the target here: the ratio, or that of a part of the rounds."""

    def below(self, value: float) -> bool:
        """Say whether the interval lies wholly below."""
        return self.interval is not None and self.interval[1] < value


def judge(target: Target, sides: Sequence[Sides], of: int | None = None) -> list[Judged]:
    """Return each point's ratio with the interval corrected over all of them, or over the `of` that they are from."""
    judged = (_point(target, each, ALPHA / (of or len(sides))) for each in sides)
    return [one for one in judged if one is not None]


def _point(target: Target, sides: Sides, alpha: float) -> Judged | None:
    both = sorted(sides.ours.keys() & sides.theirs.keys())
    if not both:
        return None
    ours, theirs = [sides.ours[n] for n in both], [sides.theirs[n] for n in both]
    found = paired.ratio(theirs, ours, both, both, alpha)
    weakest = found.median
    if target.held:
        each = [t / o for t, o in zip(theirs, ours, strict=True)]
        size = math.ceil(len(each) / PARTS)
        weakest = min(median(each[i : i + size]) for i in range(0, len(each), size))
    return Judged(sides, found.median, (found.low, found.high) if found.bounded else None, weakest)


def failing(target: Target, judged: Sequence[Judged]) -> list[Judged]:
    """Return the points at which a floor is to be measured again."""
    return [one for one in judged if one.below(target.value)] if target.kind == "floor" else []


def conclude(
    target: Target, found: Found, judged: Sequence[Judged], again: Collection[Judged] | None, source: str
) -> Claim:
    """Return the claim. `again` are the failing points as measured in a fresh process (null: they were not)."""
    if not judged:
        return _claim(target, source, None, None, "; ".join(found.lacking))
    worst = min(judged, key=lambda one: one.weakest)
    notes = [_where(judged, worst)]
    holds: bool | None
    if target.kind == "at-least":
        holds = worst.weakest >= target.value
        missed = [one for one in judged if one.weakest < target.value]
        if missed and len(judged) > 1:
            notes.append(f"missed at {_several(missed)}")
        if target.held:
            notes.append(f"lowest median of {PARTS} parts of the rounds")
    else:
        holds = _floor(target, judged, again, notes)
        if not holds and again:
            # What is quoted of a floor that failed is where it failed twice, as measured the second time.
            worst = min([one for one in again if one.below(target.value)], key=lambda one: one.weakest, default=worst)
            notes[0] = _where(judged, worst)
    if found.lacking:
        notes.append("; ".join(found.lacking))
    if lost := len(found.sides) - len(judged):
        notes.append(f"{lost} more points have no round that holds both sides: their batches were disturbed")
    return _claim(target, source, worst, holds, ". ".join(notes))


def _floor(target: Target, judged: Sequence[Judged], again: Collection[Judged] | None, notes: list[str]) -> bool | None:
    below = failing(target, judged)
    if not below:
        # Every interval holds the median: where that is not below, more rounds could not make the floor fail.
        without = [one for one in judged if one.interval is None and one.ratio < target.value]
        if without:
            needed = paired.fewest_rounds(ALPHA / len(judged))
            notes.append(f"not decided at {_several(without)}: {len(judged)} points need {needed} rounds each")
            return None
        return True
    if again is None:
        notes.append(f"below at {_several(below)}; not measured again")
        return None
    twice = [one for one in again if one.below(target.value)]
    if not twice:
        notes.append(f"below once at {_several(below)}, and not again in a fresh process")
        return True
    notes.append(f"below, and again in a fresh process, at {_several(twice)}")
    return False


def _where(judged: Sequence[Judged], worst: Judged) -> str:
    at = f"{worst.sides.label} against {worst.sides.against}" if worst.sides.against else worst.sides.label
    if len(judged) == 1:
        return at
    return f"worst of {len(judged)} points: {at}; median point {median(one.ratio for one in judged):.3g}"


def _several(points: Sequence[Judged], most: int = 4) -> str:
    said = [f"{one.sides.label} ({one.weakest:.3g})" for one in sorted(points, key=lambda one: one.weakest)]
    more = f" and {len(said) - most} more" if len(said) > most else ""
    return ", ".join(said[:most]) + more


def _claim(target: Target, source: str, worst: Judged | None, holds: bool | None, note: str) -> Claim:
    return Claim(
        id=target.id,
        text=target.text,
        kind="floor" if target.kind == "floor" else "at least",
        source=source,
        target=target.value,
        measured=worst.weakest if worst else None,
        interval=worst.interval if worst else None,
        unit=target.unit,
        holds=holds,
        note=note,
    )
