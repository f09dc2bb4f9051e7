# SPDX-License-Identifier: Apache-2.0
"""The anytime-valid sign test of `okosu try`: an e-process and the interval it inverts to (docs/METHOD.md, section 3).

E(n, s) = 2^n s! (n-s)! / (n+1)! is the Beta(1, 1) mixture of the sign test's likelihood ratios: under the null
hypothesis that each of n signs is fair, P(E >= 1/alpha at any n) <= alpha (Ville). Decisions are exact, in rationals.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from fractions import Fraction
from math import comb, lgamma, log


def evidence(n: int, s: int) -> Fraction:
    """E(n, s) for s of n signs on one side, 0 <= s <= n; E(0, 0) = 1. ValueError outside that range."""
    if not 0 <= s <= n:
        raise ValueError(f"s = {s} is not in 0..{n}")
    return Fraction(2**n, (n + 1) * comb(n, s))


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
    k = 0
    while 2 * k < n and evidence(n, k) >= limit:
        k += 1
    return k


def bounds(ordered: Sequence[float], k: int, alpha: float) -> tuple[float, float] | None:
    """The interval [x_(r), x_(n+1-r)] of the ascending values, for one of `k` arms; None if there are too few.

    It is the closure of {t : E(n, #{x < t}) < k/alpha}: valid at every n at once, never intersected over n.
    """
    r = rank(len(ordered), threshold(k, alpha))
    if r == 0:
        return None
    return ordered[r - 1], ordered[-r]


def fewest_rounds(k: int, alpha: float) -> int:
    """The smallest n that can decide one of `k` arms (at 5 %: 8, 9, 10, 10 for k = 1..4, and 11 for 5..8)."""
    limit = threshold(k, alpha)
    n = 1
    while rank(n, limit) == 0:
        n += 1
    return n


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
        if log_evidence(total, expected) >= log(limit):
            return total
    return None


def log_evidence(n: int, s: int) -> float:
    """ln E(n, s) in floating point, to about 1e-9. For forecasts only: decisions use the exact E."""
    return n * log(2) + lgamma(s + 1) + lgamma(n - s + 1) - lgamma(n + 2)
