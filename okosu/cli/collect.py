# SPDX-License-Identifier: Apache-2.0
"""okosu collect: the trials of many machines, brought together by kind of machine."""

from __future__ import annotations

import argparse
from pathlib import Path

from okosu.errors import usage

NAME = "collect"
PLACE = 5
HELP = "bring together the trials of many machines (okosu try --slurm): verdicts by kind of machine"
EXAMPLES = """\
  okosu collect /shared/records                what the nodes have found so far, and which are still to come
  okosu collect monday tuesday --json all.json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folders", nargs="+", metavar="FOLDER", help="where the nodes write their records")
    parser.add_argument("--json", metavar="FILE|-", help="write it as JSON too; -: to stdout, instead of the table")


def run(args: argparse.Namespace) -> int:
    """Print the table. Returns 0, or 1 where a folder cannot be read or has no finished trial."""
    from okosu.cli import _kinds
    from okosu.cluster import collect
    from okosu.records import files
    from okosu.report import kinds

    if args.command:
        raise usage("okosu collect runs no program", "", "okosu collect FOLDER… [--json FILE]")
    found = collect.collected(collect.gather([Path(name) for name in args.folders]))
    if args.json:
        files.put_json(args.json, found)
    if args.json != "-":
        print(_kinds.render(kinds.view(found)))
    return 0 if found.programs else 1
