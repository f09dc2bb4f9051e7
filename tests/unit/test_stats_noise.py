# SPDX-License-Identifier: Apache-2.0
"""The noise used by the simulations of docs/METHOD.md, and a check that it is as bad as documented."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise
from math import sqrt
from statistics import correlation, fmean, median, pstdev

JITTER = 0.01
SPIKE_RATE, SPIKE_MEAN = 0.05, 0.10
DRIFT, RHO = 0.02, 0.9
FIRST_SLOT = 0.01
HOG, HOG_STARTS, HOG_ENDS = 0.30, 0.02, 0.10


def noise(rng: random.Random, runs: int, hog: bool = False) -> list[float]:
    """The disturbances of the log-time of `runs` consecutive runs.

    1 % lognormal jitter; in 5 % of runs a spike with mean 10 %; an AR(1) drift of 2 % with rho .9 from run to run. With
    `hog`, another process comes and goes (a sixth of the time) and slows the runs meanwhile by about 30 %.
    """
    gauss, uniform = rng.gauss, rng.random
    step = DRIFT * sqrt(1 - RHO**2)
    drift = gauss(0, DRIFT)
    made = []
    loaded = False
    for _ in range(runs):
        drift = RHO * drift + gauss(0, step)
        value = drift + gauss(0, JITTER)
        if uniform() < SPIKE_RATE:
            value += rng.expovariate(1 / SPIKE_MEAN)
        if hog:
            loaded = uniform() >= HOG_ENDS if loaded else uniform() < HOG_STARTS
            if loaded:
                value += HOG * uniform() * 2
        made.append(value)
    return made


def shuffled_round(rng: random.Random, disturbance: list[float], number: int, arms: int) -> list[float]:
    """Base's log-time, then those of `arms` equal arms, in one round: random order, the first slot slower."""
    slots = disturbance[number * (arms + 1) : (number + 1) * (arms + 1)]
    slots[0] += FIRST_SLOT
    rng.shuffle(slots)
    return slots


def first_exclusion(xs: Sequence[float], ranks: Sequence[int], shift: float = 0.0) -> tuple[int, int] | None:
    """(round, side) at which the interval of xs + shift first excludes 0, at whatever round; None if never.

    It does so exactly where one side's count is below the rank: the same as judging every round, only faster.
    """
    below = 0
    for n, x in enumerate(xs, 1):
        below += x + shift < 0
        if n - below < ranks[n]:
            return n, -1
        if below < ranks[n]:
            return n, 1
    return None


def test_the_noise_drifts_and_spikes() -> None:
    made = noise(random.Random(1), 40_000)
    smooth = [median(made[i : i + 9]) for i in range(0, len(made), 9)]
    assert 0.9 * DRIFT < pstdev(smooth) < 1.1 * DRIFT
    assert correlation(smooth[:-1], smooth[1:]) > 0.3
    # A jump of 8 % from one run to the next is over five sigma of the jitter and drift together: only spikes cause it.
    jumps = fmean(b - a > 0.08 for a, b in pairwise(made))
    assert SPIKE_RATE * 0.3 < jumps < SPIKE_RATE


def test_the_hog_comes_and_goes() -> None:
    loaded = fmean(v > 0.25 for v in noise(random.Random(2), 20_000, hog=True))
    idle = fmean(v > 0.25 for v in noise(random.Random(2), 20_000))
    assert idle < 0.01
    assert 0.05 < loaded - idle < 1 / 6


def test_a_round_costs_the_first_slot_and_no_arm_in_particular() -> None:
    rng = random.Random(3)
    rounds = [shuffled_round(rng, [0.0] * 5 * 3000, number, 4) for number in range(3000)]
    assert all(sorted(r) == [0.0] * 4 + [FIRST_SLOT] for r in rounds)
    for arm in range(5):
        # 3000 draws with probability one fifth: 600, and five sigma are 110.
        assert abs(sum(r[arm] > 0 for r in rounds) - 600) < 110
