# SPDX-License-Identifier: Apache-2.0
"""okosu lab build rtl and okosu lab run rtl: the machine with scheduling hardware, simulated from its RTL."""

from __future__ import annotations

import argparse
import shlex
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import asdict

from lab.cli import _kernel_options
from okosu.errors import USAGE_ERROR, OkosuError
from papers.scheduling_hardware import machine
from papers.scheduling_hardware.commands import _sweep
from papers.scheduling_hardware.formats import BuildFile, BuiltSimulator, CountersFile, RunFile

if TYPE_CHECKING:
    from papers.scheduling_hardware.simulation import Outcome, UnfinishedError
    from papers.scheduling_hardware.sweeps import Point
    from papers.scheduling_hardware.verilator import Simulator

NAME = "rtl"
DOC = "the machine with scheduling hardware, simulated from its RTL"
EXAMPLES = {
    "build": """\
  okosu lab build rtl --pes 8                    the simulator of the machine with scheduling hardware
""",
    "run": """\
  okosu lab run rtl --pes 8 -- examples/programs/grain.c 8 1000       C compiled for it, simulated cycle by cycle
  okosu lab run rtl --sweep pes=1,2,4 --json s.json -- examples/programs/grain.c 8 1000    the same for several machines
""",
}
_BUILD = (*machine.BY_NAME, "checked")
_RUN = (*_BUILD, "backend", "max_cycles", "seed", "counters", "trace", "fst", "sweep", "slurm", "point", "collect")
# Options of the other platforms, which a machine without a kernel does not have.
_KERNEL = ("series", "stock", "fragment", "kernel_source", "kernel_arg", "memory", "out", "root", "console")


def add_build_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options that say which simulator is built."""
    machine.add_arguments(parser)
    parser.add_argument(
        "--checked",
        action="store_true",
        default=None,
        help="evaluate the RTL's assertions, begin at random values",
    )


def add_run_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of a run."""
    add_build_arguments(parser)
    add = parser.add_argument_group("run (rtl)").add_argument
    add(
        "--backend", metavar="NAME", help="pthreads by the scheduling hardware (ssh, default) or in software (software)"
    )
    add("--max-cycles", type=int, metavar="N", help="end a program that runs longer (default 1000000000)")
    add("--seed", type=int, metavar="N", help="for the random values of --checked (default 1)")
    add("--counters", metavar="FILE|-", help="write where each PE's cycles went as JSON; -: a table on stderr")
    add("--trace", type=Path, metavar="FILE", help="write the schedule as JSON, for ui.perfetto.dev")
    add("--trace-fst", type=Path, metavar="FILE", dest="fst", help="write waveforms (another build, slower)")
    _sweep.add_arguments(parser)


def refuse(args: argparse.Namespace) -> None:
    """Raise OkosuError (2) where an option of this platform is given with another."""
    for name in _RUN:
        if getattr(args, name, None) is not None:
            raise OkosuError(
                f"{_typed(name)} does not go with {args.platform}", "", "okosu lab run rtl --help", USAGE_ERROR
            )


def build(args: argparse.Namespace) -> int:
    """Build the simulator, and print its folder."""
    from papers.scheduling_hardware import ROOM, verilator

    _refuse_kernel(args)
    wanted = machine.chosen(vars(args))
    if args.dry_run:
        wanted.check()
        words = verilator.command(ROOM, wanted, bool(args.checked), waves=False)
        print(f"build: {shlex.join(words)}")
        return 0
    with _kernel_options.progress() as say:
        simulator = verilator.build(wanted, bool(args.checked), say=say)
    if args.json:
        _kernel_options.write_json(args.json, BuildFile(**asdict(_described(simulator))))
    if args.json != "-":
        print(simulator.program.parent)
    return 0


def run(args: argparse.Namespace) -> int:
    """Compile the program, run it, and return its exit status; 125 where it does not end."""
    from papers.scheduling_hardware import cross_compile, sweeps

    _refuse_kernel(args)
    backend = args.backend or cross_compile.BACKENDS[0]
    if backend not in cross_compile.BACKENDS:
        known = ", ".join(cross_compile.BACKENDS)
        raise OkosuError(f"no back end is called {backend!r}", f"the back ends are {known}", "", USAGE_ERROR)
    if args.max_cycles is not None and args.max_cycles < 1:
        raise OkosuError(f"--max-cycles {args.max_cycles}: a run has one cycle at least", "", "", USAGE_ERROR)
    point = sweeps.Point(machine.chosen(vars(args)), backend, tuple(args.command))
    if args.sweep:
        return _sweep.run(args, point, _again(args))
    if args.slurm or args.point is not None or args.collect:
        raise OkosuError("--slurm, --point and --collect go with --sweep", "", "--sweep pes=1,2,4,8", USAGE_ERROR)
    point.machine.check()
    return _run_one(args, point)


