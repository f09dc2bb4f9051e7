# SPDX-License-Identifier: Apache-2.0
"""The charts of a report, each one figure without a title: the page's caption describes it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Any

from okosu.report import axes, formats, svg
from okosu.report.model import Pair, Running
from okosu.stats.carry import FEWEST

NARROW, WIDE, HALF = 396, 920, 452
C = svg.COLOURS


@dataclass(frozen=True)
class Estimate:
    """One row of the forest: a ratio with its interval (None: not bounded yet)."""

    name: str
    ratio: float
    interval: tuple[float, float] | None
    tone: str
    """"good", "bad" or "muted"."""
    fresh: bool


@dataclass(frozen=True)
class Phase:
    """The pairs of one stage, with the interval as it stood after each round."""

    stage: str
    pairs: Sequence[Pair]
    running: Sequence[Running]


def forest(rows: list[Estimate], delta: float, words: tuple[str, str], name: str, width: int) -> str:
    """The ratios with their intervals, one row each, on a logarithmic axis with 1 in the middle."""
    row_height, top, bottom = 26, 8, 44
    height = top + bottom + row_height * len(rows)
    longest = 30 if width > 600 else 17
    left = 20 + min(longest, max(len(row.name) for row in rows)) * 6.6
    values = [1 - delta, 1 + delta, 1.0]
    for row in rows:
        values += [row.ratio, *(row.interval or ())]
    low, high = axes.padded([math.log(v) for v in values if v > 0], 0.05)
    with svg.figure(width, height) as drawn:
        box = (left / width, bottom / height, 1 - (left + 14) / width, 1 - (top + bottom) / height)
        ax = drawn.add_axes(box)
        ax.axvspan(math.log(1 - delta), math.log(1 + delta), color=C["band"], linewidth=0)
        ax.axvline(0, color=C["muted"], linewidth=1)
        for y, row in enumerate(rows):
            _estimate(ax, row, len(rows) - 1 - y)
        ax.set_ylim(-0.6, len(rows) - 0.4)
        ax.set_yticks(
            range(len(rows)), [formats.shorten(formats.printable(row.name), longest) for row in reversed(rows)]
        )
        ax.tick_params(axis="y", length=0, labelcolor=C["ink"], pad=8)
        ax.spines["left"].set_visible(False)
        ax.set_xlim(low, high)
        _ratio_axis(ax.xaxis, low, high, 8 if width > 600 else 5)
        ax.set_xlabel(f"← {words[0]}  ·  ratio to base, log axis  ·  {words[1]} →")
        return svg.render(drawn, name, _forest_words(rows, delta))


def _estimate(ax: Any, row: Estimate, y: float) -> None:
    colour = C[row.tone]
    if row.interval:
        ax.plot([math.log(v) for v in row.interval], [y, y], color=colour, linewidth=2, solid_capstyle="butt")
        for end in row.interval:
            ax.plot([math.log(end)] * 2, [y - 0.16, y + 0.16], color=colour, linewidth=2, solid_capstyle="butt")
    ax.plot(
        [math.log(row.ratio)], [y], "D" if row.fresh else "o", markersize=7.5,
        markerfacecolor=colour if row.fresh else C["paper"], markeredgecolor=colour, markeredgewidth=1.8,
    )  # fmt: skip


def _forest_words(rows: list[Estimate], delta: float) -> str:
    said = [
        f"{row.name} {formats.ratio(row.ratio, row.interval)}"
        + (f" from {formats.bounds(row.interval).replace(formats.DASH, 'to')}" if row.interval else "")
        for row in rows
    ]
    return f"Ratios to base with intervals; band of plus or minus {delta * 100:g} %: " + "; ".join(said)


def rounds(phases: list[Phase], delta: float, name: str, arm: str) -> str:
    """The paired ratio of each round in front of the running interval; screening and fresh rounds are set apart."""
    xs = [pair.x for phase in phases for pair in phase.pairs]
    low, high = axes.padded([*xs, math.log(1 - delta), math.log(1 + delta)])
    with svg.figure(HALF, 250) as drawn:
        ax = drawn.add_axes((0.13, 0.17, 0.85, 0.74))
        ax.axhspan(math.log(1 - delta), math.log(1 + delta), color=C["band"], linewidth=0)
        ax.axhline(0, color=C["muted"], linewidth=1)
        for phase, start in _laid_out(ax, phases):
            tone = C["fresh" if phase.stage == "confirmation" else "arm"]
            if phase.running:
                _band(ax, phase.running, start, tone)
            _dots(ax, [start + pair.round for pair in phase.pairs], [pair.x for pair in phase.pairs], tone, phase.stage)
        ax.set_ylim(low, high)
        _ratio_axis(ax.yaxis, low, high, 6)
        words = f"Ratio of {arm} to base by round: " + "; ".join(
            f"{phase.stage} {len(phase.pairs)} rounds, median {math.exp(median(p.x for p in phase.pairs)):.4g}"
            for phase in phases
        )
        return svg.render(drawn, name, words)


def _band(ax: Any, running: Sequence[Running], start: int, tone: str) -> None:
    """Draw the interval and the ratio as steps, each from half a round before its round to the next."""
    held = [*running, running[-1]]
    at = [start + one.round - 0.5 for one in running] + [start + running[-1].round + 0.5]
    low, high = ([math.log(end) for end in ends] for ends in zip(*((one.low, one.high) for one in held), strict=True))
    ax.fill_between(at, low, high, step="post", color=tone, alpha=0.18, linewidth=0)
    ax.step(at, [math.log(one.ratio) for one in held], where="post", color=tone, linewidth=1.5)


def times(phases: list[Phase], unit: str, name: str, arm: str) -> str:
    """The samples of base and of an arm by round, with median and quartiles of both at the right."""
    values = [value for phase in phases for pair in phase.pairs for value in (pair.arm, pair.base)]
    logarithmic = max(values) / min(values) > 5
    low, high = axes.padded([math.log(v) for v in values] if logarithmic else values)
    place = math.log if logarithmic else float
    with svg.figure(HALF, 250) as drawn:
        ax = drawn.add_axes((0.17, 0.17, 0.64, 0.74))
        side = drawn.add_axes((0.83, 0.17, 0.16, 0.74), sharey=ax)
        for phase, start in _laid_out(ax, phases):
            at = [start + pair.round for pair in phase.pairs]
            tone = C["fresh" if phase.stage == "confirmation" else "arm"]
            _dots(ax, at, [place(pair.base) for pair in phase.pairs], C["base"], phase.stage)
            _dots(ax, at, [place(pair.arm) for pair in phase.pairs], tone, phase.stage)
        pairs = [pair for phase in phases for pair in phase.pairs]
        tone = C["fresh" if all(phase.stage == "confirmation" for phase in phases) else "arm"]
        for x, colour, column in ((0, C["base"], [p.base for p in pairs]), (1, tone, [p.arm for p in pairs])):
            _summary(side, x, [place(value) for value in column], colour)
        side.set_xlim(-0.6, 1.6)
        side.set_xticks([0, 1], ["base", "arm"])
        side.tick_params(axis="x", length=0)
        side.tick_params(axis="y", length=0, labelleft=False)
        side.spines[["left", "bottom"]].set_visible(False)
        ax.set_ylim(low, high)
        shown = axes.ratio_ticks(math.exp(low), math.exp(high)) if logarithmic else axes.linear_ticks(low, high)
        texts, name_of_unit = axes.scaled(shown, unit)
        ax.set_yticks([place(value) for value in shown], texts)
        ax.text(-0.02, 1.04, name_of_unit, transform=ax.transAxes, ha="right", color=C["muted"])
        words = f"By round, base median {formats.quantity(median(p.base for p in pairs), unit)}, " + (
            f"{arm} median {formats.quantity(median(p.arm for p in pairs), unit)}"
        )
        return svg.render(drawn, name, words)


def carry(groups: dict[str, list[float]], unit: str, name: str, width: int) -> str:
    """Base's samples by the arm that ran just before each, one row per arm, with medians."""
    height = 46 + 26 * len(groups)
    longest = 30 if width > 600 else 17
    left = 20 + min(longest, max(len(arm) for arm in groups)) * 6.6
    every = [value for values in groups.values() for value in values]
    low, high = axes.padded(every)
    with svg.figure(width, height) as drawn:
        ax = drawn.add_axes((left / width, 38 / height, 1 - (left + 14) / width, 1 - 46 / height))
        ax.axvline(median(every), color=C["muted"], linewidth=1)
        for y, values in enumerate(reversed(groups.values())):
            ax.plot(values, [y] * len(values), "o", markersize=5, color=C["base"], alpha=0.55, markeredgewidth=0)
            if len(values) >= FEWEST:
                ax.plot([median(values)] * 2, [y - 0.32, y + 0.32], color=C["ink"], linewidth=2)
        labels = [formats.shorten(formats.printable(arm), longest) for arm in reversed(groups)]
        ax.set_yticks(range(len(groups)), labels)
        ax.tick_params(axis="y", length=0, labelcolor=C["ink"], pad=8)
        ax.spines["left"].set_visible(False)
        ax.set_ylim(-0.6, len(groups) - 0.4)
        ax.set_xlim(low, high)
        shown = axes.linear_ticks(low, high, 6 if width > 600 else 4)
        texts, name_of_unit = axes.scaled(shown, unit)
        ax.set_xticks(shown, texts)
        ax.set_xlabel(name_of_unit)
        words = "Base by what ran before it: " + "; ".join(
            f"after {arm} {formats.quantity(median(values), unit)}" for arm, values in groups.items()
        )
        return svg.render(drawn, name, words)


