# SPDX-License-Identifier: Apache-2.0
"""The options of `okosu try` for a service: what starts it, when it is ready, what loads it, what stops it."""

from __future__ import annotations

import argparse
import re
import shlex
import signal
from typing import TYPE_CHECKING

from okosu.cli._options import seconds
from okosu.errors import usage

if TYPE_CHECKING:
    from okosu.records.types import Service

READY = ("tcp", "unix", "log", "cmd")
_EXAMPLE = "okosu try --service 'redis-server --port {port}' --load 'redis-benchmark -p {port} -q'"
_UNSTOPPABLE = ("KILL", "STOP", "CONT")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "services",
        "With --service, each run starts the service with the arm's levers, waits until it is ready, runs the load\n"
        "without levers, and stops the service. {port} is a free port on loopback and {tmp} a private folder, both\n"
        "new in each run, in all of these commands, --prepare and --conclude (docs/SERVICES.md).",
    )
    add = group.add_argument
    add("--service", metavar="CMD", help="the service to try, in place of -- PROGRAM; it must stay in the foreground")
    add("--load", metavar="CMD", help="a shell command whose time, or number by --metric regex, is judged")
    add(
        "--ready",
        action="append",
        default=[],
        metavar="HOW",
        help="tcp:PORT, unix:PATH, log:REGEX (in its output) or cmd:COMMAND (until it succeeds); several hold in this "
        "order (default: tcp:{port}, where --service or --prepare has {port})",
    )
    add("--ready-timeout", type=seconds, metavar="TIME", help="it has to be ready within this time (default 60s)")
    add("--stop", metavar="HOW", help="a signal's name, or a shell command (default: SIGTERM)")
    add("--stop-timeout", type=seconds, metavar="TIME", help="then it is killed, which is an error (default 10s)")


def parse(args: argparse.Namespace) -> Service | None:
    """How the service is driven; None where there is none. OkosuError (2) for any mistake."""
    from okosu.records.types import Service

    given = {
        "--load": args.load,
        "--ready": args.ready,
        "--ready-timeout": args.ready_timeout,
        "--stop": args.stop,
        "--stop-timeout": args.stop_timeout,
    }
    if args.service is None:
        for name, value in given.items():
            if value:
                raise usage(f"{name} belongs to --service, which was not given", "", _EXAMPLE)
        return None
    if args.command or args.stray:
        raise usage("there is a program, and --service too", "one of them is tried", _EXAMPLE)
    try:
        words = shlex.split(args.service)
    except ValueError as error:
        raise usage(f"--service {args.service!r}: {error}", "", _EXAMPLE) from error
    if not words:
        raise usage("--service is empty", "", _EXAMPLE)
    if not args.load:
        raise usage("--service needs --load", "a service is judged by how long a load takes", _EXAMPLE)
    has_port = "{port}" in args.service + args.prepare
    ready = args.ready or (["tcp:{port}"] if has_port else [])
    if not ready:
        why = "okosu cannot know when the service is ready for its load"
        raise usage("--service needs --ready", why, "--ready tcp:6379, unix:PATH, log:REGEX or cmd:COMMAND")
    for how in ready:
        _check_ready(how)
    if not has_port and any("{port}" in text for text in (args.load, *ready)):
        raise usage("{port} is not in --service", "the service would not listen there", _EXAMPLE)
    made = Service(load=args.load, ready=ready)
    return Service(
        load=args.load,
        ready=ready,
        ready_s=args.ready_timeout or made.ready_s,
        stop=_stop(args.stop) if args.stop else made.stop,
        grace_s=args.stop_timeout or made.grace_s,
    )


def _check_ready(how: str) -> None:
    kind, _, rest = how.partition(":")
    fix = "tcp:PORT, unix:PATH, log:REGEX or cmd:COMMAND"
    if kind not in READY or not rest:
        raise usage(f"--ready {how!r} is not known", "", fix)
    if kind == "tcp" and not re.fullmatch(r"(.+:)?(\d+|\{port\})", rest):
        raise usage(f"--ready {how!r} has no port", "", "tcp:6379, tcp:127.0.0.1:6379 or tcp:{port}")
    if kind == "log":
        try:
            re.compile(rest.encode())
        except re.error as error:
            raise usage(f"--ready {how!r}: the pattern does not compile: {error}", "", fix) from error


def _stop(text: str) -> str:
    """A signal's name without SIG, or the command as it was given."""
    name = text.upper().removeprefix("SIG")
    if f"SIG{name}" not in signal.Signals.__members__:
        return text
    if name in _UNSTOPPABLE:
        why = "a service that is killed leaves no proof of its levers" if name == "KILL" else "it ends no service"
        raise usage(f"--stop {text}", why, "--stop TERM, INT or QUIT")
    return name
