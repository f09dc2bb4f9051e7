# SPDX-License-Identifier: Apache-2.0
"""The chart of a bench that ran inside a guest's kernel: what a call costs by size, a line for each routine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median, quantiles

from okosu.bench.rows import Row
from okosu.report import axes, formats, svg

WIDE, HEIGHT = 580, 360
C = svg.COLOURS
_TONES = {"okosu": "arm", "peer": "fresh", "paper": "ink", "limit": "muted"}
_DASHES = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)))
"""By place among the lines of one tone."""
_GAP = 13.0
"""Pixels between names."""


def costs(by_size: Mapping[int, Mapping[str, Row]], unit: str, name: str, width: int) -> str:
    """Return the cost of a call against size, both axes linear from 0, with the quartiles of the boots shaded."""
    lines = _lines(by_size)
    top = 1.04 * max(max(median(row.samples) for row in line.values()) for line in lines.values())
    sizes = sorted(by_size)
    right = 16 + 6.6 * max(len(routine) for routine in lines)
    ticks, step = axes.linear_ticks(0, top, 6), _step(sizes[-1], 5 if width >= WIDE else 3)
    with svg.figure(width, HEIGHT) as drawn:
        ax = drawn.add_axes((44 / width, 42 / HEIGHT, 1 - (44 + right) / width, 1 - 54 / HEIGHT))
        taken: dict[str, int] = {}
        for line in lines.values():
            kind = next(iter(line.values())).kind
            number = taken.setdefault(kind, 0)
            taken[kind] += 1
            tone = C[_TONES.get(kind, "muted")]
            dash = _DASHES[number % len(_DASHES)]
            xs = sorted(line)
            ax.plot(xs, [median(line[x].samples) for x in xs], color=tone, linewidth=1.5, linestyle=dash)
            if all(len(line[x].samples) > 1 for x in xs):
                cut = [quantiles(line[x].samples, n=4, method="inclusive") for x in xs]
                ax.fill_between(xs, [q[0] for q in cut], [q[2] for q in cut], color=tone, alpha=0.12, linewidth=0)
        ax.set_ylim(0, top)
        ax.set_yticks(ticks, axes.tick_texts(ticks))
        ax.set_xlim(0, sizes[-1])
        shown = list(range(0, sizes[-1] + 1, step))
        ax.set_xticks(shown, [str(tick) for tick in shown])
        ax.set_xlabel("bytes")
        for label, y in _apart({r: median(line[max(line)].samples) for r, line in lines.items()}, top):
            ax.text(1.015, y / top, label, transform=ax.transAxes, va="center", color=C["ink"])
        words = f"{unit} against bytes: " + "; ".join(
            f"{routine} {formats.significant(median(line[min(line)].samples))} to "
            f"{formats.significant(median(line[max(line)].samples))}"
            for routine, line in lines.items()
        )
        return svg.render(drawn, name, words)


def _lines(by_size: Mapping[int, Mapping[str, Row]]) -> dict[str, dict[int, Row]]:
    """Return the rows by routine and size, the paper's and the peers first."""
    found: dict[str, dict[int, Row]] = {}
    for size, routines in by_size.items():
        for routine, row in routines.items():
            found.setdefault(routine, {})[size] = row
    order = {"peer": 0, "paper": 1}
    return dict(sorted(found.items(), key=lambda item: order.get(next(iter(item[1].values())).kind, 2)))


def _step(last: int, most: int) -> int:
    """Return the smallest power of two that puts at most `most` steps into `last` bytes."""
    step = 16
    while last / step > most:
        step *= 2
    return step


def _apart(ends: Mapping[str, float], top: float) -> Sequence[tuple[str, float]]:
    """Return where each name stands: at its line's end, moved up where the one below is too near."""
    gap = top * _GAP / (HEIGHT - 54)
    placed: list[tuple[str, float]] = []
    for label, y in sorted(ends.items(), key=lambda item: item[1]):
        placed.append((label, max(y, placed[-1][1] + gap) if placed else y))
    # Names that no longer fit at the top are moved down again, and those below them with them.
    ceiling = top
    for i in range(len(placed) - 1, -1, -1):
        label, y = placed[i]
        placed[i] = (label, min(y, ceiling))
        ceiling = placed[i][1] - gap
    return placed
