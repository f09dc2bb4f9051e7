# SPDX-License-Identifier: Apache-2.0
"""okosu lab build: a kernel with okosu's series, kept in the cache."""

from __future__ import annotations

import argparse
import sys

from lab import registry
from lab.cli import _kernel_options

NAME = "build"
PLACE = 1
HELP = "build a platform's kernel or simulator (minutes; kept by what it is made from)"
EXAMPLES = """\
  okosu lab build uml                            Debian's kernel with the series of the platform
  okosu lab build uml --stock                    without any series
  okosu lab build uml --series NAME              with one series of those that papers/*/series hold
  okosu lab build x86 --fragment x86-debug       with the configuration of config/x86-debug.fragment on top
  okosu lab build uml --base 7.3                 a newer Linux with those series of the platform that are made for it
  okosu lab build uml --cc gcc-11 --dry-run      what would be done
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    _kernel_options.add_kernel_arguments(parser)
    for machine in registry.machines().values():
        machine.add_build_arguments(parser)
    parser.add_argument("--json", metavar="FILE|-", help="write what was built as JSON; -: to stdout")
    parser.add_argument("--dry-run", action="store_true", help="print what would be done, and build nothing")


def run(args: argparse.Namespace) -> int:
    """Build, and print the folder with the kernel: 0, or 125."""
    from dataclasses import replace

    import msgspec

    from lab.formats import BuildFile
    from lab.kernel import base, build, source
    from lab.run import platforms

    machines = registry.machines()
    if args.platform in machines:
        return machines[args.platform].build(args)
    for machine in machines.values():
        machine.refuse(args)
    platform = platforms.find(args.platform)
    chosen = _kernel_options.chosen(args, platform)
    if args.dry_run:
        print("\n".join(build.plan(replace(platform.recipe, **chosen))))
        return 0
    with _kernel_options.progress() as say:
        ours, made_on = source.version(args.kernel_source, args.base, say), base.find(args.base).version
        if chosen["series"] and ours != made_on:
            print(f"okosu: the series were made on Linux {made_on}; this is {ours}", file=sys.stderr)
        built = platform.build(**chosen, say=say)
    if args.json:
        described = msgspec.structs.asdict(_kernel_options.described(built))
        _kernel_options.write_json(args.json, BuildFile(**described))
    if args.json != "-":
        print(built.path)
    return 0
