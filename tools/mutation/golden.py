# SPDX-License-Identifier: Apache-2.0
"""Golden values of okosu/stats: worked out by hand or by the formulae of docs/METHOD.md, never copied from a run.

Each function checks one module, given as its namespace, in a few milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError
from fractions import Fraction
from itertools import combinations
from math import comb, erfc, exp, factorial, isclose, log, sqrt
from typing import Any

Namespace = dict[str, Any]

RANKS = {
    (1, 0.05): {5: 0, 6: 1, 12: 1, 13: 2, 16: 2, 20: 4, 30: 7, 40: 10, 60: 18},
    (8, 0.05): {9: 0, 10: 1, 16: 1, 20: 2, 30: 5, 40: 9, 60: 16},
}


def refuses(said: str, call: Callable[..., object], *args: object) -> bool:
    """Say whether the call itself raises a ValueError with these words, rather than one from deeper down."""
    try:
        call(*args)
    except ValueError as error:
        return said in str(error)
    return False


def eprocess(m: Namespace) -> None:
    evidence, threshold, rank, bounds = m["evidence"], m["threshold"], m["rank"], m["bounds"]
    for n in range(13):
        for s in range(n + 1):
            even = Fraction(2**n * factorial(s) * factorial(n - s), factorial(n + 1))
            points = [2**n for unanimous in (0, n) if s == unanimous]
            assert evidence(n, s) == even / 2 + Fraction(sum(points), 4)
    assert isinstance(evidence(3, 1), Fraction)
    assert all(refuses("is not in 0..", evidence, n, s) for n, s in [(3, 4), (3, -1), (0, 1)])

    assert threshold(1, 0.05) == 20
    assert threshold(8, 0.05) == 160
    assert threshold(3, 0.1) == 30
    assert threshold(1, 0.999) == Fraction(1000, 999)
    assert isinstance(threshold(1, 0.05), Fraction)
    assert all(
        refuses("alpha = ", threshold, k, a) for k, a in [(0, 0.05), (-1, 0.05), (1, 0), (1, 1), (1, -1), (1, 2)]
    )

    for (k, alpha), table in RANKS.items():
        assert {n: rank(n, Fraction(k) / Fraction(str(alpha))) for n in table} == table
    # E(7, 0) = 128 (1/16 + 1/4) = 40, the threshold of K = 2: what is equal counts as reached, anything above does not.
    assert rank(7, Fraction(40)) == 1
    assert rank(7, Fraction(401, 10)) == 0
    # The two ends never cross, however low the limit is.
    assert [rank(n, Fraction(0)) for n in range(6)] == [0, 1, 1, 2, 2, 3]

    values = [float(v * v) for v in range(20)]
    assert bounds(values[:5], 1, 0.05) is None
    assert bounds(values[:6], 1, 0.05) == (0.0, 25.0)
    assert bounds(values, 1, 0.05) == (9.0, 256.0)
    assert bounds(values, 8, 0.05) == (1.0, 324.0)
    assert bounds(values, 1, 0.01) == (4.0, 289.0)
    assert bounds([], 1, 0.05) is None

    assert [m["fewest_rounds"](k, 0.05) for k in range(1, 9)] == [6, 7, 8, 9, 9, 9, 9, 10]
    # E(2, 0) = 5/3 and E(1, 0) = 1: two rounds are the fewest at any level.
    assert m["fewest_rounds"](1, 0.75) == 2
    assert m["fewest_rounds"](1, 0.999) == 2

    needed = m["rounds_needed"]
    assert needed(8, 8, 1, 0.05, 100) == 8
    assert needed(8, 8, 1, 0.05, 8) == 8
    assert needed(8, 0, 1, 0.05, 100) == 8
    assert needed(5, 5, 1, 0.05, 100) == 6
    assert needed(5, 0, 1, 0.05, 5) is None
    assert needed(1, 1, 8, 0.05, 100) == 10
    # Here the evidence equals the threshold, and logarithms, rounded, would not tell.
    assert needed(3, 3, 2, 0.05, 100) == 7
    assert needed(0, 0, 1, 0.05, 100) is None
    assert needed(10, 5, 1, 0.05, 400) is None
    # One loss in five: 16 rounds allow 1 loss and have ceil(3.2) = 4 expected; the first n that decides is found by
    # hand.
    fits = [t for t in range(5, 200) if 2 * -(-t // 5) < t and comb(t, -(-t // 5)) * 40 * (t + 1) <= 2**t]
    assert needed(5, 4, 1, 0.05, 200) == needed(5, 1, 1, 0.05, 200) == fits[0]
    assert needed(5, 4, 1, 0.05, fits[0]) == fits[0]
    assert needed(5, 4, 1, 0.05, fits[0] - 1) is None
    logarithm = m["log_evidence"]
    assert all(isclose(exp(logarithm(n, s)), evidence(n, s), rel_tol=1e-9) for n in range(13) for s in range(n + 1))
    # Beyond what a float holds: 2^2000 (1/4002 + 1/4).
    assert isclose(logarithm(2000, 0), 2000 * log(2) + log(1 / 4002 + 0.25), rel_tol=1e-12)
    assert logarithm(2000, 2000) == logarithm(2000, 0)


def verdict(m: Namespace) -> None:
    faster, slower, same, open_ = "FASTER", "SLOWER", "SAME", "UNRESOLVED"
    assert (m["FASTER"], m["SLOWER"], m["SAME"], m["UNRESOLVED"]) == (faster, slower, same, open_)
    assert m["RESOLVED"] == {faster, slower, same}
    assert isinstance(m["RESOLVED"], frozenset)

    assert m["log_ratios"]([1.0, 8.0, 3.0], [1.0, 2.0, 6.0]) == [0.0, log(8.0) - log(2.0), log(3.0) - log(6.0)]
    assert m["log_ratios"]([], []) == []
    assert refuses("longer than", m["log_ratios"], [1.0], [1.0, 2.0])
    assert refuses("", m["log_ratios"], [0.0], [1.0])

    interval = m["interval"]
    xs = [0.3, -0.1, 0.7, 0.2, 0.5, -0.4, 0.6, 0.1]
    assert interval(xs, 1, 0.05) == (exp(-0.4), exp(0.7))
    assert interval(xs[:5], 1, 0.05) is None
    assert interval(xs, 4, 0.05) is None
    thirteen = [*xs, 0.9, -0.9, 0.8, -0.8, 0.0]
    assert interval(thirteen, 1, 0.05) == (exp(-0.8), exp(0.8))
    assert interval(thirteen, 8, 0.05) == (exp(-0.9), exp(0.9))
    assert interval(thirteen, 1, 0.01) == (exp(-0.9), exp(0.9))

    direction = m["direction"]
    # With delta = 1/4 the ends of SAME are binary fractions, so that a value exactly on an end involves no rounding.
    assert direction((0.75, 1.25), 0.25) == same
    assert direction((0.8, 0.9), 0.25) == same
    assert direction((1.1, 1.2), 0.25) == same
    assert direction((0.75, 0.75), 0.25) == same
    assert direction((1.25, 1.25), 0.25) == same
    assert direction((0.7, 0.9), 0.25) == faster
    assert direction((0.5, 0.6), 0.25) == faster
    assert direction((0.7, 1.0), 0.25) == open_
    assert direction((0.7, 1.1), 0.25) == open_
    assert direction((1.1, 1.3), 0.25) == slower
    assert direction((1.5, 1.6), 0.25) == slower
    assert direction((1.0, 1.3), 0.25) == open_
    assert direction((0.9, 1.3), 0.25) == open_
    assert direction((0.5, 1.5), 0.25) == open_
    assert direction((0.5, 0.9), 0.0) == faster
    assert direction((1.0, 1.0), 0.0) == same
    assert direction(None, 0.25) == open_

    judge, judgement = m["judge"], m["Judgement"]
    fast, slow, close = [-1.0] * 12, [1.0] * 12, [0.001] * 12
    below, above = (exp(-1.0),) * 2, (exp(1.0),) * 2
    for placebo in (None, fast):
        assert judge(fast, placebo, 1, 0.05, 0.01) == judgement(faster, exp(-1.0), below, 12, 0, 12, False)
    for placebo in (slow, fast[:5], [], [0.0] * 12, [-1.0] * 6 + [1.0] * 6):
        assert judge(fast, placebo, 1, 0.05, 0.01) == judgement(open_, exp(-1.0), below, 12, 0, 12, True)
    # The placebo's interval uses the same K and alpha: at 5 %, six rounds suffice for one arm, not for more.
    assert judge(fast, fast[:6], 1, 0.05, 0.01).verdict == faster
    assert judge(fast, fast[:6], 2, 0.05, 0.01).held_by_placebo
    assert judge(fast, fast[:6], 1, 0.01, 0.01).held_by_placebo
    for placebo in (None, fast, slow, []):
        assert judge(slow, placebo, 1, 0.05, 0.01) == judgement(slower, exp(1.0), above, 12, 0, 0, False)
    assert judge(close, [], 1, 0.05, 0.01) == judgement(same, exp(0.001), (exp(0.001),) * 2, 12, 0, 0, False)
    assert judge(close, [], 1, 0.05, 0.0001).verdict == slower
    assert judge([], None, 1, 0.05, 0.01) == judgement(open_, None, None, 0, 0, 0, False)
    assert judge([], fast, 1, 0.05, 0.01) == judgement(open_, None, None, 0, 0, 0, False)
    assert judge([-2.0, 0.0, 0.0, 0.5, -1.0], None, 1, 0.05, 0.01) == judgement(open_, 1.0, None, 5, 2, 2)
    assert judge([0.25], None, 1, 0.05, 0.01) == judgement(open_, exp(0.25), None, 1, 0, 0)
    # Ties stay in the interval: with nine rounds the ends are the extremes, and a tie is one of them.
    assert judge([-0.5] * 8 + [0.0], None, 1, 0.05, 0.01) == judgement(open_, exp(-0.5), (exp(-0.5), 1.0), 9, 1, 8)
    assert judge(thirteen, None, 1, 0.05, 0.01) == judgement(open_, exp(0.2), (exp(-0.8), exp(0.8)), 13, 1, 4)
    assert judgement(open_, None, None, 0, 0, 0).held_by_placebo is False
    try:
        judge(fast, None, 1, 0.05, 0.01).verdict = slower
    except FrozenInstanceError:
        pass
    else:
        raise AssertionError("a judgement can be altered")

    assert m["ratio_of_sums"]([1.0, 2.0], [4.0, 2.0]) == 0.5
    assert m["ratio_of_sums"]([3.0], [2.0]) == 1.5
    assert m["ratio_of_sums"]([], []) is None


def _splits(ranks: list[float], n: int) -> float:
    """The two-sided share of splits of these ranks that are at least as far out as the first n of them."""
    centre = sum(ranks) * n / len(ranks)
    far = [abs(sum(s) - centre) for s in combinations(ranks, n)]
    return sum(d >= far[0] for d in far) / len(far)


def carry(m: Namespace) -> None:
    p = m["rank_sum_p"]
    assert m["FEWEST"] == 4
    assert m["SPLITS"] == 12_870
    assert p([1.0, 2.0], [3.0, 4.0]) == p([3.0, 4.0], [1.0, 2.0]) == 1 / 3
    assert p([1.0, 4.0], [2.0, 3.0]) == 1.0
    assert p([1.0], [2.0, 3.0, 4.0]) == 0.5
    assert p([1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]) == 2 / 35
    assert p([1.0, 1.0, 2.0], [1.0, 3.0, 3.0]) == _splits([2.0, 2.0, 4.0, 2.0, 5.5, 5.5], 3)
    assert p([5.0] * 3, [5.0] * 4) == 1.0
    assert p([5.0] * 9, [5.0] * 9) == 1.0
    # 8 against 9 have too many splits to be enumerated.
    low, high = [float(i) for i in range(8)], [float(i) for i in range(8, 17)]
    assert isclose(p(low, high), erfc((36 - 0.5) / sqrt(2 * 8 * 9 * 18 / 12)), rel_tol=1e-12)
    # 1..20 twice over: every value is tied once in each, the sums agree, and the correction for continuity stops at 0.
    both = [float(i) for i in range(20)]
    assert p(both, both) == 1.0
    assert p(both, [*both[:-1], 18.0]) < 1.0
    tied_a, tied_b = [1.0] * 10 + [2.0] * 2, [1.0] * 3 + [2.0] * 9
    # Thirteen 1s at mid-rank 7, eleven 2s at mid-rank 19; 12 * 25 / 2 = 150 is the centre.
    distance = abs(10 * 7 + 2 * 19 - 150)
    variance = 12 * 12 / 12 * (25 - (13**3 - 13 + 11**3 - 11) / (24 * 23))
    assert isclose(p(tied_a, tied_b), erfc((distance - 0.5) / sqrt(2 * variance)), rel_tol=1e-12)
    assert isclose(p(tied_b, tied_a), p(tied_a, tied_b), rel_tol=1e-12)

    found, flag = m["by_predecessor"], m["CarryOver"]

    def runs(pattern: str, **times: float) -> tuple[list[float], list[str]]:
        return [times[arm] for arm in pattern], list(pattern)

    # Of only two arms nobody can tell which is the cause: both are named. The last two runs, after a had left, do not
    # count.
    two = found(*runs("ab" * 6 + "bb", a=1.0, b=2.0), 0.4)
    assert [(c.arm, c.runs) for c in two] == [("a", 6), ("b", 5)]
    assert isclose(two[0].ratio, 0.5, rel_tol=1e-12)
    assert isclose(two[1].ratio, 2.0, rel_tol=1e-12)
    assert two[0].p == p([1.0] * 6, [2.0] * 5)
    assert two[1].p == p([2.0] * 5, [1.0] * 6)
    # Of three arms only the outlier is named, although each of the others differs from the mixture of the rest.
    three = found(*runs("abc" * 8, a=1.0, b=1.5, c=1.0), 0.1)
    assert [(c.arm, c.runs) for c in three] == [("b", 8)]
    assert isclose(three[0].ratio, 1.5, rel_tol=1e-12)
    assert [c.arm for c in found(*runs("abc" * 8, a=1.0, b=0.5, c=1.0), 0.1)] == ["b"]
    # Of four arms the farthest is named first, then the next: 1/2 is farther from 1 than 1.6 is, as ratios.
    assert [c.arm for c in found(*runs("abcd" * 12, a=1.0, b=1.6, c=0.5, d=1.0), 0.1)] == ["c", "b"]
    # The difference must exceed delta; delta itself is not enough.
    assert found(*runs("ab" * 6, a=1.0, b=1.25), 0.25) == []
    assert [c.arm for c in found(*runs("ab" * 6, a=1.0, b=1.25), 0.24)] == ["b"]
    # Four runs on either side are enough, three are not. Four against four that do not overlap have p = 2/70, and the
    # level is divided by the two that are compared, so that twice that p may not exceed it.
    four = runs("ab" * 4 + "a", a=1.0, b=2.0)
    assert [(c.arm, c.runs, c.p) for c in found(*four, 0.1, 0.9)] == [("a", 4, 2 / 70), ("b", 4, 2 / 70)]
    assert found(*four, 0.1, 4 / 70) == []
    assert len(found(*four, 0.1, 4.001 / 70)) == 2
    assert found(*four, 0.1, 0.02) == []
    assert found(*runs("ab" * 4, a=1.0, b=2.0), 0.1, 0.9) == []
    assert found(*runs("ba" * 4, a=1.0, b=2.0), 0.1, 0.9) == []
    assert found(*runs("a" * 20, a=1.0), 0.1, 0.9) == []
    # The level stays divided by three when, without b, only two are left with p = 2/924: below half of 0.0055, not
    # below a third.
    left = runs("acb" * 5 + "cac", a=1.0, b=30.0, c=1.2)
    assert [c.arm for c in found(*left, 0.1, 0.0055)] == ["b"]
    assert [c.arm for c in found(*left, 0.1, 0.007)] == ["b", "a", "c"]
    # The level is 5 % by default, and so 2.5 % for each of two: 4 against 4 have p = 2.9 % at best.
    assert found(*four, 0.1) == []
    assert len(found(*runs("ab" * 5 + "a", a=1.0, b=2.0), 0.1)) == 2
    # Runs from the time when only one side still ran do not count, whatever the arms are called.
    drift = [1.0] * 12 + [9.0] * 12
    assert found(drift, list("ab" * 6 + "b" * 12), 0.1) == found(drift, list("ba" * 6 + "a" * 12), 0.1) == []
    assert found(drift[::-1], list("ab" * 6 + "b" * 12), 0.1) == []
    # A run without a predecessor is left out.
    even = runs("ab" * 6, a=1.0, b=2.0)
    assert found([9.0, *even[0]], ["", *even[1]], 0.1) == found(*even, 0.1) != []
    assert found([], [], 0.01) == []
    assert refuses("shorter than", found, [1.0], [], 0.01)
    try:
        flag("a", 1.0, 1, 1.0).arm = "b"
    except FrozenInstanceError:
        pass
    else:
        raise AssertionError("a finding can be altered")
    # 8 against 8 are all enumerated. This case is last because it is by far the slowest, and most mutants are noticed
    # before.
    assert p(low, high[:8]) == 2 / 12_870


def rate(m: Namespace) -> None:
    interval = m["clopper_pearson"]
    # None of n: the upper end is 1 - (alpha/2)^(1/n), by the definition; all of n mirrors it.
    for n in (1, 7, 40):
        low, high = interval(0, n)
        assert low == 0.0
        assert isclose(high, 1 - 0.025 ** (1 / n), rel_tol=1e-12)
        low, high = interval(n, n)
        assert isclose(low, 0.025 ** (1 / n), rel_tol=1e-12)
        assert high == 1.0
    assert isclose(interval(0, 5, 0.2)[1], 1 - 0.1**0.2, rel_tol=1e-12)
    # One of two: P(at least 1) = 1 - (1 - p)^2 = alpha/2 at the lower end, and the upper end mirrors it.
    low, high = interval(1, 2)
    assert isclose(low, 1 - sqrt(0.975), rel_tol=1e-12)
    assert isclose(high, sqrt(0.975), rel_tol=1e-12)
    # Two of three: P(at least 2) = 3 p^2 - 2 p^3.
    low = interval(2, 3)[0]
    assert isclose(3 * low**2 - 2 * low**3, 0.025, rel_tol=1e-12)
    # Two of six, by the binomials: the tails at both ends are alpha/2 each.
    low, high = interval(2, 6)
    assert isclose(sum(comb(6, i) * low**i * (1 - low) ** (6 - i) for i in range(2, 7)), 0.025, rel_tol=1e-12)
    assert isclose(sum(comb(6, i) * high**i * (1 - high) ** (6 - i) for i in range(3)), 0.025, rel_tol=1e-12)
    # The tail of one in one is p itself, so at alpha = 1 the end is exactly 1/2: a tail equal to its limit is accepted.
    assert interval(1, 1, 1.0)[0] == 0.5
    # A thousand trials and more do not overflow.
    low, high = interval(0, 2000)
    assert isclose(high, 1 - 0.025 ** (1 / 2000), rel_tol=1e-9)
    assert all(refuses(f"{h} of {n}", interval, h, n) for h, n in [(-1, 5), (6, 5), (0, 0), (0, -1), (1, 0)])
    chance = m["fewer_by_chance"]
    # Of four things two are drawn; both hits are among the other two in one of the six ways.
    assert chance(0, 2, 2, 2) == 1 / 6
    assert chance(1, 2, 1, 2) == 5 / 6
    assert chance(2, 2, 0, 2) == 1.0
    # The others cannot have all the hits: at least one of three is among the first two, and in 6 of 10 ways exactly one
    # is.
    assert chance(1, 2, 2, 3) == 7 / 10
    assert chance(1, 3, 2, 2) == 3 / 10
    # Fewer hits than places among the others.
    assert chance(0, 2, 1, 2) == 1 / 2
    assert chance(0, 0, 0, 0) == 1.0
    assert all(refuses(" of ", chance, *c) for c in [(-1, 5, 0, 1), (6, 5, 0, 1), (0, 1, -1, 5), (0, 1, 6, 5)])
