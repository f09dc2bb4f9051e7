# SPDX-License-Identifier: Apache-2.0
"""Charts of what the simulated machine gave: lines over an axis, each number exact, and bars that add up to a whole."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from okosu.report import axes, formats, svg

WIDE, HEIGHT, BAR, LABEL = 580, 340, 34, 22
C = svg.COLOURS
DASHES = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)))
MARKS = "osD^"
_GAP, _LEFT, _BELOW = 13.0, 66, 44
"""Pixels between names, and beside and below a chart."""
_LETTER = 6.6


@dataclass(frozen=True)
class Line:
    """A line of points (x, y), x ascending; `tone` is a colour of the page, `dash` (with the mark) tells lines of one
    tone apart."""

    points: Sequence[tuple[float, float]]
    tone: str
    dash: int = 0


@dataclass(frozen=True)
class Axis:
    """An axis: what it shows, whether it is logarithmic, where a line is drawn across the chart, and where its ticks
    are (none: round numbers)."""

    label: str
    log: bool = False
    mark: float | None = None
    ticks: Sequence[float] = ()


def lines(drawn_lines: Mapping[str, Line], x: Axis, y: Axis, name: str, width: int) -> str:
    """Return the chart of these lines, each named at its end; a linear axis begins at 0."""
    xs = [point[0] for line in drawn_lines.values() for point in line.points]
    ys = [point[1] for line in drawn_lines.values() for point in line.points]
    names = {label: formats.shorten(formats.printable(label), LABEL) for label in drawn_lines}
    right = 14 + _LETTER * max(len(shown) for shown in names.values())
    with svg.figure(width, HEIGHT) as drawn:
        box = (_LEFT / width, _BELOW / HEIGHT, 1 - (_LEFT + right) / width, 1 - (_BELOW + 14) / HEIGHT)
        ax = drawn.add_axes(box)
        low, high = _scale(ax, "y", y, [*ys, *([] if y.mark is None else [y.mark])], 6)
        _scale(ax, "x", x, xs, 7 if width >= WIDE else 4)
        if y.mark is not None:
            ax.axhline(_place(y, y.mark), color=C["muted"], linewidth=1)
        for line in drawn_lines.values():
            places = [(_place(x, a), _place(y, b)) for a, b in line.points]
            ax.plot(
                [a for a, _ in places],
                [b for _, b in places],
                color=C[line.tone],
                linewidth=1.6,
                linestyle=DASHES[line.dash % len(DASHES)],
                marker=MARKS[line.dash % len(MARKS)],
                markersize=3.5,
            )
        ends = {label: (_place(y, line.points[-1][1]) - low) / (high - low) for label, line in drawn_lines.items()}
        for label, at in apart(ends, _GAP / (HEIGHT - _BELOW - 14)):
            tone = C[drawn_lines[label].tone]
            ax.text(1.02, at, names[label], transform=ax.transAxes, va="center", color=tone)
        words = f"{y.label} against {x.label}: " + "; ".join(
            f"{names[label]} {formats.significant(line.points[0][1])} at {formats.significant(line.points[0][0])} to "
            f"{formats.significant(line.points[-1][1])} at {formats.significant(line.points[-1][0])}"
            for label, line in drawn_lines.items()
        )
        return svg.render(drawn, name, words)


def _place(axis: Axis, value: float) -> float:
    return math.log(value) if axis.log else value


def _scale(ax: Any, which: str, axis: Axis, values: Sequence[float], most: int) -> tuple[float, float]:
    """Set an axis's range and ticks; return the range in its own coordinates."""
    if axis.log:
        low, high = axes.padded([math.log(value) for value in values], 0.04)
        ticks = axes.ratio_ticks(math.exp(low), math.exp(high), most)
    else:
        low, high = 0.0, 1.05 * max(values)
        ticks = axes.linear_ticks(low, high, most)
    ticks = list(axis.ticks) or ticks
    set_limits, set_ticks, set_label = (getattr(ax, f"set_{which}{part}") for part in ("lim", "ticks", "label"))
    set_limits(low, high)
    texts = [formats.count(tick) if tick >= 1000 else f"{tick:.10g}" for tick in ticks]
    set_ticks([_place(axis, tick) for tick in ticks], texts)
    set_label(axis.label)
    return low, high


def apart(ends: Mapping[str, float], gap: float) -> list[tuple[str, float]]:
    """Return where each name stands, as a share of the height: at its line's end, moved where another is too near."""
    placed: list[tuple[str, float]] = []
    for label, at in sorted(ends.items(), key=lambda item: item[1]):
        placed.append((label, max(at, placed[-1][1] + gap) if placed else at))
    ceiling = 1.0
    for i in range(len(placed) - 1, -1, -1):
        label, at = placed[i]
        placed[i] = (label, min(at, ceiling))
        ceiling = placed[i][1] - gap
    return placed


def stacks(bars: Mapping[str, Mapping[str, float]], tones: Mapping[str, str], label: str, name: str, width: int) -> str:
    """Return a horizontal bar for each of `bars`, whose parts lie one behind the other; the largest fills the width."""
    height = _BELOW + 40 + BAR * len(bars)
    left = 14 + _LETTER * max(len(bar) for bar in bars)
    top = max(sum(parts.values()) for parts in bars.values())
    with svg.figure(width, height) as drawn:
        box = (left / width, _BELOW / height, 1 - (left + 14) / width, 1 - (_BELOW + 40) / height)
        ax = drawn.add_axes(box)
        for at, parts in enumerate(reversed(list(bars.values()))):
            begin = 0.0
            for part, value in parts.items():
                ax.barh(at, value, left=begin, height=0.6, color=C[tones[part]], linewidth=0)
                begin += value
        ax.set_yticks(range(len(bars)), list(bars)[::-1])
        ax.tick_params(axis="y", length=0, labelcolor=C["ink"])
        ax.spines["left"].set_visible(False)
        ax.set_ylim(-0.5, len(bars) - 0.5)
        ax.set_xlim(0, top)
        ticks = axes.linear_ticks(0, top, 5)
        ax.set_xticks(ticks, axes.tick_texts(ticks))
        ax.set_xlabel(label)
        from_left = 0.0
        for part, tone in tones.items():
            ax.text(from_left / width, 1 - 16 / height, "■", transform=drawn.transFigure, color=C[tone], va="center")
            ax.text((from_left + 14) / width, 1 - 16 / height, part, transform=drawn.transFigure, va="center")
            from_left += 26 + _LETTER * len(part)
        words = f"{label}: " + "; ".join(
            f"{bar}: " + ", ".join(f"{part} {formats.significant(value)}" for part, value in parts.items())
            for bar, parts in bars.items()
        )
        return svg.render(drawn, name, words)
