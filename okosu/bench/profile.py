# SPDX-License-Identifier: Apache-2.0
"""A measured profile of okosu_copy or okosu_zero: which variant serves which sizes (native/include/okosu/copy.h)."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, log
from pathlib import Path

from okosu.bench.figures import is_entry
from okosu.bench.rows import Header, Result, Row
from okosu.errors import OkosuError
from okosu.records import files

_USES = (("", ("hot", "cold")), ("near", ("hot",)), ("far", ("cold",)))
BENCHES = {
    "copy": [(section, "copy", modes) for section, modes in _USES],
    "zero": [*((section, "set", modes) for section, modes in _USES), ("page", "page", ("cold",))],
}
"""What a profile can be made of: its sections, and for each the routine and the modes in which it must do well."""
_SIZES = (
    *(192, 320, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152),
    *(1 << shift for shift in range(16, 26)),
)
"""What is shorter than the first is never left to a choice; longer copies than the last are like it."""
_PAGES = (4096, 2 << 20)
_PLACES = {"copy": ((2048, 0), (24, 2056)), "zero": ((0, 0), (24, 0))}
"""Offsets of the destination and of the source that the benchmark measures."""
MOST_CLASSES = 16
WITHIN = 0.02
"""What a variant loses against the best by this much or less is taken for noise, as the logarithm of a ratio."""
CHANGE = 0.05
"""What another class has to save, summed over the sizes that were measured: a border follows no single measurement."""
_PAST_CACHES = ("nt-", "clzero")
LIBC = "libc"
"""The row of the tables that is the C library's routine, which is measured as the peer glibc."""


def points(name: str) -> list[str]:
    """The benchmark's options that leave what a profile is made of: a few sizes for each doubling, in every mode of
    every section, on lines and at addresses as malloc gives them.
    """
    found = dict.fromkeys(
        f"{routine}/{n}/{mode}/{dst}/{src}"
        for _, routine, modes in BENCHES[name]
        for n in (_PAGES if routine == "page" else _SIZES)
        for mode in modes
        for dst, src in (((0, 0),) if routine == "page" else _PLACES[name])
    )
    return ["--sizes", ",".join(map(str, _SIZES)), "--points", ",".join(found)]


def learned(name: str, model: str) -> Path:
    """Where the profile of this processor is kept for `--copy=profile`; native/levers/copy.c reads it."""
    return files.state_folder() / "profiles" / f"{name}-{model}"


def text(result: Result) -> str:
    """The profile as text. OkosuError where the rows decide nothing (--variant or --only left too few)."""
    lines = [f"# okosu bench {result.name}"]
    if result.header is not None:
        lines.append(f"# {result.header.features}; {result.header.rounds} rounds, seed {result.header.seed}")
    before = len(lines)
    for section, routine, modes in BENCHES[result.name]:
        rows = [
            row
            for row in result.rows
            if row.routine == routine and row.mode in modes and _keeps_promise(section, row, result.header)
        ]
        if classes := choose(rows):
            lines += [f"[{section}]"] if section else []
            lines += [f"{up_to if up_to else 'max'} {variant}" for up_to, variant in classes]
    if len(lines) == before:
        raise OkosuError(
            f"no profile can be made of these rows of bench {result.name}",
            "it takes variants of okosu that were measured hot or cold at the same size",
            f"okosu bench {result.name} --profile FILE, without --only, --variant and --sizes",
        )
    return "\n".join(lines) + "\n"


def _keeps_promise(section: str, row: Row, header: Header | None) -> bool:
    """Whether a variant may serve what the section is for (native/include/okosu/copy.h): a copy that will be read soon
    is left in the caches where they hold its destination, and one of which nothing is known where they hold all of it.

    What a copy past the caches costs its reader is in no row.
    """
    if not row.variant.startswith(_PAST_CACHES) or section in ("far", "page"):
        return True
    held = row.n if section == "near" else row.footprint
    return header is not None and held > header.caches.get("L3", 0)


def choose(rows: Sequence[Row]) -> list[tuple[int, str]]:
    """The (largest size, variant) of each class in rising order; the last class has size 0, "everything above".

    At each size a variant loses by its worst cost against the fastest, over modes and placements, because a default
    must not lose badly anywhere. The classes are those of the least sum of losses, where another class has to save
    CHANGE of it at least. Only variants that were measured in every mode and placement at a size take part there.
    """
    losses = {n: lost for n in sorted({row.n for row in rows}) if (lost := _losses([r for r in rows if r.n == n]))}
    change = CHANGE
    while len(classes := _classes(losses, change)) > MOST_CLASSES:
        change *= 2
    return [*classes[:-1], (0, classes[-1][1])] if classes else []


def _classes(losses: dict[int, dict[str, float]], change: float) -> list[tuple[int, str]]:
    """The (largest size, variant) of each class that minimise the sum of the losses and of `change` for each border.

    Dynamic programming over the sizes: for each variant, the least sum that ends with it, and the classes of that sum.
    """
    ends: dict[str, tuple[float, list[tuple[int, str]]]] = {}
    for n, lost in losses.items():
        before = ends
        ends = {}
        least = min((total for total, _ in before.values()), default=0.0)
        joined = next((classes for total, classes in before.values() if total == least), [])
        for name in sorted(lost):
            loss = max(0.0, lost[name] - WITHIN)
            stays, classes = before.get(name, (inf, []))
            if joined and least + change <= stays:
                ends[name] = (least + change + loss, [*joined, (n, name)])
            elif classes:
                ends[name] = (stays + loss, [*classes[:-1], (n, name)])
            else:
                ends[name] = (loss, [(n, name)])
    return min(ends.values(), key=lambda end: end[0], default=(0.0, []))[1]


def _losses(rows: Sequence[Row]) -> dict[str, float]:
    """For each variant, the logarithm of its worst cost relative to the fastest variant at the same place.

    A cost is that of the fastest round: among so few, what disturbed the others decides the median.
    """
    places: dict[object, dict[str, float]] = {}
    for row in rows:
        name = LIBC if row.kind == "peer" and row.variant == "glibc" else row.variant
        own = name == LIBC or (row.kind == "okosu" and not is_entry(row))
        if own and row.samples and (cost := min(row.samples)) > 0:
            places.setdefault((row.mode, tuple(row.align), row.footprint), {})[name] = cost
    if not places:
        return {}
    everywhere = sorted(set.intersection(*(set(costs) for costs in places.values())))
    return {name: max(log(costs[name] / min(costs.values())) for costs in places.values()) for name in everywhere}
