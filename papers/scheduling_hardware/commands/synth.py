# SPDX-License-Identifier: Apache-2.0
"""okosu lab synth: what the machine's hardware costs on an FPGA, and the clock that its blocks reach there."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from lab.cli import _kernel_options
from okosu.cli import _options
from okosu.errors import USAGE_ERROR, OkosuError

NAME = "synth"
PLACE = 31
HELP = "synthesise the RTL with scheduling hardware for an FPGA: cells, the scheduler's share, growth, clocks"
EXAMPLES = """\
  okosu lab synth --quick               some small blocks, no routing (a minute)
  okosu lab synth --json synth.json     all (hours the first time; what was done is kept, so it can be interrupted)
  okosu lab synth --no-routes           all blocks, no clocks
  okosu lab synth --times               what calls take in nanoseconds, by the scheduler
  okosu lab synth --board ulx3s --out okosu.bit         a bitstream with a program in its memory (minutes)
  okosu lab synth --board ulx3s --simulate -- hello.c   what that program prints on the board's serial line
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add = parser.add_argument
    add("--quick", action="store_true", help="some small blocks, and no routing")
    add("--no-routes", action="store_true", help="synthesise only: no clocks")
    add(
        "--times",
        action="store_true",
        help="only a PE and SSH-m of one machine, and what its calls take at their clock",
    )
    add("--seeds", type=int, default=1, metavar="N", help="route each block with N seeds, and say how far they differ")
    add("--board", metavar="NAME", help="build this board's bitstream instead: ulx3s (not run on a board)")
    add("--simulate", action="store_true", help="simulate the board, whole, instead of building its bitstream")
    add("--out", type=Path, metavar="FILE", help="where the board's bitstream is written, too")
    add("command", nargs=argparse.REMAINDER, metavar="-- PROGRAM", help="the program in the board's memory")
    add("--limit", default="1800s", metavar="TIME", help="give a route up after this processor time (default 1800s)")
    add("--json", metavar="FILE|-", help="write the record as JSON; -: to stdout")
    add("--dry-run", action="store_true", help="print what would be synthesised and routed")


def run(args: argparse.Namespace) -> int:
    """Synthesise, route, print the tables: 0, or 125; of a simulated board the status that its program ended with."""
    from papers.scheduling_hardware import cost_table

    program = args.command[1:] if args.command[:1] == ["--"] else args.command
    if args.board:
        return _board(args, program)
    if args.simulate or args.out or program:
        raise OkosuError(
            "a program goes with a board", "nothing else has a memory for it", "--board ulx3s", USAGE_ERROR
        )
    if args.times:
        wanted = routed = cost_table.timed()
    else:
        wanted, routed = cost_table.blocks(args.quick), cost_table.routes(args.quick or args.no_routes)
    if args.dry_run:
        for what, blocks in (("synthesise", wanted), ("route", routed)):
            for one in blocks:
                print(
                    f"{what}: {one.name}   ({one.top} {' '.join(f'{name}={value}' for name, value in one.parameters)})"
                )
        return 0
    with _kernel_options.progress() as say:
        called = cost_table.calls(say) if routed else []
        record = cost_table.measure(wanted, routed, _options.seconds(args.limit), say, called, args.seeds)
    if args.json:
        _kernel_options.write_json(args.json, record)
    if args.json != "-":
        print("\n".join(cost_table.tables(record)))
    return 0


def _board(args: argparse.Namespace, program: list[str]) -> int:
    from papers.scheduling_hardware import board, board_table

    if args.board not in board.BOARDS:
        known = ", ".join(board.BOARDS)
        raise OkosuError(f"no board is called {args.board!r}", f"the boards are {known}", "", USAGE_ERROR)
    on, words = board.BOARDS[args.board], program or list(board.PROGRAM)
    if args.dry_run:
        print(f"{'simulate' if args.simulate else 'build'}: {on.name}, {on.fpga}   ({on.top} {on.parameters})")
        print(f"program: {' '.join(words)}")
        print(on.limit)
        return 0
    with _kernel_options.progress() as say:
        compiled = board.compile_(on, words, say)
        if args.simulate:
            with tempfile.TemporaryDirectory(prefix="okosu-board-") as folder:
                done = board.simulate(on, compiled, Path(folder), say)
            sys.stderr.write(done.stderr.decode(errors="replace"))
            sys.stdout.write(done.stdout.decode(errors="replace"))
            return done.returncode
        built = board.bitstream(on, compiled, _options.seconds(args.limit), say)
    if args.out:
        args.out.write_bytes(built.bitstream.read_bytes())
    record = board_table.record(on, built, words)
    if args.json:
        _kernel_options.write_json(args.json, record)
    if args.json != "-":
        print("\n".join(board_table.tables(record)))
        print(f"\n{on.limit}\n{args.out or built.bitstream}")
    return 0
