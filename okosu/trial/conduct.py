# SPDX-License-Identifier: Apache-2.0
"""The only code that compares variants of a program: a pilot, a screening, and the winners on fresh rounds.

`okosu try`, `okosu selftest` and the papers' comparisons of whole programs all use `run`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from okosu import levers as all_levers
from okosu import machine
from okosu.levers.base import Lever
from okosu.machine.model import Machine
from okosu.machine.program import Program, inspect
from okosu.records import files, types
from okosu.records.types import STAGES, Arm, Options, Plan, Stage, TryFile
from okosu.stats.verdict import FASTER
from okosu.trial.arms import stack
from okosu.trial.costs import confirmation_s
from okosu.trial.pilot import Pilot
from okosu.trial.rounds import Rounds, StageRun, Watcher, judge
from okosu.trial.runs import ProcessRunner, Runner
from okosu.trial.session import Session
from okosu.trial.verdicts import carry_over, conclude

PAD_ALLOWANCE = 4096
"""Bytes that the levers' own variables may take, so that every arm can be padded to one size."""


def new(
    options: Options,
    path: Path | None,
    *,
    given: Sequence[Arm] = (),
    stages: Sequence[Stage] = STAGES,
    here: Machine | None = None,
) -> Session:
    """A trial that has not begun. Its file is `path`; None keeps it in memory only.

    `given` are arms to try instead of those that the options name; if "confirmation" is the only stage, they go
    straight to fresh rounds. `here` is the machine, if it has been read already.
    """
    here = here or machine.read()
    arms = [*(arm.env for arm in given), *options.user_arms.values()]
    set_by_arms = max((sum(len(k) + len(v) + 2 for k, v in env.items()) for env in arms), default=0)
    plan = Plan(
        options=options,
        given=list(given),
        stages=list(stages),
        observes=observed(options, here),
        pad_to=_environment_bytes() + PAD_ALLOWANCE + set_by_arms,
    )
    return Session(types.begin(TryFile, machine.facts(here), plan=plan), path)


def resume(path: Path) -> Session:
    """The trial in a file, ready to go on; a trial that was interrupted in its pilot begins anew."""
    session = Session(files.read_as(TryFile, path), path)
    if not session.piloted:
        session.forget_pilot()
    return session


def run(
    session: Session,
    watcher: Watcher | None = None,
    *,
    runner: Runner | None = None,
    levers: Mapping[str, Lever] | None = None,
    here: Machine | None = None,
    program: Program | None = None,
    clock: Callable[[], float] = time.monotonic,
    snapshot: Callable[[], dict[str, object]] = machine.state,
) -> None:
    """Run the rest of a trial. Afterwards the verdicts are in its envelope, and its file is finished.

    The optional arguments replace, for tests, real processes, all levers, this machine, and its state after each round.
    OkosuError where base cannot be judged, where the budget is too small, or where a run could not be measured at all;
    what was measured until then stays in the session.
    """
    plan = session.plan
    watcher = watcher or Watcher()
    known = dict(levers) if levers is not None else all_levers.load()
    here = here or machine.read()
    runs = runner or ProcessRunner(plan)
    if not session.piloted:
        Pilot(session, runs, known, here, program or inspect(plan.options.command[0]), watcher, clock).run()
    watcher.planned()
    _Stages(session, Rounds(session, runs, known, watcher, clock, snapshot), known, clock).run()
    session.envelope.machine["state_after"] = snapshot()
    session.envelope.verdicts = conclude(session)
    session.envelope.finished = True
    session.write()


def observed(options: Options, here: Machine) -> list[str]:
    """What okosu-measure must observe, in every arm alike, for the proofs of the levers that are available here."""
    chosen = [lever for name, lever in all_levers.load().items() if name in options.levers]
    return sorted({what for lever in chosen if lever.needs(here).ok for what in lever.observes})


def _environment_bytes() -> int:
    """The size of this process's environment block: its strings with their NULs."""
    return sum(len(k) + len(v) + 2 for k, v in os.environb.items())


class _Stages:
    """Screening and confirmation of a session whose pilot is done."""

    def __init__(self, session: Session, rounds: Rounds, levers: dict[str, Lever], clock: Callable[[], float]) -> None:
        self.session, self.rounds, self.levers, self.clock = session, rounds, levers, clock

    def run(self) -> None:
        session, plan = self.session, self.session.plan
        begun = self.clock() - plan.pilot_s
        if not plan.k:
            return
        if "screening" in plan.stages and not session.envelope.confirm_arms:
            arms = [a for a in plan.arms if a.kind != "base"]
            budget = plan.options.budget_s - plan.pilot_s - confirmation_s(plan, plan.k)
            self.rounds.run(StageRun("screening", arms, plan.k, budget))
        if "confirmation" in plan.stages:
            self._confirm(plan.options.budget_s - (self.clock() - begun))

    def _confirm(self, seconds: float) -> None:
        session, plan = self.session, self.session.plan
        if not session.envelope.confirm_arms:
            session.envelope.confirm_arms = self._chosen()
        arms = [plan.arm(name) for name in session.envelope.confirm_arms]
        if arms:
            settle = bool(carry_over(session))
            self.rounds.run(StageRun("confirmation", arms, len(arms), seconds, settle))

    def _chosen(self) -> list[str]:
        """The arms to confirm: the best of the screening and the stack of all winners; without a screening, the given
        arms.
        """
        plan = self.session.plan
        if "screening" not in plan.stages:
            return [arm.name for arm in plan.arms if arm.kind in ("lever", "user", "stack")]
        candidates = self._winners()
        together = stack(candidates, {name: lever.excludes for name, lever in self.levers.items()})
        if together:
            plan.arms.append(together)
            plan.arm_s[together.name] = min(plan.arm_s[a.name] for a in candidates)
        return [arm.name for arm in [*candidates[:1], *([together] if together else [])]]

    def _winners(self) -> list[Arm]:
        """The arms that screening found FASTER, best first."""
        session, plan = self.session, self.session.plan
        found: list[tuple[float, Arm]] = []
        for arm in plan.arms:
            if arm.kind in ("lever", "user") and arm.name not in session.failures:
                judged = judge(session, "screening", arm, plan.k)
                if judged.verdict == FASTER and judged.ratio is not None:
                    found.append((judged.ratio, arm))
        return [arm for _, arm in sorted(found, key=lambda pair: pair[0])]
