# SPDX-License-Identifier: Apache-2.0
"""What a plan will cost: the seconds of its rounds and stages, and how many arms fit a budget."""

from __future__ import annotations

import msgspec

from okosu.records.types import Plan
from okosu.stats.eprocess import fewest_rounds

SUBROUND_SECONDS = 30.0
"""A round longer than this is split, so that each arm runs near its base (docs/METHOD.md, section 2)."""
SUBROUND_ARMS = 4
CONFIRMED_ARMS = 2


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


def fewest(plan: Plan, counted: int) -> int:
    """How many rounds a stage with `counted` counting arms runs before it may end for lack of time."""
    return max(
        fewest_rounds(max(counted, 1), plan.options.alpha), min(plan.options.min_rounds, plan.options.max_rounds)
    )


def confirmation_s(plan: Plan, candidates: int) -> float:
    """The seconds that the fewest deciding rounds of a confirmation take at base's speed; 0 without a confirmation."""
    arms = min(CONFIRMED_ARMS, candidates)
    if arms == 0 or "confirmation" not in plan.stages:
        return 0.0
    return fewest(plan, arms) * (arms + 1) * (plan.base_s + plan.overhead_s)


def least_s(plan: Plan) -> float:
    """The smallest budget, in seconds, that can decide and confirm anything under this plan, including the pilot."""
    live = [arm.name for arm in plan.arms if arm.kind != "base"]
    screening = fewest(plan, plan.k) * round_s(plan, live) if "screening" in plan.stages else 0.0
    return plan.pilot_s + screening + confirmation_s(plan, plan.k)


def fitting(plan: Plan) -> list[str]:
    """The arms, cheapest first in the pilot, that the budget can decide together; [] when not even one fits."""
    counted = sorted((a for a in plan.arms if a.kind in ("lever", "user")), key=lambda a: plan.arm_s.get(a.name, 0.0))
    for size in range(len(counted) - 1, 0, -1):
        chosen = counted[:size]
        arms = [a for a in plan.arms if a.kind in ("base", "placebo")] + chosen
        if least_s(msgspec.structs.replace(plan, arms=arms, k=size)) <= plan.options.budget_s:
            return [a.name for a in chosen]
    return []
