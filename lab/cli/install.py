# SPDX-License-Identifier: Apache-2.0
"""okosu lab install: User-Mode Linux with okosu's series as one file where the user says, to be run without okosu."""

from __future__ import annotations

import argparse
import shlex
import sys
from typing import TYPE_CHECKING

from lab import registry
from lab.cli import _kernel_options
from okosu.errors import USAGE_ERROR, OkosuError

if TYPE_CHECKING:
    from pathlib import Path

    from lab.kernel.build import Built

NAME = "install"
PLACE = 3
HELP = "put User-Mode Linux where you say, as linux.okosu, to be run without okosu"
EXAMPLES = """\
  okosu lab install uml ~/bin                       ~/bin/linux.okosu: Debian's kernel with the series of the platform
  okosu lab install uml --series NAME ./linux-new   with one series, under another name
  okosu lab install uml --dry-run ~/bin             what would be done
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    _kernel_options.add_kernel_arguments(parser)
    add = parser.add_argument
    add("place", metavar="DIR|FILE", help="the folder for linux.okosu, or the file; what okosu did not write stays")
    add("--json", metavar="FILE|-", help="write what was installed as JSON; -: to stdout")
    add("--dry-run", action="store_true", help="print what would be done, and build and write nothing")


def run(args: argparse.Namespace) -> int:
    """Build what is missing and install it; print the file, and on stderr how to run it: 0, 2 or 125."""
    from dataclasses import replace

    import msgspec

    from lab.formats import InstallFile
    from lab.kernel import build, install
    from lab.run import platforms, uml

    if args.platform in registry.machines() or platforms.find(args.platform).name != uml.NAME:
        raise OkosuError(
            f"lab install does not go with {args.platform}",
            "of the lab's platforms only uml is a program that runs by itself",
            f"okosu lab build {args.platform}, which prints the folder of what it built",
            USAGE_ERROR,
        )
    platform = platforms.find(args.platform)
    chosen = _kernel_options.chosen(args, platform)
    # What cannot be installed is not built first, which takes minutes.
    file = install.target(args.place)
    install.check(file)
    _kernel_options.check_writable(args, ["json"])
    if args.dry_run:
        print("\n".join([*build.plan(replace(platform.recipe, **chosen)), f"install: {file}"]))
        return 0
    with _kernel_options.progress() as say:
        built = platform.build(**chosen, say=say)
    described = msgspec.structs.asdict(_kernel_options.described(built))
    written = install.put(built, file, lambda digest: InstallFile(**described, file=str(file), sha256=digest))
    if args.json:
        _kernel_options.write_json(args.json, written)
    if args.json != "-":
        print(file)
    print(_how(file, built), file=sys.stderr)
    return 0


def _how(file: Path, built: Built) -> str:
    """Return how to run the kernel, and why this machine cannot where that is so."""
    from lab.run import uml

    console = ("con=null", "con0=fd:0,fd:1", "quiet")
    words = [str(file), f"mem={uml.MEMORY}", *uml.HOST_ROOT, *console, "init=/bin/sh"]
    lines = [
        "to run it on a terminal, with this machine's files as its root, read-only (poweroff -f ends it):",
        f"  {shlex.join(words)}",
    ]
    try:
        uml.check_host(built)
    except OkosuError as error:
        lines += ["not on this machine:", f"  {error.why}", f"  fix: {error.fix}"]
    return "\n".join(lines)
