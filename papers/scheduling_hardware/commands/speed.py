# SPDX-License-Identifier: Apache-2.0
"""okosu lab speed: how fast the machine in rtl/ is simulated."""

from __future__ import annotations

import argparse
from pathlib import Path

from lab.cli import _kernel_options
from okosu.errors import USAGE_ERROR, OkosuError
from papers.scheduling_hardware.commands import machine as machine_options

NAME = "speed"
PLACE = 9
HELP = "measure how fast the machine in rtl/ is simulated"
EXAMPLES = """\
  okosu lab speed rtl                                   16 PEs, all of them busy
  okosu lab speed rtl --pes 8 --json speed.json
  okosu lab speed rtl --peer ~/picorv32                 by turns with 16 cores of a checkout of picorv32
"""
_PES = 16


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add = parser.add_argument
    add("platform", metavar="PLATFORM", help="rtl")
    machine_options.add_machine_arguments(parser)
    add("--peer", type=Path, metavar="FILE|DIR", help="picorv32.v, or a checkout of picorv32, to compare with")
    add("--runs", type=int, default=3, metavar="N", help="the median of so many runs (default 3)")
    add("--json", metavar="FILE|-", help="write the result as JSON; -: to stdout")


def run(args: argparse.Namespace) -> int:
    """Measure, and print kHz and the ratio; 0, or 125 where something cannot be built or run."""
    from papers.scheduling_hardware import simulation_speed

    if args.platform != machine_options.NAME:
        raise OkosuError(f"no speed of {args.platform}", "it is for rtl", "okosu lab speed rtl", USAGE_ERROR)
    if args.runs < 1:
        raise OkosuError(f"--runs {args.runs}: it takes one run at least", "", "--runs 3", USAGE_ERROR)
    args.pes = args.pes or _PES
    machine = machine_options.machine(args)
    machine.check()
    with _kernel_options.progress() as say:
        speed = simulation_speed.measure(machine, simulation_speed.work(machine, say), args.peer, args.runs, say)
    if args.json:
        value = {
            "schema": "okosu.lab-speed/1",
            "pes": speed.pes,
            "context": machine.context,
            "cycles": speed.cycles,
            "khz": round(speed.khz, 1),
            "khz_pes": round(speed.khz * speed.pes, 1),
            "peer": str(args.peer) if args.peer else None,
            "peer_khz": None if speed.peer_khz is None else round(speed.peer_khz, 1),
            "ratio": None if speed.ratio is None else round(speed.ratio, 4),
            "aim": simulation_speed.AIM,
        }
        _kernel_options.write_json(args.json, value)
    if args.json != "-":
        print(f"{speed.pes} PEs, {machine.context}: {speed.khz:.0f} kHz ({speed.khz * speed.pes:.0f} kHz x PEs)")
        if speed.peer_khz is not None and speed.ratio is not None:
            aim = "reached" if speed.ratio >= simulation_speed.AIM else "missed"
            print(
                f"{speed.pes} cores of the peer: {speed.peer_khz:.0f} kHz; ratio {speed.ratio:.3f} (aim 0.125: {aim})"
            )
    return 0
