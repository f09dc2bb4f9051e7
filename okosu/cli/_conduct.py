# SPDX-License-Identifier: Apache-2.0
"""How `okosu try` sets a trial up: new, resumed or revalidated; one measurement at a time on a machine."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import msgspec

import okosu
from okosu import levers, machine, native
from okosu.cli import _options, _progress, _state
from okosu.cli._lock import measuring
from okosu.errors import OkosuError
from okosu.machine.program import Program, inspect
from okosu.records import files
from okosu.records.types import TRY_SCHEMA, Envelope, Tool
from okosu.trial.arms import Arm, lever_arm
from okosu.trial.conduct import Trial
from okosu.trial.pilot import Pilot
from okosu.trial.plan import Options, Plan
from okosu.trial.runs import ProcessRunner, environment_bytes
from okosu.trial.session import Session
from okosu.trial.verdicts import conclude

PAD_ALLOWANCE = 4096
"""Bytes that the levers' own variables may take, so that every arm can be padded to one size."""

Finish = Callable[[], None]

__all__ = ["Finish", "begin", "dry_run", "keep", "measuring", "resume", "revalidate"]


def begin(options: Options, json: str | None) -> tuple[Session, Finish]:
    """Return a new trial's session, and what runs it."""
    program = inspect(options.command[0])
    here = machine.read()
    for name, wanted in options.levers.items():
        if wanted:
            # A value that does not exist is refused here, before anything runs.
            _levers()[name].suits(wanted, here, program)
    session = _session(options, here, _destination(json, options.command[0]))
    session.plan.observes = _observed(options, here)
    return session, lambda: _run(session, here, program, None)


def resume(path: Path) -> tuple[Session, Finish]:
    """Return the session of an interrupted trial, and what runs the rest of it."""
    session = Session.restore(files.read(path), path)
    if session.envelope.finished:
        raise OkosuError(
            f"{path} is a finished trial", "there is nothing to go on with", "okosu try --revalidate " + str(path)
        )
    if not session.piloted:
        session.forget_pilot()
    program = inspect(session.plan.options.command[0])
    return session, lambda: _run(session, machine.read(), program, None, piloted=session.piloted)


def revalidate(path: Path, args: argparse.Namespace) -> tuple[Session, Finish]:
    """Return a session that measures the arm which the trial in `path` recommends, alone, on fresh rounds."""
    old = files.read(path)
    best = [v for v in old.verdicts if v.headline]
    if not best:
        raise OkosuError(f"{path} recommends no lever", "there is nothing to revalidate", "okosu try -- PROGRAM")
    before = Session.restore(old, path)
    asked = _options.seconds(args.budget)
    seed = args.seed if args.seed is not None else int.from_bytes(os.urandom(4))
    options = msgspec.structs.replace(before.plan.options, budget_s=asked, seed=seed)
    arm = before.plan.arm(best[0].arm)
    here = machine.read()
    for line in _state.differences(old.machine, here):
        print(f"okosu: {path}: {line}", file=sys.stderr)
    session = _session(options, here, _destination(args.json, options.command[0]))
    session.plan.observes = before.plan.observes
    return session, lambda: _run(session, here, inspect(options.command[0]), arm)


def dry_run(options: Options) -> int:
    """Print, for each arm, the argv, environment changes and system calls of its runs; run nothing of the program."""
    program, here = inspect(options.command[0]), machine.read()
    runner = ProcessRunner(options, _observed(options, here))
    arms = [Arm("base", "base"), Arm("placebo", "placebo", preload=True)]
    for name, wanted in options.levers.items():
        available = _levers()[name].needs(here)
        if not available.ok:
            print(f"{name}: UNAVAILABLE: {available.why}")
            continue
        for values in [[wanted]] if wanted else _levers()[name].values(here, program, None):
            arms += [lever_arm(name, [v], _levers()[name].loads_preload(v, program), False) for v in values]
    arms += [Arm(name, "user", env=env) for name, env in options.user_arms.items()]
    for arm in arms:
        print(f"{arm.name}:")
        print("  " + " ".join(runner.command(arm, 0, False, 0, "OUT", "ERR", "PROOF")))
        shown = [str(native.find("okosu-run")), *arm.options, "--dry-run", "--", *options.command]
        said = subprocess.run(shown, capture_output=True, text=True, check=False)
        print("\n".join(f"  {line}" for line in (said.stdout + said.stderr).splitlines()))
    return 0


def keep(session: Session) -> None:
    """Write what there is, with the verdicts as they stand: nothing that was measured is lost."""
    if session.plan.arms:
        session.envelope.verdicts = conclude(session)
    session.write()


def _run(session: Session, here: machine.Machine, program: Program, fixed: Arm | None, piloted: bool = False) -> None:
    plan = session.plan
    watcher = _progress.watcher(session)
    runner = ProcessRunner(plan.options, plan.observes, proof_mode=plan.proof_mode, pad_to=plan.pad_to)
    with watcher:
        if not piloted:
            for note in _state.notes(here):
                watcher.say(note)
            Pilot(session, runner, _levers(), here, program, watcher.say, fixed).run()
        runner.proof_mode = plan.proof_mode
        watcher.planned()
        Trial(session, runner, _levers(), watcher, snapshot=machine.state).run()
    session.envelope.machine["state_after"] = machine.state()
    session.write()


def _session(options: Options, here: machine.Machine, path: Path | None) -> Session:
    tool = Tool("okosu", okosu.__version__, datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
    facts = _state.flat(here)
    facts["state_before"] = machine.state()
    envelope = Envelope(schema=TRY_SCHEMA, tool=tool, machine=facts, plan={})
    set_by_arms = max(
        (sum(len(k) + len(v) + 2 for k, v in env.items()) for env in options.user_arms.values()), default=0
    )
    plan = Plan(options=options, pad_to=environment_bytes() + PAD_ALLOWANCE + set_by_arms)
    return Session(envelope, path, plan)


def _destination(json: str | None, command: str) -> Path:
    if json in (None, "-"):
        return files.default_path("try", Path(shutil.which(command) or command).name)
    path = Path(str(json))
    if path.is_dir() or not path.parent.is_dir():
        raise _options.usage(f"--json {json}: no file can be written there", "", "a file in a folder that exists, or -")
    return path


def _observed(options: Options, here: machine.Machine) -> list[str]:
    """Return what okosu-measure must look at, in every arm alike, for the proofs of the levers that can be had here."""
    chosen = [_levers()[name] for name in options.levers]
    return sorted({what for lever in chosen if lever.needs(here).ok for what in lever.observes})


def _levers() -> dict[str, levers.Lever]:
    return levers.load()
