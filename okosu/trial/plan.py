# SPDX-License-Identifier: Apache-2.0
"""The plan of a trial: all that is fixed before the first round, and what it will cost."""

from __future__ import annotations

from typing import Literal

import msgspec

from okosu.stats.eprocess import fewest_rounds
from okosu.trial.arms import Arm

Metric = Literal["wall", "cpu", "rss", "regex"]

SUBROUND_SECONDS = 30.0
"""A round longer than this is split, so that each arm runs near its base (docs/METHOD.md, section 2)."""
SUBROUND_ARMS = 4
CONFIRMED_ARMS = 2


class Options(msgspec.Struct, kw_only=True):
    """What the user asked for; stored in the records file, so that --resume needs nothing else."""

    command: list[str]
    metric: Metric = "wall"
    pattern: str = ""
    better: Literal["lower", "higher"] = "lower"
    alpha: float = 0.05
    min_effect: float = 0.01
    budget_s: float = 600.0
    max_rounds: int = 1000
    timeout_s: float | None = None
    seed: int = 0
    stdin: str = ""
    check: str = ""
    prepare: str = ""
    conclude: str = ""
    warm: bool = True
    children: bool = True
    levers: dict[str, str] = {}
    """Lever name to the value asked for, "" for its candidates; empty for all levers."""
    user_arms: dict[str, dict[str, str]] = {}


class Plan(msgspec.Struct, kw_only=True):
    """The arms and constants of one trial. Times in seconds, sizes in KiB."""

    options: Options
    arms: list[Arm] = []
    """Base, placebo, then every arm that counts in K."""
    k: int = 0
    observes: list[str] = []
    proof_mode: Literal["exit", "sample"] = "exit"
    pad_to: int = 0
    """Bytes of environment that every arm can be padded to; each round adds a draw of 0..4095."""
    warm_kb: int = 0
    warm_why: str = ""
    base_s: float = 0.0
    arm_s: dict[str, float] = {}
    overhead_s: float = 0.0
    """Untimed seconds that go with each timed run: warming memory, preparing, reading proofs."""
    timeout_s: float = 0.0
    pilot_s: float = 0.0

    def arm(self, name: str) -> Arm:
        """Return the arm of that name; KeyError if there is none."""
        for arm in self.arms:
            if arm.name == name:
                return arm
        raise KeyError(name)

    def run_s(self, names: list[str]) -> float:
        """Return the expected seconds of one run of each named arm, what goes with them included."""
        return sum(self.arm_s.get(name, self.base_s) + self.overhead_s for name in names)


def subround_count(plan: Plan, live: list[str]) -> int:
    """Return into how many sub-rounds, each with its own base, a round of the `live` arms (base apart) is split."""
    if plan.run_s(["base", *live]) <= SUBROUND_SECONDS or len(live) <= SUBROUND_ARMS - 1:
        return 1
    return -(-len(live) // (SUBROUND_ARMS - 1))


def round_s(plan: Plan, live: list[str]) -> float:
    """Return the expected seconds of one round of the `live` arms, base apart."""
    return plan.run_s(live) + subround_count(plan, live) * plan.run_s(["base"])


def confirmation_s(plan: Plan, candidates: int) -> float:
    """Return the seconds that the fewest deciding rounds of a confirmation take, at base's pace; 0 without
    candidates."""
    arms = min(CONFIRMED_ARMS, candidates)
    if arms == 0:
        return 0.0
    return fewest_rounds(arms, plan.options.alpha) * (arms + 1) * (plan.base_s + plan.overhead_s)


def least_s(plan: Plan) -> float:
    """Return the smallest budget, in seconds, that can decide and confirm anything under this plan, the pilot
    included."""
    live = [arm.name for arm in plan.arms if arm.kind != "base"]
    screening = fewest_rounds(max(plan.k, 1), plan.options.alpha) * round_s(plan, live)
    return plan.pilot_s + screening + confirmation_s(plan, plan.k)


def fitting(plan: Plan) -> list[str]:
    """Return the arms, cheapest first in the pilot, that the budget can decide together; [] when not even one fits."""
    counted = sorted((a for a in plan.arms if a.kind in ("lever", "user")), key=lambda a: plan.arm_s.get(a.name, 0.0))
    for size in range(len(counted) - 1, 0, -1):
        chosen = counted[:size]
        arms = [a for a in plan.arms if a.kind in ("base", "placebo")] + chosen
        if least_s(msgspec.structs.replace(plan, arms=arms, k=size)) <= plan.options.budget_s:
            return [a.name for a in chosen]
    return []
