# SPDX-License-Identifier: Apache-2.0
"""The pilot: what base does and how long it takes, which arms apply, and the plan that follows. Its times are never
judged.
"""

from __future__ import annotations

import contextlib
import dataclasses
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import msgspec

from okosu.errors import OkosuError
from okosu.levers.base import Bound, Lever
from okosu.machine.model import Machine
from okosu.machine.program import Program
from okosu.recipes import Recipe
from okosu.records.measurement import Measurement
from okosu.records.types import BASE, PLACEBO, Arm, Failure, Place, Proof, Reference
from okosu.stats.eprocess import fewest_rounds
from okosu.trial.arms import described, lever_arm, stack_possible, with_value
from okosu.trial.costs import clock
from okosu.trial.course import COUNTED
from okosu.trial.race import MOST, race, room
from okosu.trial.rounds import Watcher
from okosu.trial.runs import SHOWN, ProcessRunner, Run, Runner
from okosu.trial.session import Session
from okosu.trial.settle import UnsettledError
from okosu.trial.validity import (
    CANNOT_MATTER,
    NOT_APPLIED,
    UNAVAILABLE,
    WRONG_OUTPUT,
    accuse,
    changed,
    ending,
    prove,
    refused,
    unsteady,
    wrong,
)

CLEARLY = 1.1
"""A later alternative of an arm is preferred to an earlier one when its pilot is faster by this factor."""
WARM_MARGIN = 1.25
REPORTED_SHARE = 16
"""Free page reporting takes up to this part of the free memory back at a time, what was freed last first (Linux,
mm/page_reporting.c): so much more is warmed, up to the peak itself once more, that one pass leaves enough."""
BRIEF_S = 10.0
"""A program whose run takes at most so long has half of the default budget."""
MOST_APART = 2
"""Arms that change what the user did not accept are judged at most beside the others."""
CHEAP_RUNS = 20
"""A run is cheap where this many fit the budget."""
TIMEOUT_FACTOR = 20
ALIKE = 0.03
"""Two runs of base whose page faults differ by less than this share found the same."""
TIMEOUT_LEAST = 30.0


