# SPDX-License-Identifier: Apache-2.0
"""An exact interval for a rate, for where okosu reports how often something happened in a number of trials."""

from __future__ import annotations

from math import comb, exp, fsum, lgamma, log, log1p


def _tail(hits: int, trials: int, p: float) -> float:
    """P(at least `hits` of `trials`), 0 < p < 1; in logarithms, because binomial coefficients overflow from 1030 trials
    on.
    """

    def term(i: int) -> float:
        ways = lgamma(trials + 1) - lgamma(i + 1) - lgamma(trials - i + 1)
        return exp(ways + i * log(p) + (trials - i) * log1p(-p))

    return fsum(term(i) for i in range(hits, trials + 1))


def _lower(hits: int, trials: int, tail: float) -> float:
    """The rate at which at least `hits` have probability `tail`, by bisection down to neighbouring floats."""
    if hits == 0:
        return 0.0
    low, high = 0.0, 1.0
    while low < (middle := (low + high) / 2) < high:
        if _tail(hits, trials, middle) < tail:
            low = middle
        else:
            high = middle
    return high


def clopper_pearson(hits: int, trials: int, alpha: float = 0.05) -> tuple[float, float]:
    """The exact (Clopper-Pearson 1934) interval of a rate at level 1 - alpha; 0 <= hits <= trials, trials >= 1."""
    if not 0 <= hits <= trials or trials < 1:
        raise ValueError(f"{hits} of {trials}")
    return _lower(hits, trials, alpha / 2), 1 - _lower(trials - hits, trials, alpha / 2)


def fewer_by_chance(hits: int, trials: int, other_hits: int, other_trials: int) -> float:
    """Fisher's exact test, one-sided: the probability of at most `hits` of `trials`, given both totals, if both rates
    are equal. 0 <= hits <= trials, and likewise for the others.
    """
    if not (0 <= hits <= trials and 0 <= other_hits <= other_trials):
        raise ValueError(f"{hits} of {trials}, {other_hits} of {other_trials}")
    both = hits + other_hits
    ways = sum(comb(trials, i) * comb(other_trials, both - i) for i in range(max(0, both - other_trials), hits + 1))
    return ways / comb(trials + other_trials, both)
