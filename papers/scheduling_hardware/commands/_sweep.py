# SPDX-License-Identifier: Apache-2.0
"""okosu lab run rtl --sweep: many runs of the machine in rtl/, here or as a job array."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from lab.cli import _kernel_options
from okosu.errors import LAUNCHER_FAILED, USAGE_ERROR, OkosuError

if TYPE_CHECKING:
    from papers.scheduling_hardware.formats import PointRecord
    from papers.scheduling_hardware.sweeps import Point

# Options of a single run.
_ALONE = ("trace", "fst", "counters")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of a sweep."""
    add = parser.add_argument_group("sweep (rtl)").add_argument
    add("--sweep", action="append", metavar="NAME=V,V…", help="run with each value of an option, or of {NAME} in ARGs")
    add("--slurm", metavar="FILE|-", help="write the sweep as a job array for sbatch instead of running it")
    add("--point", type=int, metavar="N", help="run this point of the sweep only (what the job array does)")
    add("--collect", type=Path, metavar="DIR", help="put together what the job array wrote, instead of running")


def run(args: argparse.Namespace, base: Point, again: list[str]) -> int:
    """Run the sweep that the options mean from `base`; 125 where a point failed. `again` are the words to do it."""
    from papers.scheduling_hardware import simulation, slurm_array, sweeps
    from papers.scheduling_hardware.formats import SweepFile

    for option in _ALONE:
        if getattr(args, option) is not None:
            typed = "--trace-fst" if option == "fst" else f"--{option}"
            raise OkosuError(f"{typed} does not go with --sweep", "it is of one run", "--json FILE", USAGE_ERROR)
    if sum(value is not None for value in (args.slurm, args.point, args.collect)) > 1:
        raise OkosuError("--slurm, --point and --collect exclude each other", "", "one of them", USAGE_ERROR)
    points = sweeps.points(base, [_axis(text) for text in args.sweep])
    if args.slurm:
        _write_script(args.slurm, len(points), again)
        return 0
    if args.point is not None:
        if not 0 <= args.point < len(points):
            raise OkosuError(f"--point {args.point}: the sweep has {len(points)} points", "", "", USAGE_ERROR)
        points = [points[args.point]]
    if args.dry_run:
        print("\n".join(f"{n}: {shlex.join('='.join(pair) for pair in one.varied)}" for n, one in enumerate(points)))
        return 0
    if args.collect:
        records = slurm_array.collect(points, args.collect)
    else:
        _kernel_options.check_writable(args, ("json",))
        limit, seed = args.max_cycles or simulation.MAX_CYCLES, 1 if args.seed is None else args.seed
        with _kernel_options.progress() as say:
            records = sweeps.run(points, checked=bool(args.checked), max_cycles=limit, seed=seed, say=say)
    if args.json:
        _kernel_options.write_json(args.json, SweepFile(records))
    if args.json != "-":
        print("\n".join(_line(one) for one in records))
    return LAUNCHER_FAILED if any(one.status for one in records) else 0


def _axis(text: str) -> tuple[str, list[str]]:
    name, equals, values = text.partition("=")
    if not equals or not name or not all(values.split(",")):
        raise OkosuError(f"--sweep {text}: not NAME=VALUE,VALUE…", "", "--sweep pes=1,2,4,8", USAGE_ERROR)
    return name, values.split(",")


def _line(one: PointRecord) -> str:
    varied = " ".join(f"{name}={value}" for name, value in one.varied.items())
    return f"{varied}  {one.error or f'{one.cycles} cycles, exit status {one.status}'}"


def _write_script(where: str, count: int, again: list[str]) -> None:
    from papers.scheduling_hardware import slurm_array

    folder = "sweep.points" if where == "-" else f"{Path(where).name}.points"
    command = [sys.executable, "-m", "okosu", "lab", "run", "rtl"]
    text = slurm_array.script(count, command, again, folder, Path.cwd())
    if where == "-":
        sys.stdout.write(text)
        return
    try:
        Path(where).write_text(text)
    except OSError as error:
        raise OkosuError(f"{where}: {error.strerror}", "", "a file that can be written", LAUNCHER_FAILED) from error
