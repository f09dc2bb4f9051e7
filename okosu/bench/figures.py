# SPDX-License-Identifier: Apache-2.0
"""From rows to figures: rates, the share of the machine's measured limit, and the ratio to the best peer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import median
from typing import NamedTuple

from okosu.bench.rows import Row
from okosu.stats import paired

ALPHA = 0.05
LATENCY = "latency"
HINTS = {"hot": "near", "cold": "far", "drained": "far"}
"""The entry of copy and zero that is told what holds in a mode: okosu_copy_near, …"""


class Point(NamedTuple):
    """Rows with the same point can be compared: timed in the same rounds, on operands of one size at one place."""

    routine: str
    mode: str
    align: tuple[int, ...]
    n: int
    footprint: int
    place: str


def point(row: Row) -> Point:
    return Point(row.routine, row.mode, tuple(row.align), row.n, row.footprint, row.place)


def cost(row: Row) -> float | None:
    """The median cost of a call in the row's unit, None where every batch was dropped."""
    return median(row.samples) if row.samples else None


def items_rate(row: Row) -> float | None:
    """Items per cycle, or per nanosecond for a row that is timed in nanoseconds."""
    return _rate(row, row.items)


def flops_rate(row: Row) -> float | None:
    """Floating-point operations per cycle, or per nanosecond for a row that is timed in nanoseconds."""
    return _rate(row, row.items * row.flops_per_item)


def bytes_rate(row: Row) -> float | None:
    """Bytes per cycle, or per nanosecond for a row that is timed in nanoseconds."""
    return _rate(row, row.items * row.bytes_per_item)


def gigabytes(row: Row, core_hz: float) -> float | None:
    """GB/s of a row; `core_hz` is the core's cycles per second. None for a row in ticks of the clock."""
    rate = bytes_rate(row)
    return None if rate is None or row.unit == "ticks" else rate * (core_hz / 1e9 if row.unit == "cycles" else 1.0)


def _rate(row: Row, work: float) -> float | None:
    each = cost(row)
    return work / each if each and work else None


@dataclass(frozen=True)
class Comparison:
    """A routine at a point: what okosu chooses there, every other row, and the loops that bound it."""

    point: Point
    rows: Sequence[Row]
    limits: Sequence[Row]
    alpha: float
    """The level of one interval: that of the whole, divided by the points at which there is a peer."""
    entry: str = ""
    """The variant that stands for okosu; "" for the one that is chosen."""

    @property
    def works(self) -> bool:
        """Say whether the routine moves or computes anything: only then do peers and limits mean something."""
        return _works(self.rows)

    @cached_property
    def ours(self) -> Row | None:
        """The row of `entry`; without one, the row of what the library does where nobody forces a variant, however
        slow.

        That is the entry that the routine is named after, or the first one; for a routine without entries, the fastest
        variant.
        """
        own = [row for row in self.rows if row.kind == "okosu" and row.samples]
        if self.entry:
            return next((row for row in own if row.variant == self.entry), None)
        entries = sorted(filter(is_entry, own), key=is_chosen, reverse=True)
        return entries[0] if entries else _fastest(own)

    def hinted(self) -> Comparison | None:
        """The same point measured through the entry that is told of this mode (a hint), where the routine has such an
        entry.
        """
        hint = HINTS.get(self.point.mode)
        if self.ours is None or hint is None:
            return None
        entry = f"{self.ours.variant}_{hint}"
        found = replace(self, entry=entry)
        return found if found.ours else None

    @cached_property
    def peer(self) -> Row | None:
        """The fastest peer by median. It is chosen from the samples that it is compared on, which is to okosu's
        disadvantage.
        """
        return _fastest([row for row in self.rows if row.kind == "peer" and row.samples])

    @cached_property
    def limit(self) -> Row | None:
        """The row that bounds the routine: the fastest loop of each kind, and of these the slowest.

        Each loop does one part of what the routine must do for an item: its loads, its stores, its arithmetic, its
        call. Where the routine is faster than all of them, the loops were no limit, and the routine's own row is
        returned. None where only the empty call was measured, which bounds nothing beyond a few items.
        """
        kinds: dict[str, Row] = {}
        for row in self.limits:
            if (
                row.samples
                and row.items
                and (row.routine not in kinds or _per_item(row) < _per_item(kinds[row.routine]))
            ):
                kinds[row.routine] = row
        if not _works(list(kinds.values())):
            return None
        binding = max(kinds.values(), key=_per_item)
        return min([row for row in self.rows if row.samples and row.items] + [binding], key=_per_item)

    @cached_property
    def ratio(self) -> paired.Interval | None:
        """The best peer's cost over ours: above 1 okosu is faster."""
        return self.against(self.peer) if self.peer else None

    def against(self, other: Row) -> paired.Interval | None:
        """Another row's cost over ours, None where no round has both."""
        return _ratio(other, self.ours, self.alpha) if self.ours else None

    def share(self, row: Row) -> paired.Interval | None:
        """The part of the limit's speed that a row reaches; None where no limit was measured at the point.

        None for latencies too: the loops of the limits do not wait for one result before the next, so they bound
        throughput only.
        """
        if self.point.mode == LATENCY:
            return None
        found = _ratio(self.limit, row, self.alpha) if self.limit and self.limit.unit == row.unit else None
        if found is None or self.limit is None:
            return None
        scale = row.items / self.limit.items
        return paired.Interval(found.median * scale, found.low * scale, found.high * scale, found.pairs)


