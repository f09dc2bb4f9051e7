# SPDX-License-Identifier: Apache-2.0
"""The series um-simd's own measurements: the table that it prints at boot, and debugfs um_copy/bench."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from statistics import median

from lab.cache import Say, quiet
from lab.outcome import Outcome
from okosu.errors import OkosuError

EMPTY = "empty"
"""A function that returns at once, timed as the routines are: what the loop and the call cost."""
_BOOT = re.compile(r"um_copy: +(?P<name>\w+) *: (?P<rates>copy .+) ticks$")
_RATE = re.compile(r"(?P<kind>copy|set) *(?P<size>\d+) (?P<unit>B|KiB) +(?P<ticks>\d+\.\d)")
_CHOSEN = re.compile(r"um_copy: using (\w+)")
# The folder may be mounted already.
_SCRIPT = """\
d=/sys/kernel/debug
[ -e $d/um_copy ] || mount -t debugfs none $d || exit 1
echo "$1" > $d/um_copy/bench && cat $d/um_copy/bench
"""


@dataclass(frozen=True)
class Plan:
    """What is timed: boots, rounds in each, calls for each size and routine in each round, and sizes in bytes."""

    boots: int = 10
    rounds: int = 5
    calls: int = 100_000
    first: int = 64
    last: int = 2048
    step: int = 16

    @property
    def total(self) -> int:
        """Return the calls of each routine and size in all."""
        return self.boots * self.rounds * self.calls

    @property
    def asked(self) -> str:
        """Return the line that debugfs um_copy/bench takes."""
        return f"{self.rounds} {self.calls} {self.first} {self.last} {self.step}"


FIGURE6 = Plan()
"""The paper's Figure 6, 5,000,000 calls of each routine for 128 to 2048 bytes, and sizes from 64 bytes before it."""


@dataclass(frozen=True)
class Timed:
    """A line of debugfs um_copy/bench."""

    name: str
    size: int
    round: int
    ticks: int
    calls: int


@dataclass
class Boot:
    """One boot: ticks a call by (routine, bytes), those printed at boot by (routine, kind, bytes), and the routine that
    it chose."""

    ticks: dict[tuple[str, int], float]
    printed: dict[tuple[str, str, int], float]
    chosen: str


def parse(text: str) -> list[Timed]:
    """Read um_copy/bench: lines NAME SIZE ROUND TICKS CALLS. OkosuError names the line that is something else."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if len(words) != 5 or not all(word.isascii() and word.isdigit() for word in words[1:]) or words[4] == "0":
            raise OkosuError(
                f"line {number} of um_copy/bench is {line[:60]!r}", "expected NAME SIZE ROUND TICKS CALLS, all positive"
            )
        found.append(Timed(words[0], *map(int, words[1:])))
    return found


def per_call(timed: Iterable[Timed]) -> dict[tuple[str, int], float]:
    """Return ticks of one call by routine and size, the median over the rounds, the loop around it included.

    The empty function's are among them and not taken off: a processor runs the loop beside the copy, so that what is
    left of a short one would be next to nothing, and its ratio to another whatever one likes.
    """
    by: dict[tuple[str, int], list[float]] = {}
    for one in timed:
        by.setdefault((one.name, one.size), []).append(one.ticks / one.calls)
    return {where: median(rounds) for where, rounds in by.items()}


def printed(log: str) -> dict[tuple[str, str, int], float]:
    """Return the ticks of a call that the kernel printed when it chose, by routine, copy or set, and bytes."""
    found = {}
    for line in log.splitlines():
        if row := _BOOT.search(line.rstrip()):
            for rate in _RATE.finditer(_kinds(row["rates"])):
                size = int(rate["size"]) * (1024 if rate["unit"] == "KiB" else 1)
                found[row["name"], rate["kind"], size] = float(rate["ticks"])
    return found


def _kinds(rates: str) -> str:
    """Return "copy 512 B 9.1, 4 KiB 60.0, set …" with the kind before each size: a kind holds until the next one."""
    kind, full = "copy", []
    for part in rates.split(","):
        words = part.split()
        if words and words[0] in ("copy", "set"):
            kind, *words = words
        full.append(" ".join([kind, *words]))
    return ", ".join(full)


def boots(run: Callable[[list[str]], Outcome], plan: Plan = FIGURE6, say: Say = quiet) -> Iterator[Boot]:
    """Boot `plan.boots` times with `run`, which runs a command in the guest, and yield what each measured."""
    each = f"{plan.first} to {plan.last} bytes, {plan.rounds * plan.calls} calls of each routine and size"
    for number in range(plan.boots):
        say(f"boot {number + 1} of {plan.boots}: {each}")
        outcome = run(["sh", "-c", _SCRIPT, "sh", plan.asked])
        if outcome.status:
            why = outcome.stderr.decode(errors="replace").strip()
            raise OkosuError(
                "the kernel has no um_copy/bench, or refused what was asked of it",
                why or f"status {outcome.status}",
                "okosu lab build uml, with the series um-simd and CONFIG_UML_SIMD_COPY_BENCH",
            )
        chosen = _CHOSEN.search(outcome.log)
        timed = parse(outcome.stdout.decode(errors="replace"))
        yield Boot(per_call(timed), printed(outcome.log), chosen[1] if chosen else "")
