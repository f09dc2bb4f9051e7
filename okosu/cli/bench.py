# SPDX-License-Identifier: Apache-2.0
"""okosu bench: what this machine's limits are, how close the best libraries come, and how close okosu comes."""

from __future__ import annotations

import argparse

from okosu.cli._options import whole
from okosu.errors import usage

NAME = "bench"
PLACE = 4
HELP = "measure routines of libokosu beside the machine's limits and other libraries"
EXAMPLES = """\
  okosu bench                                  every benchmark: minutes
  okosu bench copy --only mix                  one routine: copies of mixed sizes
  okosu bench copy --profile                   learn which memcpy is best at which size; lever copy then takes it
  okosu bench copy --libc .peers/glibc-trixie  the same beside the memcpy of another glibc, on which it then runs
  okosu bench blas1                            sums and products of vectors, beside other libraries; checkout only
  okosu bench --list                           routines with their bytes and flops, and the variants this CPU has
  okosu bench --smoke                          does it all work? seconds, and no number to quote
"""
ALL = "all"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("bench", nargs="?", default=ALL, metavar="BENCH", help="which one (--list names them; default: all)")
    add("--rounds", type=whole("--rounds", 1), metavar="N", help="rounds, each with a run of all variants (default 15)")
    add("--cpu", type=whole("--cpu", 0), metavar="N", help="the CPU to measure on (default: the last that is allowed)")
    add("--seed", type=whole("--seed", 0), metavar="N", help="of the random order (default: drawn, and recorded)")
    add("--only", metavar="ROUTINE,…", help="these routines alone")
    add("--variant", metavar="NAME,…", help="these variants alone")
    add("--sizes", metavar="N,…", help="these sizes instead of the benchmark's own")
    add("--peers", action="append", metavar="DIR", help="libraries to compare with (repeatable; default: .peers)")
    add("--libc", metavar="DIR", help="run on another glibc: a folder that has its loader and libc.so.6")
    add("--smoke", action="store_true", help="2 rounds at a few sizes: does it work?")
    add(
        "--profile",
        metavar="FILE",
        nargs="?",
        const="",
        help="of copy and zero: learn the best variant of each size class, and write it there (without FILE: where "
        "--copy=profile finds it)",
    )
    add("--json", metavar="FILE|-", help="where the records go (default: the state folder)")
    add("--list", action="store_true", help="print the routines and the variants, and run nothing")
    add("--dry-run", action="store_true", help="print the programs that would be run, and run nothing")


def run(args: argparse.Namespace) -> int:
    """Run the command. Returns 0 when every benchmark finished, 1 when one failed, 2 for a usage error, 130 if
    interrupted.
    """
    from okosu.cli import _bench

    if args.command:
        raise usage("okosu bench runs no program of yours", "", "okosu bench [BENCH] [OPTION…]")
    names = _bench.wanted(args)
    if args.list:
        return _bench.show_list(names)
    if args.dry_run:
        return _bench.dry_run(names, args)
    return _bench.measure(names, args)
