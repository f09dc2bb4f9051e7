# SPDX-License-Identifier: Apache-2.0
"""How many planted faults the tests find: each operator of the RTL changed, one at a time.

mutation.py core|sched|machine FOLDER [--sample N] [--seed S] [--json FILE]

All mutants are in one model (mutate.py), built in FOLDER; each is chosen at run time and given the tests of
mutation_suites.py until one fails. Those that nothing finds are listed; EQUIVALENT says of which no program can tell,
and why. The exit status is 1 where fewer than 90 % of the others are found.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import mutate
from equivalent import EQUIVALENT
from mutation_suites import CoreSuite, MachineSuite
from sched_suite import SchedSuite

KILLS = 0.9
SUITES: dict[str, type[CoreSuite] | type[SchedSuite] | type[MachineSuite]] = {
    "core": CoreSuite,
    "sched": SchedSuite,
    "machine": MachineSuite,
}


@dataclass
class Result:
    """A mutant and what found it; "" if nothing did."""

    mutant: mutate.Mutant
    killed_by: str


def score(results: Sequence[Result]) -> dict[str, tuple[int, int]]:
    """Return for each file how many mutants were found, and of how many that can be."""
    table: dict[str, tuple[int, int]] = {}
    for result in results:
        if reason(result.mutant) and not result.killed_by:
            continue
        killed, of = table.get(result.mutant.file, (0, 0))
        table[result.mutant.file] = killed + bool(result.killed_by), of + 1
    return table


def reason(mutant: mutate.Mutant) -> str:
    """Return why no program can tell a mutant from the original, "" if one can."""
    for file, source, was, why in EQUIVALENT:
        if mutant.file == file and source in mutant.source and mutant.was in was:
            return why
    return ""


def show(results: Sequence[Result]) -> float:
    """Print the mutants that were not found and the score of each file; return the share of those found."""
    for result in results:
        if not result.killed_by:
            mutant, why = result.mutant, reason(result.mutant)
            place = f"{mutant.file}:{mutant.line}:{mutant.column}"
            print(f"not found: {place} {mutant.was} -> {mutant.becomes}: {mutant.source}   [{why or 'unexplained'}]")
    table = score(results)
    for name, (killed, of) in sorted(table.items()):
        print(f"{name:24} {killed:4} of {of:4} found")
    killed, of = (sum(pair[n] for pair in table.values()) for n in (0, 1))
    share = killed / of if of else 0.0
    print(f"{killed} of {of} found, {100 * share:.1f} %; {len(results) - of} that no program can tell")
    return share


def main() -> int:
    """Examine the mutants, print the score, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sample", type=int, metavar="N", help="so many of them, drawn by --seed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, metavar="FILE")
    args = parser.parse_args()
    suite = SUITES[args.suite](args.folder.absolute())
    suite.folder.mkdir(parents=True, exist_ok=True)
    mutants = suite.build()
    if killer := suite.killer(0):
        print(f"the original fails already: {killer}", file=sys.stderr)
        return 1
    if args.sample is not None:
        print(f"seed {args.seed}: {args.sample} of {len(mutants)} mutants")
        mutants = random.Random(args.seed).sample(mutants, args.sample)
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        results = list(pool.map(lambda mutant: Result(mutant, suite.killer(mutant.number)), mutants))
    share = show(results)
    if args.json:
        records = [{**asdict(result.mutant), "killed_by": result.killed_by} for result in results]
        args.json.write_text(json.dumps({"seed": args.seed, "share": share, "mutants": records}, indent=1) + "\n")
    return 0 if share >= KILLS else 1


if __name__ == "__main__":
    sys.exit(main())
