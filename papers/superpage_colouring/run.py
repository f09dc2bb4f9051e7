# SPDX-License-Identifier: Apache-2.0
"""Boots of the paper superpage-colouring as records: one for each metric and point, with a sample for each seed.

The results of a boot are kept in the lab's cache, so that an interrupted reproduction goes on where it stopped.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import msgspec

import okosu
from lab.kernel import base as bases
from lab.model import machines
from lab.run import qemu
from okosu.errors import OkosuError
from okosu.records.types import Record
from papers.common.base import Say
from papers.superpage_colouring import colour_model, placement
from papers.superpage_colouring.colour_model import CONFLICTS, CYCLES, HUGE, MISSES, WALKS
from papers.superpage_colouring.placement import Placed, Point, Setting
from papers.superpage_colouring.plan import Boot

L2 = 2
"""The level that pages are coloured for."""
_UNITS = {CYCLES: "cycles", MISSES: "lines", CONFLICTS: "lines", WALKS: "walks", HUGE: "bytes"}
Key = tuple[str, Setting, Point, str]


_machine = functools.cache(machines.find)


def arm(setting: Setting, point: Point) -> str:
    """Return the name of the way in which pages were placed: "stock", "hop", "thp", "thp+hop"."""
    pages = [] if point.pages == "4k" else [point.pages]
    colour = [] if setting.colour == "stock" else [setting.colour]
    return "+".join([*pages, *colour]) or "stock"


def measure(of: str, boots: Sequence[Boot], say: Say, base: str = bases.DEFAULT) -> Iterator[Record]:
    """Yield the records of the boots of Linux `base`, each when its first seed is there; the other seeds join it later.

    Several boots run at a time, one on a core; their samples come in the order of `boots`. A boot that fails leaves its
    samples out, and the others go on; OkosuError in the end names it.
    """
    failed: list[str] = []
    held: dict[Key, Record] = {}
    built = qemu.build(say=say, base=base)
    pool = ThreadPoolExecutor(len(os.sched_getaffinity(0)))
    try:
        futures = [pool.submit(placement.measure, built, boot.setting, boot.points) for boot in boots]
        for number, (boot, future) in enumerate(zip(boots, futures, strict=True), 1):
            try:
                for placed in future.result():
                    yield from taken(of, placed, held)
            except OkosuError as error:
                about = boot.setting
                failed.append(f"{about.machine}, {about.colour}, seed {about.seed}: {error.what}: {error.why}")
            say(f"{of}: {number} of {len(boots)} boots")
    finally:
        # Boots under way are not aborted: their end is waited for, and their results are kept.
        pool.shutdown(cancel_futures=True)
    if failed:
        raise OkosuError(f"{of}: {len(failed)} of {len(boots)} boots failed", "\n       ".join(failed[:5]))


def taken(of: str, placed: Placed, held: dict[Key, Record]) -> Iterator[Record]:
    """Add the results of a point to its records; yield the records that are new."""
    setting, point, user = placed.setting, placed.point, placed.user
    numbers = {CYCLES: placed.cycles(_machine(setting.machine)), MISSES: user.misses(L2)}
    numbers |= {CONFLICTS: user.conflicts(L2), WALKS: user.walks[0]}
    if point.pages == "thp":
        numbers[HUGE] = placed.huge_bytes
    alike = msgspec.structs.replace(setting, seed=0)
    for metric, number in numbers.items():
        key = (of, alike, point, metric)
        new = key not in held
        record = held.setdefault(key, _record(of, placed, metric)) if new else held[key]
        record.samples.append(float(number))
        record.rounds.append(setting.seed)
        if new:
            yield record


def _record(of: str, placed: Placed, metric: str) -> Record:
    setting, point = placed.setting, placed.point
    machine = _machine(setting.machine)
    told: dict[str, str | float] = {
        colour_model.OF: of,
        colour_model.MACHINE: setting.machine,
        colour_model.STATE: "aged" if setting.aged else "fresh",
        colour_model.DIMENSION: float(point.dimension),
        "bytes": float(placed.user.bytes),
        "accesses": float(sum(placed.user.found)),
        "hertz": float(machine.hertz),
        "cache": float(machine.cache[L2 - 1].bytes),
        "walk": float(machine.walk.cycles_4k),
    }
    return Record(
        tool=f"okosu {okosu.__version__}",
        machine="",
        platform="qemu",
        subject=f"page-colour {point.workload}",
        variant=arm(setting, point),
        stage="bench",
        metric=metric,
        unit=_UNITS[metric],
        parameters={**told, **_told_apart(setting, point)},
    )


def _told_apart(setting: Setting, point: Point) -> Mapping[str, str | float]:
    """Return the parameters by which points of one arm and dimension differ."""
    found: dict[str, str | float] = {}
    if setting.colours:
        found["colours"] = float(setting.colours)
    if setting.hashed:
        found["hashed"] = 1.0
    if point.pitch:
        found["pitch"] = float(point.pitch)
    if point.layout != "whole":
        found["layout"] = point.layout
    if point.beside:
        found["beside"] = point.beside
    if point.mask:
        found["mask"] = float(point.mask)
    return found
