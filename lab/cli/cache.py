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
    from lab.formats import CacheFile

    if args.clear:
        cache.clear()
    kept = cache.sizes()
    total = sum(size for _, size in kept)
    if args.json:
        _kernel_options.write_json(args.json, CacheFile(str(cache.root()), dict(kept)))
    if args.json != "-":
        for name, size in kept:
            print(f"{size / 1e6:9.1f} MB  {name}")
        print(f"{total / 1e6:9.1f} MB  in {cache.root()}")
    return 0
