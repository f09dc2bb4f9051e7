# SPDX-License-Identifier: Apache-2.0
"""The carry-over test and the interval of a rate, against scipy and against a permutation test of all splits."""

from __future__ import annotations

import random
from itertools import combinations
from math import comb, isclose

import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st

from okosu.stats import carry
from okosu.stats.rate import clopper_pearson, fewer_by_chance

distinct = st.lists(st.integers(-1000, 1000), min_size=4, max_size=14, unique=True)
coarse = st.lists(st.integers(0, 5).map(float), min_size=2, max_size=9)
long = st.lists(st.integers(0, 12).map(float), min_size=12, max_size=30)


@given(distinct, st.data())
def test_small_samples_are_exact(values: list[int], data: st.DataObject) -> None:
    cut = data.draw(st.integers(1, len(values) - 1))
    a, b = [float(v) for v in values[:cut]], [float(v) for v in values[cut:]]
    assert isclose(carry.rank_sum_p(a, b), oracle.stats.mannwhitneyu(a, b, method="exact").pvalue, rel_tol=1e-9)


@given(coarse, coarse)
def test_small_samples_with_ties_are_the_permutation_test(a: list[float], b: list[float]) -> None:
    pooled = oracle.stats.rankdata([*a, *b])
    centre = sum(pooled) * len(a) / len(pooled)
    seen = abs(sum(pooled[: len(a)]) - centre)
    splits = [abs(sum(split) - centre) for split in combinations(pooled, len(a))]
    assert len(splits) == comb(len(pooled), len(a))
    if len(splits) <= carry.SPLITS:
        assert isclose(carry.rank_sum_p(a, b), sum(d >= seen - 1e-9 for d in splits) / len(splits))


@given(long, long)
def test_large_samples_are_the_normal_approximation_with_ties(a: list[float], b: list[float]) -> None:
    if len({*a, *b}) > 1:
        expected = oracle.stats.mannwhitneyu(a, b, method="asymptotic", use_continuity=True).pvalue
        assert isclose(carry.rank_sum_p(a, b), expected, rel_tol=1e-9)


def test_both_ways_agree_where_they_meet() -> None:
    rng = random.Random(5)
    a = [rng.gauss(0, 1) for _ in range(8)]
    b = [rng.gauss(1, 1) for _ in range(8)]
    assert comb(16, 8) <= carry.SPLITS < comb(17, 8)
    assert carry.rank_sum_p(a, b) == pytest.approx(
        oracle.stats.mannwhitneyu(a, b, method="asymptotic").pvalue, rel=0.15
    )


@given(long, long)
def test_the_rank_sum_has_no_side_and_no_order(a: list[float], b: list[float]) -> None:
    p = carry.rank_sum_p(a, b)
    assert 0 < p <= 1
    assert isclose(carry.rank_sum_p(b, a), p, rel_tol=1e-9)
    assert isclose(carry.rank_sum_p(a[::-1], sorted(b)), p, rel_tol=1e-9)
    assert isclose(carry.rank_sum_p([-v for v in a], [-v for v in b]), p, rel_tol=1e-9)


def trial(slow_after: dict[str, float], seed: int, count: int = 60, arms: str = "abc") -> tuple[list[float], list[str]]:
    """Base's times with 0.5 % noise after arms in random order, slowed after the arms in `slow_after`."""
    rng = random.Random(seed)
    predecessors = [rng.choice(arms) for _ in range(count)]
    return [2 * slow_after.get(p, 1) * rng.lognormvariate(0, 0.005) for p in predecessors], predecessors


def test_a_planted_carry_over_is_found_and_measured() -> None:
    times, predecessors = trial({"b": 1.04}, 1)
    (found,) = carry.by_predecessor(times, predecessors, 0.01)
    assert (found.arm, found.runs) == ("b", predecessors.count("b"))
    assert found.ratio == pytest.approx(1.04, abs=0.005)
    until = len(predecessors) - predecessors[::-1].index("b")
    after = [t for t, p in zip(times, predecessors, strict=True) if p == "b"]
    other = [t for t, p in zip(times[:until], predecessors[:until], strict=True) if p != "b"]
    assert found.p == pytest.approx(oracle.stats.mannwhitneyu(after, other, method="asymptotic").pvalue)


