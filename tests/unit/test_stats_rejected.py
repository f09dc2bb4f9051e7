# SPDX-License-Identifier: Apache-2.0
"""The methods that okosu does not use, under the same noise: the simulation must be able to show a method's failure.

`python tests/unit/test_stats_rejected.py [REPLICATIONS] [--summary FILE]` makes the table of docs/METHOD.md.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from math import comb, exp, log, sqrt
from statistics import fmean, median, quantiles, stdev

import simulated
from simulated import percent
from test_stats_noise import FIRST_SLOT, first_exclusion, noise, shuffled_round

from okosu.records.summary import Section
from okosu.stats import verdict
from okosu.stats.carry import rank_sum_p
from okosu.stats.eprocess import evidence, fewest_rounds, rank, rounds_needed, threshold

ALPHA, MOST, REPLICATIONS = 0.05, 60, 400
RANKS = [rank(n, threshold(1, ALPHA)) for n in range(MOST + 1)]
BETS = (-0.9, -0.6, -0.3, 0.3, 0.6, 0.9)


@cache
def sign_p(n: int, s: int) -> float:
    """The two-sided p of the fixed-n sign test."""
    tail: float = sum(comb(n, i) for i in range(min(s, n - s) + 1)) / 2**n
    return min(1.0, 2 * tail)


def t_value(xs: Sequence[float]) -> float:
    return abs(fmean(xs)) / (stdev(xs) / sqrt(len(xs)))


def paired(rng: random.Random, rounds: int, arms: int = 1) -> list[list[float]]:
    """For each arm the log-ratios to base of `rounds` rounds in random order; no arm differs from base."""
    disturbance = noise(rng, rounds * (arms + 1))
    made = [shuffled_round(rng, disturbance, number, arms) for number in range(rounds)]
    return [[r[arm] - r[0] for r in made] for arm in range(1, arms + 1)]


def in_fixed_order(rng: random.Random, rounds: int) -> list[float]:
    """The log-ratios of rounds in which base always has the first slot, and with it that slot's penalty."""
    disturbance = noise(rng, rounds * 2)
    return [disturbance[2 * n + 1] - disturbance[2 * n] - FIRST_SLOT for n in range(rounds)]


def decides(xs: Sequence[float]) -> bool:
    """Say whether okosu's own interval excludes 1 at any round."""
    return first_exclusion(xs, RANKS) is not None


def blocks_alarm(rng: random.Random) -> tuple[bool, bool]:
    """Thirty runs of A, then thirty more of A: whether the rank-sum test and Welch's t (at 2.0) see a difference."""
    times = noise(rng, 60)
    a, b = times[:30], times[30:]
    welch = abs(fmean(a) - fmean(b)) / sqrt(stdev(a) ** 2 / 30 + stdev(b) ** 2 / 30)
    return rank_sum_p(a, b) < ALPHA, welch > 2.0


def peeking_alarm(rng: random.Random) -> bool:
    """Whether the fixed-n sign test, read after every round from the sixth on, ever rejects."""
    below = 0
    for n, x in enumerate(paired(rng, MOST)[0], 1):
        below += x < 0
        if n >= 6 and sign_p(n, below) <= ALPHA:
            return True
    return False


def retrying_alarm(rng: random.Random, fixed_order: bool) -> bool:
    """Whether five pairs and t at 2.0, begun anew up to ten times, ever become significant."""
    return any(t_value(in_fixed_order(rng, 5) if fixed_order else paired(rng, 5)[0]) >= 2.0 for _ in range(11))


def delta_from_placebo(rng: random.Random, slower: float) -> tuple[str, str]:
    """The first verdict on a slower arm, with delta taken from the placebo's interval, and with delta = 1 %."""
    placebo, xs = paired(rng, MOST, 2)
    xs = [x + log(1 + slower) for x in xs]
    ends = []
    for borrowed in (True, False):
        found = verdict.UNRESOLVED
        for n in range(8, MOST + 1):
            floor = verdict.interval(placebo[:n], 1, ALPHA) or (1.0, 1.0)
            delta = max(0.01, abs(floor[0] - 1), abs(floor[1] - 1)) if borrowed else 0.01
            found = verdict.judge(xs[:n], None, 1, ALPHA, delta).verdict
            if found in verdict.RESOLVED:
                break
        ends.append(found)
    return ends[0], ends[1]


