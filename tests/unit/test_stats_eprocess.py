# SPDX-License-Identifier: Apache-2.0
"""The e-process against oracles: the mixture itself, factorials, exact counts of paths, a brute-force inversion."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise
from math import factorial, isclose

import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st

from okosu.stats import eprocess

MOST = 60
LIMITS = {k: eprocess.threshold(k, 0.05) for k in range(1, 9)}
counts = st.integers(0, 200).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))


def by_factorials(n: int, s: int) -> Fraction:
    """E(n, s) by the factorials of docs/METHOD.md, independent of okosu's binomial."""
    even = Fraction(2**n * factorial(s) * factorial(n - s), factorial(n + 1))
    always, never = (2**n if s == n else 0), (2**n if s == 0 else 0)
    return even / 2 + Fraction(always, 4) + Fraction(never, 4)


@given(counts)
def test_evidence_is_the_formula_in_factorials(case: tuple[int, int]) -> None:
    assert eprocess.evidence(*case) == by_factorials(*case)


@given(counts)
def test_evidence_is_the_mixture_of_beta_and_two_points(case: tuple[int, int]) -> None:
    n, s = case
    mixture = 2.0**n * (oracle.special.beta(s + 1, n - s + 1) / 2 + ((s == n) + (s == 0)) / 4)
    assert isclose(eprocess.evidence(n, s), mixture, rel_tol=1e-9)


@pytest.mark.parametrize(("n", "s"), [(0, 0), (1, 0), (5, 2), (8, 0), (20, 13), (40, 40)])
def test_evidence_is_the_mean_likelihood_ratio(n: int, s: int) -> None:
    def likelihood_ratio(p: float) -> float:
        return float((2 * p) ** s * (2 * (1 - p)) ** (n - s))

    value, error = oracle.integrate.quad(likelihood_ratio, 0, 1)
    assert error < 1e-4 * value
    mean = value / 2 + likelihood_ratio(0) / 4 + likelihood_ratio(1) / 4
    assert isclose(eprocess.evidence(n, s), mean, rel_tol=1e-6)


@given(counts)
def test_a_fair_sign_leaves_the_expected_evidence_unchanged(case: tuple[int, int]) -> None:
    n, s = case
    after = (eprocess.evidence(n + 1, s) + eprocess.evidence(n + 1, s + 1)) / 2
    assert after == eprocess.evidence(n, s)


@given(counts)
def test_evidence_has_no_side(case: tuple[int, int]) -> None:
    n, s = case
    assert eprocess.evidence(n, s) == eprocess.evidence(n, n - s)


