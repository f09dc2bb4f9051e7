# SPDX-License-Identifier: Apache-2.0
"""okosu lab run: one command on a kernel of the lab; its output and its exit status are ours."""

from __future__ import annotations

import argparse
import shlex
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab import registry
from lab.cli import _kernel_options, _machine, _model
from okosu.cli import _options
from okosu.errors import USAGE_ERROR, OkosuError

if TYPE_CHECKING:
    from lab.formats import RunFile
    from lab.kernel.build import Built
    from lab.run.outcome import Outcome

NAME = "run"
PLACE = 2
HELP = "boot a platform's kernel and run a command as root on it"
EXAMPLES = """\
  okosu lab run uml -- uname -a                              the exit status is the command's; 125 is a failure of ours
  okosu lab run uml --kernel-arg loglevel=7 -- ./app args    a kernel parameter
  okosu lab run uml --out results -- sh -c 'dmesg > $OKOSU_OUT/dmesg'    files from the guest
  okosu lab run uml --console -- true                        the kernel's messages, on stderr
  okosu lab run x86 --cpus 4 --nodes 2 -- ./app              an emulated x86-64 machine with two NUMA nodes
  okosu lab run x86 --exact -- ./app                         the same to the last instruction in every run
  okosu lab run x86 --machine pentium4-1600 -- ./app         what its marked region does in that machine's caches
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from lab.run import uml

    _kernel_options.add_kernel_arguments(parser)
    add = parser.add_argument
    add("--kernel-arg", action="append", default=[], metavar="WORD", help="a word for the kernel's command line")
    add("--timeout", default=f"{uml.TIMEOUT_S:g}s", metavar="TIME", help="end the guest after this (default 600s)")
    add("--memory", metavar="SIZE", help=f"the guest's memory (default: the platform's; {uml.MEMORY} for uml)")
    add("--out", type=Path, metavar="DIR", help="what OKOSU_OUT names in the guest: the one folder that can be written")
    add("--root", type=Path, metavar="DIR", help="the guest's root, read-only (default: this machine's)")
    add("--console", action="store_true", help="show the kernel's messages on stderr")
    _machine.add_machine_arguments(parser)
    for machine in registry.machines().values():
        machine.add_run_arguments(parser)
    add("--json", metavar="FILE|-", help="write how it went as JSON; -: to stdout, with the command's output in it")
    add("--dry-run", action="store_true", help="print what would be done, and run nothing")


def run(args: argparse.Namespace) -> int:
    """Build what is missing, run the command, and return its exit status; 125 where that could not be done."""
    from dataclasses import replace

    from lab.kernel import build
    from lab.run import memory, platforms

    if not args.command:
        raise OkosuError("no command was given", "", f"okosu lab run {args.platform} -- COMMAND [ARG...]", USAGE_ERROR)
    machines = registry.machines()
    if args.platform in machines:
        return machines[args.platform].run(args)
    for other in machines.values():
        other.refuse(args)
    platform = platforms.find(args.platform)
    chosen = _kernel_options.chosen(args, platform)
    if args.memory is not None:
        memory.size(args.memory)
    guest: dict[str, Any] = {
        "kernel_args": tuple(args.kernel_arg),
        "timeout": _options.seconds(args.timeout),
        **({} if args.memory is None else {"memory": args.memory}),
        "out": args.out,
        "root": args.root,
        **_machine.machine(args, platform),
    }
    if args.dry_run:
        print("\n".join(build.plan(replace(platform.recipe, **chosen))))
        print(f"boot: {shlex.join(args.kernel_arg) or 'no kernel arguments'}, memory {args.memory or 'by default'}")
        print(f"run: {shlex.join(args.command)}")
        return 0
    # SIGTERM becomes SystemExit, so that the guest and its scratch folder are removed on the way out.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    with _kernel_options.progress() as say:
        built = platform.build(**chosen, say=say)
    outcome = platform.run(built, args.command, **guest, on_data=_show(args))
    if args.model:
        _model.show(args.model, outcome)
    if args.json:
        _kernel_options.write_json(args.json, _described(built, outcome, args))
    return outcome.status


def _show(args: argparse.Namespace) -> Any:
    streams = {"log": sys.stderr.buffer} if args.console else {}
    if args.json != "-":
        streams |= {"stdout": sys.stdout.buffer, "stderr": sys.stderr.buffer}

    def show(stream: str, data: bytes) -> None:
        if stream in streams:
            streams[stream].write(data)
            streams[stream].flush()

    return show


def _described(built: Built, outcome: Outcome, args: argparse.Namespace) -> RunFile:
    from lab.formats import RunFile

    file = RunFile(
        platform=args.platform,
        built=_kernel_options.described(built),
        kernel_args=args.kernel_arg,
        memory=args.memory,
        command=args.command,
        status=outcome.status,
        signal=outcome.signal,
        boot_seconds=round(outcome.boot_seconds, 6),
        seconds=outcome.seconds,
        files=sorted(outcome.files),
    )
    if args.model:
        file.model = _model.described(args.model, outcome)
    if args.json == "-":
        file.stdout = outcome.stdout.decode(errors="replace")
        file.stderr = outcome.stderr.decode(errors="replace")
        file.log = outcome.log
    return file
