# SPDX-License-Identifier: Apache-2.0
"""Figure 6: what a copy costs by size and routine, timed by the series um-simd inside User-Mode Linux.

The kernel prints a table at boot, by which it chooses, and times more on demand (debugfs um_copy/bench). The records
are those of a bench's rows, so that the report draws a line for each routine as it does for any bench.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from lab.cache import Say, quiet
from lab.run.outcome import Outcome
from okosu.bench import rows
from okosu.bench.rows import Result, Row
from okosu.errors import OkosuError
from okosu.records.types import Record
from papers.simd_kernel.plan import FIGURE6, Timing

BENCH = "um-copy"
COPY, SET = "memcpy", "memset"
TIMED, PRINTED = "figure6", "boot"
"""Modes: debugfs um_copy/bench after boot, and what the kernel measured for its choice."""
EMPTY = "empty"
"""A function that returns at once, timed as the routines are: what the loop and the call cost."""
KINDS: Mapping[str, Literal["peer", "paper", "limit"]] = {
    "orig": "peer",
    "movsq": "peer",
    "movsb": "peer",
    "paper": "paper",
    EMPTY: "limit",
}
"""What each routine is; any other is okosu's own. `orig` is UML's of today, `movsq` is what the paper's kernel ran."""

_BOOT = re.compile(r"um_copy: +(?P<name>\w+) *: (?P<rates>copy .+) ticks$")
_RATE = re.compile(r"(?P<kind>copy|set) *(?P<size>\d+) (?P<unit>B|KiB) +(?P<ticks>\d+\.\d)")
_CHOSEN = re.compile(r"um_copy: using (\w+)")
FOLDER = "/sys/kernel/debug/um_copy"
_SCRIPT = f'echo "$1" > {FOLDER}/bench && cat {FOLDER}/bench'


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

    The empty function is among them, and its cost is not subtracted: a processor runs the loop beside the copy, so that
    hardly anything of a short copy would be left, and ratios of it would mean nothing.
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


def boots(run: Callable[[list[str]], Outcome], plan: Timing = FIGURE6, say: Say = quiet) -> Iterator[Boot]:
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


def measure(boots: Callable[[], Iterator[Boot]], plan: Timing, version: str) -> Iterator[Record]:
    """Yield the records of the boots once all are done; those of the boots that were done where one fails, or we are
    interrupted."""
    done: list[Boot] = []
    try:
        for boot in boots():
            done.append(boot)
    except (OkosuError, KeyboardInterrupt):
        yield from records(done, plan, version)
        raise
    yield from records(done, plan, version)


def records(boots: Sequence[Boot], plan: Timing, version: str) -> list[Record]:
    """Return a record for each routine, size and mode; a sample is one boot."""
    found: dict[tuple[str, str, int, str], dict[int, float]] = {}
    for number, boot in enumerate(boots, 1):
        for (name, size), cost in boot.ticks.items():
            found.setdefault((TIMED, COPY, size, name), {})[number] = cost
        for (name, kind, size), cost in boot.printed.items():
            if cost > 0:
                found.setdefault((PRINTED, {"copy": COPY, "set": SET}[kind], size, name), {})[number] = cost
    chosen = Counter(boot.chosen for boot in boots).most_common(1)
    points = {where: i for i, where in enumerate(sorted({key[:3] for key in found}))}
    made = []
    for (mode, function, size, name), ticks in found.items():
        extra: dict[str, object] = {"calls": plan.total} if mode == TIMED else {}
        if chosen and chosen[0][0] == name:
            extra["chosen"] = True
        made.append(_row(mode, function, size, name, ticks, points[mode, function, size], extra))
    # In the order in which the report reads them: by mode, function and size.
    made.sort(key=lambda row: row.point)
    result = Result(BENCH, rows=made)
    listed = rows.records(result)
    for record in listed:
        record.platform = "uml"
        record.subject = f"linux {version} {record.subject}"
    return listed


def _row(
    mode: str, function: str, size: int, name: str, ticks: Mapping[int, float], point: int, extra: dict[str, object]
) -> Row:
    return Row(
        routine=function,
        variant=name,
        kind=KINDS.get(name, "okosu"),
        library="",
        n=size,
        footprint=size * (2 if function == COPY else 1),
        place="L1",
        align=[],
        mode=mode,
        bytes_per_item=1.0,
        flops_per_item=0.0,
        items=size,
        unit="ticks",
        samples=list(ticks.values()),
        rounds=list(ticks),
        point=point,
        extra=extra,
    )
