# SPDX-License-Identifier: Apache-2.0
"""Where the kernel's time goes under the workload set, by copy routine: interleaved boots, a gmon.out from each.

A round boots each routine once, in an order drawn anew, and runs the whole set in that boot; what gprof counted is the
boot's total, for the set is one run of one process. A workload's own share comes from boots that run it alone.
"""

from __future__ import annotations

import functools
import os
import random
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from lab.cache import Say, quiet
from lab.kernel.build import Built
from lab.run import guest, uml
from lab.run.outcome import Outcome
from okosu.errors import OkosuError
from okosu.records.types import Proof, Record
from papers.simd_kernel.plan import GPROF, ROUNDS, ROUTINES
from papers.simd_kernel.run import gprof, symbols, workloads
from papers.simd_kernel.run.gprof import Profile, Table
from papers.simd_kernel.run.symbols import Symbols
from papers.simd_kernel.run.workloads import Workload

ALL = "all"
"""The workload that is all of them, in one boot."""
FUNCTION, KERNEL, WALL, RATE = "function", "kernel", "wall", "rate"
MEMCPY, MEMSET = "memcpy", "memset"
KEPT = 20
"""Functions of each boot's table that are recorded; memcpy and memset are recorded always."""
CHOICE = "/sys/kernel/um_copy/choice"
AVAILABLE = "/sys/kernel/um_copy/available"
TIMEOUT_S = 600.0
KERNEL_ARGS = ("lpj=20000000",)
"""lpj= spares the kernel the calibration of its delay loop, a tenth of the profile that differs from boot to boot."""
_ROUTINE = re.compile(r"(?P<kind>um_copy|um_set)_(movs[qb]|stos[qb]|paper|sse2|avx2|avx512|\d+)(_\w+)?$|um_clear_\w+$")
_STOCK = re.compile(r"(__)?(?P<name>memcpy|memset)(_orig|_erms|_\d+)?(\.\w+)?$")

Boot = Callable[[Sequence[str], str], Outcome]
"""Boots once: the command in the guest, and the routine."""
Place = tuple[int, int, str]
"""Where a boot stands: its round, which boot of all it is, and the routine of the boot before it."""


def group(function: str) -> str:
    """Return the row that a function's samples go to.

    memcpy is the entry (memcpy, __memcpy), the stock routine behind it (memcpy_orig) and the series' routines
    (um_copy_sse2, …, and those of a fixed size: memcpy_512, um_copy_512_sse2, …); memset likewise. Any other function
    is a row of its own.
    """
    if match := _ROUTINE.match(function):
        return MEMCPY if match["kind"] == "um_copy" else MEMSET
    if match := _STOCK.match(function):
        return match["name"]
    return function


def script(commands: Iterable[Sequence[str]]) -> list[str]:
    """Return the command that prints the routine in use and runs commands one after the other, until one fails."""
    lines = ["set -e", f"cat {CHOICE}", *(shlex.join(command) for command in commands)]
    return ["sh", "-c", "\n".join(lines)]


@contextmanager
def on_one_cpu() -> Iterator[None]:
    """Keep processes that are started meanwhile on one CPU.

    The kernel and its guest's process take turns. On two CPUs each turn may have to wake the other CPU: where this was
    tried, a system call took 15 µs or 60 µs for a whole run, by where the host's scheduler had placed them.
    """
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def booting(built: Built, say: Say = quiet) -> Boot:
    """Return what boots a kernel once, on one CPU, with a routine."""

    def boot(command: Sequence[str], routine: str) -> Outcome:
        with on_one_cpu():
            arguments = (*KERNEL_ARGS, f"um_copy={routine}")
            return uml.run(built, command, kernel_args=arguments, timeout=TIMEOUT_S, say=say)

    return boot


def available(boot: Boot) -> list[str]:
    """Return the routines that this machine can run, in the kernel's order."""
    outcome = boot(["cat", AVAILABLE], ROUTINES[0])
    names = outcome.stdout.decode(errors="replace").replace("[", " ").replace("]", " ").split()
    if outcome.status or not names:
        raise OkosuError(f"{AVAILABLE} cannot be read", "the kernel lacks the series um-simd", "okosu lab build uml")
    return names


