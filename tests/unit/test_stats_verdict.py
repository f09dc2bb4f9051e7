# SPDX-License-Identifier: Apache-2.0
"""Verdicts: symmetries that any correct rule has, the precedence of SAME, ties, and the rule about the placebo."""

from __future__ import annotations

from fractions import Fraction
from math import exp, inf, isclose, log
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from okosu.stats import eprocess, verdict
from okosu.stats.verdict import FASTER, SAME, SLOWER, UNRESOLVED

ALPHA = 0.05
OPPOSITE = {FASTER: SLOWER, SLOWER: FASTER, SAME: SAME, UNRESOLVED: UNRESOLVED}

# Whole milliseconds: two different times then differ by more than the rounding of exp and log.
seconds = st.integers(1, 1_000_000).map(lambda ms: ms / 1000)
rounds = st.lists(st.tuples(seconds, seconds), max_size=40)
# Close times produce every verdict, including SAME; times far apart would nearly always stay unresolved.
close = st.builds(lambda side, ms: [(side + m / 1000, 1.0) for m in ms], st.sampled_from([0.9, 0.97, 1.0, 1.2]),
                  st.lists(st.integers(-12, 12), max_size=40))  # fmt: skip
pairs = st.one_of(rounds, close)


def judged(both: list[tuple[float, float]], delta: float = 0.01, k: int = 1) -> verdict.Judgement:
    return verdict.judge(verdict.log_ratios([a for a, _ in both], [b for _, b in both]), None, k, ALPHA, delta)


def same_interval(a: tuple[float, float] | None, b: tuple[float, float] | None) -> bool:
    if a is None or b is None:
        return a is b
    return isclose(a[0], b[0], rel_tol=1e-9) and isclose(a[1], b[1], rel_tol=1e-9)


@given(pairs, st.randoms(use_true_random=False))
def test_the_order_of_rounds_does_not_matter(both: list[tuple[float, float]], rng: object) -> None:
    shuffled = list(both)
    rng.shuffle(shuffled)  # type: ignore[attr-defined]
    assert judged(shuffled) == judged(both)


@given(pairs, st.integers(-20, 20))
def test_the_unit_of_time_does_not_matter(both: list[tuple[float, float]], power: int) -> None:
    scaled = [(a * 2.0**power, b * 2.0**power) for a, b in both]
    before, after = judged(both), judged(scaled)
    assert after.rounds == before.rounds
    assert same_interval(after.interval, before.interval)


@given(pairs)
def test_swapping_arm_and_base_inverts_the_answer(both: list[tuple[float, float]]) -> None:
    # With delta = 0, because +-delta is not symmetric under reciprocals (1.01 is inside, 1/0.99 is not).
    there, back = judged(both, 0.0), judged([(b, a) for a, b in both], 0.0)
    assert back.verdict == OPPOSITE[there.verdict]
    assert back.ties == there.ties
    assert there.wins + back.wins + there.ties == there.rounds == back.rounds == len(both)
    if there.interval is not None:
        assert same_interval(back.interval, (1 / there.interval[1], 1 / there.interval[0]))
    else:
        assert back.interval is None
    if there.ratio is not None and back.ratio is not None:
        assert isclose(there.ratio * back.ratio, 1, rel_tol=1e-9)


@given(pairs, st.sampled_from([0.5, 0.8, 1.25, 2.0]))
def test_a_constant_factor_moves_the_interval_by_that_factor(both: list[tuple[float, float]], factor: float) -> None:
    before, after = judged(both), judged([(a * factor, b) for a, b in both])
    if before.interval is None or after.interval is None:
        assert before.interval is after.interval
    else:
        assert same_interval(after.interval, (before.interval[0] * factor, before.interval[1] * factor))


@given(pairs, st.sampled_from([0.0, 0.01, 0.05]), st.sampled_from([1, 4, 8]))
def test_the_verdict_is_read_from_the_interval_alone(both: list[tuple[float, float]], delta: float, k: int) -> None:
    found = judged(both, delta, k)
    low, high = found.interval or (0.0, inf)
    inside = 1 - delta <= low and high <= 1 + delta
    expected = SAME if inside else FASTER if high < 1 else SLOWER if low > 1 else UNRESOLVED
    assert found.verdict == expected
    if found.ratio is not None:
        assert low <= found.ratio <= high


@given(pairs)
def test_an_arm_decided_against_one_is_decided_by_the_evidence(both: list[tuple[float, float]]) -> None:
    # The evidence drops ties; the interval keeps them on both sides, and is never narrower than the test.
    found = judged(both, 0.0)
    fair = found.rounds - found.ties
    evidence = eprocess.evidence(fair, found.wins)
    if found.verdict in (FASTER, SLOWER):
        assert evidence >= 1 / Fraction("0.05")
        assert found.verdict == (FASTER if 2 * found.wins > fair else SLOWER)
    elif found.ties == 0:
        assert evidence < 1 / Fraction("0.05")


