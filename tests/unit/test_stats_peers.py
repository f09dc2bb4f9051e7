# SPDX-License-Identifier: Apache-2.0
"""okosu's sign test beside what other tools do with the same noise: false alarms, rounds and minutes to find an effect.

`python tests/unit/test_stats_peers.py [REPLICATIONS] [--summary FILE]` makes the tables of docs/METHOD.md.
"""

from __future__ import annotations

import random
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import comb, exp, log, sqrt
from statistics import fmean, median, stdev

import pytest
import simulated
from effort import length, some
from scipy import stats
from simulated import percent
from test_stats_noise import first_exclusion, noise, shuffled_round

from okosu.records.summary import Section
from okosu.stats.eprocess import fewest_rounds, rank, threshold

ALPHA, MOST, ARMS = 0.05, 120, 4
SAVED = (0.01, 0.02, 0.05, 0.20)
"""The share of base's time that the useful arm saves."""
PILOT = 4
"""Runs of the pilot of `okosu try` with one arm: base three times, and the arm."""
FEW = fewest_rounds(1, ALPHA)


@dataclass(frozen=True)
class Found:
    """What a method says of one arm: whether it is faster (or slower), and the rounds until it says so."""

    faster: bool
    rounds: int


Method = Callable[[Sequence[float], Sequence[float], int], Found | None]
"""From the log-times of base and of the arm, run by run, and the number of arms compared: the answer, or None."""


def first_rank(evidence: Callable[[int, int], Fraction], n: int, limit: Fraction) -> int:
    return next(s for s in range(n + 1) if 2 * s >= n or evidence(n, s) < limit)


def uniform_mixture(n: int, s: int) -> Fraction:
    """The evidence of version 1 of okosu try, which has no point masses."""
    return Fraction(2**n, (n + 1) * comb(n, s))


@cache
def ranks(version: int, arms: int) -> list[int]:
    """By the number of rounds, how many rounds on one side still decide."""
    if version == 1:
        return [first_rank(uniform_mixture, n, threshold(arms, ALPHA)) for n in range(MOST + 1)]
    # From two arms on, the stack of all winners counts too.
    return [rank(n, threshold(arms + (arms > 1), ALPHA)) for n in range(MOST + 1)]


def first_decision(xs: Sequence[float], allowed: Sequence[int]) -> Found | None:
    """The first round at which one side has fewer rounds than the rank; None if there is none."""
    end = first_exclusion(xs, allowed)
    return None if end is None else Found(end[1] < 0, end[0])


def differences(base: Sequence[float], arm: Sequence[float]) -> list[float]:
    return [a - b for a, b in zip(arm, base, strict=True)]


def answered(base: Sequence[float], arm: Sequence[float], arms: int) -> Found | None:
    """What okosu says first: the interval read after every round."""
    return first_decision(differences(base, arm), ranks(2, arms))


def confirmed(base: Sequence[float], arm: Sequence[float], arms: int) -> Found | None:
    """What okosu still says when as many rounds as can decide have come after the answer."""
    xs = differences(base, arm)
    first = first_decision(xs, ranks(2, arms))
    if first is None or not first.faster:
        return first
    later = xs[first.rounds : first.rounds + FEW]
    return Found(True, first.rounds + FEW) if len(later) == FEW and median(later) < 0 else None


def version_1(base: Sequence[float], arm: Sequence[float], arms: int) -> Found | None:
    """Version 1 of okosu try: a winner is tested again on fresh rounds, and those before are not used."""
    xs = differences(base, arm)
    first = first_decision(xs, ranks(1, arms))
    if first is None or not first.faster:
        return first
    again = first_decision(xs[first.rounds :], ranks(1, 1))
    return Found(True, first.rounds + again.rounds) if again and again.faster else None


def hyperfine(base: Sequence[float], arm: Sequence[float], arms: int) -> Found | None:
    """hyperfine's "A ran R ± S times faster than B" of ten runs each, taken as an answer where R - S is above 1.

    R is the ratio of the means, and S its standard deviation if those of single runs are propagated as independent.
    """
    a, b = ([exp(x) for x in runs[:10]] for runs in (base, arm))
    slow, fast = (a, b) if fmean(b) < fmean(a) else (b, a)
    ratio = fmean(slow) / fmean(fast)
    spread = ratio * sqrt((stdev(slow) / fmean(slow)) ** 2 + (stdev(fast) / fmean(fast)) ** 2)
    return Found(fast is b, 10) if ratio - spread > 1 else None


@cache
def critical(n: int) -> int:
    """The largest U of two samples of n whose exact two-sided p is at most ALPHA."""
    # ways[i][u]: the ways to place i of the first sample so that u pairs have the second sample's value first.
    ways = [[0] * (n * n + 1) for _ in range(n + 1)]
    ways[0][0] = 1
    for passed in range(n + 1):
        for i in range(1, n + 1):
            for u in range(passed, n * n + 1):
                ways[i][u] += ways[i - 1][u - passed]
    total, below = comb(2 * n, n), 0
    for u, count in enumerate(ways[n]):
        below += count
        if 2 * below > ALPHA * total:
            return u - 1
    raise AssertionError


def rank_test(n: int) -> Method:
    """The Mann-Whitney test of n runs each at 5 %, as benchstat uses it."""

    def method(base: Sequence[float], arm: Sequence[float], arms: int) -> Found | None:
        a, b = sorted(base[:n]), arm[:n]
        beyond = sum(bisect_left(a, x) for x in b)
        return Found(2 * beyond < n * n, n) if min(beyond, n * n - beyond) <= critical(n) else None

    return method


