# SPDX-License-Identifier: Apache-2.0
"""The rounds of a trial: draw the order, run every live arm, keep the records; the course decides what follows."""

from __future__ import annotations

import time
from collections.abc import Callable

from okosu.levers.base import Lever
from okosu.records.types import BASE, Arm, Failure, Place, Stage
from okosu.stats.verdict import Judgement
from okosu.trial import schedule
from okosu.trial.costs import fewest, round_s, subround_count
from okosu.trial.course import Course, carried_over, leader
from okosu.trial.runs import Run, Runner
from okosu.trial.session import Session
from okosu.trial.validity import NOT_APPLIED, WRONG_OUTPUT, accuse, changed, prove, wrong

OVERRUN = 1.5
"""The fewest deciding rounds are finished even over time, if that takes no more than this multiple of the budget: the
time spent on rounds that decide nothing would be lost."""


class Watcher:
    """Is told about the progress of a trial, between runs only. This base class shows nothing."""

    def say(self, text: str) -> None:
        """Show a line of prose."""

    def piloting(self, arm: str, number: int, count: int, left_s: float) -> None:
        """Called before a run of the pilot; `number` is from 1. Until base has shown what it does, `count`, the number
        of all of them, and `left_s`, their seconds at base's pace, are 0.
        """

    def planned(self) -> None:
        """Called when the pilot is done and the plan is fixed."""

    def stage(self, stage: Stage, arms: list[str]) -> None:
        """Called when the rounds begin, and when a stack joins them; `arms` does not contain base."""

    def running(self, arm: str, number: int) -> None:
        """Called before an arm runs; `number` is the round, from 0."""

    def round_done(self, number: int, judgements: dict[str, Judgement], left_s: float) -> None:
        """Called when a round has ended; `left_s` is what remains of the budget in seconds."""

    def answered(self, judgements: dict[str, Judgement]) -> None:
        """Called after the first round that leaves an arm known to win; its further rounds only measure it better."""


class Rounds:
    """Runs the rounds to their end. `clock` and `snapshot` (the machine's state, stored per round) are replaced in
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
        self.course = Course(session, {name: lever.excludes for name, lever in levers.items()})

    def run(self) -> None:
        """Run rounds until no arm needs another one, or the time or --max-rounds is used up."""
        session, plan, held = self.session, self.session.plan, self.session.envelope
        session.forget_interrupted_round()
        judged = self.course.judgements()
        everyone = [arm for arm in plan.arms if arm.kind != "base"]
        live = self.course.live(judged, self._affordable(everyone))
        self.watcher.stage("rounds", [arm.name for arm in live])
        few = fewest(plan)
        while live and held.rounds < plan.options.max_rounds and self._fits(live, few):
            begun = self.clock()
            self._round(held.rounds, live)
            took = self.clock() - begun
            self._settle_costs(live, took)
            held.spent_s += took
            held.rounds += 1
            judged, affordable = self.course.judgements(), self._affordable(live)
            answered = self.course.take_note(judged, affordable)
            if held.settled is None and leader(session, judged) and carried_over(session):
                held.settled = held.rounds
            states = held.machine.setdefault("state_rounds", [])
            states.append({"stage": "rounds", "round": held.rounds, **self.snapshot()})
            session.write()
            self.watcher.round_done(held.rounds - 1, judged, self._left())
            if answered:
                self.watcher.answered(judged)
            before, live = live, self.course.live(judged, affordable)
            if any(arm not in before and arm.kind == "stack" for arm in live):
                self.watcher.stage("rounds", [arm.name for arm in live])

    def _left(self) -> float:
        return max(0.0, self.session.plan.options.budget_s - self.session.envelope.spent_s)

    def _cost(self, live: list[Arm]) -> float:
        """The expected seconds of a round; where base runs untimed before each run, of both."""
        settling = self.session.envelope.settled is not None
        return round_s(self.session.plan, [arm.name for arm in live]) * (2 if settling else 1)

    def _affordable(self, live: list[Arm]) -> int:
        """The number of rounds after which the time or --max-rounds will end the trial."""
        more = self._left() / max(1e-9, self._cost(live))
        return int(min(self.session.plan.options.max_rounds, self.session.envelope.rounds + more))

    def _fits(self, live: list[Arm], few: int) -> bool:
        cost, left = self._cost(live), self._left()
        if cost <= left:
            return True
        to_go = (few - self.session.envelope.rounds) * cost
        return 0 < to_go <= left + (OVERRUN - 1) * self.session.plan.options.budget_s

    def _round(self, number: int, live: list[Arm]) -> None:
        plan = self.session.plan
        by_name = {a.name: a for a in live} | {BASE: plan.arm(BASE)}
        names = [a.name for a in live]
        for sub in schedule.draw(plan.options.seed, number, names, subround_count(plan, names)):
            for name in sub.order:
                self.watcher.running(name, number)
                self._one(sub, by_name[name])

    def _one(self, sub: schedule.SubRound, arm: Arm) -> None:
        session, plan = self.session, self.session.plan
        if session.envelope.settled is not None:
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
                number = sub.place.round + 1
                session.failures[arm.name] = Failure(NOT_APPLIED, f"round {number}: {proof.text}", round=number)
        session.add("rounds", sub.place, run, proof)

    def _counts(self, arm: Arm, run: Run, place: Place) -> bool:
        plan = self.session.plan
        why = wrong(run, plan)
        if not why:
            return True
        number = place.round + 1
        if arm.kind == "base":
            raise changed(f"base in round {number}", why)
        said = f"round {number}: {why}"
        accuse(self._again, plan, arm, run, said)
        self.session.failures[arm.name] = Failure(WRONG_OUTPUT, said, round=number)
        return False

    def _again(self, arm: Arm) -> Run:
        """A run that is not recorded."""
        plan = self.session.plan
        self.session.passed(arm.name)
        return self.runner.run(arm, pad=0, sample=False, timeout_s=plan.timeout_s)

    def _settle_costs(self, live: list[Arm], spent: float) -> None:
        """Update the expected cost of a run from the round just measured, so that the remaining time is planned with
        it.
        """
        plan = self.session.plan
        planned = round_s(plan, [a.name for a in live])
        if planned > 0 and self.session.envelope.settled is None:
            runs = len(live) + subround_count(plan, [a.name for a in live])
            plan.overhead_s = max(0.0, plan.overhead_s + (spent - planned) / runs / 2)
