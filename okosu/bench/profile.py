# SPDX-License-Identifier: Apache-2.0
"""A measured profile of okosu_copy or okosu_zero: which variant serves which sizes (native/include/okosu/copy.h)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from math import exp, inf, log
from pathlib import Path
from statistics import median
from typing import NamedTuple

from okosu.bench import figures
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
HANDED_ON = 8.0
"""Cycles by which a variant must be faster than what the library takes without a profile: a size that its entry hands
on takes more (5 on Zen 1), and where sizes come in no order a further class is guessed wrong more often.
"""
NOISES = 2.0
"""Times the noise by which it must be faster besides."""
_LONG = 1024
"""Bytes of a copy or set of which it takes no part that is seen to be handed on."""
_PAST_CACHES = ("nt-", "clzero")
LIBC = "libc"
"""The row of the tables that is the C library's routine, which is measured as the peer glibc."""


class BuiltIn(NamedTuple):
    """What the library takes without a profile."""

    variants: dict[int, str]
    """By size in bytes."""
    noise: float
    """How far two rows of one routine lie apart, as the logarithm of a ratio: the median."""


class Stretch(NamedTuple):
    """Neighbouring sizes for which a profile names one variant, and the library without a profile one."""

    section: str
    sizes: tuple[int, ...]
    """Bytes, rising: those that were measured."""
    learned: str
    built_in: str
    factors: tuple[float, ...]
    """For each size, the worst cost of what is built in, against the fastest variant, over that of what was learned."""


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
    for section, rows in _by_section(result.name, result.rows, result.header):
        if classes := choose(rows, _built_in(section, rows[0].routine, result.rows)):
            lines += [f"[{section}]"] if section else []
            lines += [f"{up_to if up_to else 'max'} {variant}" for up_to, variant in classes]
    if len(lines) == before:
        raise OkosuError(
            f"no profile can be made of these rows of bench {result.name}",
            "it takes variants of okosu that were measured hot or cold at the same size",
            f"okosu bench {result.name} --profile FILE, without --only, --variant and --sizes",
        )
    return "\n".join(lines) + "\n"


def was_learned(options: Sequence[str]) -> bool:
    """Whether a benchmark with these options measured the points of a profile."""
    return "--points" in options


def beside_built_in(name: str, rows: Sequence[Row], header: Header | None) -> list[Stretch]:
    """What is learned beside what the library chooses without it, as the rows of its own entries say."""
    found: list[Stretch] = []
    for section, held in _by_section(name, rows, header):
        built_in = _built_in(section, held[0].routine, rows)
        variants = built_in.variants
        learned = dict.fromkeys(variants, "")
        for up_to, variant in reversed(choose(held, built_in)):
            learned |= {n: variant for n in variants if not up_to or n <= up_to}
        losses = {n: _losses([row for row in held if row.n == n]) for n in variants}
        pairs = [(learned[n], variants[n], n) for n in sorted(variants)]
        known = [pair for pair in pairs if {*pair[:2]} <= losses[pair[2]].keys()]
        for (ours, theirs), some in itertools.groupby(known, lambda pair: pair[:2]):
            sizes = tuple(n for _, _, n in some)
            factors = tuple(exp(losses[n][theirs] - losses[n][ours]) for n in sizes)
            found.append(Stretch(section, sizes, ours, theirs, factors))
    return found


def _built_in(section: str, routine: str, rows: Sequence[Row]) -> BuiltIn:
    """What the library takes without a profile, as the rows of its own entry name it.

    The entry and the variant that it takes are the same code, so that two rows differ by noise, but for short sizes.
    """
    entry = "_".join(filter(None, ["okosu", "zero" if section == "page" else routine, section]))
    entries = [row for row in rows if row.variant == entry and row.routine == routine]
    timed = [row for row in rows if row.samples and min(row.samples) > 0]
    least = {(row.variant, figures.point(row)): min(row.samples) for row in timed}
    pairs = [((entry, at), (row.config, at)) for row in entries if row.n >= _LONG and (at := figures.point(row))]
    apart = [abs(log(least[one] / least[other])) for one, other in pairs if one in least and other in least]
    return BuiltIn({row.n: row.config for row in entries}, median(apart) if apart else 0.0)


