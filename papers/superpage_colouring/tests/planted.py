# SPDX-License-Identifier: Apache-2.0
"""Made-up results of placements for superpage-colouring, whose misses are chosen here, and their records."""

from __future__ import annotations

import copy
import functools
import random
from collections.abc import Sequence

import msgspec

from lab.model import machines
from lab.model.plugin_counts import Counts
from okosu.records.types import Record
from papers.superpage_colouring import costs, plan, run
from papers.superpage_colouring.placement import Placed, Point, Setting
from papers.superpage_colouring.plan import CELERON, PENTIUM4, Boot, figures

DIMENSIONS = {CELERON: (*range(11, 200, 20), *plan.TABLE2), PENTIUM4: (*range(11, 300, 24), 171, 175, 179, 181)}
SEEDS = plan.SEEDS
INSTRUCTIONS = {"stock": 1000, "off": 1001, "fold": 1040, "hop": 1030}


machine_of = functools.cache(machines.find)


def conflicts(setting: Setting, point: Point) -> float:
    """Return the share of accesses that miss the L2 though a fully associative one has them."""
    cache = machine_of(setting.machine).cache[1].bytes
    fill = 16 * point.dimension**2 / cache
    drawn = random.Random(f"{setting.machine} {setting.seed} {point.dimension} {point.pages}").uniform(0.5, 1.5)
    if point.mask:
        return 0.5
    if setting.colour in ("stock", "shuffle") and point.pages == "4k" and fill <= 1:
        return 0.4 * fill**4 * drawn
    if setting.colour == "fold" and fill > 0.85:
        return 0.002 * drawn
    return -0.01 if fill > 1 and setting.colour == "stock" and point.pages == "4k" else 0.0


def counts(accesses: int, misses: int, full: int, walks: int) -> Counts:
    """Return the counts of a program of whose accesses a quarter misses the L1."""
    return Counts(
        instructions=4 * accesses, loads=accesses // 2, stores=accesses // 2, load_bytes=4 * accesses,
        store_bytes=4 * accesses, flushes=0, crossings=0, io=0,
        found=[accesses - accesses // 4 - misses, accesses // 4, misses], full_lru_misses=[0, full],
        translated=[accesses - walks, walks], walks=[walks, 0],
    )  # fmt: skip


def placed(setting: Setting, point: Point) -> Placed:
    machine = machine_of(setting.machine)
    accesses = 2 * point.dimension**2 * point.rounds
    capacity = accesses // 4 if point.bytes > machine.cache[1].bytes else 0
    extra = round(conflicts(setting, point) * accesses)
    walks = accesses // 64 if point.pages == "4k" and point.dimension > 180 else 0
    user = counts(accesses, capacity + extra, capacity, walks)
    more = [0] * (len(machine.cache) - 2)
    found = [*user.found[:2], *more, user.found[2]]
    levels = {tlb.level for tlb in machine.tlb}
    translated = [user.translated[0], *[0] * (len(levels) - 1), walks]
    user = msgspec.structs.replace(
        user, found=found, full_lru_misses=[*user.full_lru_misses, *more], translated=translated
    )
    kernel = msgspec.structs.replace(user, **dict.fromkeys(("instructions", "loads", "stores", "load_bytes"), 0))
    kernel = msgspec.structs.replace(
        kernel, store_bytes=0, found=[0] * len(found), translated=[0] * len(translated), walks=[0, 0]
    )
    return Placed(setting, point, user, kernel, faults=9, huge_bytes=0, frames=[], vmstat={})


def measure(built: object, setting: Setting, points: Sequence[Point]) -> list[Placed]:
    """Stand in for placement.measure()."""
    return [placed(setting, point) for point in points]


def of(name: str, boots: Sequence[Boot]) -> list[Record]:
    """Return the records of these boots."""
    held: dict[run.Key, Record] = {}
    found: list[Record] = []
    for boot in boots:
        for one in measure(None, boot.setting, boot.points):
            found.extend(run.taken(name, one, held))
    return found


def sweeps(seeds: int = SEEDS) -> dict[str, list[Record]]:
    """Return the records of the two machines' figures."""
    return {
        "celeron": of("celeron", figures(CELERON, sorted(DIMENSIONS[CELERON]), seeds)),
        "pentium4": of("pentium4", figures(PENTIUM4, sorted(DIMENSIONS[PENTIUM4]), seeds)),
    }


def cost_records() -> list[Record]:
    """Return the records of what the kernel pays."""
    found = []
    for variant, each in INSTRUCTIONS.items():
        for call, times in (("fault-4k", 1.0), ("fault-4k-refill", 1.1), ("fork", 90.0), ("exec", 300.0)):
            found.append(costs.record(variant, costs.INSTRUCTIONS, call, [times * each]))
        got = [0.92, 0.88] if variant == "stock" else [0.91, 0.88]
        found += [costs.record(variant, costs.HUGE, way, got) for way in costs.SUPPLY]
    return found


def everything() -> dict[str, list[Record]]:
    """Return the records of every experiment, made once and copied."""
    return copy.deepcopy(_everything())


@functools.cache
def _everything() -> dict[str, list[Record]]:
    return {
        **sweeps(),
        "wide": of("wide", plan.wide(2)),
        "colours": of("colours", plan.colours(2, 10)),
        "one-colour": of("one-colour", plan.one_colour(2)),
        "fresh": of("fresh", plan.fresh(2)),
        "baselines": of("baselines", plan.baselines(3)),
        "remainder": of("remainder", plan.remainder(2)),
        "strides": of("strides", plan.strides(2)),
        "beside": of("beside", plan.beside(2)),
        "hashed": of("hashed", plan.hashed(2)),
        "build": of("build", plan.build(3)),
        "costs": cost_records(),
    }