def is_entry(row: Row) -> bool:
    """Say whether a row is an entry of the library, which chooses among the variants, rather than a single variant."""
    return row.kind == "okosu" and (
        row.variant == "chosen" or row.variant.startswith("okosu_") or bool(row.extra.get("chosen"))
    )


def is_chosen(row: Row) -> bool:
    """Say whether a row is the entry that the routine is named after, or marked as what is chosen."""
    named = row.variant == "chosen" or row.variant.endswith(f"_{row.routine.partition('-')[0]}")
    return is_entry(row) and (named or bool(row.extra.get("chosen")))


def compare(rows: Iterable[Row], alpha: float = ALPHA) -> list[Comparison]:
    """Every point of every routine, in the order of measurement.

    The level of each interval is alpha over the number of points at which there is a peer to compare with.
    """
    found: dict[tuple[int, Point], list[Row]] = {}
    limits: dict[int, list[Row]] = {}
    for row in rows:
        if row.kind == "limit":
            limits.setdefault(row.point, []).append(row)
        else:
            found.setdefault((row.point, point(row)), []).append(row)
    each = alpha / max(1, sum(_paired(group) for group in found.values()))
    return [Comparison(at, group, limits.get(number, []), each) for (number, at), group in found.items()]


def groups(found: Iterable[Comparison]) -> list[list[Comparison]]:
    """The points of each routine, mode and placement, by size: one block of a table, or one chart."""
    by_key: dict[tuple[object, ...], list[Comparison]] = {}
    for one in found:
        by_key.setdefault((one.point.routine, one.point.mode, one.point.align), []).append(one)
    return [sorted(points, key=lambda one: (one.point.n, one.point.footprint)) for points in by_key.values()]


def comparisons(found: Sequence[Comparison]) -> int:
    """The number of points at which there is a peer to compare with."""
    return sum(_paired(one.rows) for one in found)


def rounds_needed(count: int, alpha: float = ALPHA) -> int:
    """The fewest rounds in which an interval that is corrected for `count` comparisons can decide."""
    return paired.fewest_rounds(alpha / max(1, count))


def _paired(rows: Sequence[Row]) -> bool:
    return _works(rows) and {"okosu", "peer"} <= {row.kind for row in rows if row.samples}


def _works(rows: Sequence[Row]) -> bool:
    return any(row.items and (row.bytes_per_item or row.flops_per_item) for row in rows)


def _fastest(rows: Sequence[Row]) -> Row | None:
    """The row with the smallest median. A row that lost most of its batches is passed over while another did not."""
    most = max((len(row.samples) for row in rows), default=0)
    return min((row for row in rows if 2 * len(row.samples) >= most), key=lambda row: median(row.samples), default=None)


def _per_item(row: Row) -> float:
    return median(row.samples) / row.items


def _ratio(a: Row, b: Row, alpha: float) -> paired.Interval | None:
    try:
        return paired.ratio(a.samples, b.samples, a.rounds, b.rounds, alpha)
    except ValueError:
        # A sample of 0 (less than the clock's own cost) has no ratio; neither have two rows without a common round.
        return None
