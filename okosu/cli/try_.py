# SPDX-License-Identifier: Apache-2.0
"""okosu try: find out which levers make a program faster here, by how much, with what certainty."""

from __future__ import annotations

import argparse
import contextlib
import shlex
import sys
from typing import TYPE_CHECKING

from okosu.cli import _options
from okosu.errors import EXPECT_NOT_MET, INTERRUPTED, USAGE_ERROR, OkosuError, Stopped

if TYPE_CHECKING:
    from okosu.records.types import Verdict
    from okosu.trial.session import Session

NAME = "try"
PLACE = 1
HELP = "find out by paired measurement which levers make a program faster, and prove it"
EXAMPLES = """\
  okosu try -- ./app args                                     all levers that apply here, five minutes or so
  okosu try --levers superpage,retain --budget 3m --expect superpage=faster -- ./app args
  okosu try --service 'redis-server --port {port}' --load 'redis-benchmark -p {port} -q'    docs/SERVICES.md
  okosu try --arm jemalloc='LD_PRELOAD=/usr/lib/libjemalloc.so.2' --check true -- ./server-bench
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    _options.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command. Returns 0 if it finished, 1 if it failed, 2 for a usage error, 3 if an --expect was not met."""
    from okosu.cli import _conduct
    from okosu.cli._lock import measuring

    expected = [_options.expectation(text) for text in args.expect]
    if args.slurm is not None or args.slurm_array is not None:
        from okosu.cli import _slurm

        return _slurm.run(args)
    if args.dry_run and not args.resume:
        return _conduct.dry_run(_options.parse(args))
    session = _conduct.prepare(args)
    _conduct.claim(session, replace=args.force or bool(args.resume))
    begun = bool(args.resume)
    try:
        with measuring():
            begun = True
            _conduct.run(session)
    except KeyboardInterrupt as stop:
        _conduct.keep(session)
        # Who closed the terminal reads nothing any more, and is not to be told so.
        with contextlib.suppress(OSError):
            _interrupted(session, args, begun)
            sys.stdout.flush()
        return 128 + stop.number if isinstance(stop, Stopped) else INTERRUPTED
    except OkosuError:
        _conduct.keep(session)
        if not args.resume:
            _conduct.abandon(session)
        raise
    _show(session, args)
    if session.path is not None:
        print(f"records: {session.path}", file=sys.stderr)
    return _met(session.envelope.verdicts, expected)


def _interrupted(session: Session, args: argparse.Namespace, begun: bool) -> None:
    """Print the verdicts so far and how to go on; a trial that still waited for another leaves no file."""
    from okosu.cli import _conduct

    if not begun:
        _conduct.abandon(session)
        print("interrupted before anything was run", file=sys.stderr)
        return
    if session.piloted:
        _show(session, args, finished=False)
    print(f"interrupted; go on with: okosu try --resume {shlex.quote(str(session.path))}", file=sys.stderr)


def _show(session: Session, args: argparse.Namespace, finished: bool = True) -> None:
    from okosu.cli import _table
    from okosu.report import export, view

    exported = _options.exports(args.export)
    # What another program reads has the standard output for itself.
    prose = sys.stderr if args.json == "-" or any(to is None for _, to in exported) else sys.stdout
    print(_table.render(session.envelope, args.wide), file=prose)
    if args.json == "-":
        from okosu.records import files

        print(files.encode(session.envelope).decode())
    for kind, to in exported:
        export.write(session.envelope, kind, to)
    if finished and (line := view.of(session.envelope).headline.command):
        print(line, file=prose)


def _met(verdicts: list[Verdict], expected: list[tuple[str, str]]) -> int:
    """Return 3 and print what was found instead if an --expect does not hold, else 0."""
    status = 0
    for lever, wanted in expected:
        found = [v for v in verdicts if v.arm == lever or v.arm.startswith(f"{lever}=")]
        if not any(v.verdict == wanted for v in found):
            was = ", ".join(f"{v.arm} {v.verdict}" for v in found) or "it was not tried"
            error = OkosuError(f"expected {lever} to be {wanted}", was, "", USAGE_ERROR)
            print(error, file=sys.stderr)
            status = EXPECT_NOT_MET
    return status
