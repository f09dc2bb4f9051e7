# SPDX-License-Identifier: Apache-2.0
"""What placing pages gave, in sentences for the paper's README: every number from the records, what lacks left out."""

from __future__ import annotations

import functools
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence

from okosu.records.types import ReproduceFile
from papers.superpage_colouring import colour_model
from papers.superpage_colouring.colour_model import Cell, Gain
from papers.superpage_colouring.plan import BOTH, COLOUR, STOCK, SUPER
from papers.superpage_colouring.report import tables

_BOTH_MACHINES = (("celeron", "Celeron"), ("pentium4", "Pentium 4"))
_CLIFF = (85, 87, 89, 91, 93, 95)
Sentences = Callable[[Sequence[Cell], Mapping[str, float]], Iterator[str]]


def markdown(envelope: ReproduceFile) -> str:
    """Return what stands in the README: a bullet for each finding, then tables."""
    cells = colour_model.read(envelope.records)
    published = {item.id: item.target for item in envelope.compared if item.kind == "published"}
    every: tuple[Sentences, ...] = (_table2, _flat_rows, _most, _walks, _super, _spread, _beyond, _others)
    wrap = functools.partial(textwrap.fill, width=100, break_long_words=False, break_on_hyphens=False)
    lines = [
        wrap(line, initial_indent="* ", subsequent_indent="  ")
        for sentences in every
        for line in sentences(cells, published)
    ]
    for part in [*tables.table2(cells, published), *tables.walks(cells), *tables.costs(envelope.records)]:
        rows = [part.head, ["---"] * len(part.head), *part.body]
        lines += ["", wrap(f"{part.title}. {part.about}"), "", *(f"| {' | '.join(row)} |" for row in rows)]
    return "\n".join(lines) + "\n"


def _sweeps(cells: Sequence[Cell], of: str) -> dict[str, dict[int, Cell]]:
    return {arm: colour_model.sweep(cells, of, arm) for arm in (STOCK, COLOUR, SUPER, BOTH)}


def _row(cells: Sequence[Cell], n: int) -> tuple[Cell, Gain] | None:
    arms = _sweeps(cells, "celeron")
    if n not in arms[STOCK] or n not in arms[COLOUR]:
        return None
    gain = colour_model.gain(arms[COLOUR][n], arms[STOCK][n])
    return (arms[COLOUR][n], gain) if gain else None


def _theirs(published: Mapping[str, float], n: int) -> float | None:
    stock, colour = (published.get(f"t2.{n}.{column}") for column in ("stock", "colour"))
    return colour / stock if stock and colour else None


def _table2(cells: Sequence[Cell], published: Mapping[str, float]) -> Iterator[str]:
    said, coloured = [], []
    for n in _CLIFF:
        row, theirs = _row(cells, n), _theirs(published, n)
        if row and theirs:
            cell, gain = row
            said.append(f"{gain.ratio:.2f} ({gain.least:.2f} to {gain.most:.2f}; the paper {theirs:.2f}) at {n}")
            coloured.append(f"{cell.speed:.0f} ({published[f't2.{n}.colour']:.0f}) at {n}")
    if said:
        yield f"**Celeron, colour over stock**, median and range of the seeds: {', '.join(said)}."
        yield f"The paper's cliff beside ours, MB/s with colour (the paper's): {', '.join(coloured)}."


def _flat_rows(cells: Sequence[Cell], published: Mapping[str, float]) -> Iterator[str]:
    for n in (47, 49):
        row, theirs = _row(cells, n), _theirs(published, n)
        single = colour_model.sweep(cells, "one-colour", "mask", mask=1.0).get(n)
        if row and theirs:
            how = "is not reproduced" if row[1].most < theirs else "lies within the seeds"
            line = f"**Row {n} {how}:** {row[1].ratio:.2f} (to {row[1].most:.2f}), the paper {theirs:.2f}."
            if single:
                stock = published[f"t2.{n}.stock"]
                why = "so much bad luck would explain it" if single.speed <= stock else "so no placement explains it"
                line += (
                    f" With all of the program's pages in one colour, the worst there is, it has {single.speed:.0f} "
                    f"MB/s, the paper's stock kernel {stock:.0f}: {why}."
                )
            yield line


