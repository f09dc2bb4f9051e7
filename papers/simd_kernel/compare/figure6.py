# SPDX-License-Identifier: Apache-2.0
"""Section 6 and Figure 6: the time of a copy by size and routine, and what each target on it compares."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median

from okosu.bench import rows
from okosu.bench.rows import Row
from okosu.records.types import Record
from papers.common.points import Found, Point, Sides, by_round
from papers.simd_kernel.compare import Beside
from papers.simd_kernel.run.copybench import BENCH, COPY, PRINTED, TIMED

FIRST, LAST, BLOCK = 128, 2048, 512


def read(records: Sequence[Record], mode: str = TIMED, function: str = COPY) -> dict[int, dict[str, Row]]:
    """Return the rows of a mode by size and routine."""
    found: dict[int, dict[str, Row]] = {}
    for row in rows.from_records(records).get(BENCH, []):
        if row.mode == mode and row.routine == function and row.samples:
            found.setdefault(row.n, {})[row.variant] = row
    return dict(sorted(found.items()))


def best(by_size: Mapping[int, Mapping[str, Row]]) -> str | None:
    """Return the one routine of okosu with the lowest geometric mean over all sizes; None where none has all sizes."""
    costs: dict[str, list[float]] = {}
    for routines in by_size.values():
        for name, row in routines.items():
            if row.kind == "okosu":
                costs.setdefault(name, []).append(math.log(median(row.samples)))
    whole = {name: sum(each) for name, each in costs.items() if len(each) == len(by_size)}
    return min(whole, key=lambda name: whole[name], default=None)


def sides(by_size: Mapping[int, Mapping[str, Row]], ours: str | None, against: str) -> Found:
    """Return the costs of two routines at each size, boot by boot; their ratio says how many times faster `ours` is."""
    found, lacking = [], []
    for size, routines in by_size.items():
        if ours and ours in routines and against in routines:
            point = Point(size, routines[ours].footprint, (), "")
            pair = by_round(routines[ours]), by_round(routines[against])
            found.append(Sides(point, COPY, ours, f"{against} ({ours})", *pair))
    if not found:
        lacking.append(f"no size at which {ours or 'a routine of okosu'} and {against} were both timed")
    return Found(found, lacking)


def compare(records: Sequence[Record]) -> Beside:
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
    """Return at how many sizes `fast` is not faster than `slow`, and a line that says the same of today's memcpy."""
    count, of = _slower(by_size, fast, slow)
    if not of:
        return None, ""
    names = {fast: today if fast != "paper" else fast, slow: today if slow != "paper" else slow}
    also, of_also = _slower(by_size, names[fast], names[slow])
    said = f"; against {today}, UML's memcpy of today: at {also} of {of_also}" if of_also else ""
    return float(count), f"of {of} sizes, {slow if fast == 'paper' else fast} for the paper's memcpy{said}"


def _teeth(by_size: Mapping[int, Mapping[str, Row]]) -> Beside:
    costs = {size: cost for size, routines in by_size.items() if (cost := _cost(routines, "paper"))}
    sizes = sorted(costs)
    found = []
    for i, size in enumerate(sizes):
        around = [sizes[j] for j in (i - 1, i + 1) if 0 <= j < len(sizes)]
        if size % BLOCK == 0 and around and all(costs[size] < costs[other] for other in around):
            found.append(size)
    if any(size % BLOCK == 0 for size in sizes):
        yield "6.teeth", float(len(found)), f"at {', '.join(map(str, found)) or 'none'}, the medians of all boots"


AGAINST = {"figure6-best-orig": "orig", "figure6-best-movsb": "movsb", "figure6-best-paper": "paper"}
"""What okosu's best routine is compared with, by target."""


def target_sides(name: str, records: Sequence[Record]) -> Found:
    """Return what the target `name` compares, boot by boot."""
    timed = read(records)
    if name == "figure6-paper-orig":
        return sides({size: routines for size, routines in timed.items() if size >= BLOCK}, "paper", "orig")
    # All targets compare the same routine: the best one over the sizes of um_copy/bench, which are the most.
    ours = best(timed)
    if name in AGAINST:
        return sides(timed, ours, AGAINST[name])
    printed = read(records, PRINTED)
    if name == "boot-512":
        printed = {size: routines for size, routines in printed.items() if size == BLOCK}
    return sides(printed, ours, "movsb")
