# SPDX-License-Identifier: Apache-2.0
"""okosu try --slurm and --slurm-array: the same trial on other nodes, each as a batch job of Slurm."""

from __future__ import annotations

import argparse
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from okosu.cli import _options
from okosu.cluster import slurm
from okosu.errors import OkosuError, usage
from okosu.records.types import Options

_OWN = ("--slurm", "--slurm-array", "--slurm-option", "--json", "--dry-run")
"""Options that the nodes must not see."""
_FLAGS = ("--dry-run",)
"""Those of them that no word follows."""
_SPARE_S, _SPARE_SHARE = 300.0, 0.25
"""Time beyond the budget: the pilot's last run, the last round's end, and whatever a slow node needs to start."""


class Job(NamedTuple):
    """A job to be submitted: what it is, in words, and its script."""

    what: str
    script: str


def run(args: argparse.Namespace) -> int:
    """Submit the jobs and print their numbers, or with --dry-run print their scripts. Returns 0."""
    for name in ("resume", "revalidate"):
        if getattr(args, name):
            why = "its records belong to the one machine on which it began"
            raise usage(f"--{name} does not go with --slurm", why, f"okosu try --{name} FILE, on that node")
    if args.slurm is not None and args.slurm_array is not None:
        raise usage("--slurm and --slurm-array exclude each other", "", "one of them")
    if args.json in (None, "-"):
        why = "every node writes its records into a folder that all of them share"
        raise usage("--slurm needs --json FOLDER", why, "--json /shared/folder (it is made where it is not there)")
    options, folder = _options.parse(args), Path(args.json).resolve()
    jobs = _jobs(args, options, folder)
    if args.dry_run:
        print("\n".join(job.script for job in jobs), end="")
        return 0
    if options.command and not shutil.which(options.command[0]):
        print(f"okosu: {options.command[0]} is not here; the nodes must have it", file=sys.stderr)
    try:
        folder.mkdir(exist_ok=True)
        for job in jobs:
            print(f"job {slurm.submit(job.script, folder)}: {job.what}", flush=True)
    except OSError as error:
        why = error.strerror or ""
        raise OkosuError(
            f"{folder} cannot be written", why, "a folder that this machine and the nodes share"
        ) from error
    print(f"what they find, while they run and after: okosu collect {shlex.quote(args.json)}", file=sys.stderr)
    return 0


def _jobs(args: argparse.Namespace, options: Options, folder: Path) -> list[Job]:
    words = again(args.words, len(args.command))
    limit = options.budget_s * (1 + _SPARE_SHARE) + _SPARE_S
    if args.slurm_array is not None:
        count = len(slurm.tasks(args.slurm_array))
        places = [(f"{count} task{'s' * (count > 1)}, each on a free node", {"array": args.slurm_array})]
    elif args.slurm == "each":
        places = slurm.each_kind(args.slurm_option)
    else:
        places = [(name, {"nodelist": name}) for name in slurm.hosts(args.slurm)]
    return [
        Job(what, slurm.trial(what, options.command[0], words, sys.executable, folder, limit, where, args.slurm_option))
        for what, where in places
    ]


def again(words: Sequence[str], program: int) -> list[str]:
    """The words of `okosu try` for a node: those that were typed, without those that are about Slurm. The last
    `program` words are the program and its arguments."""
    cut = len(words) - program
    typed = (word for word in words[:cut] if word != "--")
    kept: list[str] = []
    for word in typed:
        name, equals, _ = word.partition("=")
        if name not in _OWN:
            kept.append(word)
        elif name not in _FLAGS and not equals:
            next(typed, "")
    return [*kept, "--", *words[cut:]]