def betting(rng: random.Random, slower: float) -> tuple[bool, bool]:
    """Whether the mixture of the sign test and a betting e-process rejects, and whether its interval then contains
    1.
    """
    xs = [x + log(1 + slower) for x in paired(rng, MOST)[0]]
    wealth = dict.fromkeys(BETS, 1.0)
    seen: list[float] = []
    below = 0
    for n, x in enumerate(xs, 1):
        if seen:
            stake = min(abs(x) / (2 * median(seen)), 1.0) * (1 if x > 0 else -1)
            wealth = {bet: w * (1 + bet * stake) for bet, w in wealth.items()}
        seen.append(abs(x))
        below += x < 0
        if (float(evidence(n, below)) + fmean(wealth.values())) / 2 >= 1 / ALPHA:
            return True, evidence(n, below) < Fraction(20)
    return False, False


def best_of_useless(rng: random.Random, arms: int = 8, rounds: int = 12) -> float:
    """The smallest estimate among arms that have no effect."""
    return min(exp(median(xs)) for xs in paired(rng, rounds, arms))


def first_estimate(rng: random.Random, saved: float) -> float | None:
    """What an arm seems to save when it is first known to be faster; None if it never is."""
    xs = [x + log(1 - saved) for x in paired(rng, MOST)[0]]
    below = 0
    for n, x in enumerate(xs, 1):
        below += x < 0
        if n - below < RANKS[n]:
            return 1 - exp(median(xs[:n]))
    return None


def given_up(rng: random.Random, saved: float, k: int = 5) -> tuple[bool, bool]:
    """Whether a useful arm leaves because its bare share of wins, looked at once k arms can be decided, forecasts more
    than MOST rounds; and whether it would have won within them.
    """
    xs = [x + log(1 - saved) for x in paired(rng, MOST)[0]]
    left, below, few = False, 0, fewest_rounds(k, ALPHA)
    for n, x in enumerate(xs, 1):
        below += x < 0
        if n - below < rank(n, threshold(k, ALPHA)):
            return left, True
        left |= n >= few and rounds_needed(n, below, k, ALPHA, MOST) is None
    return left, False


def share(hits: Sequence[bool]) -> float:
    return sum(hits) / len(hits)


def test_blocks_of_a_then_b_raise_false_alarms() -> None:
    rng = random.Random(1)
    ranks, welch = zip(*(blocks_alarm(rng) for _ in range(REPLICATIONS)), strict=True)
    assert share(ranks) > 0.4
    assert share(welch) > 0.25


def test_peeking_at_the_sign_test_raises_false_alarms() -> None:
    rng = random.Random(2)
    assert share([peeking_alarm(rng) for _ in range(REPLICATIONS)]) > 0.10


def test_retrying_until_significant_raises_false_alarms() -> None:
    rng = random.Random(3)
    assert share([retrying_alarm(rng, False) for _ in range(REPLICATIONS)]) > 0.10
    assert share([retrying_alarm(rng, True) for _ in range(REPLICATIONS)]) > 0.40


def test_a_fixed_order_raises_false_alarms_even_in_okosus_own_test() -> None:
    rng = random.Random(4)
    assert share([decides(in_fixed_order(rng, MOST)) for _ in range(REPLICATIONS)]) > 0.10
    assert share([decides(paired(rng, MOST)[0]) for _ in range(REPLICATIONS)]) < 0.05


