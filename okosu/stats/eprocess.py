# SPDX-License-Identifier: Apache-2.0
"""The anytime-valid sign test of `okosu try`: an e-process and the interval it inverts to (docs/METHOD.md, section 3).

E(n, s) is a mixture of likelihood ratios of n signs, s of them on one side, against fair signs: half of it a chance of
that side drawn uniformly from [0, 1], a quarter each the two chances 0 and 1. If every sign is fair, then
P(E >= 1/alpha at any n) <= alpha (Ville). Decisions are exact, in rationals.
"""

from __future__ import annotations

import functools
from bisect import bisect_left
from collections.abc import Sequence
from fractions import Fraction
from math import comb, lgamma, log

ROUNDING = 1e-6
"""More than the error of log_evidence, which is about 1e-9."""


def evidence(n: int, s: int) -> Fraction:
    """E(n, s) for s of n signs on one side, 0 <= s <= n; E(0, 0) = 1. ValueError outside that range."""
    if not 0 <= s <= n:
        raise ValueError(f"s = {s} is not in 0..{n}")
    unanimous = [0, n].count(s)
    return Fraction(2**n) * (Fraction(1, 2 * (n + 1) * comb(n, s)) + Fraction(unanimous, 4))


def threshold(k: int, alpha: float) -> Fraction:
    """K/alpha, the evidence that decides one of `k` >= 1 comparisons; 0 < alpha < 1 is taken as the decimal it prints
    as.
    """
    if k < 1 or not 0 < alpha < 1:
        raise ValueError(f"k = {k}, alpha = {alpha}")
    return Fraction(k) / Fraction(str(alpha))


@functools.cache
def rank(n: int, limit: Fraction) -> int:
    """The largest k with E(n, k-1) >= limit: the interval is [x_(k), x_(n+1-k)]. 0 where there is none."""
    # E(n, s) falls as s grows towards n/2, and no s beyond may count: the two ends of the interval would cross.
    return bisect_left(range((n + 1) // 2), True, key=lambda s: evidence(n, s) < limit)


def bounds(ordered: Sequence[float], k: int, alpha: float) -> tuple[float, float] | None:
    """The interval [x_(r), x_(n+1-r)] of the ascending values, for one of `k` arms; None if there are too few.

    It is the closure of {t : E(n, #{x < t}) < k/alpha}: valid at every n at once, never intersected over n.
    """
    r = rank(len(ordered), threshold(k, alpha))
    if r == 0:
        return None
    return ordered[r - 1], ordered[-r]


@functools.cache
def fewest_rounds(k: int, alpha: float) -> int:
    """The smallest n that can decide one of `k` arms (at 5 %: 6, 7, 8, 9 for k = 1..4, 9 for 5..7, and 10 for 8)."""
    limit = threshold(k, alpha)
    n = 1
    while rank(n, limit) == 0:
        n += 1
    return n


@functools.cache
def rounds_needed(n: int, wins: int, k: int, alpha: float, most: int) -> int | None:
    """The total rounds at which an arm decides if it goes on winning `wins` of `n`; None beyond `most` rounds.

    The losing side's expected count is rounded up, so that the forecast is rather too late than too early.
    """
    if n < 1:
        return None
    limit = threshold(k, alpha)
    losses = min(wins, n - wins)
    for total in range(n, most + 1):
        expected = -(-losses * total // n)
        # Exact binomials for thousands of rounds take seconds, and a forecast decides nothing, so logarithms suffice.
        # Evidence that equals the threshold counts as having reached it.
        if log_evidence(total, expected) >= log(limit) - ROUNDING:
            return total
    return None


def log_evidence(n: int, s: int) -> float:
    """ln E(n, s) in floating point, to about 1e-9. For forecasts only: decisions use the exact E."""
    if unanimous := [0, n].count(s):
        return n * log(2) + log(1 / (2 * n + 2) + unanimous / 4)
    return (n - 1) * log(2) + lgamma(s + 1) + lgamma(n - s + 1) - lgamma(n + 2)
