# SPDX-License-Identifier: Apache-2.0
"""okosu lab synth: what the machine's hardware costs on an FPGA, and the clock that its blocks reach there."""

from __future__ import annotations

import argparse

from lab.cli import _kernel_options
from okosu.cli import _options

NAME = "synth"
PLACE = 31
HELP = "synthesise the RTL with scheduling hardware for an FPGA: cells, the scheduler's share, growth, clocks"
EXAMPLES = """\
  okosu lab synth --quick               some small blocks, no routing (a minute)
  okosu lab synth --json synth.json     all (hours the first time; what was done is kept, so it can be interrupted)
  okosu lab synth --no-routes           all blocks, no clocks
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add = parser.add_argument
    add("--quick", action="store_true", help="some small blocks, and no routing")
    add("--no-routes", action="store_true", help="synthesise only: no clocks")
    add("--limit", default="1800s", metavar="TIME", help="give a route up after this processor time (default 1800s)")
    add("--json", metavar="FILE|-", help="write the record as JSON; -: to stdout")
    add("--dry-run", action="store_true", help="print what would be synthesised and routed")


def run(args: argparse.Namespace) -> int:
    """Synthesise, route, print the tables: 0, or 125."""
    from papers.scheduling_hardware import cost_table

    wanted, routed = cost_table.blocks(args.quick), cost_table.routes(args.quick or args.no_routes)
    if args.dry_run:
        for what, blocks in (("synthesise", wanted), ("route", routed)):
            for one in blocks:
                print(
                    f"{what}: {one.name}   ({one.top} {' '.join(f'{name}={value}' for name, value in one.parameters)})"
                )
        return 0
    with _kernel_options.progress() as say:
        record = cost_table.measure(wanted, routed, _options.seconds(args.limit), say)
    if args.json:
        _kernel_options.write_json(args.json, record)
    if args.json != "-":
        print("\n".join(cost_table.tables(record)))
    return 0