@dataclass
class Series:
    """The records of one workload (or of all) with one routine, growing by a boot at a time."""

    workload: str
    variant: str
    seed: int
    subject: str
    records: dict[tuple[str, str], Record] = field(default_factory=dict)
    tables: list[Table] = field(default_factory=list)
    rounds: list[int] = field(default_factory=list)
    order: list[int] = field(default_factory=list)
    predecessor: list[str] = field(default_factory=list)

    def add(self, table: Table, place: Place) -> list[Record]:
        """Add a boot's profile; return the records that are new."""
        self.tables.append(table)
        self._stand(place)
        new = [self._record(KERNEL, "")] if (KERNEL, "") not in self.records else []
        # A function that is among the first in one boot is recorded for all boots, with 0 where it has no sample.
        for name in [MEMCPY, MEMSET, *(row.function for row in table.rows[:KEPT])]:
            if (FUNCTION, name) not in self.records:
                new.append(self._record(FUNCTION, name))
        for (metric, function), record in self.records.items():
            tables = self.tables[len(record.samples) :]
            values = [one.seconds if metric == KERNEL else one.row(function).seconds for one in tables]
            self._extend(record, values)
        return new

    def value(self, metric: str, unit: str, value: float, place: Place) -> list[Record]:
        """Add what a boot's workload measured, its wall time or its rate; return the record if it is new."""
        new = [] if (metric, "") in self.records else [self._record(metric, "", unit)]
        self._stand(place)
        self._extend(self.records[metric, ""], [value])
        return new

    def _stand(self, place: Place) -> None:
        number, order, predecessor = place
        self.rounds.append(number)
        self.order.append(order)
        self.predecessor.append(predecessor)

    def _extend(self, record: Record, values: Sequence[float]) -> None:
        begin = len(record.samples)
        record.samples += values
        record.rounds += self.rounds[begin:]
        record.order += self.order[begin:]
        record.predecessor += self.predecessor[begin:]

    def _record(self, metric: str, function: str, unit: str = "s") -> Record:
        parameters: dict[str, str | float] = {"workload": self.workload}
        if function:
            parameters["function"] = function
        if metric in (FUNCTION, KERNEL):
            parameters["hz"] = float(gprof.RATE_HZ)
        record = Record(
            tool="okosu-lab",
            machine="",
            platform="uml",
            subject=self.subject,
            variant=self.variant,
            stage="bench",
            metric=metric,
            unit=unit,
            parameters=parameters,
            seed=self.seed,
            proof=Proof(True, f"{CHOICE} said {self.variant} in every boot"),
        )
        self.records[metric, function] = record
        return record


def measure(
    variants: Sequence[str] = (),
    rounds: int = ROUNDS,
    chosen: Sequence[Workload] = workloads.TABLE,
    seed: int = 1,
    say: Say = quiet,
    *,
    scale: float = 1.0,
    alone: int = 0,
    source: Path | None = None,
) -> Iterator[Record]:
    """Build the kernel where needed, boot it `rounds` times with each routine, and yield records.

    Each record is yielded once, when it has its first sample, and later boots add samples to it. For the workload "all"
    there are the seconds of the first functions and of the whole kernel by gprof; for each workload, and for "all",
    seconds of wall time. With `alone` > 0 as many rounds follow in which each workload has a boot of its own, for the
    seconds of its functions, booting included. `scale` multiplies the workloads' repetitions. Without `variants` all
    routines are run that this machine can run; OkosuError where it cannot run one that was named.
    """
    kernel = prepare(variants, source, say)
    programs = guest.build(say)
    commands = [(one.name, one.command(programs, scale)) for one in chosen]
    schedule = Schedule(kernel.variants, rounds, alone, seed, kernel.subject)
    yield from conduct(kernel.boot, commands, kernel.image, schedule, say)


