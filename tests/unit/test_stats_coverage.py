# SPDX-License-Identifier: Apache-2.0
"""Coverage and power of the anytime interval, by simulation under drift, spikes and slot penalties.

`python tests/unit/test_stats_coverage.py [REPLICATIONS] [--summary FILE]` makes the tables of docs/METHOD.md.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from fractions import Fraction
from math import exp, log
from statistics import median

import pytest
import simulated
from effort import length
from simulated import percent
from test_stats_eprocess import crossing
from test_stats_noise import first_exclusion, noise, shuffled_round

from okosu.records.summary import Section
from okosu.stats import verdict
from okosu.stats.eprocess import evidence, fewest_rounds, rank, threshold
from okosu.stats.rate import clopper_pearson

ALPHA, MOST = 0.05, 120
ARMS = (1, 4, 8)
REPLICATIONS = {1: length(1500, 10_000), 4: length(500, 3000), 8: length(300, 3000)}
"""Most for K = 1, whose rate comes nearest to 5 %."""
EFFECTS = (0.05, 0.02, 0.01)
RANKS = {k: [rank(n, threshold(k, ALPHA)) for n in range(MOST + 1)] for k in ARMS}


@dataclass
class Outcome:
    """The counts over all replications."""

    misses: dict[int, int] = field(default_factory=lambda: dict.fromkeys(ARMS, 0))
    """Replications in which any of K arms' intervals excluded the truth at any round."""
    found: dict[float, list[int]] = field(default_factory=lambda: {effect: [] for effect in EFFECTS})
    """Rounds after which an arm that is slower by that effect was told apart from base, on the right side."""
    wrong: dict[float, int] = field(default_factory=lambda: dict.fromkeys(EFFECTS, 0))


def simulate(replications: dict[int, int], seed: int, hog: bool = False) -> Outcome:
    """Simulate so many trials of MOST rounds for each K, each read after every round."""
    rng = random.Random(seed)
    outcome = Outcome()
    for k in ARMS:
        for _ in range(replications[k]):
            disturbance = noise(rng, MOST * (k + 1), hog)
            rounds = [shuffled_round(rng, disturbance, number, k) for number in range(MOST)]
            series = [[r[arm] - r[0] for r in rounds] for arm in range(1, k + 1)]
            outcome.misses[k] += any(first_exclusion(xs, RANKS[k]) is not None for xs in series)
            if k == 1:
                for effect in EFFECTS:
                    end = first_exclusion(series[0], RANKS[1], log(1 + effect))
                    if end is not None and end[1] > 0:
                        outcome.found[effect].append(end[0])
                    outcome.wrong[effect] += end is not None and end[1] < 0
    return outcome


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return simulate(REPLICATIONS, 20_26)


def reached(k: int) -> Fraction:
    """The exact probability that fair signs decide one of K comparisons within MOST rounds."""
    return crossing(lambda n, s: evidence(n, s) >= threshold(k, ALPHA), MOST)


@pytest.mark.parametrize("k", ARMS)
def test_the_interval_misses_the_truth_no_more_often_than_fair_signs_allow(outcome: Outcome, k: int) -> None:
    # The order makes the signs fair whatever the noise, and for fair signs the chance is known exactly.
    exact = k * reached(k)
    assert exact <= ALPHA
    low, high = clopper_pearson(outcome.misses[k], REPLICATIONS[k], 0.001)
    print(f"K = {k}: {outcome.misses[k]} misses of {REPLICATIONS[k]}, 99.9 % interval {low:.4f} to {high:.4f}")
    assert low < exact
    if k == 1:
        assert high > exact


@pytest.mark.long
@pytest.mark.parametrize("k", ARMS)
def test_the_interval_misses_the_truth_at_some_round_in_at_most_five_per_cent(outcome: Outcome, k: int) -> None:
    assert outcome.misses[k] > 0
    assert clopper_pearson(outcome.misses[k], REPLICATIONS[k])[1] <= ALPHA


def test_a_slow_down_of_five_per_cent_is_found_within_thirty_rounds(outcome: Outcome) -> None:
    found = outcome.found[0.05]
    assert sum(n <= 20 for n in found) >= 0.9 * REPLICATIONS[1]
    assert sum(n <= 30 for n in found) >= 0.97 * REPLICATIONS[1]
    assert median(found) <= 10
    assert outcome.wrong[0.05] <= 0.001 * REPLICATIONS[1]


