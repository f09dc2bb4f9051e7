# SPDX-License-Identifier: Apache-2.0
"""A whole trial from its plan to its verdicts: screening, then the winners and their stack on fresh rounds."""

from __future__ import annotations

import time
from collections.abc import Callable

from okosu.levers.base import Lever
from okosu.stats.verdict import FASTER
from okosu.trial.arms import Arm, stack
from okosu.trial.plan import confirmation_s
from okosu.trial.rounds import Rounds, StageRun, Watcher, judge
from okosu.trial.runs import Runner
from okosu.trial.session import Session
from okosu.trial.verdicts import carry_over, conclude


class Trial:
    """Screening and confirmation over a session whose pilot is done."""

    def __init__(
        self,
        session: Session,
        runner: Runner,
        levers: dict[str, Lever],
        watcher: Watcher,
        clock: Callable[[], float] = time.monotonic,
        snapshot: Callable[[], dict[str, object]] = dict,
    ) -> None:
        self.session, self.levers, self.watcher, self.clock = session, levers, watcher, clock
        self.rounds = Rounds(session, runner, levers, watcher, clock, snapshot)

    def run(self) -> None:
        """Run all that is left to run; the verdicts are in the session's envelope, and the file is finished."""
        session, plan = self.session, self.session.plan
        begun = self.clock() - plan.pilot_s
        arms = [a for a in plan.arms if a.kind != "base"]
        if plan.k and not session.confirm_arms:
            budget = plan.options.budget_s - plan.pilot_s - confirmation_s(plan, plan.k)
            self.rounds.run(StageRun("screening", arms, plan.k, budget))
        if plan.k:
            self._confirm(plan.options.budget_s - (self.clock() - begun))
        session.envelope.verdicts = conclude(session)
        session.envelope.finished = True
        session.write()

    def winners(self) -> list[Arm]:
        """Return the arms that screening found FASTER, best first."""
        session, plan = self.session, self.session.plan
        found: list[tuple[float, Arm]] = []
        for arm in plan.arms:
            if arm.kind in ("lever", "user") and arm.name not in session.failures:
                judged = judge(session, "screening", arm, plan.k)
                if judged.verdict == FASTER and judged.ratio is not None:
                    found.append((judged.ratio, arm))
        return [arm for _, arm in sorted(found, key=lambda pair: pair[0])]

    def _confirm(self, seconds: float) -> None:
        session, plan = self.session, self.session.plan
        candidates = self.winners()
        if not session.confirm_arms:
            if not candidates:
                return
            together = stack(candidates, {name: lever.excludes for name, lever in self.levers.items()})
            chosen = [candidates[0]] + ([together] if together else [])
            if together:
                plan.arms.append(together)
                plan.arm_s[together.name] = min(plan.arm_s[a.name] for a in candidates)
            session.confirm_arms = [a.name for a in chosen]
        arms = [plan.arm(name) for name in session.confirm_arms]
        settle = bool(carry_over(session))
        self.rounds.run(StageRun("confirmation", arms, len(arms), seconds, settle))
