# SPDX-License-Identifier: Apache-2.0
"""A simulated program under trial: planted effects, noise, failures and a clock of its own. No process is started."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from okosu.levers.base import Availability, Bound, Lever
from okosu.machine.model import Machine
from okosu.machine.program import Program
from okosu.records.measurement import Measurement
from okosu.records.types import Arm, Options, Plan, Proof, Stage, Tool, TryFile, Verdict
from okosu.stats.verdict import Judgement
from okosu.trial import Session, Watcher, run
from okosu.trial.runs import Run


class FakeLever(Lever):
    """A lever for tests: available or not, with alternatives, proved by the page faults that SimRunner reports."""

    def __init__(
        self,
        name: str,
        values: list[list[str]] | None = None,
        preload: bool = False,
        excludes: frozenset[str] = frozenset(),
        available: Availability | None = None,
        bound: float | None = None,
        likely: float = 0.05,
    ) -> None:
        self.name, self.excludes = name, excludes  # type: ignore[misc]
        self._values = [["on"]] if values is None else values
        self.likely = likely  # type: ignore[misc]
        self._bound = bound
        self.observes = frozenset()
        self._preload, self._available = preload, available or Availability(True)

    def needs(self, machine: Machine) -> Availability:
        return self._available

    def values(self, machine: Machine, program: Program, base: Measurement | None) -> list[list[str]]:
        return self._values

    def loads_preload(self, value: str, program: Program) -> bool:
        return self._preload

    def bound(self, machine: Machine, base: Sequence[Measurement], run: Measurement | None) -> Bound | None:
        return None if self._bound is None else Bound(self._bound, "by arithmetic")

    def enough(self, proof: Proof) -> bool:
        return proof.text.endswith("=all holds")

    def proof(self, value: str, run: Measurement, base: Measurement, pilot: Measurement | None) -> Proof:
        return Proof(run.majflt == 0, f"{self.name}={value} {'holds' if run.majflt == 0 else 'does not hold'}")


@dataclass
class SimRunner:
    """Takes `base_s` for base with lognormal noise, and each arm's planted ratio of it; records the order of the
    arms.
    """

    ratios: dict[str, float] = field(default_factory=dict)
    base_s: float = 1.0
    noise: float = 0.01
    seed: int = 1
    unproved: set[str] = field(default_factory=set)
    """Arm names, or name=value, whose effect cannot be proved."""
    wrong_from: dict[str, int] = field(default_factory=dict)
    """Arm name, or name=value -> number of the arm's run (from 0) from which on it prints something else."""
    status: int = 0
    interrupt_at: int | None = None
    steady: bool = False
    """Whether the noise of a run follows from its arm and padding alone, as a resumed trial needs it to be repeated."""
    delay: dict[str, float] = field(default_factory=dict)
    """Arm name -> seconds in which it waited for a CPU, in each run."""
    faults_at: list[int] = field(default_factory=list)
    """Numbers of runs (from 0, of any arm) that print something else."""
    counted: dict[str, Any] = field(default_factory=dict)
    """What each measurement says besides (minflt, threads, …)."""
    after: dict[str, float] = field(default_factory=dict)
    """Arm name -> factor on the time of whatever runs next (carry-over)."""
    now: float = 0.0
    ran: list[str] = field(default_factory=list)
    pads: list[int] = field(default_factory=list)
    warmed: int = 0

    def __post_init__(self) -> None:
        self._rng = random.Random(self.seed)

    def clock(self) -> float:
        return self.now

    def warm(self, arm: Arm, kb: int) -> None:
        self.warmed += 1
        self.now += 0.01

    def run(self, arm: Arm, *, pad: int, sample: bool, timeout_s: float) -> Run:
        if self.interrupt_at is not None and len(self.ran) >= self.interrupt_at:
            self.interrupt_at = None
            raise KeyboardInterrupt
        ratio = self.ratios.get(arm.name, prod(self.ratios.get(name, 1.0) for name in arm.name.split("+")))
        rng = random.Random(f"{self.seed}/{arm.name}/{pad}") if self.steady else self._rng
        seconds = self.base_s * ratio * rng.lognormvariate(0, self.noise)
        if self.ran:
            seconds *= self.after.get(self.ran[-1], 1.0)
        before = self.ran.count(arm.name)
        self.ran.append(arm.name)
        self.pads.append(pad)
        self.now += seconds
        values = {arm.name} | {f"{k}={v}" for k, v in arm.levers.items()}
        wrong = before >= min(self.wrong_from.get(name, 10**9) for name in values)
        wrong |= len(self.ran) - 1 in self.faults_at
        delay = self.delay.get(arm.name, 0.0)
        m = Measurement(
            wall_ns=int((seconds + delay) * 1e9),
            delay_ns=int(delay * 1e9),
            user_ns=int(seconds * 9e8),
            maxrss_kb=1000,
            status=self.status,
            majflt=1 if values & self.unproved else 0,
            **self.counted,
        )
        return Run(arm.name, m, "other" if wrong else "digest", seconds + delay)


class Remembering(Watcher):
    """A watcher that records its calls."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.stages: list[tuple[str, list[str]]] = []
        self.rounds: list[tuple[int, dict[str, Judgement]]] = []
        self.answers: list[int] = []

    def say(self, text: str) -> None:
        self.said.append(text)

    def stage(self, stage: Stage, arms: list[str]) -> None:
        self.stages.append((stage, arms))

    def round_done(self, number: int, judgements: dict[str, Judgement], left_s: float) -> None:
        self.rounds.append((number, judgements))

    def answered(self, judgements: dict[str, Judgement]) -> None:
        self.answers.append(len(self.rounds))


def fake_machine(lazy: bool = False) -> Machine:
    return cast(
        Machine,
        SimpleNamespace(
            virtual=SimpleNamespace(lazy_memory=lazy, lazy_why="a test"), memory=SimpleNamespace(available_kb=8000)
        ),
    )


def fake_program(preloadable: bool = True) -> Program:
    return cast(Program, SimpleNamespace(preloadable=preloadable, kind="glibc", why=""))


def session(path: Path | None = None, **options: Any) -> Session:
    asked: dict[str, Any] = {"command": ["./app"], "seed": 7, **options}
    tool = Tool("okosu", "test", "2026-01-01T00:00:00Z")
    return Session(TryFile(tool=tool, machine={}, plan=Plan(options=Options(**asked))), path)


def by_arm(made: Session) -> dict[str, Verdict]:
    return {v.arm: v for v in made.envelope.verdicts}


def go_on(
    made: Session, runner: SimRunner, levers: Sequence[Lever], lazy: bool = False, watcher: Watcher | None = None
) -> Remembering:
    """Run the rest of a trial in simulated time, told to the watcher or to one that remembers."""
    remembering = Remembering()
    run(
        made,
        watcher or remembering,
        runner=runner,
        levers={lever.name: lever for lever in levers},
        here=fake_machine(lazy),
        program=fake_program(),
        clock=runner.clock,
        snapshot=dict,
    )
    return remembering


def trial(
    runner: SimRunner, levers: list[FakeLever], path: Path | None = None, lazy: bool = False, **options: Any
) -> tuple[Session, Remembering]:
    """Run a whole trial in simulated time; return its session and the watcher with the recorded calls."""
    made = session(path, **{"levers": {lever.name: "" for lever in levers}, **options})
    return made, go_on(made, runner, levers, lazy)
