# SPDX-License-Identifier: Apache-2.0
"""Records of programs whose pages the kernel placed, read back: what each placement costs on a modelled machine."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median, stdev
from typing import NamedTuple

from okosu.records.types import Record

CYCLES, MISSES, CONFLICTS, WALKS, HUGE = "cycles", "L2 misses", "L2 conflicts", "walks", "huge bytes"
"""Metrics of a region: cycles of program and kernel; L2 misses of the program's accesses, and those of them that a
fully associative LRU would not have; page walks for 4 KiB; bytes of the set that lie in huge pages."""
ELEMENT = 16
"""Bytes of the set for each element of the transposition: one double in each of two matrices."""
OF, MACHINE, STATE, DIMENSION = "of", "machine", "state", "dimension"


class Where(NamedTuple):
    """What was run: `of` is the experiment, `arm` how pages were placed and how large they are ("thp+hop").

    `extra` tells runs of one dimension in one experiment apart: row pitch, layout, co-runner, mask, colours.
    """

    of: str
    machine: str
    state: str
    arm: str
    dimension: int
    extra: tuple[tuple[str, str | float], ...] = ()


@dataclass
class Cell:
    """One place of a figure: `by` has the samples of each metric by seed.

    `bytes` are those that the program moved in its region, `accesses` its accesses by lines; `cache` is the L2's size,
    `walk` the cycles of a page walk.
    """

    where: Where
    bytes: float
    accesses: float
    hertz: float
    cache: float
    walk: float
    by: dict[str, dict[int, float]] = field(default_factory=dict)

    @property
    def cycles(self) -> dict[int, float]:
        """Return the cycles of the region by seed."""
        return self.by[CYCLES]

    def speeds(self, walk: float | None = None) -> dict[int, float]:
        """Return MB/s (10^6 bytes) by seed, if a page walk took `walk` cycles (None: the machine's own)."""
        walks, more = self.by.get(WALKS, {}), 0.0 if walk is None else walk - self.walk
        each = {seed: cycles + more * walks.get(seed, 0.0) for seed, cycles in self.cycles.items()}
        return {seed: self.bytes * self.hertz / cycles / 1e6 for seed, cycles in each.items() if cycles > 0}

    @property
    def fill(self) -> float:
        """Return the share of the L2 that both matrices take."""
        return ELEMENT * self.where.dimension**2 / self.cache

    @property
    def speed(self) -> float:
        """Return the median of MB/s over the seeds."""
        return median(self.speeds().values())

    @property
    def mean(self) -> float:
        """Return the mean of MB/s over the seeds."""
        return fmean(self.speeds().values())

    @property
    def sigma(self) -> float | None:
        """Return the standard deviation of MB/s over the seeds, None where there is one seed."""
        speeds = list(self.speeds().values())
        return stdev(speeds) if len(speeds) > 1 else None

    @property
    def slowest(self) -> float:
        """The MB/s that 99 of 100 seeds reach; of fewer seeds the least."""
        return sorted(self.speeds().values())[len(self.cycles) // 100]

    def share(self, metric: str) -> float | None:
        """Return the mean of a count over the seeds in % of the program's accesses, None where it was not counted."""
        counts = self.by.get(metric)
        return 100 * fmean(counts.values()) / self.accesses if counts and self.accesses else None


class Gain(NamedTuple):
    """One cell over another at the same place, by speed, seed by seed: the median and the ends."""

    dimension: int
    ratio: float
    least: float
    most: float


def gain(ours: Cell, base: Cell, walk: float | None = None) -> Gain | None:
    """Return how many times as fast `ours` is, over the seeds that both have; None where there is none."""
    mine, other = ours.speeds(walk), base.speeds(walk)
    ratios = sorted(mine[seed] / other[seed] for seed in mine.keys() & other.keys() if other[seed] > 0)
    if not ratios:
        return None
    return Gain(ours.where.dimension, median(ratios), ratios[0], ratios[-1])


def read(records: Sequence[Record]) -> list[Cell]:
    """Return the cells of all records of placements, in their order; other records are ignored."""
    found: dict[Where, Cell] = {}
    for one in records:
        where, told = _where(one), one.parameters
        if where is None or len(one.rounds) != len(one.samples) or not one.samples:
            continue
        if not all(math.isfinite(sample) for sample in one.samples):
            continue
        moved, accesses, hertz, cache, walk = (_number(told.get(name)) for name in _SIZES)
        cell = found.setdefault(where, Cell(where, moved, accesses, hertz, cache, walk))
        cell.by[one.metric] = dict(zip(one.rounds, one.samples, strict=True))
    return [cell for cell in found.values() if _whole(cell)]


_MOST = 1e15
_SIZES = ("bytes", "accesses", "hertz", "cache", "walk")
_TOLD = {OF, MACHINE, STATE, DIMENSION, *_SIZES}


def _whole(cell: Cell) -> bool:
    cycles = cell.by.get(CYCLES, {})
    sizes = (cell.bytes, cell.accesses, cell.hertz, cell.cache)
    return bool(cycles) and all(1 <= number < _MOST for number in (*cycles.values(), *sizes))


def _where(record: Record) -> Where | None:
    told = record.parameters
    dimension = _number(told.get(DIMENSION))
    if not {OF, MACHINE, STATE} <= told.keys() or dimension != int(dimension):
        return None
    extra = tuple(sorted((name, value) for name, value in told.items() if name not in _TOLD))
    return Where(str(told[OF]), str(told[MACHINE]), str(told[STATE]), record.variant, int(dimension), extra)


def _number(value: str | float | None) -> float:
    """Return a positive number of a record, 0 where an altered file has something else."""
    return float(value) if isinstance(value, float | int) and 0 < value < _MOST else 0.0


Sweep = Mapping[int, Cell]


def sweep(cells: Sequence[Cell], of: str, arm: str, machine: str = "", **extra: str | float) -> dict[int, Cell]:
    """Return the cells of an arm of an experiment by dimension, in ascending order; of one machine where named."""
    wanted = tuple(sorted(extra.items()))
    found = {
        cell.where.dimension: cell
        for cell in cells
        if (cell.where.of, cell.where.arm) == (of, arm)
        and cell.where.machine in (machine or cell.where.machine,)
        and cell.where.extra == wanted
    }
    return dict(sorted(found.items()))


def gains(ours: Sweep, base: Sweep, walk: float | None = None) -> list[Gain]:
    """Return the gain at every dimension that both have."""
    each = [gain(cell, base[dimension], walk) for dimension, cell in ours.items() if dimension in base]
    return [one for one in each if one is not None]


def pooled(cells: Sequence[Cell]) -> float | None:
    """Return the root mean square of the standard deviations of all cells, None where one has none."""
    sigmas = [cell.sigma for cell in cells]
    known = [sigma for sigma in sigmas if sigma is not None]
    if not known or len(known) < len(sigmas):
        return None
    return math.sqrt(fmean(sigma**2 for sigma in known))
