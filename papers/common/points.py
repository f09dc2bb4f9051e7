# SPDX-License-Identifier: Apache-2.0
"""What a target compares at each of its points; of a bench, which rows: ours, and what it is compared with there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from statistics import median
from typing import NamedTuple

from okosu.bench import alone, figures
from okosu.bench.rows import Row
from okosu.records.types import Record
from papers.common.entries import Select, Target

LINE = 64


class Point(NamedTuple):
    """Where rows are comparable: one size at one placement in one mode, timed in the same rounds."""

    n: int = 0
    """0 where what is compared has no size."""
    footprint: int = 0
    align: tuple[int, ...] = ()
    mode: str = ""


class Sides(NamedTuple):
    """Ours and what it is compared with at a point, each as cost by round; their ratio is what the target bounds.

    A round of a lab experiment is one boot or run, and both sides have it; several samples of one boot are one cost.
    """

    point: Point
    routine: str
    variant: str
    against: str
    ours: dict[int, float]
    theirs: dict[int, float]
    exact: bool = False
    """Whether every run gives the same numbers (a simulation's cycles), so that one round is enough."""
    beside: int = 0
    """Rounds that are left out, since another hyperthread had part of the core for one side or both."""
    crowded: bool = False
    """Whether too few rounds had the core to themselves, so that all are there."""

    @property
    def label(self) -> str:
        """Return the point as a person reads it: "ddot n=2048 +8,+8 throughput"."""
        offsets = ",".join(f"+{offset}" for offset in self.point.align)
        size = f"n={self.point.n}" if self.point.n else ""
        return " ".join(filter(None, (self.routine, size, offsets, self.point.mode)))


@dataclass(frozen=True)
class Found:
    """The points of a target, and why some of what it asks for is not there."""

    sides: list[Sides]
    lacking: list[str]


def by_round(measured: Row | Record, work: float = 1.0) -> dict[int, float]:
    """Return the samples by round, as cost of one unit of work."""
    numbers = measured.rounds or range(len(measured.samples))
    return {number: sample / work for number, sample in zip(numbers, measured.samples, strict=True)}


def point(row: Row) -> Point:
    """Return the point at which a row was timed."""
    return Point(row.n, row.footprint, tuple(int(offset) for offset in row.align), row.mode)


def wanted(row: Row, select: Select) -> bool:
    """Say whether a row lies where the target speaks of, whatever its variant."""
    low, high = select.footprint or (0, row.footprint)
    return (
        row.routine in select.routine
        and (not select.n or row.n in select.n)
        and select.n_from <= row.n <= (row.n if select.n_to is None else select.n_to)
        and low <= row.footprint <= high
        and (not select.place or row.place in select.place)
        and (select.aligned is None or select.aligned == (not any(offset % LINE for offset in row.align)))
        and (select.align is None or select.align == list(row.align))
        and (not select.mode or row.mode in select.mode)
    )


def beside(rows: Iterable[Row], row: Row) -> list[Row]:
    """Return the other rows that took turns with a row in the same rounds, and were not all dropped."""
    here = point(row)
    return [
        other
        for other in rows
        if other.point == row.point and point(other) == here and other.samples and other is not row
    ]


def find(rows: Sequence[Row], target: Target, core: float = 0.0) -> Found:
    """Return each point at which the target can be judged; `core`: loads in a cycle of a core of one's own, 0 where
    that is not known and all rounds count.
    """
    sides, lacking = [], []
    by_number: dict[int, list[Row]] = {}
    for row in rows:
        by_number.setdefault(row.point, []).append(row)
    for row in _ours(rows, target.select):
        other = _against(beside(by_number[row.point], row), row, target.against, core)
        if isinstance(other, str):
            lacking.append(other)
        else:
            sides.append(other)
    if not sides and not lacking:
        lacking.append(f"okosu bench {target.bench} gave no such row")
    return Found(sides, sorted(set(lacking)))


def _ours(rows: Iterable[Row], select: Select) -> list[Row]:
    """Return our row at each point; where several match a pattern, the fastest of them."""
    found: dict[tuple[int, str, Point], Row] = {}
    for row in rows:
        if row.kind != "okosu" or not row.samples or not wanted(row, select):
            continue
        if not (figures.is_chosen(row) if select.variant == "chosen" else fnmatchcase(row.variant, select.variant)):
            continue
        key = (row.point, row.routine, point(row))
        if key not in found or median(row.samples) < median(found[key].samples):
            found[key] = row
    return list(found.values())


def _against(around: Sequence[Row], row: Row, against: str, core: float) -> Sides | str:
    """Return both sides at the row's point, or what is lacking; hpc_programming/targets.toml explains `against`."""
    kind, _, name = against.partition(":")
    here = point(row)
    match kind:
        case "elements" | "bytes" | "flops":
            # Cost of one unit of work in cycles; theirs is one cycle, so that the ratio is a rate.
            work = {"elements": 1.0, "bytes": row.bytes_per_item, "flops": row.flops_per_item}[kind] * row.items
            ours = by_round(row, work)
            both = Sides(here, row.routine, row.variant, against, ours, dict.fromkeys(ours, 1.0))
            return _alone(both, row, row, core)
        case "limit":
            shares = [share for limit in name.split(",") if (share := _share(around, row, limit, core)) is not None]
            if not shares:
                return f"no {name} beside {row.routine}"
            return max(shares, key=lambda share: median(share.theirs.values()) / median(share.ours.values()))
        case "peer" | "variant":
            names = name.split(",")
            peers = [
                other
                for other in around
                if other.routine == row.routine
                and (other.kind == "peer" if kind == "peer" else other.kind == "okosu")
                and any(fnmatchcase(other.variant, pattern) for pattern in names)
            ]
            if not peers:
                return f"no peer {name} beside {row.routine}" if name != "*" else f"no peer beside {row.routine}"
            best = min(peers, key=lambda other: median(other.samples))
            both = Sides(here, row.routine, row.variant, best.variant, by_round(row, 1.0), by_round(best, 1.0))
            return _alone(both, row, best, core)
    raise ValueError(f"against = {against!r}")


def _alone(sides: Sides, row: Row, other: Row, core: float, most: bool = True) -> Sides:
    """Return the rounds that had the core to themselves, or all as `crowded` where these are too few: with `most`,
    fewer than half.
    """
    both = sides.ours.keys() & sides.theirs.keys()
    kept = both & alone.alone(row, core) & alone.alone(other, core)
    if len(kept) == len(both):
        return sides
    if len(kept) < min(alone.FEWEST, len(both)) or (most and 2 * len(kept) < len(both)):
        return sides._replace(crowded=True)
    ours, theirs = ({n: cost for n, cost in side.items() if n in kept} for side in (sides.ours, sides.theirs))
    return sides._replace(ours=ours, theirs=theirs, beside=len(both) - len(kept))


def _share(around: Sequence[Row], row: Row, limit: str, core: float) -> Sides | None:
    """Return a row beside the best variant of a limit, each as cost of one unit of work; None where it is not there."""
    limits = [other for other in around if other.kind == "limit" and other.routine == limit]
    if not limits:
        return None
    best = min(limits, key=lambda other: median(by_round(other, _work(other)).values()))
    by_flops = not best.bytes_per_item
    work = (row.flops_per_item if by_flops else row.bytes_per_item) * row.items
    both = Sides(point(row), row.routine, row.variant, limit, by_round(row, work), by_round(best, _work(best)))
    return _alone(both, row, best, core, most=False)


def _work(limit: Row) -> float:
    return (limit.bytes_per_item or limit.flops_per_item) * limit.items