def _by_section(name: str, rows: Sequence[Row], header: Header | None) -> list[tuple[str, list[Row]]]:
    """The rows that decide each section of a profile; no section without a row."""
    found = []
    for section, routine, modes in BENCHES[name]:
        measured = [row for row in rows if row.routine == routine and row.mode in modes]
        if kept := [row for row in measured if _keeps_promise(section, row, header)]:
            found.append((section, kept))
    return found


def _keeps_promise(section: str, row: Row, header: Header | None) -> bool:
    """Whether a variant may serve what the section is for (native/include/okosu/copy.h): a copy that will be read soon
    is left in the caches where they hold its destination, and one of which nothing is known where they hold all of it.

    What a copy past the caches costs its reader is in no row.
    """
    if not row.variant.startswith(_PAST_CACHES) or section in ("far", "page"):
        return True
    held = row.n if section == "near" else row.footprint
    return header is not None and held > header.caches.get("L3", 0)


def choose(rows: Sequence[Row], built_in: BuiltIn | None = None) -> list[tuple[int, str]]:
    """The (largest size, variant) of each class in rising order; the last class has size 0, "everything above".

    At each size a variant loses by its worst cost against the fastest, over modes and placements, because a default
    must not lose badly anywhere. The classes are those of the least sum of losses, where another class has to save
    CHANGE of it at least. Only variants that were measured in every mode and placement at a size take part there.
    Where it is known what is built in, the others must be faster by HANDED_ON cycles and NOISES times the noise.
    """
    losses = {}
    for n in sorted({row.n for row in rows}):
        if lost := _losses([row for row in rows if row.n == n], built_in):
            losses[n] = lost
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
        # Of equal sums that of the variant is taken which loses least, in what is noise too.
        for raw, name in sorted((raw, name) for name, raw in lost.items()):
            loss = max(0.0, raw - WITHIN)
            stays, classes = before.get(name, (inf, []))
            if joined and least + change <= stays:
                ends[name] = (least + change + loss, [*joined, (n, name)])
            elif classes:
                ends[name] = (stays + loss, [*classes[:-1], (n, name)])
            else:
                ends[name] = (loss, [(n, name)])
    return min(ends.values(), key=lambda end: end[0], default=(0.0, []))[1]


def _losses(rows: Sequence[Row], built_in: BuiltIn | None = None) -> dict[str, float]:
    """For each variant, the logarithm of its worst cost at one size relative to the fastest variant at the same place.

    A cost is that of the fastest round: among so few, what disturbed the others decides the median. Where it is known
    what is built in, another variant has to be faster by the median as well, because of a single round that was lucky
    (its lines were in a cache, the neighbours were idle) there is no second one.
    """
    places: dict[object, dict[str, Row]] = {}
    for row in rows:
        name = LIBC if row.kind == "peer" and row.variant == "glibc" else row.variant
        own = name == LIBC or (row.kind == "okosu" and not is_entry(row))
        if own and row.samples and min(row.samples) > 0:
            places.setdefault((row.mode, tuple(row.align), row.footprint), {})[name] = row
    if not places:
        return {}
    everywhere = sorted(set.intersection(*(set(held) for held in places.values())))
    costs = [_costs(held, built_in) for held in places.values()]
    return {name: max(log(at[name] / min(at.values())) for at in costs) for name in everywhere}


def _costs(held: dict[str, Row], built_in: BuiltIn | None) -> dict[str, float]:
    """Of the variants that were measured at one place, by their names; in the unit of their samples."""
    costs = {name: min(row.samples) for name, row in held.items()}
    if built_in is None:
        return costs
    ours = built_in.variants.get(next(iter(held.values())).n, "")
    if ours in held:
        usual = {name: median(row.samples) / median(held[ours].samples) for name, row in held.items()}
        costs = {name: max(cost, usual[name] * costs[ours]) for name, cost in costs.items()}
    more = exp(NOISES * built_in.noise)
    return {name: cost if name == ours or not ours else cost * more + HANDED_ON for name, cost in costs.items()}
