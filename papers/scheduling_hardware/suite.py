# SPDX-License-Identifier: Apache-2.0
"""A folder of programs that judge themselves by their exit status, run on the machine: one verdict a program.

python -m papers.scheduling_hardware.suite FOLDER... [--with FILE] [-I FOLDER] [--reasons FILE] [--table FILE]

Every .c file below the folders is one program (--flat: in the folders themselves). Exit statuses are those of POSIX
conformance suites: 0 passed, 1 failed, 2 unresolved, 4 unsupported, 5 untested; 128 + N: ended by signal N. --with
names sources that every program is linked with (one that defines main, say), -I where its headers are. Seconds of the
machine are made short by --clock-hz, for such programs sleep for seconds. What a program asks of the compiler by
dg-options, as GCC's do, it gets, where that is without a condition.

--reasons says in words why programs do not pass, by patterns: suites/posix.toml. --table writes the verdicts and these
reasons; --compare names each verdict that is another one than in such a table, and what the table has more (but with
--only), and then the exit status is 3.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from okosu.errors import OkosuError
from papers.scheduling_hardware import ROOM, cross_compile, machine, simulation, verilator
from papers.scheduling_hardware.machine import Machine

PASS, NOT_COMPILED = "pass", "not compiled"
VERDICTS = {0: PASS, 1: "fail", 2: "unresolved", 4: "unsupported", 5: "untested"}
CLOCK_HZ = 100_000
MAX_CYCLES = 30_000_000
_MACHINE = Machine(pes=4)
_OPTIONS = re.compile(r"\{\s*dg-(?:additional-)?options\s+\{?\s*\"([^\"]*)\"\s*\}")
_ERROR = re.compile(r"error: (.*)|(undefined reference to .*)|(region .* overflowed.*)")


@dataclass(frozen=True)
class Verdict:
    """How a program fared, and why: the compiler's first error, the machine's message, or the last line printed."""

    program: str
    verdict: str
    why: str


@dataclass(frozen=True)
class Suite:
    """How the programs are compiled and run."""

    simulator: verilator.Simulator
    backend: str
    flags: tuple[str, ...]
    sources: tuple[Path, ...]
    max_cycles: int


def programs(folders: Sequence[Path], only: str = "", flat: bool = False) -> dict[str, Path]:
    """Return the .c files below the folders, or in them if `flat`, by the name that they have there, without .c."""
    found = {}
    for folder in folders:
        for path in sorted(folder.glob("*.c" if flat else "**/*.c")):
            name = str(path.relative_to(folder.parent).with_suffix(""))
            if re.search(only, name):
                found[name] = path
    return found


def run(suite: Suite, found: Mapping[str, Path], jobs: int = 1) -> list[Verdict]:
    """Judge all programs, so many at once, and print a line for each that does not pass."""
    verdicts = []
    with tempfile.TemporaryDirectory(prefix="okosu-suite-") as scratch, ThreadPoolExecutor(jobs) as pool:
        library = Path(scratch) / "library"
        subprocess.run(["sh", str(ROOM / "sw/build.sh"), "--library", suite.backend, str(library)], check=True)
        for verdict in pool.map(lambda name: _judge(suite, name, found[name], library), found):
            verdicts.append(verdict)
            if verdict.verdict != PASS:
                print(f"{verdict.program}: {verdict.verdict}: {verdict.why}", flush=True)
    return verdicts


def options(text: str) -> list[str]:
    """Return the words of dg-options and dg-additional-options in a program, but for those that have a condition."""
    return [word for words in _OPTIONS.findall(text) for word in shlex.split(words)]


def _judge(suite: Suite, name: str, source: Path, library: Path) -> Verdict:
    with tempfile.TemporaryDirectory(prefix="okosu-suite-") as scratch:
        elf = Path(scratch) / "program.elf"
        sources = [str(source), *map(str, suite.sources)]
        words = ["sh", str(ROOM / "sw/build.sh"), suite.backend, str(elf), *sources, f"-I{source.parent}", *suite.flags]
        words += options(source.read_text(errors="replace"))
        env = {**os.environ, "LIBRARY": str(library)}
        made = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False, env=env)
        if made.returncode:
            error = _ERROR.search(made.stderr)
            said = next(filter(None, error.groups())) if error else made.stderr.strip()[-200:]
            return Verdict(name, NOT_COMPILED, said)
        try:
            outcome = simulation.run(suite.simulator, elf, max_cycles=suite.max_cycles)
        except simulation.UnfinishedError as error:
            # A deadlock, or a program that has not ended in time.
            return Verdict(name, error.outcome.end, error.what)
        except OkosuError as error:
            return Verdict(name, "error", error.what)
    if outcome.end != "exit":
        return Verdict(name, outcome.end, outcome.message.splitlines()[0])
    lines = (outcome.stdout + outcome.stderr).decode(errors="replace").strip().splitlines()
    return Verdict(name, VERDICTS.get(outcome.status, f"status {outcome.status}"), lines[-1].strip() if lines else "")


def explained(verdicts: Sequence[Verdict], reasons: Sequence[Mapping[str, str]]) -> dict[str, list[str]]:
    """Return what a table has: verdict and reason of each program; the reason of one that passes is "".

    A reason is the `words` of the first entry whose `program` and `why` (patterns; all, where it has none) are found in
    the program's name and in what it said; what no entry explains, it said itself.
    """
    table = {}
    for one in verdicts:
        words = next(
            (
                entry["words"]
                for entry in reasons
                if re.search(entry.get("program", ""), one.program) and re.search(entry.get("why", ""), one.why)
            ),
            one.why,
        )
        table[one.program] = [one.verdict, "" if one.verdict == PASS else words]
    return table


def differences(verdicts: Sequence[Verdict], table: Mapping[str, Sequence[str]]) -> list[str]:
    """Return in words where the verdicts are not those of the table; programs that it lacks are named, too."""
    return [
        f"{one.program}: {one.verdict}, in the table {table.get(one.program, ['nothing'])[0]}: {one.why}"
        for one in verdicts
        if one.verdict != table.get(one.program, ["nothing"])[0]
    ]


def counted(verdicts: Sequence[Verdict]) -> str:
    """Return how many there are of each verdict, the most frequent first."""
    counts = Counter(one.verdict for one in verdicts)
    return f"{len(verdicts)} programs: " + ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())


def main(arguments: Sequence[str]) -> int:
    """Run the programs, and write or compare the table."""
    parser = argparse.ArgumentParser(prog="suite", description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("folders", nargs="+", type=Path, metavar="FOLDER")
    add("--backend", choices=cross_compile.BACKENDS, default="ssh")
    add("--with", dest="sources", type=Path, action="append", default=[], metavar="FILE")
    add("-I", "--include", type=Path, action="append", default=[], metavar="FOLDER")
    add("--flag", action="append", default=[], help="one more word for the compiler")
    add("--flat", action="store_true", help="leave out what is in folders of the folders")
    add("--only", default="", metavar="REGEX", help="the programs whose name matches")
    add("--clock-hz", type=int, default=CLOCK_HZ, metavar="N")
    add("--max-cycles", type=int, default=MAX_CYCLES, metavar="N")
    add("--jobs", type=int, default=1, metavar="N")
    add_table_arguments(parser)
    machine.add_arguments(parser, _MACHINE)
    args = parser.parse_args(arguments)
    flags = (f"-Wl,--defsym=__okosu_clock_hz={args.clock_hz}", *(f"-I{one}" for one in args.include), *args.flag)
    simulator = verilator.build(machine.chosen(vars(args), _MACHINE))
    suite = Suite(simulator, args.backend, ("-w", *flags), tuple(args.sources), args.max_cycles)
    return conclude(run(suite, programs(args.folders, args.only, args.flat), args.jobs), args)


def add_table_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what conclude() reads, but for --only."""
    add = parser.add_argument
    add("--reasons", type=Path, metavar="FILE")
    add("--table", type=Path, metavar="FILE", help="write {program: [verdict, reason]}")
    add("--compare", type=Path, metavar="FILE", help="such a file, which has to be matched")


def conclude(verdicts: Sequence[Verdict], args: argparse.Namespace) -> int:
    """Count the verdicts, and write the table or compare with one; return the exit status, 3 where they differ."""
    print(counted(verdicts))
    if args.table:
        reasons = tomllib.loads(args.reasons.read_text())["reason"] if args.reasons else []
        args.table.write_text(json.dumps(explained(verdicts, reasons), indent=1) + "\n")
    said = []
    if args.compare:
        table = json.loads(args.compare.read_text())
        said = differences(verdicts, table)
        # A suite that has lost programs is not the suite of the table.
        ran = {one.program for one in verdicts}
        said += [
            f"{name}: not there, in the table {table[name][0]}" for name in table if not args.only and name not in ran
        ]
    for line in said:
        print(line)
    return 3 if said else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
