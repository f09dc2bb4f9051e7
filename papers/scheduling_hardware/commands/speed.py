# SPDX-License-Identifier: Apache-2.0
"""okosu lab speed: how fast the machine with scheduling hardware is simulated."""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path
from typing import TYPE_CHECKING

from lab.cli import _kernel_options
from okosu.errors import LAUNCHER_FAILED, USAGE_ERROR, OkosuError
from papers.scheduling_hardware import ROOM, machine
from papers.scheduling_hardware.formats import SpeedFile

if TYPE_CHECKING:
    from lab.cache import Say
    from papers.scheduling_hardware.machine import Machine
    from papers.scheduling_hardware.simulation import Outcome

NAME = "speed"
PLACE = 9
HELP = "measure how fast the machine with scheduling hardware is simulated"
EXAMPLES = """\
  okosu lab speed rtl                                   16 PEs, all of them busy
  okosu lab speed rtl --pes 8 --json speed.json
"""
# All of these PEs are kept busy, by four threads of 2,000 steps each.
_MACHINE = machine.Machine(pes=16)
_WORK, _THREADS_PER_PE, _STEPS = Path("examples/programs/grain.c"), 4, 2000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add = parser.add_argument
    add("platform", metavar="PLATFORM", help="rtl")
    machine.add_arguments(parser, _MACHINE)
    add("--runs", type=int, default=3, metavar="N", help="the median of so many runs (default 3)")
    add("--json", metavar="FILE|-", help="write the result as JSON; -: to stdout")


def run(args: argparse.Namespace) -> int:
    """Measure, and print kHz: 0, or 125 where something cannot be built or run."""
    if args.platform != "rtl":
        raise OkosuError(f"no speed of {args.platform}", "it is for rtl", "okosu lab speed rtl", USAGE_ERROR)
    if args.runs < 1:
        raise OkosuError(f"--runs {args.runs}: it takes one run at least", "", "--runs 3", USAGE_ERROR)
    wanted = machine.chosen(vars(args), _MACHINE)
    wanted.check()
    with _kernel_options.progress() as say:
        outcomes = _measure(wanted, args.runs, say)
    khz = statistics.median_low(outcome.khz for outcome in outcomes)
    if args.json:
        file = SpeedFile(
            pes=wanted.pes,
            context=wanted.context,
            cycles=outcomes[0].cycles,
            khz=round(khz, 1),
            khz_pes=round(khz * wanted.pes, 1),
        )
        _kernel_options.write_json(args.json, file)
    if args.json != "-":
        print(f"{wanted.pes} PEs, {wanted.context}: {khz:.0f} kHz ({khz * wanted.pes:.0f} kHz x PEs)")
    return 0


def _measure(wanted: Machine, runs: int, say: Say) -> list[Outcome]:
    from papers.scheduling_hardware import cross_compile, simulation, verilator

    source = ROOM.parents[1] / _WORK
    command = cross_compile.parse([str(source), str(_THREADS_PER_PE * wanted.pes), str(_STEPS)])
    program = cross_compile.compile_(command, cross_compile.BACKENDS[0], say, wanted.isa)
    simulator = verilator.build(wanted, say=say)
    outcomes = []
    for turn in range(runs):
        say(f"run {turn + 1} of {runs}")
        outcomes.append(simulation.run(simulator, program))
        if outcomes[-1].status:
            raise OkosuError("the program failed", outcomes[-1].message, "", LAUNCHER_FAILED)
    return outcomes
