# SPDX-License-Identifier: Apache-2.0
"""From paired log-ratios to a verdict. Pure functions of numbers; docs/METHOD.md section 4 states the rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log
from statistics import median

from okosu.stats import eprocess

FASTER, SLOWER, SAME, UNRESOLVED = "FASTER", "SLOWER", "SAME", "UNRESOLVED"
RESOLVED = frozenset({FASTER, SLOWER, SAME})


@dataclass(frozen=True)
class Judgement:
    """What n rounds say of one arm. `ratio` and `interval` are ratios t_arm / t_base; interval is None below the
    fewest rounds."""

    verdict: str
    ratio: float | None
    interval: tuple[float, float] | None
    rounds: int
    ties: int
    wins: int
    """Rounds in which the arm was faster."""
    held_by_placebo: bool = False
    """The arm beats base but is not yet told apart from the placebo."""


def log_ratios(arm: Sequence[float], base: Sequence[float]) -> list[float]:
    """ln(arm) - ln(base) of each round; all values positive, equal lengths (ValueError otherwise)."""
    return [log(a) - log(b) for a, b in zip(arm, base, strict=True)]


def interval(xs: Sequence[float], k: int, alpha: float) -> tuple[float, float] | None:
    """The anytime-valid interval of the ratio, from log-ratios in any order; None when there are too few."""
    found = eprocess.bounds(sorted(xs), k, alpha)
    return None if found is None else (exp(found[0]), exp(found[1]))


def direction(bounds: tuple[float, float] | None, delta: float) -> str:
    """The verdict that follows from the interval alone.

    SAME, tested first, if it lies inside [1 - delta, 1 + delta]; FASTER or SLOWER if it excludes 1; else UNRESOLVED.
    """
    if bounds is None:
        return UNRESOLVED
    low, high = bounds
    if low >= 1 - delta and high <= 1 + delta:
        return SAME
    if high < 1:
        return FASTER
    if low > 1:
        return SLOWER
    return UNRESOLVED


def judge(
    xs: Sequence[float], against_placebo: Sequence[float] | None, k: int, alpha: float, delta: float
) -> Judgement:
    """Judge one arm from its log-ratios to base.

    `against_placebo` holds its log-ratios to the placebo in the same rounds, for an arm that loads the preload library:
    such an arm is FASTER only if that interval, too, lies below 1. None for an arm that does not load it.
    """
    ties = sum(x == 0 for x in xs)
    wins = sum(x < 0 for x in xs)
    if not xs:
        return Judgement(UNRESOLVED, None, None, 0, 0, 0)
    bounds = interval(xs, k, alpha)
    verdict = direction(bounds, delta)
    held = False
    if verdict == FASTER and against_placebo is not None:
        other = interval(against_placebo, k, alpha)
        held = other is None or other[1] >= 1
        verdict = UNRESOLVED if held else FASTER
    return Judgement(verdict, exp(median(xs)), bounds, len(xs), ties, wins, held)


def ratio_of_sums(arm: Sequence[float], base: Sequence[float]) -> float | None:
    """sum(arm) / sum(base): the ratio of the total cost, outliers included. None for no rounds."""
    return sum(arm) / sum(base) if base else None
