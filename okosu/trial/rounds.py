# SPDX-License-Identifier: Apache-2.0
"""Rounds of one stage: draw the order, run every live arm, keep the records, let the resolved arms go."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from okosu.errors import OkosuError
from okosu.levers.base import Lever
from okosu.stats import verdict as judging
from okosu.stats.eprocess import fewest_rounds
from okosu.stats.verdict import Judgement
from okosu.trial import schedule
from okosu.trial.arms import BASE, PLACEBO, Arm
from okosu.trial.plan import round_s, subround_count
from okosu.trial.runs import Run, Runner
from okosu.trial.session import Session, Stage
from okosu.trial.validity import NOT_APPLIED, WRONG_OUTPUT, prove, wrong

OVERRUN = 1.5
"""The fewest deciding rounds are finished even over time, up to this multiple of what they should take: the time spent
on a stage that can no longer decide anything would be lost."""


class Watcher(Protocol):
    """Is told what happens, between runs only."""

    def stage(self, stage: Stage, arms: list[str]) -> None:
        """Note that a stage begins with these arms, base apart."""

    def running(self, arm: str, number: int) -> None:
        """Note which arm is about to run in which round (from 0)."""

    def round_done(self, number: int, judgements: dict[str, Judgement], left_s: float) -> None:
        """Note that a round ended; `left_s` is what remains of the stage's time."""


@dataclass
class StageRun:
    """One stage: which arms, how many of them count, how long at most, and whether base runs untimed before each
    run."""

    stage: Stage
    arms: list[Arm]
    k: int
    seconds: float
    settle: bool = False


def judge(session: Session, stage: Stage, arm: Arm, k: int) -> Judgement:
    """Judge one arm by what the session holds of that stage."""
    options = session.plan.options
    against = None
    if stage == "screening" and arm.preload and arm.kind != "placebo" and session.values(stage, PLACEBO):
        against = session.against_placebo(stage, arm.name)
    return judging.judge(session.log_ratios(stage, arm.name), against, k, options.alpha, options.min_effect)


class Rounds:
    """Runs one stage to its end. `clock` and `snapshot` (the machine's state, stored per round) are replaced in
    tests."""

    def __init__(
        self,
        session: Session,
        runner: Runner,
        levers: dict[str, Lever],
        watcher: Watcher,
        clock: Callable[[], float] = time.monotonic,
        snapshot: Callable[[], dict[str, object]] = dict,
    ) -> None:
        self.session, self.runner, self.levers, self.watcher = session, runner, levers, watcher
        self.clock, self.snapshot = clock, snapshot

    def run(self, stage: StageRun) -> dict[str, Judgement]:
        """Run rounds until every counted arm is resolved or the time is used; return the judgements at that point."""
        session, plan = self.session, self.session.plan
        number = session.next_round(stage.stage)
        session.forget_round(stage.stage, number)
        self.watcher.stage(stage.stage, [a.name for a in stage.arms])
        begun, few = self.clock(), fewest_rounds(max(stage.k, 1), plan.options.alpha)
        while True:
            judgements = {a.name: judge(session, stage.stage, a, stage.k) for a in stage.arms}
            live = self._live(stage, judgements)
            spent = self.clock() - begun
            if not _undecided(live) or number >= plan.options.max_rounds:
                return judgements
            # Each timed run is preceded by one of base where the stage settles.
            cost = round_s(plan, [a.name for a in live]) * (2 if stage.settle else 1)
            allowed = max(stage.seconds, OVERRUN * few * cost) if number < few else stage.seconds
            if spent + cost > allowed:
                return judgements
            self._round(stage, number, live)
            self._settle_costs(live, self.clock() - begun - spent)
            number += 1
            states = session.envelope.machine.setdefault("state_rounds", [])
            states.append({"stage": stage.stage, "round": number, **self.snapshot()})
            session.write()
            shown = {a.name: judge(session, stage.stage, a, stage.k) for a in stage.arms}
            self.watcher.round_done(number - 1, shown, max(0.0, stage.seconds - (self.clock() - begun)))

    def _live(self, stage: StageRun, judgements: dict[str, Judgement]) -> list[Arm]:
        """Return the arms that still run: the unresolved ones, and the placebo for as long as one of them needs it."""
        left = [a for a in stage.arms if a.name not in self.session.failures]
        open_arms = [a for a in left if judgements[a.name].verdict not in judging.RESOLVED]
        counted = [a for a in open_arms if a.kind != "placebo"]
        placebo = [a for a in left if a.kind == "placebo"]
        wanted = placebo if any(a.preload for a in counted) else [a for a in open_arms if a.kind == "placebo"]
        return counted + wanted

    def _round(self, stage: StageRun, number: int, live: list[Arm]) -> None:
        plan = self.session.plan
        by_name = {a.name: a for a in live} | {BASE: plan.arm(BASE)}
        names = [a.name for a in live]
        for sub in schedule.draw(plan.options.seed, stage.stage, number, names, subround_count(plan, names)):
            for name in sub.order:
                self.watcher.running(name, number)
                self._one(stage, sub, by_name[name])

    def _one(self, stage: StageRun, sub: schedule.SubRound, arm: Arm) -> None:
        session, plan = self.session, self.session.plan
        if stage.settle:
            self.runner.run(plan.arm(BASE), pad=sub.pad, sample=False, timeout_s=plan.timeout_s)
            session.passed(BASE)
        if plan.warm_kb:
            self.runner.warm(arm, plan.warm_kb)
        run = self.runner.run(arm, pad=sub.pad, sample=False, timeout_s=plan.timeout_s)
        if not self._counts(arm, run, sub):
            session.passed(arm.name)
            return
        proof = None
        if plan.proof_mode == "exit":
            pilot = session.pilots.get(arm.name)
            proof = prove(arm, self.levers, run.measurement, session.pilots[BASE], pilot)
            if proof is not None and not proof.holds:
                session.failures[arm.name] = (NOT_APPLIED, f"{_when(stage, sub)}: {proof.text}")
        session.add(stage.stage, sub.number, run, proof)

    def _counts(self, arm: Arm, run: Run, sub: schedule.SubRound) -> bool:
        session = self.session
        assert session.reference is not None
        why = wrong(run, session.reference, bool(session.plan.options.check))
        if not why:
            return True
        round_number = sub.number // schedule.MOST_PARTS + 1
        if arm.kind == "base":
            raise OkosuError(
                f"base failed in round {round_number}: {why}",
                "a trial needs a base that ends and prints the same each time",
                "a steadier input, or --check CMD; what was measured is kept in the records file",
            )
        session.failures[arm.name] = (WRONG_OUTPUT, f"round {round_number}: {why}")
        return False

    def _settle_costs(self, live: list[Arm], spent: float) -> None:
        """Learn from a round what a run really costs, so that the time left is planned with what is seen, not
        piloted."""
        plan = self.session.plan
        planned = round_s(plan, [a.name for a in live])
        if planned > 0:
            runs = len(live) + subround_count(plan, [a.name for a in live])
            plan.overhead_s = max(0.0, plan.overhead_s + (spent - planned) / runs / 2)


def _undecided(live: list[Arm]) -> bool:
    """Say whether anything that counts is still open; the placebo alone does not hold a stage up, unless all is
    placebo."""
    return any(a.kind != "placebo" for a in live)


def _when(stage: StageRun, sub: schedule.SubRound) -> str:
    return f"{stage.stage} round {sub.number // schedule.MOST_PARTS + 1}"
