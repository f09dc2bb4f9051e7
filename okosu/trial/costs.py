# SPDX-License-Identifier: Apache-2.0
"""What a plan will cost: the seconds of its rounds, and the smallest budget that decides."""

from __future__ import annotations

from okosu.records.types import Plan
from okosu.stats.eprocess import fewest_rounds

SUBROUND_SECONDS = 30.0
"""A round longer than this is split, so that each arm runs near its base (docs/METHOD.md, section 2)."""
SUBROUND_ARMS = 4


def subround_count(plan: Plan, live: list[str]) -> int:
    """The number of sub-rounds, each with its own base, into which a round of the `live` arms (without base) is
    split.
    """
    if plan.run_s(["base", *live]) <= SUBROUND_SECONDS or len(live) <= SUBROUND_ARMS - 1:
        return 1
    return -(-len(live) // (SUBROUND_ARMS - 1))


def round_s(plan: Plan, live: list[str]) -> float:
    """The expected seconds of one round of the `live` arms (base is not among them, but runs too)."""
    return plan.run_s(live) + subround_count(plan, live) * plan.run_s(["base"])


def fewest(plan: Plan) -> int:
    """How many rounds a trial runs before it may end for lack of time: the fewest that can decide."""
    return max(fewest_rounds(max(plan.k, 1), plan.options.alpha), min(plan.options.min_rounds, plan.options.max_rounds))


def clock(seconds: float) -> str:
    """A duration as --budget reads it, rounded up: 45s, 12m, 3h."""
    if seconds < 90:
        return f"{max(1, int(seconds + 0.999))}s"
    if seconds < 5400:
        return f"{int(seconds / 60 + 0.999)}m"
    return f"{int(seconds / 3600 + 0.999)}h"
