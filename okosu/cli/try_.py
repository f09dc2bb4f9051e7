# SPDX-License-Identifier: Apache-2.0
"""okosu try: find out which levers make a program faster here, by how much, with what certainty."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from okosu.cli import _options
from okosu.errors import EXPECT_NOT_MET, INTERRUPTED, USAGE_ERROR, OkosuError

if TYPE_CHECKING:
    from okosu.records.types import Verdict
    from okosu.trial.session import Session

NAME = "try"
PLACE = 1
HELP = "find out by paired measurement which levers make a program faster, and prove it"
EXAMPLES = """\
  okosu try -- ./app args                                     all levers that apply here, ten minutes at most
  okosu try --levers superpage,retain --budget 3m --expect superpage=faster -- ./app args
  okosu try --arm jemalloc='LD_PRELOAD=/usr/lib/libjemalloc.so.2' --check true -- ./server-bench
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--levers", metavar="LIST", help="levers to try, e.g. superpage,pin=compact, or none (default: all that apply)")
    add("--arm", action="append", default=[], metavar="NAME='VAR=…'", help="an arm of your own: variables to set")
    add("--budget", default="10m", metavar="TIME", help="time to spend at most: 90s, 10m, 2h (default 10m)")
    add("--metric", default="wall", metavar="M", help="wall, cpu, rss or regex:PATTERN (its first group; default wall)")
    add("--better", choices=["lower", "higher"], help="which way a regex metric is better (no default)")
    add("--min-effect", default="1%", metavar="PCT", help="smallest effect of interest (default 1%%)")
    add("--check", default="", metavar="CMD", help="judge the output (on stdin) by a command instead of by its digest")
    add("--stdin", default="", metavar="FILE", help="give the program this file as standard input")
    add("--prepare", default="", metavar="CMD", help="run CMD untimed before each run")
    add("--conclude", default="", metavar="CMD", help="run CMD untimed after each run")
    add("--timeout", type=_options.seconds, metavar="TIME", help="give up on a run after this long")
    add("--expect", action="append", default=[], metavar="LEVER=VERDICT", help="exit 3 unless it ends so")
    add("--children", choices=["0", "1"], default="1", help="whether the program's children inherit the levers")
    add("--seed", type=int, metavar="N", help="seed of the random order (default: drawn, and recorded)")
    add("--min-rounds", type=int, default=0, metavar="N", help="rounds at least, though the verdict be known before")
    add("--max-rounds", type=int, default=1000, metavar="N", help="rounds at most (default 1000)")
    add("--no-warm", action="store_true", help="do not touch memory before each run where the host backs it lazily")
    add("--json", metavar="FILE|-", help="where the records go (default: the state folder)")
    add("--resume", metavar="FILE", help="go on with an interrupted trial")
    add("--revalidate", metavar="FILE", help="measure the arm that FILE recommends again, on fresh rounds")
    add("--dry-run", action="store_true", help="print what each arm would run, and run nothing")
    add("command", nargs=argparse.REMAINDER, metavar="-- PROGRAM [ARG…]", help="the program to try")


def run(args: argparse.Namespace) -> int:
    """Run the command. Returns 0 if it finished, 1 if it failed, 2 for a usage error, 3 if an --expect was not met."""
    from okosu.cli import _conduct
    from okosu.cli._lock import measuring

    expected = [_options.expectation(text) for text in args.expect]
    if args.dry_run:
        return _conduct.dry_run(_options.parse(args))
    with measuring():
        try:
            if args.resume:
                session = _conduct.resume(Path(args.resume))
            elif args.revalidate:
                session = _conduct.revalidate(Path(args.revalidate), args)
            else:
                session = _conduct.begin(_options.parse(args), args.json)
            try:
                _conduct.run(session)
            except KeyboardInterrupt:
                _show(session, args, interrupted=True)
                return INTERRUPTED
            except OkosuError:
                _conduct.keep(session)
                raise
        except KeyboardInterrupt:
            return INTERRUPTED
    _show(session, args, interrupted=False)
    return _met(session.envelope.verdicts, expected)


def _show(session: Session, args: argparse.Namespace, interrupted: bool) -> None:
    from okosu.cli import _conduct, _table
    from okosu.report import view

    if interrupted:
        _conduct.keep(session)
    text = _table.render(session.envelope)
    if args.json == "-":
        from okosu.records import files

        print(text, file=sys.stderr)
        print(files.encode(session.envelope).decode())
    else:
        print(text)
    if session.path is not None:
        print(f"records: {session.path}", file=sys.stderr)
    if interrupted:
        print(f"interrupted; go on with: okosu try --resume {session.path}", file=sys.stderr)
        return
    if line := view.of(session.envelope).headline.command:
        print(line, file=sys.stderr if args.json == "-" else sys.stdout)


def _met(verdicts: list[Verdict], expected: list[tuple[str, str]]) -> int:
    """Return 3 and print what was found instead if an --expect does not hold, else 0."""
    status = 0
    for lever, wanted in expected:
        found = [v for v in verdicts if v.arm == lever or v.arm.startswith(f"{lever}=")]
        if not any(v.verdict == wanted and v.confirmed is not False for v in found):
            was = ", ".join(f"{v.arm} {v.verdict}" for v in found) or "it was not tried"
            error = OkosuError(f"expected {lever} to be {wanted}", was, "", USAGE_ERROR)
            print(error, file=sys.stderr)
            status = EXPECT_NOT_MET
    return status
