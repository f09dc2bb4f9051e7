# SPDX-License-Identifier: Apache-2.0
"""How many planted faults the tests find: each operator of the RTL changed, one at a time.

python -m papers.scheduling_hardware.dv.mutation core|sched|machine|board|foreign FOLDER [--only FILE…] [--thin]
                                                 [--sample N] [--seed S] [--record FILE [--again]]

All mutants (mutants.py) are in one model, built in FOLDER; each is chosen at run time and given its suite's tests
(suites.py; --thin: those that cost least) until one fails; --only: the mutants of these files, relative to rtl/. Those
that nothing finds are listed; EQUIVALENT says of which no program can tell, and why. The exit status is 1 where in some
file fewer than 90 % of the others are found; with --sample, where so few of all are found as a sample has by chance in
one of twenty cases at most if 90 % of all can be. --record keeps the scores, beside those of other suites; with --again
only those mutants are examined that the record says were not found, and its scores are amended: for tests and reasons
that have come since, where the RTL has stayed.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import msgspec

from papers.scheduling_hardware import planting
from papers.scheduling_hardware.dv.equivalent import EQUIVALENT
from papers.scheduling_hardware.dv.mutants import Mutant
from papers.scheduling_hardware.dv.suites import BoardSuite, CoreSuite, ForeignSuite, MachineSuite, SchedSuite, Suite
from papers.scheduling_hardware.formats import MutatedFile, MutationFile

KILLS = 0.9
CHANCE = 0.05
SUITES: dict[str, type[Suite]] = {
    "core": CoreSuite,
    "sched": SchedSuite,
    "machine": MachineSuite,
    "board": BoardSuite,
    "foreign": ForeignSuite,
}


@dataclass
class Result:
    """A mutant and what found it; "" if nothing did."""

    mutant: Mutant
    killed_by: str


@dataclass
class Score:
    """The score of a file: mutants found, mutants that no test finds, and those that no program can tell from the
    original."""

    found: int = 0
    left: int = 0
    equivalent: int = 0

    @property
    def share(self) -> float:
        """Return the share of those found among all that can be."""
        return self.found / (self.found + self.left) if self.found + self.left else 1.0


def score(results: Sequence[Result]) -> dict[str, Score]:
    table: dict[str, Score] = {}
    for result in results:
        of = table.setdefault(result.mutant.file, Score())
        if result.killed_by:
            of.found += 1
        elif reason(result.mutant):
            of.equivalent += 1
        else:
            of.left += 1
    return dict(sorted(table.items()))


def chance(found: int, of: int) -> float:
    """Return how probable it is that a sample has so few found, or fewer, where KILLS of all are."""
    return sum(math.comb(of, n) * KILLS**n * (1 - KILLS) ** (of - n) for n in range(found + 1))


def total(table: Mapping[str, Score]) -> Score:
    every = table.values()
    return Score(sum(of.found for of in every), sum(of.left for of in every), sum(of.equivalent for of in every))


def reason(mutant: Mutant) -> str:
    """Return why no program can tell a mutant from the original, "" if one can."""
    for file, source, was, why in EQUIVALENT:
        if mutant.file == file and planting.contains(mutant.source, source) and mutant.was in was:
            return why
    return ""


def place(mutant: Mutant) -> str:
    """Return where a mutant is and what it changes."""
    where = f"{mutant.file}:{mutant.line}:{mutant.column}"
    return f"{where} {mutant.was} -> {mutant.becomes}: {mutant.source}"


def show(results: Sequence[Result]) -> None:
    """Print the mutants that were not found, and the scores."""
    for result in results:
        if not result.killed_by:
            print(f"not found: {place(result.mutant)}   [{reason(result.mutant) or 'unexplained'}]")
    table = score(results)
    for name, of in {**table, "together": total(table)}.items():
        told = f"; {of.equivalent} that no program can tell" if of.equivalent else ""
        print(f"{name:24} {of.found:4} of {of.found + of.left:4} found, {100 * of.share:.1f} %{told}")


def record(path: Path, results: Sequence[Result]) -> None:
    """Put the scores of these files, and what is left of them, into the record `path`, beside what it has of others."""
    held = msgspec.json.decode(path.read_bytes(), type=MutationFile) if path.exists() else MutationFile()
    for name, of in score(results).items():
        by = Counter(result.killed_by.split(":")[0] for result in results if result.mutant.file == name)
        killers = {test: count for test, count in by.most_common() if test}
        held.files[name] = MutatedFile(of.found, of.left, of.equivalent, killers)
        lost = (one.mutant for one in results if one.mutant.file == name and not one.killed_by)
        held.left[name] = [place(mutant).partition(":")[2] for mutant in lost if not reason(mutant)]
    write(path, held)


def left(path: Path, mutants: Sequence[Mutant]) -> list[Mutant]:
    """Return the mutants of which the record `path` says that they were not found."""
    held = msgspec.json.decode(path.read_bytes(), type=MutationFile)
    return [one for one in mutants if place(one).partition(":")[2] in held.left.get(one.file, [])]


def amend(path: Path, results: Sequence[Result]) -> None:
    """Put into the record `path` what became of mutants that it says were not found."""
    held = msgspec.json.decode(path.read_bytes(), type=MutationFile)
    for result in results:
        of, test = held.files[result.mutant.file], result.killed_by.split(":")[0]
        if not test and not reason(result.mutant):
            continue
        of.left -= 1
        held.left[result.mutant.file].remove(place(result.mutant).partition(":")[2])
        if test:
            of.found += 1
            of.by[test] = of.by.get(test, 0) + 1
        else:
            of.equivalent += 1
    write(path, held)


def write(path: Path, held: MutationFile) -> None:
    path.write_bytes(msgspec.json.format(msgspec.json.encode(held, order="sorted"), indent=1) + b"\n")


def main() -> int:
    """Examine the mutants, print the score, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="+", metavar="FILE", help="the mutants of these files, relative to rtl/")
    parser.add_argument("--thin", action="store_true", help="the tests that cost least")
    parser.add_argument("--sample", type=int, metavar="N", help="so many of them, drawn by --seed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--record", type=Path, metavar="FILE", help="put the scores into this file")
    parser.add_argument("--again", action="store_true", help="those only that this file says were not found")
    args = parser.parse_args()
    if args.again and not args.record:
        parser.error("--again wants the --record that it amends")
    only = [f"rtl/{name}" for name in args.only or ()]
    suite = SUITES[args.suite](args.folder.absolute(), args.thin, only)
    suite.folder.mkdir(parents=True, exist_ok=True)
    mutants = suite.build()
    if only:
        if unknown := sorted({*only} - {one.file for one in mutants}):
            parser.error(f"the suite {args.suite} has no mutants of {', '.join(unknown)}")
        mutants = [one for one in mutants if one.file in only]
    if args.again:
        mutants = left(args.record, mutants)
    if killer := suite.killer(None):
        print(f"the original fails already: {killer}", file=sys.stderr)
        return 1
    if args.sample is not None:
        print(f"seed {args.seed}: {args.sample} of {len(mutants)} mutants")
        mutants = random.Random(args.seed).sample(mutants, args.sample)
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        results = list(pool.map(lambda mutant: Result(mutant, suite.killer(mutant)), mutants))
    show(results)
    table = score(results)
    if args.record:
        (amend if args.again else record)(args.record, results)
    if args.sample is not None:
        every = total(table)
        return 0 if chance(every.found, every.found + every.left) >= CHANCE else 1
    return 0 if all(of.share >= KILLS for of in table.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
