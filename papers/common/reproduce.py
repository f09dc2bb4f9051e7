# SPDX-License-Identifier: Apache-2.0
"""okosu reproduce: a paper's published numbers beside this machine's, and the targets beyond them."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from okosu.errors import EXPECT_NOT_MET, INTERRUPTED, TOOL_ERROR, USAGE_ERROR, OkosuError

if TYPE_CHECKING:
    from okosu.records.types import ReproduceFile
    from papers.common.base import Experiment, Paper

NAME = "reproduce"
PLACE = 5
HELP = "measure again what a paper published, and judge okosu's targets beyond it"
EXAMPLES = """\
  okosu reproduce                          the papers
  okosu reproduce hpc-programming          every published value beside this machine's, then each target
  okosu reproduce hpc-programming --quick  a first impression in seconds: few sizes, few rounds
  okosu reproduce hpc-programming --check  exit status 3, naming each target that does not hold
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("paper", nargs="?", metavar="PAPER", help="which paper; without one the papers are listed")
    parser.add_argument(
        "--quick", action="store_true", help="few sizes and rounds, no fresh processes; floors stay undecided"
    )
    parser.add_argument("--isa", metavar="SET", help="processors of that instruction set, where the paper builds them")
    parser.add_argument("--base", metavar="NAME", help="the Linux to boot, where the paper has a series on several")
    parser.add_argument("--json", metavar="FILE|-", help="where the records go; - prints them, and the table on stderr")
    parser.add_argument(
        "--check",
        action="store_true",
        help="exit 3 if a target does not hold or (but for --quick) was not measured; published values never fail",
    )
    parser.add_argument("--list", action="store_true", help="print published values and targets; measure nothing")
    parser.add_argument("--dry-run", action="store_true", help="print the programs that would be run; run nothing")


def run(args: argparse.Namespace) -> int:
    """Run the command. OkosuError (2) if there is no such paper."""
    from papers import common
    from papers.common import printing

    if args.command:
        raise OkosuError("okosu reproduce runs no program of yours", "", "okosu reproduce PAPER", USAGE_ERROR)
    known = common.load()
    if args.paper is None:
        print("\n".join(f"{name:<18} {paper.about().title_en}" for name, paper in known.items()))
        return 0
    if args.paper not in known:
        raise OkosuError(f"no paper is called {args.paper!r}", "", f"one of {', '.join(known)}", USAGE_ERROR)
    paper = known[args.paper]
    paper = paper.on(args.isa) if args.isa else paper
    paper = paper.on_base(args.base) if args.base else paper
    if args.list:
        print(printing.listed(paper))
        return 0
    if args.dry_run:
        return _dry_run(paper, args.quick)
    return _measure(paper, args)


def _dry_run(paper: Paper, quick: bool) -> int:
    from okosu.bench import drive
    from papers.common import fresh_processes
    from papers.common.base import LabExperiment

    experiments = paper.experiments()
    total = 0.0
    for experiment in experiments:
        if isinstance(experiment, LabExperiment):
            left_out = quick and not experiment.quick
            takes = 0.0 if left_out else experiment.takes(quick)
            total += takes
            about = f", about {_minutes(takes)} of one core" if takes else ""
            print(f"{experiment.name}: {'left out by --quick' if left_out else experiment.typed(quick)}{about}")
        else:
            print(f"{experiment.name}: {_program(paper, experiment, quick)}")
    if total:
        print(f"all of them: about {_minutes(total)} of one core, less on several, and but for what is kept already")
    if all(isinstance(experiment, LabExperiment) for experiment in experiments):
        return 0
    print(f"environment of the benches: {' '.join(f'{k}={v}' for k, v in drive.ONE_THREAD.items())}, where not set")
    print("system calls of note: sched_setaffinity, mmap, madvise and mbind of the programs' own memory")
    if not quick:
        most = fresh_processes.PROCESSES
        print(f"then: the points that one process leaves in doubt, in up to {most} fresh ones of each bench")
    return 0


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def _program(paper: Paper, experiment: Experiment, quick: bool) -> str:
    from okosu import native
    from papers.common import printing, programs

    words = programs.arguments(experiment, quick)
    if words is None:
        return "left out by --quick"
    extra = printing.peers(paper) if experiment.read == "rows" else []
    try:
        program = str(native.find(experiment.program))
    except OkosuError as error:
        program = f"({error.what})"
    return " ".join([program, *words, *extra])


def _measure(paper: Paper, args: argparse.Namespace) -> int:
    import msgspec

    from okosu.bench import drive
    from okosu.cli._lock import measuring
    from okosu.records import files
    from papers.common import printing, programs
    from papers.common.conduct import Conduct

    path = files.destination(args.json, "reproduce", paper.name)
    envelope = printing.envelope(paper, args.quick)
    runner = programs.Runner(lambda name, words: drive.run(name, [*words, *printing.peers(paper)]), programs.listing)
    conduct = Conduct(paper, args.quick, envelope, runner, _say, lambda: files.write(envelope, path))
    interrupted = False
    with measuring():
        try:
            conduct.run()
        except KeyboardInterrupt:
            interrupted = True
            conduct.conclude()
            files.write(envelope, path)
    text = printing.render(envelope, paper)
    if args.json == "-":
        print(text, file=sys.stderr)
        print(msgspec.json.encode(envelope).decode())
    else:
        print(text)
    print(f"records: {path}", file=sys.stderr)
    if interrupted:
        print("interrupted: what follows the last line of programs was not measured", file=sys.stderr)
        return INTERRUPTED
    for error in conduct.measured.failed.values():
        print(error, file=sys.stderr)
    failed = TOOL_ERROR if conduct.measured.failed else 0
    return (_checked(envelope, args.quick) if args.check else 0) or failed


def _say(text: str) -> None:
    if sys.stderr.isatty():
        print(text, file=sys.stderr)


def _checked(envelope: ReproduceFile, quick: bool) -> int:
    """Name each target that does not hold on stderr; 3 if there is one, else 0."""
    status = 0
    for item in envelope.compared:
        if item.kind == "published" or item.holds:
            continue
        if item.holds is None and quick:
            continue
        said = "was not measured" if item.holds is None else "does not hold"
        reached = "" if item.measured is None else f": {item.measured:.3g} of {item.target:g} {item.unit}".rstrip()
        print(OkosuError(f"target {item.id} {said}{reached}", item.note), file=sys.stderr)
        status = EXPECT_NOT_MET
    return status
