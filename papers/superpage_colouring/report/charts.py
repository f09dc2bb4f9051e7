# SPDX-License-Identifier: Apache-2.0
"""Charts of how pages are placed: gains by dimension with the misses that explain them, and runs seed by seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from okosu.report import axes, formats, svg
from papers.superpage_colouring.colour_model import Gain

WIDE = 720
C = svg.COLOURS
ZOOM = (0.8, 1.2)
"""What the paper's panels (b) show of the ratio."""
DASHES = ("-", (0, (5, 2)), (0, (1, 1.5)))
_LEFT, _RIGHT, _TOP, _BELOW, _BETWEEN, _LETTER = 52, 14, 46, 44, 26, 6.6
_ROWS = (190, 120, 110)
"""Pixels of the ratio, of its part about 1, and of the misses."""
Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Line:
    """A line: `tone` is a colour of the page, `dash` tells lines of one tone apart."""

    points: Points
    tone: str
    dash: int = 0


@dataclass(frozen=True)
class Panel:
    """A figure of the paper: ratios with the range of the seeds, misses by arm, and the dimension that fills the cache.

    `dots` are what the paper's table has.
    """

    ratios: Mapping[str, tuple[Sequence[Gain], str]]
    misses: Mapping[str, Line]
    full: float
    dots: Points = ()


def panel(figure: Panel, name: str, width: int) -> str:
    """Return the chart: the ratio, the ratio about 1, and underneath the misses; one axis of dimensions for all."""
    height = _TOP + _BELOW + sum(_ROWS) + 2 * _BETWEEN
    every = [one for gains, _ in figure.ratios.values() for one in gains]
    first, last = (pick(one.dimension for one in every) for pick in (min, max))
    margin = (last - first) * 0.02 or 1.0
    with svg.figure(width, height) as drawn:
        from_top, rows = float(_TOP), []
        for pixels in _ROWS:
            box = (_LEFT / width, 1 - (from_top + pixels) / height, 1 - (_LEFT + _RIGHT) / width, pixels / height)
            rows.append(drawn.add_axes(box))
            from_top += pixels + _BETWEEN
        for ax in rows:
            ax.set_xlim(first - margin, last + margin)
            if first <= figure.full <= last:
                ax.axvline(figure.full, color=C["muted"], linewidth=1, linestyle=(0, (2, 2)))
            ticks = axes.linear_ticks(first - margin, last + margin, 8 if width >= WIDE else 4)
            ax.set_xticks(ticks, [f"{tick:.10g}" for tick in ticks] if ax is rows[-1] else [""] * len(ticks))
        rows[-1].set_xlabel("dimension")
        top = 1.06 * max(max(one.most for one in every), *(y for _, y in figure.dots), ZOOM[1])
        _ratios(rows[0], figure, (0.0, top), 5)
        _ratios(rows[1], figure, ZOOM, 3)
        _misses(rows[2], figure.misses)
        for ax, text in zip(rows, ("times as fast", "the same about 1", "L2 misses, % of accesses"), strict=True):
            ax.text(0.0, 1.03, text, transform=ax.transAxes, color=C["muted"], va="bottom")
        legend = {label: (tone, "-") for label, (_, tone) in figure.ratios.items()}
        _legend(drawn, legend, bool(figure.dots), (width, height), 14)
        misses = {label: (line.tone, DASHES[line.dash]) for label, line in figure.misses.items()}
        _legend(rows[2].figure, misses, False, (width, height), height - _BELOW - _ROWS[2] - 11, True)
        return svg.render(drawn, name, _words(figure))


def _ratios(ax: Any, figure: Panel, limits: tuple[float, float], most: int) -> None:
    ax.axhline(1, color=C["muted"], linewidth=1)
    for gains, tone in figure.ratios.values():
        xs = [float(one.dimension) for one in gains]
        ax.fill_between(xs, [one.least for one in gains], [one.most for one in gains], color=C[tone], alpha=0.16, lw=0)
        ax.plot(xs, [one.ratio for one in gains], color=C[tone], linewidth=1.6)
    if figure.dots:
        xs, ys = ([point[i] for point in figure.dots] for i in (0, 1))
        ax.plot(xs, ys, "o", markersize=5, markerfacecolor="none", markeredgecolor=C["ink"], markeredgewidth=1.2)
    ax.set_ylim(*limits)
    ticks = axes.linear_ticks(*limits, most)
    ax.set_yticks(ticks, axes.tick_texts(ticks))