def test_an_arm_that_speeds_up_the_next_run_is_found_too() -> None:
    (found,) = carry.by_predecessor(*trial({"c": 0.96}, 2), 0.01)
    assert found.arm == "c"
    assert found.ratio < 0.97


def test_a_difference_below_delta_is_none() -> None:
    assert carry.by_predecessor(*trial({"b": 1.04}, 1), 0.05) == []


def test_the_innocent_are_not_named_beside_the_guilty() -> None:
    # b is a third of the runs that a and d are each compared with, and pulls that median above their own.
    times, predecessors = trial({"b": 1.10, "c": 1.05}, 3, 120, "abcd")
    assert [f.arm for f in carry.by_predecessor(times, predecessors, 0.01)] == ["b", "c"]


def test_of_two_that_differ_both_are_named() -> None:
    times, predecessors = trial({"b": 1.04}, 4)
    kept = [(t, p) for t, p in zip(times, predecessors, strict=True) if p != "c"]
    found = carry.by_predecessor([t for t, _ in kept], [p for _, p in kept], 0.01)
    assert {f.arm for f in found} == {"a", "b"}


def test_an_arm_that_left_early_is_not_blamed_for_the_drift() -> None:
    # Base slows down by 10 % from then on. Compared with all later runs, a would seem to speed up the run after it.
    times, predecessors = trial({}, 6, 40)
    later, after = trial({"b": 1.1, "c": 1.1}, 7, 100)
    late = [(t, p) for t, p in zip(later, after, strict=True) if p != "a"]
    assert carry.by_predecessor(times + [t for t, _ in late], predecessors + [p for _, p in late], 0.01) == []


def test_flags_are_rare_where_nothing_is_carried_over() -> None:
    # delta = 0, so that only p decides. A rate of 5 % gives more than 28 of 300 once in a thousand.
    flagged = sum(bool(carry.by_predecessor(*trial({}, seed), 0.0)) for seed in range(300))
    assert flagged <= oracle.stats.binom.isf(1e-3, 300, 0.05)


def test_too_few_runs_say_nothing() -> None:
    seen = [(1.0, "a"), (2.0, "b"), (1.0, "a")] * 4
    assert [f.arm for f in carry.by_predecessor([t for t, _ in seen], [p for _, p in seen], 0.01)] == ["a", "b"]
    del seen[1]
    assert carry.by_predecessor([t for t, _ in seen], [p for _, p in seen], 0.01) == []
    assert carry.by_predecessor([1.0] * 20, ["a"] * 20, 0.01) == []
    assert carry.by_predecessor([], [], 0.01) == []


def test_the_first_run_has_no_predecessor_and_is_left_out() -> None:
    times, predecessors = trial({"b": 1.04}, 1)
    assert carry.by_predecessor([99.0, *times], ["", *predecessors], 0.01) == carry.by_predecessor(
        times, predecessors, 0.01
    )


rates = st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(rates, st.sampled_from([0.05, 0.01, 0.2]))
def test_the_interval_of_a_rate_is_scipys(case: tuple[int, int], alpha: float) -> None:
    hits, trials = case
    expected = oracle.stats.binomtest(hits, trials).proportion_ci(1 - alpha, "exact")
    low, high = clopper_pearson(hits, trials, alpha)
    assert low == pytest.approx(expected.low, rel=1e-8, abs=1e-12)
    assert high == pytest.approx(expected.high, rel=1e-8, abs=1e-12)


@pytest.mark.parametrize(("hits", "trials"), [(0, 3000), (70, 3000), (1500, 3000), (3000, 3000)])
def test_the_interval_of_a_rate_of_thousands(hits: int, trials: int) -> None:
    expected = oracle.stats.binomtest(hits, trials).proportion_ci(0.95, "exact")
    assert clopper_pearson(hits, trials) == pytest.approx((expected.low, expected.high), rel=1e-8)


@given(rates, rates)
def test_the_chance_of_so_few_is_scipys(one: tuple[int, int], other: tuple[int, int]) -> None:
    table = [[one[0], one[1] - one[0]], [other[0], other[1] - other[0]]]
    assert fewer_by_chance(*one, *other) == pytest.approx(oracle.stats.fisher_exact(table, "less").pvalue, rel=1e-7)
