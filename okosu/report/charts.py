# SPDX-License-Identifier: Apache-2.0
"""The charts of a trial, each one figure without a title: the page's caption describes it.

Ratios are drawn as base / arm, so that to the right and upwards is always better.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Any

from okosu.report import axes, formats, svg
from okosu.report.model import Pair, Running
from okosu.report.words import Words
from okosu.stats.carry import FEWEST

NARROW, WIDE, HALF = 396, 920, 452
C = svg.COLOURS


@dataclass(frozen=True)
class Estimate:
    """One row of the forest: t_arm / t_base with its interval (None: not bounded yet)."""

    name: str
    ratio: float
    interval: tuple[float, float] | None
    tone: str
    """"good", "bad" or "muted"."""
    headline: bool


@dataclass(frozen=True)
class Course:
    """The pairs of one arm, the interval as it stood after each round, and the round after which it was decided."""

    pairs: Sequence[Pair]
    running: Sequence[Running]
    decided: int | None = None


def forest(rows: list[Estimate], delta: float, said: Words, name: str, width: int) -> str:
    """The ratios with their intervals, one row each, on a logarithmic axis that has 1 where nothing changes."""
    row_height, top, bottom = 26, 8, 44
    height = top + bottom + row_height * len(rows)
    longest = 30 if width > 600 else 17
    left = svg.row_margin((row.name for row in rows), longest)
    values = [1 - delta, 1 + delta, 1.0]
    for row in rows:
        values += [row.ratio, *(row.interval or ())]
    low, high = axes.padded([-math.log(v) for v in values if v > 0], 0.05)
    with svg.figure(width, height) as drawn:
        box = (left / width, bottom / height, 1 - (left + 14) / width, 1 - (top + bottom) / height)
        ax = drawn.add_axes(box)
        ax.axvspan(-math.log(1 + delta), -math.log(1 - delta), color=C["band"], linewidth=0)
        ax.axvline(0, color=C["muted"], linewidth=1)
        for y, row in enumerate(rows):
            _estimate(ax, row, len(rows) - 1 - y)
        svg.name_rows(ax, [row.name for row in rows], longest)
        ax.set_xlim(low, high)
        _ratio_axis(ax.xaxis, low, high, 8 if width > 600 else 5)
        quotient = "arm ÷ base" if said.rate else "base ÷ arm"
        ax.set_xlabel(f"← {said.worse}  ·  {quotient}, log axis  ·  {said.better} →")
        return svg.render(drawn, name, _forest_words(rows, delta, said))


def _estimate(ax: Any, row: Estimate, y: float) -> None:
    colour = C[row.tone]
    if row.interval:
        ax.plot([-math.log(v) for v in row.interval], [y, y], color=colour, linewidth=2, solid_capstyle="butt")
        for end in row.interval:
            ax.plot([-math.log(end)] * 2, [y - 0.16, y + 0.16], color=colour, linewidth=2, solid_capstyle="butt")
    ax.plot(
        [-math.log(row.ratio)], [y], "D" if row.headline else "o", markersize=7.5,
        markerfacecolor=colour if row.headline else C["paper"], markeredgecolor=colour, markeredgewidth=1.8,
    )  # fmt: skip


def _forest_words(rows: list[Estimate], delta: float, said: Words) -> str:
    shown = [f"{row.name} {said.signed(row.ratio, row.interval)}" for row in rows]
    return f"Changes against base with intervals; band of plus or minus {delta * 100:g} %: " + "; ".join(shown)


def rounds(course: Course, delta: float, said: Words, name: str, arm: str) -> str:
    """Base ÷ arm of each round in front of the running interval."""
    xs = [-pair.x for pair in course.pairs]
    low, high = axes.padded([*xs, math.log(1 - delta), math.log(1 + delta)])
    with svg.figure(HALF, 250) as drawn:
        ax = drawn.add_axes((0.13, 0.17, 0.85, 0.74))
        ax.axhspan(-math.log(1 + delta), -math.log(1 - delta), color=C["band"], linewidth=0)
        ax.axhline(0, color=C["muted"], linewidth=1)
        _count_rounds(ax, course)
        if course.running:
            _band(ax, course.running)
        _dots(ax, [pair.round for pair in course.pairs], xs, C["arm"])
        ax.set_ylim(low, high)
        _ratio_axis(ax.yaxis, low, high, 6)
        middle = math.exp(median(pair.x for pair in course.pairs))
        words = f"{arm} against base by round: {len(course.pairs)} rounds, median {said.change(middle)}"
        if course.decided is not None:
            words += f", known after round {course.decided}"
        return svg.render(drawn, name, words)


def _band(ax: Any, running: Sequence[Running]) -> None:
    """Draw the interval and the ratio as steps, each from half a round before its round to the next."""
    held = [*running, running[-1]]
    at = [one.round - 0.5 for one in running] + [running[-1].round + 0.5]
    low, high = ([-math.log(end) for end in ends] for ends in zip(*((one.low, one.high) for one in held), strict=True))
    ax.fill_between(at, high, low, step="post", color=C["arm"], alpha=0.18, linewidth=0)
    ax.step(at, [-math.log(one.ratio) for one in held], where="post", color=C["arm"], linewidth=1.5)


def times(course: Course, said: Words, name: str, arm: str) -> str:
    """The values of base and of an arm by round, with median and quartiles of both at the right."""
    pairs = [(pair.round, said.value(pair.arm), said.value(pair.base)) for pair in course.pairs]
    values = [value for _, mine, base in pairs for value in (mine, base)]
    logarithmic = max(values) / min(values) > 5
    low, high = axes.padded([math.log(v) for v in values] if logarithmic else values)
    place = math.log if logarithmic else float
    with svg.figure(HALF, 250) as drawn:
        ax = drawn.add_axes((0.17, 0.17, 0.64, 0.74))
        side = drawn.add_axes((0.83, 0.17, 0.16, 0.74), sharey=ax)
        _count_rounds(ax, course)
        columns = [
            ("base", C["base"], [base for _, _, base in pairs]),
            ("arm", C["arm"], [mine for _, mine, _ in pairs]),
        ]
        for x, (_, colour, column) in enumerate(columns):
            _dots(ax, [at for at, _, _ in pairs], [place(value) for value in column], colour)
            _summary(side, x, [place(value) for value in column], colour)
        side.set_xlim(-0.6, 1.6)
        side.set_xticks([0, 1], [label for label, _, _ in columns])
        side.tick_params(axis="x", length=0)
        side.tick_params(axis="y", length=0, labelleft=False)
        side.spines[["left", "bottom"]].set_visible(False)
        ax.set_ylim(low, high)
        shown = axes.ratio_ticks(math.exp(low), math.exp(high)) if logarithmic else axes.linear_ticks(low, high)
        texts, name_of_unit = axes.scaled(shown, said.unit)
        ax.set_yticks([place(value) for value in shown], texts)
        ax.text(-0.02, 1.04, name_of_unit, transform=ax.transAxes, ha="right", color=C["muted"])
        medians = [formats.quantity(median(column), said.unit) for _, _, column in columns]
        return svg.render(drawn, name, f"By round, base median {medians[0]}, {arm} median {medians[1]}")


def carry(groups: dict[str, list[float]], unit: str, name: str, width: int) -> str:
    """Base's samples by the arm that ran just before each, one row per arm, with medians."""
    height = 46 + 26 * len(groups)
    longest = 30 if width > 600 else 17
    left = svg.row_margin(groups, longest)
    every = [value for values in groups.values() for value in values]
    low, high = axes.padded(every)
    with svg.figure(width, height) as drawn:
        ax = drawn.add_axes((left / width, 38 / height, 1 - (left + 14) / width, 1 - 46 / height))
        ax.axvline(median(every), color=C["muted"], linewidth=1)
        for y, values in enumerate(reversed(groups.values())):
            ax.plot(values, [y] * len(values), "o", markersize=5, color=C["base"], alpha=0.55, markeredgewidth=0)
            if len(values) >= FEWEST:
                ax.plot([median(values)] * 2, [y - 0.32, y + 0.32], color=C["ink"], linewidth=2)
        svg.name_rows(ax, list(groups), longest)
        ax.set_xlim(low, high)
        shown = axes.linear_ticks(low, high, 6 if width > 600 else 4)
        texts, name_of_unit = axes.scaled(shown, unit)
        ax.set_xticks(shown, texts)
        ax.set_xlabel(name_of_unit)
        words = "Base by what ran before it: " + "; ".join(
            f"after {arm} {formats.quantity(median(values), unit)}" for arm, values in groups.items()
        )
        return svg.render(drawn, name, words)


