# SPDX-License-Identifier: Apache-2.0
"""`okosu try --resume FILE`: the trial that goes on, with more time where that is asked for."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from okosu import trial
from okosu.cli import _options
from okosu.errors import usage
from okosu.trial.session import Session


def session(path: Path, args: argparse.Namespace) -> Session:
    """The trial in the file, with a new budget, --max-rounds and --precision where they were given.

    OkosuError (2) for an option that would change the trial, and where nothing is left to do within its budget.
    """
    _options.resumed(args)
    given, made = set(args.given), trial.resume(path)
    options, held = made.plan.options, made.envelope
    if "--budget" in given:
        more = args.budget.startswith("+")
        seconds = _options.seconds(args.budget.removeprefix("+"))
        options.budget_s, options.brief = held.spent_s + seconds if more else seconds, False
    if "--max-rounds" in given:
        options.max_rounds = args.max_rounds
    if {"--budget", "--max-rounds"} & given:
        # What was left for want of time is open again.
        held.left = {arm: why for arm, why in held.left.items() if why != "futile"}
    if "--precision" in given:
        options.precision = _options.share(args.precision, "--precision")
    changed = given & _options.RESUMED - {"--resume", "--expect"}
    if held.finished and (not changed or options.budget_s <= held.spent_s + made.plan.base_s):
        raise usage(
            f"{path} is a finished trial, and nothing is left to do within its budget",
            f"its {held.rounds} rounds and its pilot took {held.spent_s:.0f} s",
            f"okosu try --resume {shlex.quote(str(path))} --budget +5m",
        )
    return made
