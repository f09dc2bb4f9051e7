# SPDX-License-Identifier: Apache-2.0
"""The only code that compares variants of a program: a pilot, which fixes the plan, and rounds.

`okosu try`, `okosu selftest` and the papers' comparisons of whole programs all use `run`.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from okosu import machine, recipes
from okosu.errors import OkosuError
from okosu.levers.base import Lever
from okosu.machine.model import Machine
from okosu.machine.program import Program, inspect
from okosu.records import files, types
from okosu.records.types import Arm, Options, Plan, TryFile
from okosu.trial.arms import described
from okosu.trial.counters import explain
from okosu.trial.pilot import Pilot
from okosu.trial.rounds import Rounds, Watcher
from okosu.trial.runs import ProcessRunner, Runner, around
from okosu.trial.service import ServiceRunner
from okosu.trial.session import Session
from okosu.trial.verdicts import conclude

PAD_ALLOWANCE = 4096
"""Bytes that the levers' own variables may take, so that every arm can be padded to one size."""


def new(
    options: Options,
    path: Path | None,
    *,
    given: Sequence[Arm] = (),
    here: Machine | None = None,
) -> Session:
    """A trial that has not begun. Its file is `path`; None keeps it in memory only.

    `given` are arms to try instead of those that the options name. `here` is the machine, if it has been read already.
    """
    here = here or machine.read()
    arms = [*given, *described(options)]
    set_by_arms = max((sum(len(k) + len(v) + 2 for k, v in arm.env.items()) for arm in arms), default=0)
    plan = Plan(
        options=options,
        given=list(given),
        observes=observed(options, here),
        pad_to=_environment_bytes() + PAD_ALLOWANCE + set_by_arms,
    )
    return Session(types.begin(TryFile, machine.facts(here), plan=plan), path)


def resume(path: Path) -> Session:
    """The trial in a file, ready to go on, whether it is finished or not; one that was interrupted in its pilot begins
    anew.
    """
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
    OkosuError where base cannot be judged, or where a run could not be measured at all; what was measured until then
    stays in the session.
    """
    plan = session.plan
    session.envelope.finished = False
    watcher = watcher or Watcher()
    known = dict(levers) if levers is not None else recipes.known(plan.options.recipes)
    asked = [name for name in plan.options.levers if name not in plan.options.unasked]
    asked += [name for arm in [*plan.arms, *plan.given] for name in arm.levers]
    if missing := [name for name in asked if name not in known]:
        why = "the trial tries a recipe whose file is not in the places where okosu looks"
        raise OkosuError(f"there is no recipe {missing[0]!r}", why, "--recipes DIR, in a new trial")
    here = here or machine.read()
    runs = runner or (ServiceRunner(plan) if plan.options.service else ProcessRunner(plan))
    around(plan.options.setup, "--setup")
    try:
        prepared = list[Path]()
        if not session.piloted:
            command = plan.options.command
            program = program or msgspec.structs.replace(inspect(command[0]), command=tuple(command))
            pilot = Pilot(session, runs, known, here, program, watcher, clock)
            pilot.run()
            prepared = pilot.prepared
        watcher.planned()
        if plan.k:
            Rounds(session, runs, known, watcher, clock, snapshot).run()
        session.envelope.verdicts = conclude(session)
        _drop(prepared, session)
        if isinstance(runs, ProcessRunner) and plan.options.service is None:
            explain(session, runs, watcher)
        _leave(runs, watcher)
    except BaseException:
        _leave(runs, watcher)
        # What --setup made must not outlive a trial that fails or is interrupted, whose error is the one to tell.
        with contextlib.suppress(OkosuError):
            around(plan.options.cleanup, "--cleanup")
        raise
    around(plan.options.cleanup, "--cleanup")
    session.envelope.machine["state_after"] = snapshot()
    session.envelope.finished = True
    session.write()


def _drop(prepared: Sequence[Path], session: Session) -> None:
    """Delete what this trial prepared for values that were not judged, or are slower. The rest serves `okosu run` and
    the rounds of a trial that goes on, and so does what an earlier trial left.
    """
    slower = {verdict.arm for verdict in session.envelope.verdicts if verdict.verdict == "SLOWER"}
    used = " ".join(text for arm in session.plan.arms if arm.name not in slower for text in arm.env.values())
    for file in prepared:
        if str(file) not in used:
            file.unlink(missing_ok=True)


def _leave(runs: Runner, watcher: Watcher) -> None:
    for what in runs.settling.leave() if isinstance(runs, ProcessRunner) else []:
        watcher.say(f"note: {what}")


def observed(options: Options, here: Machine) -> list[str]:
    """What okosu-measure must observe, in every arm alike, for the proofs of the levers that are available here."""
    chosen = [lever for name, lever in recipes.known(options.recipes).items() if name in options.levers]
    wanted = {what for lever in chosen if lever.needs(here).ok for what in lever.observes}
    # Which recipes are for what the program starts is seen by what is mapped.
    return sorted(wanted | {"files"} if options.unasked else wanted)


def _environment_bytes() -> int:
    """The size of this process's environment block: its strings with their NULs."""
    return sum(len(k) + len(v) + 2 for k, v in os.environb.items())
