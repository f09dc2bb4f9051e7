# SPDX-License-Identifier: Apache-2.0
"""The charts of a microbenchmark: speed against size, ratio against size, and costs side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median, quantiles
from typing import Any

from okosu.bench.rows import Row
from okosu.report import axes, formats, svg

WIDE, NARROW, HALF, HEIGHT = 580, 396, 330, 330
C = svg.COLOURS
LABEL, SHORT, GAP, NAMED = 22, 14, 13.0, 8
"""Characters of a name in a wide and in another chart; pixels between names; names in a narrow chart."""
LOWEST = 0.5
"""Ratios below are not drawn, but for those of what okosu chooses: they would flatten all others."""
_MARKS = "os^vDPX<>*hdp"
_STYLES = {
    # tone, width, opacity, dash
    "chosen": ("arm", 2.6, 1.0, "-"),
    "hinted": ("good", 2.2, 1.0, "-"),
    "okosu": ("arm", 1.1, 0.6, "-"),
    "peer": ("fresh", 1.1, 0.85, "-"),
    "paper": ("muted", 1.1, 0.9, (0, (1, 1.5))),
    "limit": ("ink", 1.3, 1.0, (0, (5, 3))),
}
ROLES = tuple(_STYLES)
_ABOVE = {role: place for place, role in enumerate(("paper", "peer", "okosu", "limit", "hinted", "chosen"), 2)}


@dataclass(frozen=True)
class Line:
    """One variant over the sizes; `role` is one of ROLES, `interval` the bounds of a ratio where it has some."""

    name: str
    role: str
    sizes: Sequence[int]
    values: Sequence[float]
    interval: dict[int, tuple[float, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Sizes:
    """The axis of sizes: what they count, and at which size the operands fill each cache."""

    low: int
    high: int
    unit: str
    caches: Sequence[tuple[str, float]]


def speeds(lines: Sequence[Line], sizes: Sizes, unit: str, name: str, width: int) -> str:
    """The speed of each variant against size, on a linear axis from 0; a narrow chart names only the fastest lines."""
    top = 1.06 * max(max(line.values) for line in lines)
    ticks = axes.linear_ticks(0, top, 6)

    def scale(ax: Any) -> None:
        ax.set_ylim(0, top)
        ax.set_yticks(ticks, axes.tick_texts(ticks))

    words = f"{unit} against {sizes.unit}: " + "; ".join(
        f"{line.name} {formats.significant(min(line.values))} to {formats.significant(max(line.values))}"
        for line in lines
    )
    return _over_sizes(lines, sizes, name, words, width, lambda value: value, scale)


def ratios(lines: Sequence[Line], sizes: Sizes, unit: str, name: str, width: int) -> str:
    """Ratios against size on a logarithmic axis, with their intervals; 1 is marked."""
    ends = [end for line in lines for pair in line.interval.values() for end in pair]
    values = [value for line in lines for value in line.values]
    ours = min((v for line in lines if line.role in ("chosen", "hinted") for v in line.values), default=1.0)
    least = min(ours, LOWEST)
    low, high = axes.padded([math.log(max(v, least)) for v in [*values, *ends, 1.0]], least=math.log(1.2))

    def scale(ax: Any) -> None:
        ax.axhline(0, color=C["muted"], linewidth=1)
        ax.set_ylim(low, high)
        ticks = axes.ratio_ticks(math.exp(low), math.exp(high), 7)
        ax.set_yticks([math.log(tick) for tick in ticks], axes.tick_texts(ticks))

    words = f"{unit} against {sizes.unit}: " + "; ".join(
        f"{line.name} {min(line.values):.3g} to {max(line.values):.3g}" for line in lines
    )
    return _over_sizes(lines, sizes, name, words, width, math.log, scale)


def costs(rows: Sequence[tuple[str, Row]], unit: str, name: str) -> str:
    """The cost of one item in each row, with quartiles, one row below the other."""
    height = 48 + 18 * len(rows)
    longest = 22
    left = svg.row_margin((label for label, _ in rows), longest)
    values = [[sample / (row.items or 1) for sample in row.samples] for _, row in rows]
    every = [value for each in values for value in each]
    logarithmic = min(every) > 0 and max(every) / min(every) > 20
    place: Callable[[float], float] = math.log if logarithmic else float
    low, high = axes.padded([place(v) for v in every] + ([] if logarithmic else [0.0]))
    low = low if logarithmic else 0.0
    with svg.figure(NARROW, height) as drawn:
        ax = drawn.add_axes((left / NARROW, 40 / height, 1 - (left + 14) / NARROW, 1 - 46 / height))
        for y, each in enumerate(reversed(values)):
            if len(each) > 1:
                first, _, third = quantiles(each, n=4, method="inclusive")
                ax.plot([place(first), place(third)], [y, y], color=C["arm"], linewidth=4, solid_capstyle="butt")
            ax.plot([place(median(each))], [y], "o", markersize=5.5, color=C["arm"])
            ax.axhline(y, color=C["line"], linewidth=0.6, zorder=0)
        svg.name_rows(ax, [label for label, _ in rows], longest)
        ax.set_xlim(low, high)
        shown = axes.ratio_ticks(math.exp(low), math.exp(high), 4) if logarithmic else axes.linear_ticks(low, high, 4)
        ax.set_xticks([place(v) for v in shown], axes.tick_texts(shown))
        ax.set_xlabel(f"{unit}{', log axis' if logarithmic else ''}")
        words = f"{unit}: " + "; ".join(
            f"{label} {formats.significant(median(each))}" for (label, _), each in zip(rows, values, strict=True)
        )
        return svg.render(drawn, name, words)


def _over_sizes(
    lines: Sequence[Line], sizes: Sizes, name: str, words: str, width: int,
    place: Callable[[float], float], scale: Callable[[Any], None],
) -> str:  # fmt: skip
    most = LABEL if width == WIDE else SHORT
    named, at = legend(lines, NAMED if width < WIDE else len(lines))
    right = 24 + 6.0 * (5 + min(most, max(len(line.name) for line, _ in named))) if len(lines) > 1 else 10
    with svg.figure(width, HEIGHT) as drawn:
        ax = drawn.add_axes((38 / width, 42 / HEIGHT, 1 - (38 + right) / width, 1 - 62 / HEIGHT))
        for i, line in enumerate(lines):
            _draw(ax, line, place, _MARKS[i % len(_MARKS)])
        scale(ax)
        ends = math.log2(sizes.low), math.log2(sizes.high)
        margin = 0.03 * (ends[1] - ends[0])
        ax.set_xlim(ends[0] - margin, ends[1] + margin)
        ticks = size_ticks(sizes.low, sizes.high)
        ax.set_xticks([math.log2(tick) for tick in ticks], [size_text(tick) for tick in ticks])
        ax.set_xlabel(sizes.unit)
        for label, filled in sizes.caches:
            if sizes.low < filled < sizes.high:
                ax.axvline(math.log2(filled), color=C["line"], linewidth=1, zorder=0)
                ax.text(
                    math.log2(filled), 1.015, label, transform=ax.get_xaxis_transform(), ha="center", color=C["muted"]
                )
        if len(lines) > 1:
            ax.axvline(math.log2(at), color=C["muted"], linewidth=0.8, linestyle=(0, (1, 2)), zorder=0)
            _name(ax, [(line, value, _MARKS[lines.index(line) % len(_MARKS)]) for line, value in named], at, most)
        return svg.render(drawn, name, words)


def legend(lines: Sequence[Line], most: int) -> tuple[list[tuple[Line, float]], int]:
    """The lines with their values at the size where they differ most, the highest first, and that size.

    Of more than `most` lines, okosu's, the limit and the highest of the others are kept.
    """
    by_size = {
        n: [math.log(line.values[list(line.sizes).index(n)]) for line in lines if n in line.sizes]
        for n in lines[0].sizes
    }
    fullest = max(len(values) for values in by_size.values())

    def apart(n: int) -> float:
        values = by_size[n]
        return sum(abs(value - median(values)) for value in values) if len(values) == fullest else -1.0

    at = max(by_size, key=apart)
    there = [(line, line.values[list(line.sizes).index(at)]) for line in lines if at in line.sizes]
    ordered = sorted(there, key=lambda pair: -pair[1])
    first = [pair for pair in ordered if pair[0].role in ("chosen", "hinted", "limit")]
    kept = first + [pair for pair in ordered if pair not in first][: max(0, most - len(first))]
    return sorted(kept, key=lambda pair: -pair[1]), at


def _draw(ax: Any, line: Line, place: Callable[[float], float], mark: str) -> None:
    tone, width, opacity, dash = _STYLES[line.role]
    at = [math.log2(n) for n in line.sizes]
    marked = line.role not in ("limit",)
    for n, (low, high) in line.interval.items():
        ax.plot(
            [math.log2(n)] * 2, [place(low), place(high)], color=C[tone], linewidth=4, alpha=0.3, solid_capstyle="butt"
        )
    ax.plot(
        at, [place(value) for value in line.values], color=C[tone], linewidth=width, alpha=opacity, linestyle=dash,
        marker=mark if marked else "", markersize=4.5 if line.role == "chosen" else 3.2, markeredgewidth=0,
        zorder=_ABOVE[line.role],
    )  # fmt: skip


def _name(ax: Any, named: Sequence[tuple[Line, float, str]], at: int, most: int) -> None:
    """Write the names beside the chart, the highest line's first, each with its mark and its value at the size `at`."""
    height = HEIGHT - 62
    gap = min(GAP, height / len(named))
    width = ax.get_position().width * ax.figure.get_size_inches()[0] * 72
    heading = {"transform": ax.transAxes, "va": "center", "fontsize": 10, "color": C["muted"], "clip_on": False}
    ax.text(1 + 18 / width, 1 + 8 / height, f"at {size_text(at)}", **heading)
    for i, (line, value, mark) in enumerate(named):
        tone, stroke, opacity, dash = _STYLES[line.role]
        y = 1 - (i + 0.75) * gap / height
        ax.plot(
            [1 + 4 / width, 1 + 14 / width], [y, y], transform=ax.transAxes, color=C[tone], linewidth=stroke,
            alpha=opacity, linestyle=dash, clip_on=False,
        )  # fmt: skip
        if line.role != "limit":
            ax.plot(
                [1 + 9 / width], [y], mark, transform=ax.transAxes, color=C[tone], markersize=4, markeredgewidth=0,
                alpha=opacity, clip_on=False,
            )  # fmt: skip
        number = formats.significant(value) if value < 1000 else formats.count(value)
        said = f"{number} {formats.shorten(formats.printable(line.name), most)}"
        heading["color"] = C[tone]
        ax.text(1 + 18 / width, y, said, **heading, weight="bold" if line.role == "chosen" else "normal")


def size_ticks(low: int, high: int, most: int = 7) -> list[int]:
    """At most `most` powers of two in [low, high], evenly apart; the two ends where the range has none."""
    first, last = math.ceil(math.log2(low)), math.floor(math.log2(high))
    if last <= first:
        return sorted({low, high})
    step = next(step for step in (1, 2, 3, 4, 5, 10, 20, 40) if (last - first) // step < most)
    return [2**power for power in range(first, last + 1) if power % step == 0] or [low, high]


def size_text(size: int) -> str:
    """A size with binary prefixes: 512, 4K, 64M."""
    for one, letter in ((2**30, "G"), (2**20, "M"), (2**10, "K")):
        if size >= one:
            return f"{size / one:.3g}{letter}"
    return str(size)
