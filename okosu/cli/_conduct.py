# SPDX-License-Identifier: Apache-2.0
"""How `okosu try` sets a trial up: new, resumed or revalidated."""

from __future__ import annotations

import argparse
import contextlib
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec

from okosu import machine, native, recipes, trial
from okosu.cli import _options, _progress, _resume
from okosu.errors import OkosuError, usage
from okosu.machine import loader
from okosu.machine.program import inspect, notes
from okosu.records import files
from okosu.records.types import Arm, Options, Plan, TryFile
from okosu.trial.arms import described, lever_arm
from okosu.trial.conduct import observed
from okosu.trial.runs import ProcessRunner
from okosu.trial.service import ServiceRunner
from okosu.trial.session import Session
from okosu.trial.verdicts import conclude


def prepare(args: argparse.Namespace) -> Session:
    """The trial that the command line asks for. OkosuError for all that can be refused before anything runs; nothing
    is written, and no measurement of another okosu is waited for.
    """
    if args.resume:
        return _resume.session(Path(args.resume), args)
    if args.revalidate:
        return revalidate(Path(args.revalidate), args)
    return begin(_options.parse(args), args.json)


def claim(session: Session, replace: bool) -> None:
    """Write the file of a trial and say where it is. OkosuError if it cannot be written, or if a file is there already
    that may not be replaced.
    """
    assert session.path is not None
    with contextlib.suppress(OSError):
        if not replace and session.path.stat().st_size:
            raise usage(
                f"--json {session.path}: there is a file already",
                "it may hold an earlier trial, which is not replaced unasked",
                "another name, --force to replace it, or go on with it: "
                f"okosu try --resume {shlex.quote(str(session.path))}",
            )
    session.write()
    print(f"records: {session.path}", file=sys.stderr, flush=True)


def abandon(session: Session) -> None:
    """Delete the file of a trial that came to nothing, so that the same command line can be typed again."""
    if session.path is not None and not session.piloted:
        session.path.unlink(missing_ok=True)


def begin(options: Options, json: str | None) -> Session:
    program, here = inspect(options.command[0]), machine.read()
    for arm in described(options):
        if arm.env and (why := loader.objection(program, arm.env)):
            raise usage(
                f"arm {arm.name}: its LD_PRELOAD would not take effect", why, "a library that this program can load"
            )
    for name, wanted in options.levers.items():
        if wanted:
            # A value that does not exist is refused here, before anything runs.
            recipes.known(options.recipes)[name].suits(wanted, here, program)
    return trial.new(options, _destination(json, options.command[0]), here=here)


def revalidate(path: Path, args: argparse.Namespace) -> Session:
    """A new trial of only the arm that the file recommends, on fresh rounds."""
    old = files.read_as(TryFile, path)
    best = [v for v in old.verdicts if v.headline]
    if not best:
        raise OkosuError(f"{path} recommends no lever", "there is nothing to revalidate", "okosu try -- PROGRAM")
    seed = args.seed if args.seed is not None else int.from_bytes(os.urandom(4))
    brief = "--budget" not in args.given
    options = msgspec.structs.replace(old.plan.options, budget_s=_options.seconds(args.budget), brief=brief, seed=seed)
    here = machine.read()
    for line in machine.differences(old.machine, here):
        print(f"okosu: {path}: {line}", file=sys.stderr)
    to = _destination(args.json, options.command[0])
    session = trial.new(options, to, given=[old.plan.arm(best[0].arm)], here=here)
    session.plan.observes = old.plan.observes
    return session


def run(session: Session) -> None:
    """Run all that is left of a trial, showing how far it is."""
    here = machine.read()
    with _progress.watcher(session) as watcher:
        if not session.piloted:
            for note in [*machine.notes(here, session.plan.options.warm), *notes(session.plan.options.command)]:
                watcher.say(note)
        trial.run(session, watcher, here=here)


def dry_run(options: Options) -> int:
    """Print, for each arm, the argv, environment changes and system calls of its runs; run nothing of the program."""
    program, here = inspect(options.command[0]), machine.read()
    known = recipes.known(options.recipes)
    plan = Plan(options=options, observes=observed(options, here))
    runner = ProcessRunner(plan)
    if options.service:
        runner = ServiceRunner(plan)
        print("\n  ".join(["every run:", *runner.describe()]))
    arms = [Arm("base", "base"), Arm("placebo", "placebo", preload=True)]
    for name, wanted in options.levers.items():
        available = known[name].needs(here)
        if not available.ok:
            print(f"{name}: UNAVAILABLE: {available.why}")
            continue
        for values in [[wanted]] if wanted else known[name].values(here, program, None):
            arms += [lever_arm(known[name], [v], False, here, program) for v in values]
    arms += described(options)
    for arm in arms:
        print(f"{arm.name}:")
        print("  " + " ".join(runner.command(arm, 0, False, 0, "OUT", "ERR", "PROOF")))
        shown = [str(native.find("okosu-run")), *arm.options, "--dry-run", "--", *(arm.command or options.command)]
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
