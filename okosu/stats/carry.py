# SPDX-License-Identifier: Apache-2.0
"""Carry-over: does an arm slow down or speed up the run after it? It compares base's runs by their predecessor
(docs/METHOD.md, section 6).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, erfc, exp, log, sqrt
from statistics import median

FEWEST = 4
"""Runs of base after an arm, and after others, below which nothing is said."""
SPLITS = comb(16, 8)
"""Ways to deal the runs over two samples, up to which the rank-sum test counts them all: up to 8 runs against 8."""


@dataclass(frozen=True)
class CarryOver:
    """Base after `arm` against base after anything else: the ratio of medians, both numbers of runs, and a two-sided
    rank-sum p.
    """

    arm: str
    ratio: float
    runs: int
    p: float


def rank_sum_p(a: Sequence[float], b: Sequence[float]) -> float:
    """The two-sided p of the rank-sum test that a and b come from one distribution; mid-ranks for ties.

    Exact by enumeration up to SPLITS splits, else the normal approximation with continuity and tie correction.
    """
    pooled = sorted([*a, *b])
    first: dict[float, int] = {}
    count: dict[float, int] = defaultdict(int)
    for i, v in enumerate(pooled):
        first.setdefault(v, i)
        count[v] += 1
    ranks = {v: first[v] + (count[v] + 1) / 2 for v in first}
    n, m = len(a), len(b)
    centre = n * (n + m + 1) / 2
    distance = abs(sum(ranks[v] for v in a) - centre)
    if comb(n + m, n) <= SPLITS:
        each = [ranks[v] for v in pooled]
        splits = [abs(sum(s) - centre) for s in combinations(each, n)]
        # Ranks and their sums are multiples of 1/2, so equal distances are equal bit by bit.
        return sum(d >= distance for d in splits) / len(splits)
    ties = sum(c**3 - c for c in count.values())
    variance = n * m / 12 * (n + m + 1 - ties / ((n + m) * (n + m - 1)))
    if variance == 0:
        return 1.0
    return erfc(max(0.0, distance - 0.5) / sqrt(2 * variance))


def _against_others(arm: str, runs: Sequence[tuple[str, float]]) -> CarryOver | None:
    """Compare base after `arm` with base after anything else; None where either was seen fewer than FEWEST times."""
    # Only the span of rounds in which both kinds of run occur is compared: a resolved arm leaves the trial, and the
    # machine's speed drifts afterwards.
    shared = list(runs)
    while shared and (shared[-1][0] == arm) == (runs[-1][0] == arm):
        shared.pop()
    after = [t for p, t in shared if p == arm]
    other = [t for p, t in shared if p != arm]
    if min(len(after), len(other)) < FEWEST:
        return None
    return CarryOver(arm, exp(log(median(after)) - log(median(other))), len(after), rank_sum_p(after, other))


def by_predecessor(
    times: Sequence[float], predecessors: Sequence[str], delta: float, alpha: float = 0.05
) -> list[CarryOver]:
    """The arms after which base's median differs by more than `delta`, beyond noise; the runs are given in order of
    execution.

    Beyond noise means a rank-sum p below alpha over the number of predecessors compared, so that without any carry-over
    a false alarm is rarer than alpha. The arm farthest from the others is found first, and the others are compared
    again without it, because it shifted what they were compared with. Of only two arms that differ, both are named,
    since the data cannot tell which one is the cause.
    """
    runs = [(p, t) for t, p in zip(times, predecessors, strict=True) if p]
    found: list[CarryOver] = []
    tests = 0
    while True:
        arms = dict.fromkeys(p for p, _ in runs)
        compared = [c for c in (_against_others(arm, runs) for arm in arms) if c is not None]
        tests = tests or len(compared)
        apart = [c for c in compared if abs(c.ratio - 1) > delta and c.p < alpha / tests]
        if not apart:
            return found
        named = apart if len(compared) == 2 else [max(apart, key=lambda c: abs(log(c.ratio)))]
        found += named
        runs = [(p, t) for p, t in runs if p not in {c.arm for c in named}]