def _count_rounds(ax: Any, course: Course) -> None:
    """Number the axis of rounds, and draw a line after the round that decided."""
    last = max(pair.round for pair in course.pairs)
    every = max(1, round(axes.nice_step(last, 5)))
    # The first multiple is left out where it would stand right beside the 1.
    ticks = [1, *(n for n in range(every, last + 1, every) if 4 * (n - 1) >= 3 * every and n > 1)]
    if course.decided is not None and course.decided <= last:
        ax.axvline(course.decided + 0.5, color=C["line"], linewidth=1)
        # Towards the middle, so that the words do not leave the chart.
        left = course.decided > last / 2
        place = {"transform": ax.get_xaxis_transform(), "ha": "right" if left else "left", "color": C["muted"]}
        ax.text(course.decided + 0.5, 1.04, "known " if left else " known", **place)
    ax.set_xlim(0, last + 1)
    ax.set_xticks(ticks, [str(n) for n in ticks])
    ax.set_xlabel("round")


def _dots(ax: Any, at: list[int], values: list[float], colour: str) -> None:
    ax.plot(
        at, values, "o", markersize=4.6 if len(values) <= 60 else 3.2, markerfacecolor=C["paper"],
        markeredgecolor=colour, markeredgewidth=1.3,
    )  # fmt: skip


def _summary(ax: Any, x: float, values: list[float], colour: str) -> None:
    ax.plot([x, x], [min(values), max(values)], color=colour, linewidth=1)
    if len(values) > 1:
        lower, middle, upper = quantiles(values, n=4, method="inclusive")
        ax.plot([x, x], [lower, upper], color=colour, linewidth=8, solid_capstyle="butt")
    else:
        middle = values[0]
    ax.plot([x - 0.3, x + 0.3], [middle, middle], color=C["ink"], linewidth=1.5)


def _ratio_axis(axis: Any, low: float, high: float, most: int) -> None:
    ticks = axes.ratio_ticks(math.exp(low), math.exp(high), most)
    axis.set_ticks([math.log(tick) for tick in ticks], axes.tick_texts(ticks))