@given(st.lists(seconds, min_size=1, max_size=30))
def test_identical_times_are_ties(times: list[float]) -> None:
    found = judged([(t, t) for t in times])
    assert (found.rounds, found.ties, found.wins, found.ratio) == (len(times), len(times), 0, 1.0)
    assert found.verdict == (SAME if len(times) >= 6 else UNRESOLVED)


def test_ties_keep_an_arm_undecided() -> None:
    decided = [-0.5] * 6
    assert verdict.judge(decided, None, 1, ALPHA, 0.01).verdict == FASTER
    # The signs alone, ties dropped, still decide; the closed interval ends at the tied value and so contains 1.
    assert eprocess.evidence(6, 6) >= 20
    found = verdict.judge([*decided, 0.0], None, 1, ALPHA, 0.01)
    assert (found.verdict, found.ties, found.wins, found.interval) == (UNRESOLVED, 1, 6, (exp(-0.5), 1.0))
    # The first number of rounds of which one may be lost or tied is 13.
    found = verdict.judge([-0.5] * 11 + [0.0], None, 1, ALPHA, 0.01)
    assert (found.verdict, found.ties, found.interval) == (UNRESOLVED, 1, (exp(-0.5), 1.0))
    found = verdict.judge([-0.5] * 12 + [0.0], None, 1, ALPHA, 0.01)
    assert (found.verdict, found.ties, found.interval) == (FASTER, 1, (exp(-0.5), exp(-0.5)))


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        (None, UNRESOLVED),
        ((0.992, 0.997), SAME),  # excludes 1, yet SAME takes precedence
        ((1.002, 1.009), SAME),
        ((0.99, 1.01), SAME),
        ((0.9899, 0.999), FASTER),
        ((0.9899, 1.0), UNRESOLVED),
        ((0.5, 0.6), FASTER),
        ((1.001, 1.0101), SLOWER),
        ((1.0, 1.0101), UNRESOLVED),
        ((1.5, 1.6), SLOWER),
        ((0.9, 1.1), UNRESOLVED),
        ((0.995, 1.2), UNRESOLVED),
        ((0.8, 1.005), UNRESOLVED),
    ],
)
def test_directions_and_their_precedence(bounds: tuple[float, float] | None, expected: str) -> None:
    assert verdict.direction(bounds, 0.01) == expected


FAST, EVEN, SLOW = [log(0.8)] * 12, [-0.3, 0.3] * 6, [log(1.2)] * 12


@pytest.mark.parametrize(
    ("xs", "placebo", "expected", "held"),
    [
        (FAST, None, FASTER, False),
        (FAST, FAST, FASTER, False),
        (FAST, EVEN, UNRESOLVED, True),  # all of the gain is the placebo's too
        (FAST, SLOW, UNRESOLVED, True),  # told apart from the placebo, but on the wrong side
        (FAST, FAST[:5], UNRESOLVED, True),  # too few rounds against the placebo
        (FAST, [], UNRESOLVED, True),
        (FAST, [0.0] * 12, UNRESOLVED, True),  # an interval that ends at 1 does not lie below it
        (SLOW, EVEN, SLOWER, False),  # a loss needs no placebo
        (EVEN, FAST, UNRESOLVED, False),
        ([0.001] * 12, EVEN, SAME, False),
    ],
)
def test_the_placebo_rule(xs: list[float], placebo: list[float] | None, expected: str, held: bool) -> None:
    found = verdict.judge(xs, placebo, 1, ALPHA, 0.01)
    assert (found.verdict, found.held_by_placebo) == (expected, held)
    assert found.interval == verdict.interval(xs, 1, ALPHA)


@given(st.lists(st.tuples(seconds, seconds), min_size=1, max_size=25))
def test_the_estimates_are_the_median_ratio_and_the_ratio_of_sums(both: list[tuple[float, float]]) -> None:
    arm, base = [a for a, _ in both], [b for _, b in both]
    found = judged(both)
    assert found.ratio is not None
    ratios = sorted(a / b for a, b in both)
    middle = len(ratios) // 2
    # The median of an even number is the geometric mean of the middle two, because it is taken in logarithms.
    expected = ratios[middle] if len(ratios) % 2 else (ratios[middle - 1] * ratios[middle]) ** 0.5
    assert isclose(found.ratio, expected, rel_tol=1e-9)
    total = verdict.ratio_of_sums(arm, base)
    assert total is not None
    assert isclose(total * sum(base), sum(arm), rel_tol=1e-9)


def test_a_rare_disaster_shows_in_the_sums_and_not_in_the_median() -> None:
    arm, base = [0.9] * 19 + [20.0], [1.0] * 20
    assert isclose(exp(median(verdict.log_ratios(arm, base))), 0.9)
    assert verdict.ratio_of_sums(arm, base) == pytest.approx((19 * 0.9 + 20) / 20)
    assert verdict.ratio_of_sums([], []) is None


@pytest.mark.parametrize(("arm", "base"), [([1.0, 2.0], [1.0]), ([0.0], [1.0]), ([1.0], [-1.0])])
def test_times_that_cannot_be_paired_are_refused(arm: list[float], base: list[float]) -> None:
    with pytest.raises(ValueError, match=r"argument 2|math domain|positive"):
        verdict.log_ratios(arm, base)