def in_random_order(rng: random.Random, arms: int, hog: bool) -> list[list[float]]:
    """Log-times of base and of each arm, in rounds as okosu runs them: random order, the first slot slower."""
    disturbance = noise(rng, MOST * (arms + 1), hog)
    rounds = [shuffled_round(rng, disturbance, number, arms) for number in range(MOST)]
    return [[r[arm] for r in rounds] for arm in range(arms + 1)]


def in_turn(n: int) -> Callable[[random.Random, int, bool], list[list[float]]]:
    """Log-times of n runs of each, one command after the other in each turn; no slot is slower."""

    def made(rng: random.Random, arms: int, hog: bool) -> list[list[float]]:
        disturbance = noise(rng, n * (arms + 1), hog)
        return [disturbance[arm :: arms + 1] for arm in range(arms + 1)]

    return made


def in_blocks(n: int) -> Callable[[random.Random, int, bool], list[list[float]]]:
    """Log-times of n runs of base, then n of the first arm, and so on."""

    def made(rng: random.Random, arms: int, hog: bool) -> list[list[float]]:
        disturbance = noise(rng, n * (arms + 1), hog)
        return [disturbance[arm * n : (arm + 1) * n] for arm in range(arms + 1)]

    return made


METHODS: dict[str, tuple[Method, Callable[[random.Random, int, bool], list[list[float]]], int]] = {
    "okosu, its first answer": (answered, in_random_order, PILOT),
    f"okosu, {FEW} rounds later": (confirmed, in_random_order, PILOT),
    "okosu, version 1": (version_1, in_random_order, PILOT),
    "hyperfine, 10 runs each": (hyperfine, in_blocks(10), 0),
    "rank test, n = 10, A…A B…B": (rank_test(10), in_blocks(10), 0),
    "rank test, n = 20, A…A B…B": (rank_test(20), in_blocks(20), 0),
    "rank test, n = 10, ABAB…": (rank_test(10), in_turn(10), 0),
    "rank test, n = 20, ABAB…": (rank_test(20), in_turn(20), 0),
}


def false_alarms(name: str, replications: int, seed: int, arms: int, hog: bool) -> float:
    """The share of trials in which the method calls any of the arms, which change nothing, faster or slower."""
    method, order, _ = METHODS[name]
    rng = random.Random(f"{seed}/{arms}")
    hits = 0
    for _ in range(replications):
        base, *others = order(rng, arms, hog)
        hits += any(method(base, arm, arms) for arm in others)
    return hits / replications


def power(name: str, replications: int, seed: int, hog: bool) -> dict[float, list[int]]:
    """By the share of time that one arm saves: the rounds of the trials that call it faster."""
    method, order, _ = METHODS[name]
    rng = random.Random(f"{seed}/power")
    found: dict[float, list[int]] = {saved: [] for saved in SAVED}
    for _ in range(replications):
        base, arm = order(rng, 1, hog)
        for saved in SAVED:
            said = method(base, [x + log(1 - saved) for x in arm], 1)
            if said is not None and said.faster:
                found[saved].append(said.rounds)
    return found


REPLICATIONS = length(200, 3000)


@pytest.mark.parametrize("n", [4, 10, 20])
def test_the_critical_value_is_that_of_the_exact_rank_test(n: int) -> None:
    def p(u: int) -> float:
        """The p of two samples with u pairs in which the value of the first is the greater one."""
        second = [float(i) for i in range(n)]
        full, rest = divmod(u, n)
        first = [n + 1.0 + i for i in range(full)] + [rest - 0.5] * (full < n)
        first += [-1.0 - i for i in range(n - len(first))]
        return float(stats.mannwhitneyu(first, second, method="exact").pvalue)

    assert p(critical(n)) <= ALPHA < p(critical(n) + 1)


@pytest.mark.parametrize("arms", some([1, ARMS], 1))
def test_okosu_keeps_its_level_where_blocks_do_not(arms: int) -> None:
    assert false_alarms("okosu, its first answer", REPLICATIONS, 1, arms, True) <= 0.07
    assert false_alarms("rank test, n = 20, A…A B…B", REPLICATIONS, 1, arms, False) > 0.3


def test_version_2_finds_in_fewer_rounds_than_version_1() -> None:
    new, old = (power(name, REPLICATIONS, 2, False) for name in ("okosu, its first answer", "okosu, version 1"))
    for saved in SAVED[1:]:
        assert median(new[saved]) <= median(old[saved]) / 1.5
        assert len(new[saved]) >= len(old[saved])
    assert median(new[0.20]) == FEW


def row(name: str, replications: int, hog: bool) -> list[str]:
    alarms = [percent(false_alarms(name, replications, 20_26, arms, hog)) for arms in (1, ARMS)]
    found = power(name, replications, 20_26, hog)
    shares, minutes = [], []
    for saved in SAVED:
        rounds = f"{median(found[saved]):.0f}" if found[saved] else "–"
        shares.append(f"{percent(len(found[saved]) / replications, 0)}, {rounds}")
        runs = METHODS[name][2] + 2 * median(found[saved]) if found[saved] else None
        minutes.append(f"{runs / 60:.1f}" if runs else "–")
    return [name, *alarms, *shares, " · ".join(minutes)]


def sections(replications: int) -> list[Section]:
    """The tables of docs/METHOD.md."""
    head = [
        "method",
        "false alarms, 1 arm",
        f"{ARMS} arms",
        *(f"saves {percent(saved, 0)}" for saved in SAVED),
        "minutes",
    ]
    return [
        Section(id=name, head=head, body=[row(method, replications, hog) for method in METHODS])
        for name, hog in (("peers", False), ("peers-hog", True))
    ]


if __name__ == "__main__":
    simulated.main("tests/unit/test_stats_peers.py", sections, 5000)