def _laid_out(ax: Any, phases: list[Phase]) -> list[tuple[Phase, int]]:
    """Place the stages one after another on the axis of rounds; return each with the number of rounds before it."""
    placed, start, ticks, texts = [], 0, [], []
    for phase in phases:
        last = max(pair.round for pair in phase.pairs)
        placed.append((phase, start))
        step = axes.nice_step(last, 5 if len(phases) == 1 else 3)
        every = max(1, round(step))
        # The first multiple is left out where it would stand right beside the 1.
        some = [1, *(n for n in range(every, last + 1, every) if 4 * (n - 1) >= 3 * every and n > 1)]
        ticks += [start + n for n in some]
        texts += [str(n) for n in some]
        centre = start + (1 + last) / 2
        label = "fresh rounds" if phase.stage == "confirmation" else phase.stage
        ax.text(centre, 1.04, label, transform=ax.get_xaxis_transform(), ha="center", color=C["muted"])
        if start:
            ax.axvline(start, color=C["line"], linewidth=1)
        start += last + 1
    ax.set_xlim(0, start)
    ax.set_xticks(ticks, texts)
    ax.set_xlabel("round")
    return placed


def _dots(ax: Any, at: list[float] | list[int], values: list[float], colour: str, stage: str) -> None:
    filled = stage == "confirmation"
    ax.plot(
        at, values, "o", markersize=4.6 if len(values) <= 60 else 3.2, markerfacecolor=colour if filled else C["paper"],
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
