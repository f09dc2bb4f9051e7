# SPDX-License-Identifier: Apache-2.0
"""Whether a target holds.

A floor ("never below", "parity") is measured again wherever the median is below it, and fails where the 95 % interval
over fresh processes, corrected (Bonferroni) over the points that they measured, lies wholly below it. (Of a lab
experiment each round is a fresh boot or run already: there it is the interval over rounds, corrected over all points of
the sweep.) An at-least holds when the median reaches it at every point, an at-most, which bounds ours / theirs, when
the median does not exceed it at any; where that is missed or nearly missed in one process, the median over fresh
processes decides. Each prints the point where it is worst.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final, Literal

from okosu.records.types import Compared
from okosu.stats import paired
from papers.common.entries import Target
from papers.common.points import Found, Point, Sides

ALPHA = 0.05
NEAR = 1.1
"""A median that misses its target, or passes it by less than this factor, is measured again in fresh processes."""
PARTS = 3
"""A target with `held` must be reached in each third of the rounds."""
KINDS: Final[dict[str, Literal["floor", "at least", "at most"]]] = {
    "floor": "floor",
    "at-least": "at least",
    "at-most": "at most",
}
"""A target's kind in a record, by its kind in targets.toml."""


@dataclass(frozen=True)
class Judged:
    """One point: the ratio that the target bounds, and its interval (None where the rounds are too few)."""

    sides: Sides
    ratio: float
    interval: tuple[float, float] | None
    weakest: float
    """The number that must reach the target: the ratio, the interval's end (`certain`), or the worst third (`held`)."""

    def below(self, value: float) -> bool:
        """Say whether the interval lies wholly below."""
        return self.interval is not None and self.interval[1] < value


def judge(target: Target, sides: Sequence[Sides], of: int | None = None) -> list[Judged]:
    """Return each point's ratio and its interval, corrected over `of` points (None: over as many as `sides` has)."""
    judged = (_point(target, each, ALPHA / (of or len(sides))) for each in sides)
    return [one for one in judged if one is not None]


def _point(target: Target, sides: Sides, alpha: float) -> Judged | None:
    both = sorted(sides.ours.keys() & sides.theirs.keys())
    if not both:
        return None
    ours, theirs = [sides.ours[n] for n in both], [sides.theirs[n] for n in both]
    over, under = (ours, theirs) if target.kind == "at-most" else (theirs, ours)
    found = paired.ratio(over, under, both, both, alpha)
    weakest = found.median
    if target.certain and found.bounded and not sides.exact:
        weakest = found.high if target.kind == "at-most" else found.low
    if target.held:
        each = [a / b for a, b in zip(over, under, strict=True)]
        size = math.ceil(len(each) / PARTS)
        weakest = _worst(target, [median(each[i : i + size]) for i in range(0, len(each), size)])
    if sides.exact:
        return Judged(sides, found.median, (found.median, found.median), weakest)
    return Judged(sides, found.median, (found.low, found.high) if found.bounded else None, weakest)


def _worst(target: Target, values: Iterable[float]) -> float:
    return max(values) if target.kind == "at-most" else min(values)


def _misses(target: Target, one: Judged) -> bool:
    return one.weakest > target.value if target.kind == "at-most" else one.weakest < target.value


def _order(target: Target, points: Iterable[Judged]) -> list[Judged]:
    """Return the points, the worst first."""
    return sorted(points, key=lambda one: one.weakest, reverse=target.kind == "at-most")


@dataclass(frozen=True)
class Fresh:
    """The points in doubt as `count` fresh processes gave them: in the first alone, and over all."""

    first: Sequence[Judged]
    over: Sequence[Judged]
    count: int


def in_doubt(target: Target, judged: Sequence[Judged]) -> list[Judged]:
    """Return the points that one process does not decide: where a floor is missed, and the rest is or nearly is.

    So are those of an at-least or at-most that had no core to themselves. Targets with `held` or `certain` are decided
    by the rounds of one process. Rounds of the lab are fresh boots or runs already.
    """
    if target.experiment or target.held or target.certain:
        return []
    match target.kind:
        case "floor":
            return [one for one in judged if one.ratio < target.value]
        case "at-least":
            return [one for one in judged if one.weakest < target.value * NEAR or one.sides.crowded]
        case "at-most":
            return [one for one in judged if one.weakest > target.value / NEAR or one.sides.crowded]


