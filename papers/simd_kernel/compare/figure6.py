# SPDX-License-Identifier: Apache-2.0
"""Figure 6 of the paper simd-kernel: the time of a copy by size and routine, measured inside User-Mode Linux.

The records are those of a bench's rows, so that the report draws a line for each routine as it does for any bench.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import median
from typing import Literal

from okosu.bench import rows
from okosu.bench.rows import Result, Row
from okosu.errors import OkosuError
from okosu.records.types import Record
from papers.common.points import Found as Points
from papers.common.points import Point, Sides, by_round
from papers.simd_kernel.compare.survey import Found
from papers.simd_kernel.copybench import EMPTY, Boot, Plan

BENCH = "um-copy"
COPY, SET = "memcpy", "memset"
TIMED, PRINTED = "figure6", "boot"
"""Modes: debugfs um_copy/bench after boot, and what the kernel measured for its choice."""
FIRST, LAST, BLOCK = 128, 2048, 512
KINDS: Mapping[str, Literal["peer", "paper", "limit"]] = {
    "orig": "peer",
    "movsq": "peer",
    "movsb": "peer",
    "paper": "paper",
    EMPTY: "limit",
}
"""What each routine is; any other is okosu's own. `orig` is UML's of today, `movsq` is what the paper's kernel ran."""

Boots = Callable[[], Iterator[Boot]]


def measure(boots: Boots, plan: Plan, version: str) -> Iterator[Record]:
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


def records(boots: Sequence[Boot], plan: Plan, version: str) -> list[Record]:
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
    for (mode, kernel, size, name), ticks in found.items():
        extra: dict[str, object] = {"calls": plan.total} if mode == TIMED else {}
        if chosen and chosen[0][0] == name:
            extra["chosen"] = True
        made.append(_row(mode, kernel, size, name, ticks, points[mode, kernel, size], extra))
    # As the report reads them: by mode, kernel and size.
    made.sort(key=lambda row: row.point)
    result = Result(BENCH, rows=made)
    listed = rows.records(result)
    for record in listed:
        record.platform = "uml"
        record.subject = f"linux {version} {record.subject}"
    return listed


def _row(
    mode: str, kernel: str, size: int, name: str, ticks: Mapping[int, float], point: int, extra: dict[str, object]
) -> Row:
    return Row(
        kernel=kernel,
        variant=name,
        kind=KINDS.get(name, "okosu"),
        library="",
        n=size,
        footprint=size * (2 if kernel == COPY else 1),
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


def read(records: Sequence[Record], mode: str = TIMED, kernel: str = COPY) -> dict[int, dict[str, Row]]:
    """Return the rows of a mode by size and routine."""
    found: dict[int, dict[str, Row]] = {}
    for row in rows.from_records(records).get(BENCH, []):
        if row.mode == mode and row.kernel == kernel and row.samples:
            found.setdefault(row.n, {})[row.variant] = row
    return dict(sorted(found.items()))


def best(by_size: Mapping[int, Mapping[str, Row]]) -> str | None:
    """Return okosu's routine with the lowest geometric mean over all sizes: one routine, not the best at each size."""
    costs: dict[str, list[float]] = {}
    for routines in by_size.values():
        for name, row in routines.items():
            if row.kind == "okosu":
                costs.setdefault(name, []).append(math.log(median(row.samples)))
    whole = {name: sum(each) for name, each in costs.items() if len(each) == len(by_size)}
    return min(whole, key=lambda name: whole[name], default=None)


def sides(by_size: Mapping[int, Mapping[str, Row]], ours: str | None, against: str) -> Points:
    """Return a routine and what it is compared with at each size, boot by boot; the ratio is how many times faster."""
    found, lacking = [], []
    for size, routines in by_size.items():
        if ours and ours in routines and against in routines:
            point = Point(size, routines[ours].footprint, (), "")
            pair = by_round(routines[ours]), by_round(routines[against])
            found.append(Sides(point, COPY, ours, f"{against} ({ours})", *pair))
    if not found:
        lacking.append(f"no size at which {ours or 'a routine of okosu'} and {against} were both timed")
    return Points(found, lacking)


def compare(records: Sequence[Record]) -> Found:
    """Yield what stands beside section 6 and Figure 6."""
    by_size = {size: routines for size, routines in read(records).items() if FIRST <= size <= LAST}
    if not by_size:
        return
    calls = max(int(row.extra.get("calls", 0)) for routines in by_size.values() for row in routines.values())
    yield "6.calls", float(calls), "of each routine and size, over all boots"
    yield "6.from", float(min(by_size)), f"{len(by_size)} sizes; from 64 bytes in the records"
    yield "6.to", float(max(by_size)), f"{len(by_size)} sizes"
    below = {size: routines for size, routines in by_size.items() if size < BLOCK}
    above = {size: routines for size, routines in by_size.items() if size >= BLOCK}
    yield "6.below", *_not_faster(below, "movsq", "paper", "orig")
    yield "6.above", *_not_faster(above, "paper", "movsq", "orig")
    yield from _teeth(by_size)


def _cost(routines: Mapping[str, Row], name: str) -> float | None:
    return median(routines[name].samples) if name in routines else None


def _slower(by_size: Mapping[int, Mapping[str, Row]], fast: str, slow: str) -> tuple[int, int]:
    """Return at how many sizes `fast` is not faster than `slow`, and at how many both were timed."""
    both = [(a, b) for routines in by_size.values() if (a := _cost(routines, fast)) and (b := _cost(routines, slow))]
    return sum(a >= b for a, b in both), len(both)


def _not_faster(by_size: Mapping[int, Mapping[str, Row]], fast: str, slow: str, today: str) -> tuple[float | None, str]:
    """Return at how many sizes the paper's order does not hold with string instructions, and what of today's memcpy."""
    count, of = _slower(by_size, fast, slow)
    if not of:
        return None, ""
    names = {fast: today if fast != "paper" else fast, slow: today if slow != "paper" else slow}
    also, of_also = _slower(by_size, names[fast], names[slow])
    said = f"; against {today}, UML's memcpy of today: at {also} of {of_also}" if of_also else ""
    return float(count), f"of {of} sizes, {slow if fast == 'paper' else fast} for the paper's memcpy{said}"


def _teeth(by_size: Mapping[int, Mapping[str, Row]]) -> Found:
    costs = {size: cost for size, routines in by_size.items() if (cost := _cost(routines, "paper"))}
    sizes = sorted(costs)
    found = []
    for i, size in enumerate(sizes):
        around = [sizes[j] for j in (i - 1, i + 1) if 0 <= j < len(sizes)]
        if size % BLOCK == 0 and around and all(costs[size] < costs[other] for other in around):
            found.append(size)
    if any(size % BLOCK == 0 for size in sizes):
        yield "6.teeth", float(len(found)), f"at {', '.join(map(str, found)) or 'none'}, the medians of all boots"