class Pilot:
    """Runs base twice and each arm once with each of its alternatives, and fixes the plan.

    Where one run takes a good part of the budget, base runs once, no alternatives are tried, and the arms that the
    budget cannot decide are not tried at all.
    """

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
        self.machine, self.program, self.watcher, self.clock = machine, program, watcher, clock
        self._begun = clock()
        self._base_runs: list[Measurement] = []
        self._around: list[float] = []
        self._rss_kb = 0
        self.prepared = list[Path]()
        """Files that were prepared for recipes and were not there before."""
        self._number = 0
        self._heard_of_base: dict[tuple[str, ...], list[int | None]] = {}
        """By recipes, whether the runtime says of base what is to prove one of them."""
        self._count = 0
        """How many runs the pilot will have made; 0 until base has shown which arms there are."""

    def run(self) -> None:
        """Fill session.plan. OkosuError where base cannot be judged at all."""
        session, plan = self.session, self.session.plan
        self._begun = self.clock()
        base = Arm(BASE, "base")
        plan.arms = [base]
        self._base(base)
        if not self._cheap or plan.base_s > BRIEF_S:
            self._announce()
        plan.warm_kb = self._warm_kb()
        left_out = list[Arm]()
        arms = self._by_expected_gain([self._renewed(arm) for arm in plan.given] or self._candidates())
        arms = self._settled(arms)
        bounding = [name for arm in arms for name in arm.levers if self.levers[name].bounding]
        self._count = self._number + sum(1 + len(arm.alternatives) for arm in arms) + len(bounding) * self._cheap
        for arm in arms:
            if bound := self._cannot_matter(arm, None):
                self._out(arm.name, bound)
            elif self._fits():
                self._try(arm)
            else:
                left_out.append(arm)
        self._undisturbed()
        self._race()
        if any(arm.preload for arm in plan.arms):
            self._count += 1
            self._placebo()
        if plan.options.unasked:
            # What only recipes wanted that turned out to be for other programs is not observed in the rounds.
            used = {name for arm in plan.arms for name in arm.levers}
            asked = [name for name in plan.options.levers if name in used or name not in plan.options.unasked]
            wanted = {what for name in asked for what in self.levers[name].observes}
            # What _undisturbed left out stays out.
            plan.observes = [what for what in plan.observes if what in wanted]
        plan.k = self._k([arm for arm in plan.arms if arm.kind in COUNTED])
        plan.warm_kb = self._warm_kb()
        plan.warm_why = self.machine.virtual.lazy_why if plan.warm_kb else ""
        plan.overhead_s = median(self._around)
        plan.timeout_s = plan.options.timeout_s or max(TIMEOUT_LEAST, TIMEOUT_FACTOR * plan.base_s)
        plan.pilot_s = session.envelope.spent_s = self.clock() - self._begun
        self._say_what_is_left_out(left_out)
        session.write()

    def _undisturbed(self) -> None:
        """In the rounds nothing is observed that takes the time which a lever saves. Where the proof of another arm
        cannot do without, this lever is not judged beside it.
        """
        plan = self.session.plan
        disturbed = {a.name: self._union(a, "disturbed_by") & set(plan.observes) for a in plan.arms}
        if not (hidden := frozenset[str]().union(*disturbed.values())):
            return
        if needy := [a.name for a in plan.arms if any(hidden & (v.observes - v.spares) for v in self._levers_of(a))]:
            for name in [name for name, what in disturbed.items() if what]:
                why = f"to prove {' and '.join(needy)}, each run is observed in a way that takes the time that it saves"
                self._out(name, Failure(UNAVAILABLE, why, f"--levers {name}"))
            plan.arms = [arm for arm in plan.arms if not disturbed[arm.name]]
            return
        plan.observes = [what for what in plan.observes if what not in hidden]
        if self._cheap:
            self._count += 1
            plan.base_s = plan.arm_s[BASE] = self._run(plan.arm(BASE)).measurement.wall_ns / 1e9

    def _levers_of(self, arm: Arm) -> list[Lever]:
        return [self.levers[name] for name in arm.levers if name in self.levers]

    def _union(self, arm: Arm, what: str) -> frozenset[str]:
        return frozenset[str]().union(*(getattr(lever, what) for lever in self._levers_of(arm)))

    def _race(self) -> None:
        """Leave out the arms that are hardly worth their rounds; the user's own, and levers that were named, stay."""
        plan = self.session.plan
        if not self._races:
            return

        def again(name: str) -> float:
            self._count += 1
            return self._run(plan.arm(name)).measurement.wall_ns / 1e9

        out, base = dict[str, str](), [m.wall_ns / 1e9 for m in self._base_runs]
        left = plan.options.budget_s - (self.clock() - self._begun)
        most = room(left, plan.base_s + median(self._around), 1 + any(arm.preload for arm in plan.arms))
        # An arm that will not be recommended must not put one out that would be.
        runs = {a.name: [plan.arm_s[a.name]] for a in plan.arms if a.kind == "lever"}
        first = {name: runs[name] for name in runs if not plan.unaccepted(plan.arm(name))}
        apart = {name: runs[name] for name in runs if name not in first}
        out |= race(base, first, again, most)
        out |= race(base, apart, again, min(most, MOST_APART), beside=first)
        for name, why in out.items():
            lever = next(iter(plan.arm(name).levers))
            self.session.failures[name] = Failure("UNRESOLVED", f"not judged: {why}", f"--levers {lever} judges it")
            self.watcher.say(f"{name}: not judged: {why}")
        plan.arms = [arm for arm in plan.arms if arm.name not in out]

    @property
    def _races(self) -> bool:
        options = self.session.plan.options
        return options.race and self._cheap and options.metric in ("wall", "cpu")

    def _k(self, counted: list[Arm]) -> int:
        excludes = {name: lever.excludes for name, lever in self.levers.items()}
        plan = self.session.plan
        stackable = [arm for arm in counted if arm.kind != "stack" and not plan.unaccepted(arm)]
        return len(counted) + stack_possible(stackable, excludes)

    def _run(self, arm: Arm) -> Run:
        begun, options = self.clock(), self.session.plan.options
        left = max(0, self._count - self._number) * self.session.plan.base_s
        self.watcher.piloting(arm.name, self._number + 1, self._count, left)
        # Untouched memory would make the pilot time the host, and a choice between an arm's values would follow that
        # noise.
        if warm := self._warm_kb():
            self.runner.warm(arm, warm)
        run = self.runner.run(arm, pad=0, sample=True, timeout_s=options.timeout_s or options.budget_s)
        self.session.add("pilot", Place(self._number), run, None)
        self._number += 1
        self._rss_kb = max(self._rss_kb, run.measurement.maxrss_kb)
        self._around.append(max(0.0, self.clock() - begun - run.measurement.wall_ns / 1e9))
        return run

    def _warm_kb(self) -> int:
        """How many KiB to touch before a run: the largest peak so far and a margin; 0 where the host backs all
        memory.
        """
        if not (self.session.plan.options.warm and self.machine.virtual.lazy_memory):
            return 0
        once_more = min(self._rss_kb, self.machine.memory.available_kb // REPORTED_SHARE)
        return int(self._rss_kb * WARM_MARGIN) + once_more

    def _warm_up(self, arm: Arm) -> None:
        options = self.session.plan.options
        for _ in range(options.warmup):
            self.runner.run(arm, pad=0, sample=False, timeout_s=options.timeout_s or options.budget_s)

    @property
    def _cheap(self) -> bool:
        """Whether a run takes so little of the budget that one more does not matter."""
        return CHEAP_RUNS * self._base_runs[0].wall_ns / 1e9 <= self.session.plan.options.budget_s

    def _base(self, base: Arm) -> None:
        plan = self.session.plan
        self._warm_up(base)
        first = self._run(base)
        m = first.measurement
        if m.timed_out:
            raise OkosuError(
                f"the program did not end within {plan.options.timeout_s or plan.options.budget_s:.3g} s",
                "okosu try compares complete runs, and the first one has to fit the time-out (by default the budget)",
                "--timeout SECONDS or --budget TIME, or a smaller input",
            )
        if (m.status, m.signal) != (0, None) and not plan.options.ignore_failure:
            raise _fails(first)
        if not m.traced:
            plan.proof_mode = "sample"
            self.watcher.say(f"effects are proved once per arm, not in each run: {m.why_untraced}")
        plan.reference = Reference(m.status, m.signal, first.digest)
        self._base_runs = [m]
        last = first
        if self._cheap:
            # The first run may have filled caches or made its input, so that a second one is the better pilot.
            last = self._run(base)
            self._base_runs.append(last.measurement)
        if why := wrong(last, plan):
            raise unsteady(first, last, why)
        plan.pilots[BASE] = last.measurement
        if (m.status, m.signal) != (0, None):
            self.watcher.say(f"note: base itself ends with {ending(m.status, m.signal)}; every run must do the same")
        if left := last.measurement.left:
            what = "1 process" if left == 1 else f"{left} processes"
            self.watcher.say(f"note: the program leaves {what} running, which okosu ends after each run")
        plan.base_s = plan.arm_s[BASE] = last.measurement.wall_ns / 1e9
        if plan.options.brief and plan.base_s <= BRIEF_S:
            plan.options.brief = False
            plan.options.budget_s /= 2

    def _settled(self, arms: list[Arm]) -> list[Arm]:
        """The arms without those that leave something behind which cannot be undone. With others of this sort, base's
        runs do not find what its first runs found, and are piloted anew.
        """
        runner, plan = self.runner, self.session.plan
        if not isinstance(runner, ProcessRunner):
            return arms
        kept, leaving = [], []
        for arm in arms:
            try:
                leaving += [arm.name] * runner.settling.expect(arm)
                kept.append(arm)
            except UnsettledError as error:
                self._out(arm.name, Failure(NOT_APPLIED, f"{error.what}: {error.why}", error.fix))
        if leaving and self._cheap:
            found, again = plan.pilots[BASE], self._run(plan.arm(BASE))
            if why := wrong(again, plan):
                raise changed("base, run again", why)
            plan.pilots[BASE] = again.measurement
            if abs(again.measurement.minflt - found.minflt) > ALIKE * found.minflt:
                self.watcher.say(
                    f"note: {', '.join(leaving)} can be undone, but not to what was found: base's runs begin as after "
                    f"a start of the machine ({again.measurement.minflt:,} page faults instead of {found.minflt:,})"
                )
        return kept

    def _by_expected_gain(self, arms: list[Arm]) -> list[Arm]:
        """The arms that the user made first, then the levers that may gain most."""

        def gain(arm: Arm) -> float:
            if arm.kind != "lever":
                return 1.0
            (name,) = arm.levers
            bound = self._bound(arm, None)
            return min(self.levers[name].likely, bound.share if bound else 1.0)

        return sorted(arms, key=gain, reverse=True)

    def _can_be_bounded(self, arm: Arm) -> bool:
        options = self.session.plan.options
        # A service's time is that of its load, which waits for it only in part and shares its CPUs.
        return arm.kind == "lever" and options.metric in ("wall", "cpu") and options.service is None

    def _bound(self, arm: Arm, run: Measurement | None) -> Bound | None:
        if not self._can_be_bounded(arm):
            return None
        (name,) = arm.levers
        return self.levers[name].bound(self.machine, self._base_runs, run)

    def _cannot_matter(self, arm: Arm, run: Measurement | None) -> Failure | None:
        """The verdict of an arm that cannot save as much as matters; None where it may. Rounds that the user asked for
        by --min-rounds are run all the same. A bound that leaves something possible is kept for the rounds.
        """
        plan, bound = self.session.plan, self._bound(arm, run)
        if bound is None or plan.options.min_rounds:
            return None
        if bound.share >= plan.options.min_effect:
            plan.bounds[arm.name] = min(bound.share, plan.bounds.get(arm.name, 1.0))
            return None
        return Failure(CANNOT_MATTER, bound.why, "--min-rounds N measures it all the same", bound=bound.share)

    def _fits(self) -> bool:
        """Say whether the budget can decide one more arm beside those that are kept. The first always may be tried; and
        as long as none is kept, one whose pilot fits.
        """
        plan = self.session.plan
        if self._kept():
            return self._needed_s(1) <= plan.options.budget_s
        spent = self.clock() - self._begun
        return self._number == len(self._base_runs) or spent + plan.base_s <= plan.options.budget_s

    def _kept(self) -> list[str]:
        """The arms that will be judged, as far as the pilot has come."""
        return [arm.name for arm in self.session.plan.arms if arm.kind in COUNTED]

    def _needed_s(self, more: int) -> float:
        """The seconds from the beginning until the arms that are kept, and so many more, are decided; where arms race,
        as many as may be left at most. One that has not run yet is taken to be as fast as base.
        """
        plan, kept = self.session.plan, self._kept()
        each = plan.base_s + median(self._around)
        costs = sorted([plan.arm_s[name] + median(self._around) for name in kept] + [each] * more)
        if self._races:
            apart = sum(bool(plan.unaccepted(plan.arm(name))) for name in kept)
            staying = sum(plan.arm(name).kind != "lever" for name in kept)
            costs = costs[: MOST + min(apart, MOST_APART) + staying]
        rounds = fewest_rounds(max(1, len(costs) + (len(costs) > 1)), plan.options.alpha)
        return self.clock() - self._begun + more * each + rounds * (each + sum(costs))

    def _announce(self) -> None:
        """Say of a program that takes long what the budget allows, before it is spent on the pilot of the arms."""
        plan = self.session.plan
        budget, needed = plan.options.budget_s, self._needed_s(1)
        count = max(1, round(budget / (plan.base_s + median(self._around))))
        runs = f"{count} run{'s'[: count > 1]}"
        told = "enough to decide one arm" if needed <= budget else f"and to decide one arm takes {clock(needed)}"
        self.watcher.say(
            f"base takes {plan.base_s:.3g} s: a budget of {clock(budget)} has room for {runs}, {told}; "
            "what is likeliest to help is tried first"
        )

    def _say_what_is_left_out(self, left_out: list[Arm]) -> None:
        plan = self.session.plan
        counted = len(self._kept())
        budget = clock(plan.options.budget_s)
        if left_out:
            names = ", ".join(arm.name for arm in left_out)
            enough = clock(1.1 * self._needed_s(len(left_out)))
            room = f"runs of {plan.base_s:.3g} s leave no room for it within {budget}"
            if counted:
                arms = f"{counted} arm{'s'[: counted > 1]}"
                room = f"a budget of {budget} has room for {arms} of {plan.base_s:.3g} s"
            for arm in left_out:
                self.session.failures[arm.name] = Failure("UNRESOLVED", f"not tried: {room}", f"--budget {enough}")
            self.watcher.say(f"not tried: {names}: {room}; --budget {enough} has room for all")
        short = self._needed_s(0) - plan.options.budget_s if counted else 0.0
        if short > 0:
            self.watcher.say(
                f"a run takes {plan.base_s:.3g} s, so that {budget} will decide nothing yet; the trial can go on with "
                f"--resume and --budget +{clock(1.1 * short)}"
            )

    def _candidates(self) -> list[Arm]:
        plan, base = self.session.plan, self.session.plan.pilots[BASE]
        arms = []
        for name, wanted in plan.options.levers.items():
            if name not in self.levers:
                # A recipe that nobody asked for, and that is not here any more.
                continue
            lever = self.levers[name]
            available = lever.needs(self.machine)
            unasked = name in plan.options.unasked
            if available.ok and wanted:
                available = lever.suits(wanted, self.machine, self.program)
            choices = [[wanted]] if wanted else lever.values(self.machine, self.program, base)
            if available.ok and not choices:
                available = lever.nothing(self.machine, self.program, base)
            if not available.ok:
                # Nobody asked for a recipe that turns out to be for other programs, so nobody is told.
                if available.fix or not unasked:
                    self._out(name, Failure(UNAVAILABLE, available.why, available.fix))
                continue
            arms += [lever_arm(lever, values, len(choices) == 1, self.machine, self.program) for values in choices]
        return arms + described(plan.options)

    def _try(self, arm: Arm) -> None:
        """Run the arm with each of its values; keep the one to try, or note why none can be."""
        if bound := self._cannot_matter_at_all(arm):
            self._out(arm.name, bound)
            return
        whys: list[str] = []
        verdicts: set[str] = set()
        proved: list[tuple[Arm, Run, Proof | None]] = []
        single = arm.kind == "lever"
        if arm.command:
            self._warm_up(arm)
        for number, value in enumerate([*arm.levers.values(), *arm.alternatives] if single else [""]):
            if proved and (not self._cheap or self._enough(proved[0])):
                break
            tried = msgspec.structs.replace(arm, alternatives=[])
            if number:
                (lever,) = arm.levers
                tried = with_value(arm, self.levers[lever], value, self.machine, self.program)
            if failed := self._prepare(tried):
                verdicts.add(NOT_APPLIED)
                whys.append(failed if len(arm.alternatives) == 0 else f"{value}: {failed}")
                continue
            run, base = self._listened(tried)
            verdict, why, proof = self._judge(tried, run, base)
            if verdict == WRONG_OUTPUT:
                accuse(self._run, self.session.plan, tried, run, why)
            if not verdict and (bound := self._cannot_matter(tried, run.measurement)):
                self._out(arm.name, bound)
                return
            if verdict:
                verdicts.add(verdict)
                whys.append(why if len(arm.alternatives) == 0 else f"{value}: {why}")
            else:
                proved.append((tried, run, proof))
        if proved:
            self._keep(proved)
            return
        # A value that changes the program's output is reported before one that has no effect, in whatever order they
        # ran.
        verdict = WRONG_OUTPUT if WRONG_OUTPUT in verdicts else NOT_APPLIED
        self._out(arm.name, Failure(verdict, "; ".join(whys)))

    def _cannot_matter_at_all(self, arm: Arm) -> Failure | None:
        """What `_cannot_matter` says after a run that serves for nothing else, where the lever knows of such a run and
        the program takes so little time that one more does not matter.
        """
        plan = self.session.plan
        if not self._can_be_bounded(arm) or not self._cheap or plan.options.min_rounds:
            return None
        (name,) = arm.levers
        lever = self.levers[name]
        if not lever.bounding:
            return None
        tried = with_value(arm, lever, lever.bounding, self.machine, self.program)
        run = self._run(tried)
        # A program that ends otherwise under the library is accused by the run of the arm itself.
        return None if wrong(run, plan) else self._cannot_matter(tried, run.measurement)

    def _enough(self, first: tuple[Arm, Run, Proof | None]) -> bool:
        arm, _, proof = first
        (name,) = arm.levers
        return proof is not None and self.levers[name].enough(proof)

    def _keep(self, proved: list[tuple[Arm, Run, Proof | None]]) -> None:
        """Take the first value that proves its effect, unless a later one is clearly faster in its one run.

        This choice adds no statistical error: it is made before round 1, on runs that are never judged.
        """
        arm, run, proof = proved[0]
        for other, its, proof_of_it in proved[1:]:
            if its.measurement.wall_ns * CLEARLY < run.measurement.wall_ns:
                arm, run, proof = other, its, proof_of_it
        plan = self.session.plan
        plan.arms.append(arm)
        plan.pilots[arm.name] = run.measurement
        plan.arm_s[arm.name] = run.measurement.wall_ns / 1e9
        if proof is not None:
            plan.proofs[arm.name] = proof

    def _recipes(self, arm: Arm) -> list[tuple[Recipe, str]]:
        found = [lever for name in arm.recipes if isinstance(lever := self.levers[name], Recipe)]
        return [(recipe, arm.levers[recipe.name]) for recipe in found]

    def _renewed(self, arm: Arm) -> Arm:
        """An arm of another trial's, with the names that files to be prepared have here."""
        env = dict(arm.env)
        for recipe, value in self._recipes(arm):
            if recipe.prepared(value, self.program):
                env |= recipe.variables(value, self.machine, self.program)
        return msgspec.structs.replace(arm, env=env)

    def _prepare(self, arm: Arm) -> str:
        """Make the files that the arm's recipes want prepared, by a run each, which serves for nothing else. Why that
        failed; "" where it did not, and where there is nothing to prepare.
        """
        for recipe, value in self._recipes(arm):
            for kept in recipe.prepared(value, self.program):
                if not self._cheap:
                    return "it would take one more run, which costs a good part of the budget"
                kept.parent.mkdir(parents=True, exist_ok=True)
                # A file that was in use, or is cut short, never stands under its name.
                made = kept.with_name(f"{kept.name}.new")
                made.unlink(missing_ok=True)
                self._count += 1
                run = self._run(msgspec.structs.replace(arm, env=recipe.preparing(value, made)))
                if why := wrong(run, self.session.plan):
                    made.unlink(missing_ok=True)
                    return f"the run that prepares it: {why}"
                if not made.exists():
                    return "the program did not make the file that it was asked for"
                self.prepared += [] if kept.exists() else [kept]
                made.replace(kept)
        return ""

    def _listened(self, arm: Arm) -> tuple[Run, Measurement]:
        """A run of the arm, and base's to compare it with. Where the proof takes the runtime's own word, both are made
        under the variables that make it speak.
        """
        plan = self.session.plan
        base = plan.pilots[BASE]
        recipes = [lever for name in arm.recipes if isinstance(lever := self.levers[name], Recipe) and lever.listens]
        if not recipes:
            return self._run(arm), base
        names = tuple(recipe.name for recipe in recipes)
        if names not in self._heard_of_base:
            self._heard_of_base[names] = self._heard(recipes, plan.arm(BASE))[1]
        before = self._heard_of_base[names]
        run, heard = self._heard(recipes, arm)
        said = all(recipe.convinces(*counts) for recipe, *counts in zip(recipes, heard, before, strict=True))
        same = any(recipe.says_the_same(count) for recipe, count in zip(recipes, before, strict=True))
        told = dataclasses.replace(run, measurement=msgspec.structs.replace(run.measurement, said=said))
        return told, msgspec.structs.replace(base, said=same)

    def _heard(self, recipes: list[Recipe], arm: Arm) -> tuple[Run, list[int | None]]:
        """A run in which the runtime speaks, and of each recipe how often it said what is to prove it."""
        env, heard = arm.env, []
        with tempfile.TemporaryDirectory(prefix="okosu-said-") as folder:
            files = [Path(folder) / recipe.name for recipe in recipes]
            for recipe, file in zip(recipes, files, strict=True):
                env = recipe.listening(env, str(file))
            run = self._run(msgspec.structs.replace(arm, env=env))
            for recipe, file in zip(recipes, files, strict=True):
                said = b""
                with contextlib.suppress(OSError), file.open("rb") as written:
                    said = written.read(SHOWN)
                heard.append(recipe.heard(run.stderr, said.decode(errors="replace"), SHOWN))
        return run, heard

    def _judge(self, arm: Arm, run: Run, base: Measurement) -> tuple[str, str, Proof | None]:
        """The verdict that takes the arm out of the trial and the reason, both "" where it may stay, and its proof."""
        plan = self.session.plan
        if why := refused(run, plan):
            return NOT_APPLIED, why, None
        if why := wrong(run, plan):
            return WRONG_OUTPUT, why, None
        proof = prove(arm, self.levers, run.measurement, base, None)
        if proof is not None and not proof.holds:
            return NOT_APPLIED, proof.text, proof
        return "", "", proof

    def _placebo(self) -> None:
        plan = self.session.plan
        placebo = Arm(PLACEBO, "placebo", preload=True)
        run = self._run(placebo)
        _, why, _ = self._judge(placebo, run, plan.pilots[BASE])
        if why:
            accuse(self._run, plan, placebo, run, why)
            self._out(PLACEBO, Failure(WRONG_OUTPUT, why))
            # If even the inert library breaks the program, no lever that loads the library can be trusted.
            for arm in [a for a in plan.arms if a.preload]:
                self._out(arm.name, Failure(WRONG_OUTPUT, f"the preload library alone changes the program: {why}"))
            plan.arms = [a for a in plan.arms if not a.preload]
            return
        plan.pilots[PLACEBO] = run.measurement
        plan.arms.insert(1, placebo)
        plan.arm_s[PLACEBO] = run.measurement.wall_ns / 1e9

    def _out(self, arm: str, failed: Failure) -> None:
        self.session.failures[arm] = failed
        # What is unavailable here is told at the end, in one line.
        if failed.verdict != UNAVAILABLE:
            self.watcher.say(f"{arm}: {failed.verdict}: {failed.why}")


def _fails(run: Run) -> OkosuError:
    """The refusal of a program that fails, with the end of what it said."""
    m, lines = run.measurement, run.stderr.strip().splitlines()[-5:]
    said = "its standard error ends with:" + "".join(f"\n       {line[:200]}" for line in lines)
    return OkosuError(
        f"the program fails: {ending(m.status, m.signal)}",
        said if lines else "it printed nothing on its standard error",
        "mend the command line, or --ignore-failure to compare runs that all fail this way",
    )