def _top(arms: Mapping[str, Mapping[int, Cell]], ours: str, base: str) -> Gain | None:
    """Return the largest gain within the cache."""
    within = [one for one in colour_model.gains(arms[ours], arms[base]) if arms[ours][one.dimension].fill <= 1]
    return max(within, key=lambda one: one.ratio, default=None)


def _most(cells: Sequence[Cell], published: Mapping[str, float]) -> Iterator[str]:
    for of, name in _BOTH_MACHINES:
        arms = _sweeps(cells, of)
        colour, both = _top(arms, COLOUR, STOCK), _top(arms, BOTH, STOCK)
        if colour and both:
            theirs = f"; the paper's summary has {published[f'6.{of}']:g}" if f"6.{of}" in published else ""
            yield (
                f"**{name}, the most within the cache:** colour {colour.ratio:.2f} times stock at dimension "
                f"{colour.dimension}, super and colour {both.ratio:.2f} at {both.dimension}{theirs}."
            )


def _walks(cells: Sequence[Cell], published: Mapping[str, float]) -> Iterator[str]:
    del published
    for part in tables.walks(cells):
        numbers = [float(cell) for row in part.body for cell in row[1:]]
        yield (
            f"Were a page walk to cost {part.body[0][0]} to {part.body[-1][0]} cycles, super and colour would gain "
            f"{min(numbers):.2f} to {max(numbers):.2f} times at dimensions {part.head[1].split()[-1]} to "
            f"{part.head[-1].split()[-1]} of the Pentium 4."
        )


def _super(cells: Sequence[Cell], published: Mapping[str, float]) -> Iterator[str]:
    del published
    for of, name in _BOTH_MACHINES:
        arms = _sweeps(cells, of)
        gains = [one.ratio for one in colour_model.gains(arms[BOTH], arms[SUPER])]
        alone = _top(arms, SUPER, STOCK)
        if gains and alone:
            yield (
                f"**{name}: a super page holds every colour already.** Alone it gains {alone.ratio:.2f} times over "
                f"stock at dimension {alone.dimension}; colour on top of it {min(gains):.3f} to {max(gains):.3f} "
                "times."
            )


def _spread(cells: Sequence[Cell], published: Mapping[str, float]) -> Iterator[str]:
    del published
    for of, name in _BOTH_MACHINES:
        arms = _sweeps(cells, of)
        within = {arm: [cell for cell in arms[arm].values() if cell.fill <= 1] for arm in (STOCK, COLOUR)}
        stock, colour = (colour_model.pooled(within[arm]) for arm in (STOCK, COLOUR))
        if stock is not None and colour is not None:
            yield (
                f"**{name}, from machine to machine:** the standard deviation over the seeds is {stock:.3g} MB/s with "
                f"stock and {colour:.3g} with colour, all dimensions within the cache together."
            )


def _beyond(cells: Sequence[Cell], published: Mapping[str, float]) -> Iterator[str]:
    del published
    for of, name in _BOTH_MACHINES:
        arms = _sweeps(cells, of)
        gains = [
            one for one in colour_model.gains(arms[COLOUR], arms[STOCK]) if 1 < arms[COLOUR][one.dimension].fill <= 1.8
        ]
        if gains:
            least = min(gains, key=lambda one: one.ratio)
            how = "loses" if least.ratio < 1 else "does not lose"
            yield (
                f"**{name}, beyond the cache colouring {how}:** down to {least.ratio:.2f} times stock at dimension "
                f"{least.dimension}, {100 * arms[COLOUR][least.dimension].fill:.0f} % of the cache."
            )


_OTHERS = {
    "strides": "Rows a power of two apart",
    "beside": "Beside another program",
    "hashed": "A hashed index",
    "build": "A workload like a kernel's build",
    "remainder": "Sets that end beyond their huge page",
}


def _others(cells: Sequence[Cell], published: Mapping[str, float]) -> Iterator[str]:
    """Yield what the arms gain over stock where few points were run, from the least to the most of them."""
    del published
    for of, title in _OTHERS.items():
        by: dict[str, list[float]] = {}
        for _, name, gain in tables.compared([cell for cell in cells if cell.where.of == of]):
            if gain and name != tables.NAMES[STOCK]:
                by.setdefault(name, []).append(gain.ratio)
        ranges = [f"{name} {min(each):.2f} to {max(each):.2f}" for name, each in by.items()]
        if ranges:
            yield f"**{title}**, times stock at the same points: {'; '.join(ranges)}."
