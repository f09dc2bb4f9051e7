# SPDX-License-Identifier: Apache-2.0
"""okosu lab cache: what the lab keeps, how large it is, and its removal."""

from __future__ import annotations

import argparse

from lab.cli import _kernel_options

NAME = "cache"
PLACE = 9
HELP = "show what the lab keeps (sources, kernels, guest programs), or remove it"
EXAMPLES = """\
  okosu lab cache            what is kept
  okosu lab cache --clear    remove it; the next build takes minutes again
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--clear", action="store_true", help="remove everything that is kept")
    parser.add_argument("--json", metavar="FILE|-", help="write the list as JSON; -: to stdout")


def run(args: argparse.Namespace) -> int:
    """Show or clear the cache; return 0."""
    from lab import cache

    if args.clear:
        cache.clear()
    kept = cache.sizes()
    total = sum(size for _, size in kept)
    if args.json:
        value = {"schema": "okosu.lab-cache/1", "folder": str(cache.root()), "bytes": dict(kept)}
        _kernel_options.write_json(args.json, value)
    if args.json != "-":
        for name, size in kept:
            print(f"{size / 1e6:9.1f} MB  {name}")
        print(f"{total / 1e6:9.1f} MB  in {cache.root()}")
    return 0