def test_a_slow_down_of_two_per_cent_is_found_within_sixty_rounds(outcome: Outcome) -> None:
    found = outcome.found[0.02]
    assert sum(n <= 30 for n in found) >= 0.6 * REPLICATIONS[1]
    assert sum(n <= 60 for n in found) >= 0.9 * REPLICATIONS[1]
    assert outcome.wrong[0.02] <= 0.005 * REPLICATIONS[1]


@pytest.mark.parametrize(("ratio", "seed"), [(1.0, 1), (0.7, 2), (1.02, 3)])
def test_judging_every_round_agrees_with_the_count_of_signs(ratio: float, seed: int) -> None:
    rng = random.Random(seed)
    ended = 0
    for _ in range(120):
        disturbance = noise(rng, MOST * 2)
        both = [shuffled_round(rng, disturbance, number, 1) for number in range(MOST)]
        xs = verdict.log_ratios([ratio * exp(arm) for _, arm in both], [exp(base) for base, _ in both])
        missed = excluded = None
        for n in range(1, MOST + 1):
            found = verdict.judge(xs[:n], None, 1, ALPHA, 0.0)
            low, high = found.interval or (0.0, float("inf"))
            if missed is None and not low <= ratio <= high:
                missed = n, 1 if low > ratio else -1
            if excluded is None and found.verdict in (verdict.FASTER, verdict.SLOWER):
                excluded = n, 1 if found.verdict == verdict.SLOWER else -1
        assert missed == first_exclusion(xs, RANKS[1], -log(ratio))
        assert excluded == first_exclusion(xs, RANKS[1])
        ended += excluded is not None
    assert ended > 0


def sections(replications: int) -> list[Section]:
    """The tables of docs/METHOD.md: misses and power, fair coins, ranks."""
    done = {hog: simulate(dict.fromkeys(ARMS, replications), 20_26, hog) for hog in (False, True)}
    misses = []
    for hog, name in ((False, "no hog"), (True, "with a hog")):
        misses.append([name])
        for count in done[hog].misses.values():
            low, high = clopper_pearson(count, replications)
            misses[-1].append(f"{percent(count / replications, 2)} ({100 * low:.2f}–{100 * high:.2f})")
    ends = [done[hog].found[effect] for hog in (False, True) for effect in EFFECTS]
    wrong = [done[hog].wrong[effect] for hog in (False, True) for effect in EFFECTS]
    slower = [percent(effect, 0) for effect in EFFECTS]
    power = [
        ["told apart from base by round 20", *(percent(sum(n <= 20 for n in one) / replications) for one in ends)],
        *(
            [f"by round {most}", *(percent(sum(n <= most for n in one) / replications) for one in ends)]
            for most in (30, 60, MOST)
        ),
        ["median round, of those", *(f"{median(one):.0f}" for one in ends)],
        ["decided on the wrong side", *(percent(count / replications, 2) for count in wrong)],
    ]
    coins = [
        [str(k), percent(float(reached(k)), 3), percent(ALPHA / k, 3), str(fewest_rounds(k, ALPHA))]
        for k in range(1, 9)
    ]
    shown = (6, 9, 10, 13, 16, 20, 30, 40, 60, 120)
    ranks = [[f"r, K = {k}, α = 5 %", *(str(RANKS[k][n] or "–") for n in shown)] for k in (1, 4, 8)]
    return [
        Section(id="misses", head=["misses, nominal 5 %", *(f"K = {k}" for k in ARMS)], body=misses),
        Section(
            id="power",
            head=["arm slower by (K = 1)", *slower, f"the same with a hog: {slower[0]}", *slower[1:]],
            body=power,
        ),
        Section(id="coins", head=["K", f"reached within {MOST} rounds", "at most", "fewest rounds"], body=coins),
        Section(id="ranks", head=["rounds n", *map(str, shown)], body=ranks),
    ]


if __name__ == "__main__":
    simulated.main("tests/unit/test_stats_coverage.py", sections, 20_000)