def conclude(target: Target, found: Found, judged: Sequence[Judged], fresh: Fresh | None, source: str) -> Compared:
    """Return the target as judged. `fresh`: what fresh processes gave for the points in doubt (None: none were run)."""
    if not judged:
        return _compared(target, source, None, None, "; ".join(found.lacking))
    doubted = in_doubt(target, judged)
    over = {_key(one): one for one in fresh.over} if fresh else {}
    again = {_key(one) for one in doubted} & over.keys()
    final = [over[_key(one)] if _key(one) in again else one for one in judged]
    notes: list[str] = []
    crowded = [one for one in final if one.sides.crowded]
    if target.kind == "floor":
        holds, worst = _floor(target, judged, final, fresh, notes)
    else:
        # Beside a busy hyperthread a share of the limit says how many instructions a routine has.
        unclear = crowded if target.against.startswith("limit:") else []
        clear = [one for one in final if one not in unclear]
        missed = [one for one in clear if _misses(target, one)]
        holds, worst = None if unclear and not missed else not missed, _order(target, clear or final)[0]
        if unclear:
            notes.append(f"not judged at {_several(target, unclear)}, for which it takes a core of one's own")
        if target.certain and not missed and any(one.interval is None for one in final):
            holds = None
            notes.append(
                f"not decided: {len(final)} points need {paired.fewest_rounds(ALPHA / len(final))} rounds each"
            )
        if missed and len(judged) > 1:
            notes.append(f"missed at {_several(target, missed)}")
        if target.held:
            notes.append(f"worst median of {PARTS} parts of the rounds")
        if target.certain:
            notes.append(f"the end of the interval; median {worst.ratio:.3g}")
        if fresh and again:
            alone = [one for one in judged if _misses(target, one)]
            said = f"missed at {_several(target, alone)}" if alone else "held"
            notes.append(f"{len(again)} of them over {fresh.count} fresh processes; in one process alone: {said}")
    if crowded:
        notes.append(f"at {len(crowded)} points another hyperthread was busy in most rounds")
    if beside := sum(one.sides.beside for one in final):
        count = beside + sum(len(one.sides.ours.keys() & one.sides.theirs.keys()) for one in final)
        notes.append(f"{beside} of {count} pairs are left out, beside which another hyperthread was busy")
    if fresh and (lost := len(doubted) - len(again)):
        notes.append(f"{lost} points in doubt were not measured in fresh processes")
    if found.lacking:
        notes.append("; ".join(found.lacking))
    if lost := len(found.sides) - len(judged):
        notes.append(f"{lost} more points have no round that holds both sides: their batches were disturbed")
    return _compared(target, source, worst, holds, ". ".join([_where(final, worst), *notes]))


def _key(one: Judged) -> tuple[str, Point]:
    return one.sides.routine, one.sides.point


def _floor(
    target: Target, judged: Sequence[Judged], final: Sequence[Judged], fresh: Fresh | None, notes: list[str]
) -> tuple[bool | None, Judged]:
    """Return whether a floor holds, and the point to quote: of one that failed, where it failed."""
    worst = _order(target, final)[0]
    below = [one for one in judged if one.below(target.value)]
    # An interval contains its median, so a point whose median is not below could not fail with more rounds either.
    open_still = [one for one in final if one.interval is None and one.ratio < target.value]
    if target.experiment and below:
        notes.append(f"below at {_several(target, below)}")
        return False, worst
    if fresh is None or not fresh.over:
        if below:
            notes.append(f"below at {_several(target, below)}; not measured again")
        elif open_still:
            needed = paired.fewest_rounds(ALPHA / len(judged))
            notes.append(
                f"not decided at {_several(target, open_still)}: {len(judged)} points need {needed} rounds each"
            )
        return None if below or open_still else True, worst
    notes.append(f"{len(fresh.over)} of them over {fresh.count} fresh processes, which decide")
    notes.append(f"in one process {_still(target, below)}")
    once = [one for one in fresh.first if one.below(target.value)]
    notes.append(f"in a second one alone {_still(target, once)}")
    still = [one for one in fresh.over if one.below(target.value)]
    notes.append(f"over all {_still(target, still)}")
    if still:
        return False, _order(target, still)[0]
    if {_key(one) for one in below} - {_key(one) for one in fresh.over}:
        return None, worst
    if open_still:
        needed = paired.fewest_rounds(ALPHA / len(fresh.over))
        notes.append(f"not decided at {_several(target, open_still)}: {len(fresh.over)} points need {needed} processes")
        return None, worst
    return True, worst


def _still(target: Target, below: Sequence[Judged]) -> str:
    return f"below at {_several(target, below)}" if below else "not below"


def _where(judged: Sequence[Judged], worst: Judged) -> str:
    at = f"{worst.sides.label} against {worst.sides.against}" if worst.sides.against else worst.sides.label
    if len(judged) == 1:
        return at
    return f"worst of {len(judged)} points: {at}; median point {median(one.ratio for one in judged):.3g}"


def _several(target: Target, points: Iterable[Judged], most: int = 4) -> str:
    said = [f"{one.sides.label} ({one.weakest:.3g})" for one in _order(target, points)]
    more = f" and {len(said) - most} more" if len(said) > most else ""
    return ", ".join(said[:most]) + more


def _compared(target: Target, source: str, worst: Judged | None, holds: bool | None, note: str) -> Compared:
    return Compared(
        id=target.id,
        text=target.text,
        kind=KINDS[target.kind],
        source=source,
        target=target.value,
        measured=worst.weakest if worst else None,
        interval=worst.interval if worst else None,
        unit=target.unit,
        holds=holds,
        note=note,
    )