def test_evidence_falls_towards_the_middle() -> None:
    # The interval is one piece, and its rank can be found by bisection, because of this.
    for n in range(150):
        half = [eprocess.evidence(n, s) for s in range(n // 2 + 1)]
        assert all(a > b for a, b in pairwise(half))


def test_dropping_a_tie_from_the_smaller_side_never_lowers_the_evidence() -> None:
    # The interval counts a value at its end as one below it; the test drops it. So the test rejects what the interval
    # excludes, whatever is tied.
    for n in range(1, 150):
        for s in range(1, (n + 1) // 2 + 1):
            assert eprocess.evidence(n - 1, s - 1) >= eprocess.evidence(n, s)


def crossing(decides: Callable[[int, int], bool], most: int) -> Fraction:
    """The exact probability that s of n fair signs decide at some n <= most, by counting all paths."""
    alive, crossed = {0: 1}, Fraction(0)
    for n in range(1, most + 1):
        step: dict[int, int] = {}
        for s, paths in alive.items():
            for to in (s, s + 1):
                step[to] = step.get(to, 0) + paths
        alive = {s: paths for s, paths in step.items() if not decides(n, s)}
        crossed += Fraction(sum(step.values()) - sum(alive.values()), 2**n)
    return crossed


@pytest.mark.parametrize("k", LIMITS)
def test_ville_by_counting_every_path(k: int) -> None:
    probability = crossing(lambda n, s: eprocess.evidence(n, s) >= LIMITS[k], MOST)
    assert 0 < probability <= 1 / LIMITS[k]


def test_peeking_at_the_plain_sign_test_is_not_valid() -> None:
    # The same count exposes the rejected method, so it would expose a fault of this one too.
    p = [2 * oracle.stats.binom.cdf(range(n // 2 + 1), n, 0.5) for n in range(MOST + 1)]
    assert crossing(lambda n, s: p[n][min(s, n - s)] <= 0.05, MOST) > Fraction(15, 100)


@pytest.mark.parametrize("k", LIMITS)
def test_rank_is_where_the_evidence_first_falls_below_the_threshold(k: int) -> None:
    for n in range(1, 150):
        below = [s for s in range(n + 1) if by_factorials(n, s) < LIMITS[k]]
        r = eprocess.rank(n, LIMITS[k])
        assert r == min(below)
        assert n - r == max(below)


def test_fewest_rounds_is_the_first_with_an_interval() -> None:
    assert [eprocess.fewest_rounds(k, 0.05) for k in range(1, 9)] == [6, 7, 8, 9, 9, 9, 9, 10]
    for k in range(1, 9):
        n = eprocess.fewest_rounds(k, 0.05)
        assert eprocess.bounds([0.0] * n, k, 0.05) is not None
        assert eprocess.bounds([0.0] * (n - 1), k, 0.05) is None


@given(st.integers(1, 50), st.integers(1, 999))
def test_threshold_takes_alpha_as_it_is_written(k: int, thousandths: int) -> None:
    assert eprocess.threshold(k, thousandths / 1000) == Fraction(1000 * k, thousandths)


def rejected(values: list[float], t: float, limit: Fraction) -> bool:
    """Say whether the test rejects t: signs of x - t, ties dropped."""
    below, above = sum(x < t for x in values), sum(x > t for x in values)
    return by_factorials(below + above, below) >= limit


def between(values: list[float]) -> Iterator[float]:
    """Yield a point in every gap between the values, and one beyond either end."""
    distinct = sorted(set(values))
    yield distinct[0] - 1
    yield from ((a + b) / 2 for a, b in pairwise(distinct))
    yield distinct[-1] + 1


values_with_ties = st.lists(st.integers(-15, 15).map(float), min_size=1, max_size=45)


@given(values_with_ties, st.integers(1, 8))
def test_the_interval_is_the_inversion_of_the_test(values: list[float], k: int) -> None:
    found = eprocess.bounds(sorted(values), k, 0.05)
    low, high = found or (float("-inf"), float("inf"))
    for t in between(values):
        assert (low < t < high) == (not rejected(values, t, LIMITS[k]))
    # At one of the values the test has fewer signs, and the closed interval contains at least what it does not reject.
    for t in values:
        if not rejected(values, t, LIMITS[k]):
            assert low <= t <= high


@given(values_with_ties, st.integers(1, 7))
def test_more_arms_never_narrow_the_interval(values: list[float], k: int) -> None:
    few, many = (eprocess.bounds(sorted(values), m, 0.05) for m in (k, k + 1))
    if many is not None:
        assert few is not None
        assert many[0] <= few[0] <= few[1] <= many[1]


def excludes_zero(losses: int, total: int, k: int) -> bool:
    found = eprocess.bounds([-1.0] * (total - losses) + [1.0] * losses, k, 0.05)
    return found is not None and found[1] < 0


def replayed(n: int, wins: int, k: int, most: int) -> int | None:
    """When an arm decides that keeps losing at the same rate, found by running the interval itself round by round."""
    losses = min(wins, n - wins)
    for total in range(n, most + 1):
        lost = next(count for count in range(total + 1) if count * n >= losses * total)
        if excludes_zero(lost, total, k):
            return total
    return None


@given(st.integers(1, 40).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))), st.sampled_from([1, 3, 8]))
def test_the_forecast_is_the_replay_of_the_present_share(case: tuple[int, int], k: int) -> None:
    n, wins = case
    assert eprocess.rounds_needed(n, wins, k, 0.05, 90) == replayed(n, wins, k, 90)
