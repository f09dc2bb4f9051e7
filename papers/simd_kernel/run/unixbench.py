# SPDX-License-Identifier: Apache-2.0
"""UnixBench's own programs as workloads, from a checkout of byte-unixbench that the user points at (--unixbench DIR).

Its programs run for a given time and count, so that runs compare by their rate and not by wall seconds; they are
started directly, without its perl script. Nothing of it is in this repository.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lab.cache import Say, quiet
from okosu.errors import USAGE_ERROR, OkosuError
from okosu.records.types import Record
from papers.simd_kernel.run import gprof, profiling
from papers.simd_kernel.run.gprof import Profile, Table
from papers.simd_kernel.run.profiling import KERNEL, RATE, Boot, Place, Schedule
from papers.simd_kernel.run.symbols import Symbols

FOLDER = "pgms"
ROUNDS = 1
"""Boots of each test with each routine: a test takes 10 to 30 s, all of them with seven routines twenty minutes."""
_COUNT = re.compile(r"^COUNT\|(?P<count>\d+(?:\.\d*)?)\|(?P<base>[0-9.]+)\|(?P<unit>[^|\n]+)", re.M | re.A)


@dataclass(frozen=True)
class Test:
    """One of UnixBench's tests: its program, arguments before and after the seconds, and the seconds that it has."""

    name: str
    program: str
    before: tuple[str, ...] = ()
    seconds: int = 10
    after: tuple[str, ...] = ()

    def command(self, folder: Path) -> list[str]:
        """Return the argv for a checkout."""
        return [str(folder / FOLDER / self.program), *self.before, str(self.seconds), *self.after]

    def shared(self, share: float) -> Test:
        """Return the test with `share` of its seconds, at least one."""
        return replace(self, seconds=max(1, round(self.seconds * share)))


TABLE = (
    Test("pipe", "pipe"),
    Test("fstime-256", "fstime", ("-c", "-t"), 30, ("-d", "/tmp", "-b", "256", "-m", "500")),
    Test("fstime-1024", "fstime", ("-c", "-t"), 30, ("-d", "/tmp", "-b", "1024", "-m", "2000")),
    Test("fstime-4096", "fstime", ("-c", "-t"), 30, ("-d", "/tmp", "-b", "4096", "-m", "8000")),
    Test("syscall", "syscall"),
    Test("context1", "context1"),
    Test("spawn", "spawn", (), 30),
    Test("execl", "execl", (), 30),
)
"""The file copies go to the guest's /tmp, which is in memory."""


@dataclass(frozen=True)
class Rate:
    """What a test does in a second, and its unit: lps are loops in a second, KBps are KiB."""

    value: float
    unit: str


def check(folder: Path) -> Path:
    """Return the checkout's absolute path; OkosuError (2) where it is none, or was not built."""
    for place in (folder, folder / "UnixBench"):
        if (place / FOLDER).is_dir() or (place / "Run").is_file():
            folder = place.resolve()
            break
    else:
        raise OkosuError(
            f"--unixbench {folder}: no checkout of UnixBench",
            f"it has no folder {FOLDER} and no file Run",
            "git clone https://github.com/kdlucas/byte-unixbench, and DIR is its folder UnixBench",
            USAGE_ERROR,
        )
    programs = dict.fromkeys(test.program for test in TABLE)
    if missing := [name for name in programs if not os.access(folder / FOLDER / name, os.X_OK)]:
        raise OkosuError(
            f"--unixbench {folder}: not built",
            f"{FOLDER} lacks {', '.join(missing)}",
            f"make -C {folder} UB_GCC_OPTIONS='-O2'",
            USAGE_ERROR,
        )
    return folder


def parse(text: str, seconds: float) -> Rate:
    """Read what a test of so many seconds prints, lines COUNT|N|BASE|UNIT; OkosuError where there is none that counted
    something.

    N is a rate where BASE is 0, and else a count, whose rate is meant for BASE seconds. fstime -c prints the rates of
    its preparations before that of its copies, and context1's child a 0 after its parent's: the last that is not 0 is
    the test's.
    """
    counted = [match for match in _COUNT.finditer(text) if float(match["count"])]
    if not counted:
        raise OkosuError("a test of UnixBench printed no line COUNT|… of something", text.strip()[-200:])
    said = counted[-1]
    base = float(said["base"])
    return Rate(float(said["count"]) * (base / seconds if base else 1), said["unit"].strip())


