# SPDX-License-Identifier: Apache-2.0
"""The pilot: what base does and how long it takes, which arms apply, and the plan that follows. Its times are never
judged.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from okosu.errors import USAGE_ERROR, OkosuError
from okosu.levers.base import Lever
from okosu.machine.model import Machine
from okosu.machine.program import Program
from okosu.records.measurement import Measurement
from okosu.records.types import BASE, PLACEBO, Arm, Failure, Place, Proof, Reference
from okosu.trial import costs
from okosu.trial.arms import lever_arm, with_value
from okosu.trial.rounds import Watcher
from okosu.trial.runs import Run, Runner
from okosu.trial.session import Session
from okosu.trial.validity import NOT_APPLIED, UNAVAILABLE, WRONG_OUTPUT, ending, prove, wrong

CLEARLY = 1.1
"""A later alternative of an arm is preferred to an earlier one when its pilot is faster by this factor."""
WARM_MARGIN = 1.25
REPORTED_SHARE = 16
"""Free page reporting takes up to this part of the free memory back at a time, what was freed last first (Linux,
mm/page_reporting.c): so much more is warmed, up to the peak itself once more, that one pass leaves enough."""
TIMEOUT_FACTOR = 20
TIMEOUT_LEAST = 30.0


class Pilot:
    """Runs base twice and each arm once with each of its alternatives, and fixes the plan."""

    def __init__(
        self,
        session: Session,
        runner: Runner,
        levers: dict[str, Lever],
        machine: Machine,
        program: Program,
        watcher: Watcher,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.session, self.runner, self.levers = session, runner, levers
        self.machine, self.program, self.say, self.clock = machine, program, watcher.say, clock
        self._rss_kb = 0
        self._number = 0

    def run(self) -> None:
        """Fill session.plan. OkosuError where base cannot be judged at all or the budget is too small."""
        session, plan = self.session, self.session.plan
        begun = self.clock()
        base = Arm(BASE, "base")
        plan.arms = [base]
        self._base(base)
        for arm in plan.given or self._candidates():
            self._try(arm)
        counted = [a for a in plan.arms if a.kind != "base"]
        # Arms that the caller made are judged beside a placebo only if they load the library that it stands for.
        wanted = any(a.preload for a in counted) or (counted and not plan.given and self.program.preloadable)
        if wanted and "screening" in plan.stages:
            self._placebo()
        plan.k = len(counted)
        plan.warm_kb = self._warm_kb()
        plan.warm_why = self.machine.virtual.lazy_why if plan.warm_kb else ""
        self._time_overhead()
        plan.timeout_s = plan.options.timeout_s or max(TIMEOUT_LEAST, TIMEOUT_FACTOR * plan.base_s)
        plan.pilot_s = self.clock() - begun
        session.write()
        # Without a screening, the fewest rounds of the confirmation are run to the end, however long they take.
        if counted and "screening" in plan.stages:
            _check_budget(session)

    def _run(self, arm: Arm, sample: bool) -> Run:
        options = self.session.plan.options
        # Untouched memory would make the pilot time the host, and a choice between an arm's values would follow that
        # noise.
        if warm := self._warm_kb():
            self.runner.warm(arm, warm)
        run = self.runner.run(arm, pad=0, sample=sample, timeout_s=options.timeout_s or options.budget_s)
        self.session.add("pilot", Place(self._number), run, None)
        self._number += 1
        self._rss_kb = max(self._rss_kb, run.measurement.maxrss_kb)
        return run

    def _warm_kb(self) -> int:
        """How many KiB to touch before a run: the largest peak so far and a margin; 0 where the host backs all
        memory.
        """
        if not (self.session.plan.options.warm and self.machine.virtual.lazy_memory):
            return 0
        once_more = min(self._rss_kb, self.machine.memory.available_kb // REPORTED_SHARE)
        return int(self._rss_kb * WARM_MARGIN) + once_more

    def _base(self, base: Arm) -> None:
        plan = self.session.plan
        # The first run may still fill caches or make its input: only its output is used.
        first = self._run(base, sample=False)
        m = first.measurement
        if m.timed_out:
            raise OkosuError(
                f"the program did not end within {m.wall_ns / 1e9:.0f} s",
                "okosu try compares complete runs, and the first one has to fit the time-out (by default the budget)",
                "--timeout SECONDS or --budget TIME, or a smaller input",
            )
        if not m.traced:
            plan.proof_mode = "sample"
            self.say(f"effects are proved once per arm, not in each run: {m.why_untraced}")
        plan.reference = Reference(m.status, m.signal, first.digest)
        second = self._run(base, sample=True)
        plan.pilots[BASE] = second.measurement
        if why := wrong(second, plan.reference, bool(plan.options.check)):
            raise _unsteady(first, second, why)
        if (m.status, m.signal) != (0, None):
            self.say(f"note: base itself ends with {ending(m.status, m.signal)}; every run must do the same")
        plan.base_s = plan.arm_s[BASE] = second.measurement.wall_ns / 1e9

    def _candidates(self) -> list[Arm]:
        plan, base = self.session.plan, self.session.plan.pilots[BASE]
        arms = []
        for name, wanted in plan.options.levers.items():
            lever = self.levers[name]
            available = lever.needs(self.machine)
            if available.ok and wanted:
                available = lever.suits(wanted, self.machine, self.program)
            choices = [[wanted]] if wanted else lever.values(self.machine, self.program, base)
            if available.ok and not choices:
                available = lever.nothing(self.machine, self.program, base)
            if not available.ok:
                self._out(name, Failure(UNAVAILABLE, available.why, available.fix))
                continue
            for values in choices:
                preload = lever.loads_preload(values[0], self.program)
                arms.append(lever_arm(name, values, preload, alone=len(choices) == 1))
        arms += [Arm(name, "user", env=env) for name, env in plan.options.user_arms.items()]
        return arms

    def _try(self, arm: Arm) -> None:
        """Run the arm with each of its values; keep the one to try, or note why none can be."""
        whys, proved, verdicts = [], [], set()
        single = arm.kind == "lever"
        for value in [*arm.levers.values(), *arm.alternatives] if single else [""]:
            tried = arm
            if single:
                (lever,) = arm.levers
                tried = with_value(arm, value, self.levers[lever].loads_preload(value, self.program))
            run = self._run(tried, sample=True)
            verdict, why, proof = self._judge(tried, run)
            if verdict:
                verdicts.add(verdict)
                whys.append(why if len(arm.alternatives) == 0 else f"{value}: {why}")
            else:
                proved.append((tried, run.measurement, proof))
        if proved:
            self._keep(proved)
            return
        # A value that changes the program's output is reported before one that has no effect, in whatever order they
        # ran.
        verdict = WRONG_OUTPUT if WRONG_OUTPUT in verdicts else NOT_APPLIED
        self._out(arm.name, Failure(verdict, "; ".join(whys)))

    def _keep(self, proved: list[tuple[Arm, Measurement, Proof | None]]) -> None:
        """Take the first value that proves its effect, unless a later one is clearly faster in its one run.

        This choice adds no statistical error: it is made before round 1, on runs that are never judged.
        """
        arm, measured, proof = proved[0]
        for other, its, proof_of_it in proved[1:]:
            if its.wall_ns * CLEARLY < measured.wall_ns:
                arm, measured, proof = other, its, proof_of_it
        plan = self.session.plan
        plan.arms.append(arm)
        plan.pilots[arm.name] = measured
        plan.arm_s[arm.name] = measured.wall_ns / 1e9
        if proof is not None:
            plan.proofs[arm.name] = proof

    def _judge(self, arm: Arm, run: Run) -> tuple[str, str, Proof | None]:
        """The verdict that takes the arm out of the trial and the reason, both "" where it may stay, and its proof."""
        plan = self.session.plan
        assert plan.reference is not None
        if why := wrong(run, plan.reference, bool(plan.options.check)):
            return WRONG_OUTPUT, why, None
        proof = prove(arm, self.levers, run.measurement, plan.pilots[BASE], None)
        if proof is not None and not proof.holds:
            return NOT_APPLIED, proof.text, proof
        return "", "", proof

    def _placebo(self) -> None:
        plan = self.session.plan
        placebo = Arm(PLACEBO, "placebo", preload=True)
        run = self._run(placebo, sample=True)
        _, why, _ = self._judge(placebo, run)
        if why:
            self._out(PLACEBO, Failure(WRONG_OUTPUT, why))
            # If even the inert library breaks the program, no lever that loads the library can be trusted.
            for arm in [a for a in plan.arms if a.preload]:
                self._out(arm.name, Failure(WRONG_OUTPUT, f"the preload library alone changes the program: {why}"))
            plan.arms = [a for a in plan.arms if not a.preload]
            return
        plan.pilots[PLACEBO] = run.measurement
        plan.arms.insert(1, placebo)
        plan.arm_s[PLACEBO] = run.measurement.wall_ns / 1e9

    def _time_overhead(self) -> None:
        plan = self.session.plan
        begun = self.clock()
        run = self._run(plan.arms[0], sample=False)
        plan.overhead_s = max(0.0, self.clock() - begun - run.measurement.wall_ns / 1e9)
        plan.base_s = plan.arm_s[BASE] = run.measurement.wall_ns / 1e9

    def _out(self, arm: str, failed: Failure) -> None:
        self.session.failures[arm] = failed
        self.say(f"{arm}: {failed.verdict}: {failed.why}")


def _unsteady(first: Run, second: Run, why: str) -> OkosuError:
    if second.check_failed:
        return OkosuError(f"base does not pass its check: {why}", "every run must pass it to count", "mend --check CMD")
    if second.value is None:
        return OkosuError(
            f"base's run cannot be judged: {why}", "--metric regex:… reads stdout, then stderr", "mend the pattern"
        )
    if first.digest != second.digest:
        return OkosuError(
            "the program prints something else each time it runs",
            "a run counts only if its output is right, and base's output (SHA of stdout) differs between two runs",
            "--check true (any output will do) or --check CMD (reads the output on stdin, exits 0 if it is right)",
        )
    return OkosuError(
        f"base does not end the same way twice: {why}", "only equal runs can be compared", "a steadier input"
    )


def _check_budget(session: Session) -> None:
    plan = session.plan
    need, budget = costs.least_s(plan), plan.options.budget_s
    if need <= budget:
        return
    fit = costs.fitting(plan)
    few, confirm = costs.fewest(plan, plan.k), costs.fewest(plan, min(plan.k, costs.CONFIRMED_ARMS))
    fix = f"--budget {clock(need * 1.1)}"
    if fit:
        fix += f", or --levers {','.join(fit)} within this budget"
    raise OkosuError(
        f"a budget of {clock(budget)} is too small for {plan.k} arms of {plan.base_s:.3g} s",
        f"it takes at least {few} rounds to decide and {confirm} to confirm: {clock(need)} in all",
        fix,
        USAGE_ERROR,
    )


def clock(seconds: float) -> str:
    """A duration as --budget reads it, rounded up: 45s, 12m, 3h."""
    if seconds < 90:
        return f"{max(1, int(seconds + 0.999))}s"
    if seconds < 5400:
        return f"{int(seconds / 60 + 0.999)}m"
    return f"{int(seconds / 3600 + 0.999)}h"