def _misses(ax: Any, lines: Mapping[str, Line]) -> None:
    top = 1.06 * max((y for line in lines.values() for _, y in line.points), default=0) or 1.0
    for line in lines.values():
        xs, ys = ([point[i] for point in line.points] for i in (0, 1))
        ax.plot(xs, ys, color=C[line.tone], linewidth=1.4, linestyle=DASHES[line.dash])
    ax.set_ylim(0, top)
    ticks = axes.linear_ticks(0, top, 3)
    ax.set_yticks(ticks, axes.tick_texts(ticks))


def _legend(
    drawn: Any,
    tones: Mapping[str, tuple[str, Any]],
    dots: bool,
    size: tuple[int, int],
    from_top: float,
    right: bool = False,
) -> None:
    """Write what each line is in one row, from the left or, in a row that begins with other words, to the right."""
    width, height = size
    marks = [(formats.printable(label), C[tone], dash) for label, (tone, dash) in tones.items()]
    lengths = [34 + _LETTER * len(text) for text, _, _ in marks]
    at = width - _RIGHT - sum(lengths) if right else float(_LEFT)
    y = 1 - from_top / height
    for (text, tone, dash), length in zip(marks, lengths, strict=True):
        drawn.add_artist(_stroke(at / width, (at + 16) / width, y, tone, dash))
        drawn.text((at + 21) / width, y, text, va="center")
        at += length
    if dots:
        drawn.text(at / width, y, "○ the paper’s Table 2", va="center")


def _stroke(start: float, end: float, y: float, tone: str, dash: Any) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([start, end], [y, y], color=tone, linewidth=2, linestyle=dash)


def _words(figure: Panel) -> str:
    said = []
    for label, (gains, _) in figure.ratios.items():
        most, least = (pick(gains, key=lambda one: one.ratio) for pick in (max, min))
        said.append(
            f"{label}: from {least.ratio:.2f} at dimension {least.dimension} to {most.ratio:.2f} at {most.dimension}"
        )
    return f"Times as fast by dimension, the cache full at {figure.full:.0f}: {'; '.join(said)}"


def strips(rows: Mapping[str, Sequence[float]], label: str, name: str, width: int) -> str:
    """Return a row for each arm with a dot for each seed and a tick at the mean, on one axis from 0."""
    height = 10 + _BELOW + 26 * len(rows)
    left = 16 + _LETTER * max(len(arm) for arm in rows)
    top = 1.05 * max(max(values) for values in rows.values())
    with svg.figure(width, height) as drawn:
        box = (left / width, _BELOW / height, 1 - (left + _RIGHT) / width, 1 - (_BELOW + 10) / height)
        ax = drawn.add_axes(box)
        for y, values in enumerate(reversed(list(rows.values()))):
            ax.plot(values, [y] * len(values), "o", markersize=5, color=C["arm"], alpha=0.4, markeredgewidth=0)
            ax.plot([fmean(values)] * 2, [y - 0.34, y + 0.34], color=C["ink"], linewidth=2)
        ax.set_yticks(range(len(rows)), list(rows)[::-1])
        ax.tick_params(axis="y", length=0, labelcolor=C["ink"])
        ax.spines["left"].set_visible(False)
        ax.set_ylim(-0.6, len(rows) - 0.4)
        ax.set_xlim(0, top)
        ticks = axes.linear_ticks(0, top, 6 if width >= WIDE else 4)
        ax.set_xticks(ticks, axes.tick_texts(ticks))
        ax.set_xlabel(label)
        words = "; ".join(
            f"{arm} from {formats.significant(min(values))} to {formats.significant(max(values))}"
            for arm, values in rows.items()
        )
        return svg.render(drawn, name, f"{label} by arm, a dot for each seed: {words}")