def find(names: Sequence[str]) -> tuple[Test, ...]:
    """Return the tests of these names in the table's order, all where none is named; OkosuError (2)."""
    known = [test.name for test in TABLE]
    for name in names:
        if name not in known:
            raise OkosuError(
                f"no test of UnixBench is called {name!r}", f"they are {', '.join(known)}", "one of these", USAGE_ERROR
            )
    return tuple(test for test in TABLE if not names or test.name in names)


def measure(
    folder: Path,
    variants: Sequence[str] = (),
    rounds: int = ROUNDS,
    chosen: Sequence[Test] = TABLE,
    seed: int = 1,
    say: Say = quiet,
    *,
    share: float = 1.0,
    source: Path | None = None,
) -> Iterator[Record]:
    """Build the kernel where needed, run the tests of the checkout with each routine, and yield records.

    The arguments are those of profiling.measure, which yields its records likewise; `share` is of the tests' seconds.
    """
    kernel = profiling.prepare(variants, source, say)
    schedule = profiling.Schedule(kernel.variants, rounds, seed=seed, subject=kernel.subject)
    tests = [test.shared(share) for test in chosen]
    yield from conduct(kernel.boot, folder, tests, kernel.image, schedule, say)


def conduct(
    boot: Boot, folder: Path, tests: Sequence[Test], image: Symbols, schedule: Schedule, say: Say = quiet
) -> Iterator[Record]:
    """Run each test once in a round with each routine, in boots of their own, in an order drawn anew for each test.

    Of a test there are its rate, and the seconds of the first functions and of the whole kernel by gprof. The workload
    "all" has the seconds of all tests of a round together, and stands where the last of its boots does.
    """
    draw = random.Random(schedule.seed)
    series = schedule.series()
    order, before = 0, ""
    for number in range(1, schedule.rounds + 1):
        whole: dict[str, list[Profile]] = {variant: [] for variant in schedule.variants}
        last: dict[str, Place] = {}
        for test in tests:
            for variant in draw.sample(schedule.variants, len(schedule.variants)):
                order += 1
                boots = len(tests) * schedule.rounds * len(schedule.variants)
                say(f"round {number}: UnixBench's {test.name} with {variant}, boot {order} of {boots}")
                rate, profile = _boot(boot, folder, test, variant)
                place = last[variant] = (number, order, before)
                yield from series(test.name, variant, KERNEL).add(_table([profile], image), place)
                for record in series(test.name, variant, RATE).value(RATE, rate.unit, rate.value, place):
                    record.parameters["seconds"] = float(test.seconds)
                    yield record
                whole[variant].append(profile)
                before = variant
        for variant, profiles in whole.items():
            yield from series(profiling.ALL, variant, KERNEL).add(_table(profiles, image), last[variant])


def _boot(boot: Boot, folder: Path, test: Test, variant: str) -> tuple[Rate, Profile]:
    """Boot once; return the test's rate and the profile. OkosuError where the guest did something else."""
    command = ["env", f"UB_BINDIR={folder / FOLDER}", *test.command(folder)]
    outcome = boot(profiling.script([command]), variant)
    chosen, _, said = (outcome.stdout + outcome.stderr).decode(errors="replace").partition("\n")
    if outcome.status:
        raise OkosuError(f"UnixBench's {test.name} failed with {variant}, status {outcome.status}", said.strip()[-200:])
    if chosen != variant:
        raise OkosuError(f"the guest ran with {chosen!r} where {variant} was asked for")
    return parse(said, test.seconds), profiling.counted(outcome)


def _table(profiles: Sequence[Profile], image: Symbols) -> Table:
    bins = gprof.total(profile.bins for profile in profiles)
    return gprof.table(bins, image, profiling.group, profiles[0].rate)