@dataclass(frozen=True)
class Kernel:
    """A kernel with gprof's clock: what boots it, its symbols, the routines to run, and what records call it."""

    boot: Boot
    image: Symbols
    variants: tuple[str, ...]
    subject: str


def prepare(variants: Sequence[str], source: Path | None, say: Say) -> Kernel:
    """Build the kernel where needed, and choose its routines: all that this machine can run, unless some are named;
    OkosuError where it cannot run one of these."""
    built = uml.build(fragments=GPROF, source=source, say=say)
    boot = booting(built, say)
    can = available(boot)
    if unknown := [name for name in variants if name not in can]:
        raise OkosuError(
            f"this machine cannot run {', '.join(unknown)}", f"it can run {', '.join(can)}", "one of these"
        )
    return Kernel(boot, symbols.of_image(built.path / "linux"), tuple(variants or can), f"linux {built.version}")


@dataclass(frozen=True)
class Schedule:
    """Which routines, how many rounds of the whole set and of each workload alone, the seed, and the subject."""

    variants: tuple[str, ...]
    rounds: int
    alone: int = 0
    seed: int = 1
    subject: str = ""

    def series(self) -> Callable[[str, str, str], Series]:
        """Return a function that gives the series of a workload, a routine and a kind of metric, each made once."""
        return functools.cache(lambda workload, variant, _: Series(workload, variant, self.seed, self.subject))


def conduct(
    boot: Boot, commands: Sequence[tuple[str, Sequence[str]]], image: Symbols, schedule: Schedule, say: Say = quiet
) -> Iterator[Record]:
    """Boot by the schedule and yield the records; see measure."""
    draw = random.Random(schedule.seed)
    series = schedule.series()
    order, before = 0, ""

    passes = [(n, ALL, list(commands)) for n in range(1, schedule.rounds + 1)]
    for n in range(1, schedule.alone + 1):
        passes += [(n, name, [(name, command)]) for name, command in commands]
    for number, workload, todo in passes:
        for variant in draw.sample(schedule.variants, len(schedule.variants)):
            order += 1
            say(f"round {number}: {workload} with {variant}, boot {order} of {len(passes) * len(schedule.variants)}")
            table, walls = _boot(boot, todo, variant, image)
            place = (number, order, before)
            yield from series(workload, variant, KERNEL).add(table, place)
            if workload == ALL:
                for (name, _), seconds in zip(todo, walls, strict=True):
                    yield from series(name, variant, WALL).value(WALL, "s", seconds, place)
                yield from series(ALL, variant, WALL).value(WALL, "s", sum(walls), place)
            before = variant


def _boot(
    boot: Boot, todo: Sequence[tuple[str, Sequence[str]]], variant: str, image: Symbols
) -> tuple[Table, list[float]]:
    """Boot once; return the profile and each workload's wall seconds. OkosuError where the guest did something else."""
    outcome = boot(script(command for _, command in todo), variant)
    lines = outcome.stdout.decode(errors="replace").splitlines()
    if outcome.status:
        name = todo[min(max(len(lines) - 1, 0), len(todo) - 1)][0]
        why = outcome.stderr.decode(errors="replace").strip()
        raise OkosuError(f"the workload {name} failed with {variant}, status {outcome.status}", why)
    if not lines or lines[0] != variant or len(lines) != len(todo) + 1:
        raise OkosuError(f"the guest ran with {lines[:1]} where {variant} was asked for, {len(lines)} lines")
    profile = counted(outcome)
    walls = [workloads.parse(line).seconds for line in lines[1:]]
    return gprof.table(profile.bins, image, group, profile.rate), walls


def counted(outcome: Outcome) -> Profile:
    """Return what gprof counted in a boot; OkosuError where the kernel left nothing."""
    if "gmon.out" not in outcome.files:
        raise OkosuError("the kernel left no gmon.out", "it is built without CONFIG_GPROF, or did not halt cleanly")
    return gprof.parse(outcome.files["gmon.out"].read_bytes())