def _run_one(args: argparse.Namespace, point: Point) -> int:
    from papers.scheduling_hardware import cross_compile, simulation, verilator

    wanted = cross_compile.parse(point.words)
    if args.dry_run:
        print(f"simulate: {point.machine}{' checked' if args.checked else ''}")
        print(f"compile: {shlex.join((*wanted.sources, *wanted.flags))} for {point.backend}")
        print(f"run: {shlex.join(wanted.arguments)}")
        return 0
    _kernel_options.check_writable(args, ("json", "counters", "trace", "fst"))
    # SystemExit ends the simulator with us.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    with _kernel_options.progress() as say:
        program = cross_compile.compile_(wanted, point.backend, say, point.machine.isa)
        simulator = verilator.build(point.machine, bool(args.checked), args.fst is not None, say)
    failed = None
    try:
        outcome = simulation.run(
            simulator,
            program,
            max_cycles=args.max_cycles or simulation.MAX_CYCLES,
            seed=1 if args.seed is None else args.seed,
            trace=args.trace,
            fst=args.fst,
            on_data=None if args.json == "-" else _show,
        )
    except simulation.UnfinishedError as error:
        failed, outcome = error, error.outcome
    if outcome.message:
        print(outcome.message, file=sys.stderr)
    _write(args, point, simulator, outcome, failed)
    if failed:
        raise failed
    return outcome.status


def _write(
    args: argparse.Namespace, point: Point, simulator: Simulator, outcome: Outcome, failed: UnfinishedError | None
) -> None:
    """Write what was asked for of a run, ended or not."""
    from papers.scheduling_hardware import sweeps

    if args.counters == "-":
        print(_table(outcome), file=sys.stderr)
    elif args.counters:
        _kernel_options.write_json(args.counters, CountersFile(outcome.cycles, outcome.counters))
    if args.json:
        record = asdict(sweeps.record(point, outcome, failed))
        file = RunFile(platform=args.platform, built=_described(simulator), **record)
        _kernel_options.write_json(args.json, file)


def _again(args: argparse.Namespace) -> list[str]:
    """Return the words that were typed, less what a task of a job array says itself."""
    words = []
    for name in (*_BUILD, "backend", "max_cycles", "seed"):
        value = getattr(args, name)
        if value is not None:
            words += [_typed(name)] if value is True else [_typed(name), str(value)]
    for text in args.sweep:
        words += ["--sweep", text]
    return [*words, "--", *args.command]


def _refuse_kernel(args: argparse.Namespace) -> None:
    for name in _KERNEL:
        if getattr(args, name, None):
            why = "this machine has no kernel"
            raise OkosuError(f"{_typed(name)} does not go with rtl", why, "okosu lab run rtl --help", USAGE_ERROR)


def _typed(name: str) -> str:
    return "--trace-fst" if name == "fst" else f"--{name.replace('_', '-')}"


def _described(simulator: Simulator) -> BuiltSimulator:
    return BuiltSimulator(
        machine=simulator.machine,
        checked=simulator.checked,
        verilator=simulator.verilator,
        key=simulator.key,
        path=str(simulator.program.parent),
    )


def _table(outcome: Outcome) -> str:
    from papers.scheduling_hardware import simulation

    lines = ["  PE   idle" + "".join(f"{name:>11}" for name in simulation.SECTIONS) + "   (% of cycles)"]
    for row in outcome.counters:
        shares = [sum(row[name].values()) for name in simulation.SECTIONS]
        cells = "".join(f"{100 * part / outcome.cycles:11.1f}" for part in shares)
        lines.append(f"{row['pe']:4} {100 * row['idle'] / outcome.cycles:6.1f}{cells}")
    return "\n".join([*lines, f"{outcome.cycles} cycles, simulated at {outcome.khz:.0f} kHz"])


def _show(stream: str, data: bytes) -> None:
    where = sys.stdout.buffer if stream == "stdout" else sys.stderr.buffer
    where.write(data)
    where.flush()