def test_a_delta_from_the_placebo_calls_a_slower_arm_the_same() -> None:
    rng = random.Random(5)
    borrowed, own = zip(*(delta_from_placebo(rng, 0.02) for _ in range(REPLICATIONS // 4)), strict=True)
    assert share([v == verdict.SAME for v in borrowed]) > 0.10
    assert share([v == verdict.SAME for v in own]) < 0.05


def test_betting_rejects_where_the_interval_holds_one() -> None:
    rng = random.Random(6)
    done = [betting(rng, 0.02) for _ in range(REPLICATIONS // 2)]
    assert share([holds for rejected, holds in done if rejected]) > 0.10


def test_the_best_of_useless_levers_looks_useful() -> None:
    rng = random.Random(7)
    assert median(best_of_useless(rng) for _ in range(REPLICATIONS // 4)) < 0.995


def test_the_estimate_at_the_first_sight_of_a_small_gain_is_too_good() -> None:
    rng = random.Random(8)
    seen = [gain for gain in (first_estimate(rng, 0.01) for _ in range(REPLICATIONS)) if gain is not None]
    assert fmean(seen) > 0.012


def test_futility_by_the_bare_share_of_wins_gives_up_what_would_have_won() -> None:
    rng = random.Random(9)
    done = [given_up(rng, 0.02) for _ in range(REPLICATIONS // 2)]
    assert share([left for left, won in done if won]) > 0.3


def sections(replications: int) -> list[Section]:
    """The table of docs/METHOD.md."""
    rng = random.Random(20_26)
    times = range(replications)
    ranks, welch = zip(*(blocks_alarm(rng) for _ in times), strict=True)
    peeking = share([peeking_alarm(rng) for _ in times])
    retrying = [share([retrying_alarm(rng, fixed) for _ in times]) for fixed in (False, True)]
    fixed_order = share([decides(in_fixed_order(rng, MOST)) for _ in times])
    own = share([decides(paired(rng, MOST)[0]) for _ in times])
    borrowed, one_percent = [], []
    for slower in (0.02, 0.03):
        ends = [delta_from_placebo(rng, slower) for _ in times]
        borrowed.append(percent(share([end == verdict.SAME for end, _ in ends])))
        one_percent.append(percent(share([end == verdict.SAME for _, end in ends])))
    holding = []
    for slower in (0.01, 0.02):
        done = [betting(rng, slower) for _ in times]
        holding.append(percent(share([holds for rejected, holds in done if rejected])))
    first = []
    for saved in (0.01, 0.02):
        seen = [gain for gain in (first_estimate(rng, saved) for _ in times) if gain is not None]
        first.append(percent(fmean(seen), 2))
    futile = [given_up(rng, 0.02) for _ in times]
    lost = percent(share([left for left, won in futile if won]))
    best = [best_of_useless(rng) for _ in times]
    typical, lucky = percent(1 - median(best)), percent(1 - quantiles(best, n=20)[0])
    body = [
        [
            "okosu's interval, read after each of 60 rounds in random order",
            f"{percent(own)} false alarms",
            "what it is held to is 5 %",
        ],
        [
            "30 runs of A, then 30 of B",
            f"{percent(share(ranks))} false alarms by rank-sum test, {percent(share(welch))} by Welch's t at 2",
            "drift is taken for effect; no test mends the order",
        ],
        [
            "base always first, then okosu's interval",
            percent(fixed_order),
            "the first slot's penalty; the order must be random",
        ],
        [f"a fixed-n sign test, read after each of 6…{MOST} rounds", percent(peeking), "peeking"],
        [
            "5 pairs, t ≥ 2, up to 10 new tries until significant",
            f"{percent(retrying[0])}; base always first: {percent(retrying[1])}",
            "retrying is peeking; normal theory at n = 5",
        ],
        [
            "δ taken from the placebo's interval",
            f"arms slower by 2 % / 3 % end SAME in {' / '.join(borrowed)}",
            f"noise that should prevent a verdict makes one; with δ = 1 %: {' / '.join(one_percent)}",
        ],
        [
            r"mixing in a betting e-process on \|x\|",
            f"of its rejections of an arm slower by 1 % / 2 %, the interval still holds 1 in {' / '.join(holding)}",
            "verdict and interval disagree, and it has no direction",
        ],
        [
            "quoting the best of several estimates",
            f"the best of 8 useless levers looks {typical} faster after 12 rounds, {lucky} in one case of 20",
            "selection; an interval must hold for all of them at once",
        ],
        [
            "quoting the estimate at the first FASTER",
            f"arms that save 1 % / 2 % seem to save {' / '.join(first)} on average",
            "a lucky arm is known sooner; hence all rounds, and the later ones alone beside them",
        ],
        [
            f"giving an arm up where its bare share of wins forecasts more than {MOST} rounds",
            f"of the arms that save 2 % and would win within them, {lost} are given up (5 arms)",
            "a share of few rounds is noise; hence the benefit of a standard deviation",
        ],
    ]
    return [Section(id="rejected", head=["method", "what happens", "why"], body=body)]


if __name__ == "__main__":
    simulated.main("tests/unit/test_stats_rejected.py", sections, 5000)
