# SPDX-License-Identifier: Apache-2.0
"""The ratio of two rows of a microbenchmark, paired by round, and its exact interval (docs/METHOD.md, section 10).

Each round runs both rows once in random order. The interval is the sign test's, between order statistics of the ratios:
exact for a number of rounds that was fixed before, as `okosu bench` fixes it, and not to be read while it runs.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb, inf, isfinite
from statistics import median


@dataclass(frozen=True)
class Interval:
    """The median of the ratios of `pairs` rounds, and its bounds: 0 and infinity where the rounds are too few."""

    median: float
    low: float
    high: float
    pairs: int

    @property
    def bounded(self) -> bool:
        """Say whether the rounds were enough to bound the ratio at the level that was asked for."""
        return isfinite(self.high)


@functools.cache
def rank(n: int, alpha: Fraction) -> int:
    """The largest k with 2 P(at most k-1 of n fair signs) <= alpha: the interval is [x_(k), x_(n+1-k)].

    0 where n is so small that even the extremes do not reach the level.
    """
    k, tail = 0, 1
    while 2 * k < n and 2 * tail <= alpha * 2**n:
        k += 1
        tail += comb(n, k)
    return k


def level(alpha: float) -> Fraction:
    """alpha as the decimal it is written as; ValueError unless 0 < alpha < 1."""
    if not 0 < alpha < 1:
        raise ValueError(f"alpha = {alpha}")
    return Fraction(str(alpha))


def fewest_rounds(alpha: float) -> int:
    """The smallest number of pairs that has an interval at this level: 6 at 5 %, 11 at 5 % over 51 points."""
    exact = level(alpha)
    n = 1
    while rank(n, exact) == 0:
        n += 1
    return n


def ratio(
    a: Sequence[float], b: Sequence[float], rounds_a: Sequence[int], rounds_b: Sequence[int], alpha: float
) -> Interval:
    """a / b over the rounds that both have; alpha is the level of this one comparison.

    All samples must be positive, no round may occur twice, and at least one must be common to both (ValueError
    otherwise). For many comparisons the caller divides alpha by their number.
    """
    exact = level(alpha)
    first, second = _by_round(a, rounds_a), _by_round(b, rounds_b)
    ratios = sorted(first[n] / second[n] for n in first if n in second)
    if not ratios:
        raise ValueError(f"no round has both: {rounds_a} and {rounds_b}")
    k = rank(len(ratios), exact)
    low, high = (ratios[k - 1], ratios[-k]) if k else (0.0, inf)
    return Interval(median(ratios), low, high, len(ratios))


def _by_round(samples: Sequence[float], rounds: Sequence[int]) -> dict[int, float]:
    found = dict(zip(rounds, samples, strict=True))
    if len(found) != len(samples):
        raise ValueError(f"a round is there twice: {rounds}")
    if any(sample <= 0 or not isfinite(sample) for sample in samples):
        raise ValueError(f"a sample is not positive: {samples}")
    return found
