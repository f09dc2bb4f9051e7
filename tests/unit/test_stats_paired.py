# SPDX-License-Identifier: Apache-2.0
"""The paired interval of a microbenchmark: against scipy's binomial, and its coverage under drift and spikes."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise
from math import exp, inf
from statistics import median

import oracle
import pytest
from effort import length
from hypothesis import given
from hypothesis import strategies as st

from okosu.stats import paired
from okosu.stats.rate import clopper_pearson

positive = st.floats(1e-6, 1e6)
REPLICATIONS = length(800, 4000)
levels = st.integers(1, 999).map(lambda thousandths: thousandths / 1000)


@pytest.mark.parametrize("alpha", [0.05, 0.01, 0.05 / 51, 0.05 / 819, 0.3])
def test_the_rank_is_the_last_whose_tails_fit_the_level(alpha: float) -> None:
    for n in range(1, 120):
        tails = 2 * oracle.stats.binom.cdf(range(n // 2), n, 0.5)
        fits = [k for k, tail in enumerate(tails, 1) if tail <= alpha * (1 + 1e-12)]
        assert paired.rank(n, paired.level(alpha)) == max(fits, default=0)


@given(st.lists(st.tuples(positive, positive), min_size=1, max_size=40), levels, st.randoms())
def test_the_interval_is_what_the_sign_test_does_not_reject(
    samples: list[tuple[float, float]], alpha: float, rng: random.Random
) -> None:
    ratios = [a / b for a, b in samples]
    order = list(range(len(samples)))
    rng.shuffle(order)
    found = paired.ratio([samples[i][0] for i in order], [b for _, b in samples], order, range(len(samples)), alpha)
    assert found.pairs == len(samples)
    assert found.median == pytest.approx(median(ratios))
    assert found.low <= found.median <= found.high
    # A point in a gap between the ratios is inside the interval exactly where the sign test at that point accepts it.
    edges = sorted({*ratios, 0.0, max(ratios) * 3})
    for low, high in pairwise(edges):
        value = (low + high) / 2
        if low < value < high:
            below = sum(r < value for r in ratios)
            tail = Fraction(1, 1) * sum(_ways(len(ratios), i) for i in range(min(below, len(ratios) - below) + 1))
            kept = 2 * tail / 2 ** len(ratios) > Fraction(str(alpha))
            assert (found.low <= value <= found.high) == kept


def _ways(n: int, k: int) -> int:
    """Count the subsets by Pascal's rule, without a function of the tested module."""
    row = [1]
    for _ in range(n):
        row = [1, *(a + b for a, b in pairwise(row)), 1]
    return row[k]


@given(st.lists(positive, min_size=6, max_size=30), st.floats(0.01, 100), levels)
def test_a_unit_changes_nothing_and_exchange_inverts(values: list[float], unit: float, alpha: float) -> None:
    ones = [1.0 + i % 3 for i in range(len(values))]
    numbers = range(len(values))
    plain = paired.ratio(values, ones, numbers, numbers, alpha)
    scaled = paired.ratio([v * unit for v in values], ones, numbers, numbers, alpha)
    turned = paired.ratio(ones, values, numbers, numbers, alpha)
    assert scaled.low == pytest.approx(plain.low * unit)
    assert turned.bounded == plain.bounded
    if plain.bounded:
        assert turned.low == pytest.approx(1 / plain.high)
        assert turned.high == pytest.approx(1 / plain.low)


def test_fewest_rounds_have_an_interval_and_one_less_has_none() -> None:
    for points in (1, 10, 51, 52, 300, 819, 820):
        n = paired.fewest_rounds(0.05 / points)
        numbers = range(n)
        assert paired.ratio([1.0] * n, [1.0] * n, numbers, numbers, 0.05 / points).bounded
        short = paired.ratio([1.0] * (n - 1), [1.0] * (n - 1), numbers[1:], numbers[1:], 0.05 / points)
        assert (short.low, short.high) == (0.0, inf)
    assert [paired.fewest_rounds(0.05 / points) for points in (1, 51, 52, 819, 820)] == [6, 11, 12, 15, 16]


def misses(replications: int, rounds: int, alpha: float, seed: int) -> int:
    """Count the runs whose interval excludes the true ratio; the core's speed drifts, and some batches are
    disturbed.
    """
    rng = random.Random(seed)
    truth, count = 1.07, 0
    for _ in range(replications):
        drift, a, b = 0.0, [], []
        for _ in range(rounds):
            drift = 0.9 * drift + rng.gauss(0, 0.02)
            pair = [drift + rng.gauss(0, 0.01) + (rng.expovariate(3) if rng.random() < 0.1 else 0) for _ in range(2)]
            a.append(truth * exp(pair[0]))
            b.append(exp(pair[1]))
        found = paired.ratio(a, b, range(rounds), range(rounds), alpha)
        count += not found.low <= truth <= found.high
    return count


@pytest.mark.parametrize(("rounds", "alpha"), [(11, 0.05), (15, 0.05), (15, 0.01), (40, 0.05)])
def test_coverage_by_simulation(rounds: int, alpha: float) -> None:
    hits = misses(REPLICATIONS, rounds, alpha, 20_26)
    low, high = clopper_pearson(hits, REPLICATIONS, 0.001)
    exact = 2 * oracle.stats.binom.cdf(paired.rank(rounds, paired.level(alpha)) - 1, rounds, 0.5)
    assert exact <= alpha
    assert low <= exact <= high


@pytest.mark.parametrize("bad", [0.0, -1.0, inf, float("nan")])
def test_what_has_no_ratio_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="not positive"):
        paired.ratio([1.0], [bad], [0], [0], 0.05)
    with pytest.raises(ValueError, match="no round has both"):
        paired.ratio([1.0], [1.0], [0], [1], 0.05)
    with pytest.raises(ValueError, match="twice"):
        paired.ratio([1.0, 1.0], [1.0], [1, 1], [1], 0.05)
