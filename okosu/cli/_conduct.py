# SPDX-License-Identifier: Apache-2.0
"""How `okosu try` sets a trial up: new, resumed or revalidated."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec

from okosu import levers, machine, native, trial
from okosu.cli import _options, _progress
from okosu.errors import OkosuError
from okosu.machine.program import inspect
from okosu.records import files
from okosu.records.types import Arm, Options, Plan, TryFile
from okosu.trial.arms import lever_arm
from okosu.trial.conduct import observed
from okosu.trial.runs import ProcessRunner
from okosu.trial.session import Session
from okosu.trial.verdicts import conclude


def begin(options: Options, json: str | None) -> Session:
    program, here = inspect(options.command[0]), machine.read()
    for name, wanted in options.levers.items():
        if wanted:
            # A value that does not exist is refused here, before anything runs.
            levers.load()[name].suits(wanted, here, program)
    return trial.new(options, _destination(json, options.command[0]), here=here)


def resume(path: Path) -> Session:
    """An interrupted trial, ready to go on."""
    session = trial.resume(path)
    if session.envelope.finished:
        raise OkosuError(
            f"{path} is a finished trial", "there is nothing to go on with", "okosu try --revalidate " + str(path)
        )
    return session


def revalidate(path: Path, args: argparse.Namespace) -> Session:
    """A new trial of only the arm that the file recommends, on fresh rounds."""
    old = files.read_as(TryFile, path)
    best = [v for v in old.verdicts if v.headline]
    if not best:
        raise OkosuError(f"{path} recommends no lever", "there is nothing to revalidate", "okosu try -- PROGRAM")
    seed = args.seed if args.seed is not None else int.from_bytes(os.urandom(4))
    options = msgspec.structs.replace(old.plan.options, budget_s=_options.seconds(args.budget), seed=seed)
    here = machine.read()
    for line in machine.differences(old.machine, here):
        print(f"okosu: {path}: {line}", file=sys.stderr)
    to = _destination(args.json, options.command[0])
    session = trial.new(options, to, given=[old.plan.arm(best[0].arm)], stages=["confirmation"], here=here)
    session.plan.observes = old.plan.observes
    return session


def run(session: Session) -> None:
    """Run all that is left of a trial, showing how far it is."""
    here = machine.read()
    with _progress.watcher(session) as watcher:
        if not session.piloted:
            for note in machine.notes(here):
                watcher.say(note)
        trial.run(session, watcher, here=here)


def dry_run(options: Options) -> int:
    """Print, for each arm, the argv, environment changes and system calls of its runs; run nothing of the program."""
    program, here, known = inspect(options.command[0]), machine.read(), levers.load()
    runner = ProcessRunner(Plan(options=options, observes=observed(options, here)))
    arms = [Arm("base", "base"), Arm("placebo", "placebo", preload=True)]
    for name, wanted in options.levers.items():
        available = known[name].needs(here)
        if not available.ok:
            print(f"{name}: UNAVAILABLE: {available.why}")
            continue
        for values in [[wanted]] if wanted else known[name].values(here, program, None):
            arms += [lever_arm(name, [v], known[name].loads_preload(v, program), False) for v in values]
    arms += [Arm(name, "user", env=env) for name, env in options.user_arms.items()]
    for arm in arms:
        print(f"{arm.name}:")
        print("  " + " ".join(runner.command(arm, 0, False, 0, "OUT", "ERR", "PROOF")))
        shown = [str(native.find("okosu-run")), *arm.options, "--dry-run", "--", *options.command]
        said = subprocess.run(shown, capture_output=True, text=True, check=False)
        print("\n".join(f"  {line}" for line in (said.stdout + said.stderr).splitlines()))
    return 0


def keep(session: Session) -> None:
    """Write what was measured so far, with the verdicts as they stand now."""
    if session.plan.arms:
        session.envelope.verdicts = conclude(session)
    session.write()


def _destination(json: str | None, command: str) -> Path:
    return files.destination(json, "try", Path(shutil.which(command) or command).name)
