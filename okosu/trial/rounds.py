# SPDX-License-Identifier: Apache-2.0
"""The rounds of one stage: draw the order, run every live arm, keep the records, drop the arms that are resolved."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from okosu.errors import OkosuError
from okosu.levers.base import Lever
from okosu.records.types import BASE, PLACEBO, Arm, Failure, Place, Stage
from okosu.stats import verdict as judging
from okosu.stats.verdict import Judgement
from okosu.trial import schedule
from okosu.trial.costs import fewest, round_s, subround_count
from okosu.trial.runs import Run, Runner
from okosu.trial.session import Session
from okosu.trial.validity import NOT_APPLIED, WRONG_OUTPUT, prove, wrong

OVERRUN = 1.5
"""The fewest deciding rounds are finished even over time, up to this multiple of what they should take: the time spent
on a stage that can no longer decide anything would be lost."""


class Watcher:
    """Is told about the progress of a trial, between runs only. This base class shows nothing."""

    def say(self, text: str) -> None:
        """Show a line of prose."""

    def planned(self) -> None:
        """Called when the pilot is done and the plan is fixed."""

    def stage(self, stage: Stage, arms: list[str]) -> None:
        """Called when a stage begins; `arms` does not contain base."""

    def running(self, arm: str, number: int) -> None:
        """Called before an arm runs; `number` is the round, from 0."""

    def round_done(self, number: int, judgements: dict[str, Judgement], left_s: float) -> None:
        """Called when a round has ended; `left_s` is what remains of the stage's time in seconds."""


@dataclass
class StageRun:
    """One stage: its arms, how many of them count, its time limit, and whether an untimed run of base precedes each
    run.
    """

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
        """Run rounds until every counted arm is resolved or the time is used up; return the judgements at that
        point.
        """
        session, plan = self.session, self.session.plan
        number = session.next_round(stage.stage)
        session.forget_round(stage.stage, number)
        self.watcher.stage(stage.stage, [a.name for a in stage.arms])
        begun, few = self.clock(), fewest(plan, stage.k)
        while True:
            judgements = {a.name: judge(session, stage.stage, a, stage.k) for a in stage.arms}
            live = self._live(stage, judgements, number)
            spent = self.clock() - begun
            if not _undecided(live) or number >= plan.options.max_rounds:
                return judgements
            # In a stage that settles, an untimed run of base precedes each timed run.
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

    def _live(self, stage: StageRun, judgements: dict[str, Judgement], number: int) -> list[Arm]:
        """The arms that still run: the unresolved ones, and the placebo for as long as one of them needs it."""
        left = [a for a in stage.arms if a.name not in self.session.failures]
        asked = number < self.session.plan.options.min_rounds
        open_arms = [a for a in left if asked or judgements[a.name].verdict not in judging.RESOLVED]
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
        if not self._counts(arm, run, sub.place):
            session.passed(arm.name)
            return
        proof = None
        if plan.proof_mode == "exit":
            pilot = plan.pilots.get(arm.name)
            proof = prove(arm, self.levers, run.measurement, plan.pilots[BASE], pilot)
            if proof is not None and not proof.holds:
                when = f"{stage.stage} round {sub.place.round + 1}"
                session.failures[arm.name] = Failure(NOT_APPLIED, f"{when}: {proof.text}")
        session.add(stage.stage, sub.place, run, proof)

    def _counts(self, arm: Arm, run: Run, place: Place) -> bool:
        plan = self.session.plan
        assert plan.reference is not None
        why = wrong(run, plan.reference, bool(plan.options.check))
        if not why:
            return True
        if arm.kind == "base":
            raise OkosuError(
                f"base failed in round {place.round + 1}: {why}",
                "a trial needs a base that ends and prints the same each time",
                "a steadier input, or --check CMD; what was measured is kept in the records file",
            )
        self.session.failures[arm.name] = Failure(WRONG_OUTPUT, f"round {place.round + 1}: {why}")
        return False

    def _settle_costs(self, live: list[Arm], spent: float) -> None:
        """Update the expected cost of a run from the round just measured, so that the remaining time is planned with
        it.
        """
        plan = self.session.plan
        planned = round_s(plan, [a.name for a in live])
        if planned > 0:
            runs = len(live) + subround_count(plan, [a.name for a in live])
            plan.overhead_s = max(0.0, plan.overhead_s + (spent - planned) / runs / 2)


def _undecided(live: list[Arm]) -> bool:
    """Say whether an arm that counts is still open. An open placebo counts only where it is the only arm."""
    return any(a.kind != "placebo" for a in live)
