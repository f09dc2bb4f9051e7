# SPDX-License-Identifier: Apache-2.0
"""Hardware counters of base and of the recommended arm, in one more run of each after the rounds.

They explain what was gained and are never judged: the runs that are judged are not counted, and the other way round.
"""

from __future__ import annotations

from typing import Protocol

from okosu.records.types import BASE, Arm
from okosu.trial.rounds import Watcher
from okosu.trial.session import Session

SHARE = 0.1
"""The part of the budget that the two runs may take beyond it."""


class Counting(Protocol):
    """Makes the runs. Tests put a fake in its place."""

    def uncountable(self) -> str: ...

    def count(self, arm: Arm, timeout_s: float) -> dict[str, int]: ...


def explain(session: Session, runs: Counting, watcher: Watcher) -> None:
    """Fill `counted` of the session's file, or `uncounted` with the reason; nothing where no arm is recommended."""
    plan, held = session.plan, session.envelope
    best = next((v.arm for v in held.verdicts if v.headline), None)
    if best is None:
        return
    held.counted, held.uncounted = {}, ""
    if plan.run_s([BASE, best]) > SHARE * plan.options.budget_s:
        held.uncounted = f"two more runs would take more than {SHARE:.0%} of the budget"
        return
    held.uncounted = runs.uncountable()
    if held.uncounted:
        return
    watcher.say(f"one more run of base and of {best}, under hardware counters")
    held.counted = {name: runs.count(plan.arm(name), plan.timeout_s) for name in (BASE, best)}
