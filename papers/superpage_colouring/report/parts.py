# SPDX-License-Identifier: Apache-2.0
"""What placing pages gave on modelled machines, as the report shows it: the paper's figures, then what goes beyond."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from okosu.records.types import ReproduceFile
from okosu.report import formats
from okosu.report.part import Part
from papers.superpage_colouring import colour_model
from papers.superpage_colouring.colour_model import CONFLICTS, ELEMENT, MISSES, WALKS, Cell, Gain
from papers.superpage_colouring.plan import BOTH, COLOUR, STOCK, SUPER
from papers.superpage_colouring.report import charts, tables
from papers.superpage_colouring.report.charts import Line, Panel
from papers.superpage_colouring.report.tables import NAMES

_TONES = {STOCK: "base", COLOUR: "arm", SUPER: "fresh", BOTH: "good"}
_PAPERS = {"celeron": 32.0, "pentium4": 128.0}
"""Colours by the paper's rule, by experiment."""


class _Figure(NamedTuple):
    """A figure: of which experiment, which arm over which, and its title."""

    of: str
    ours: str
    base: str
    title: str


_FIGURES = (
    _Figure("celeron", COLOUR, STOCK, "Figures 8 and 9: Celeron, colour over stock"),
    _Figure("celeron", BOTH, STOCK, "Figure 10: Celeron, super and colour over stock"),
    _Figure("celeron", BOTH, SUPER, "Figure 11: Celeron, super and colour over super"),
    _Figure("pentium4", COLOUR, STOCK, "Pentium 4, colour over stock (not in the paper)"),
    _Figure("pentium4", BOTH, STOCK, "Figure 12: Pentium 4, super and colour over stock"),
    _Figure("pentium4", BOTH, SUPER, "Figure 13: Pentium 4, super and colour over super"),
)


def parts(envelope: ReproduceFile, key: str) -> list[Part]:
    """Return what to show of the records of page colours, with what the paper published beside it; [] without any."""
    mine = [one for one in envelope.records if one.platform == "qemu" and one.subject.startswith("page-colour")]
    if not mine:
        return []
    cells = colour_model.read(mine)
    published = {item.id: item.target for item in envelope.compared if item.kind == "published"}
    figures = [part for i, one in enumerate(_FIGURES) if (part := _figure(one, cells, published, f"{key}-f{i}"))]
    wides = [part for of in _PAPERS if (part := _wide(of, cells, f"{key}-w{of}"))]
    return [
        *tables.table2(cells, published),
        *figures,
        *wides,
        *tables.ablation(cells, f"{key}-a"),
        *tables.walks(cells),
        *tables.beyond(cells),
        *tables.several(cells),
        *tables.costs(mine),
    ]


def _figure(one: _Figure, cells: Sequence[Cell], published: Mapping[str, float], key: str) -> Part | None:
    ours, base = (colour_model.sweep(cells, one.of, arm) for arm in (one.ours, one.base))
    gains = colour_model.gains(ours, base)
    if not gains:
        return None
    full = (next(iter(ours.values())).cache / ELEMENT) ** 0.5
    ratios = {f"{NAMES[one.ours]} over {NAMES[one.base]}": (gains, _TONES[one.ours])}
    if one.ours == COLOUR:
        more = colour_model.sweep(cells, "colours", COLOUR, colours=_PAPERS[one.of])
        if wider := colour_model.gains(more, base):
            ratios[f"page_color={_PAPERS[one.of]:.0f}"] = (wider, "fresh")
    dots = _published(published) if (one.of, one.ours, one.base) == ("celeron", COLOUR, STOCK) else []
    misses = {NAMES[arm]: _line(sweep, arm, MISSES) for arm, sweep in ((one.base, base), (one.ours, ours))}
    body = [_row(gain, base[gain.dimension], ours[gain.dimension]) for gain in gains]
    head = [
        "dimension",
        "% of the L2",
        "times as fast",
        "least–most",
        "L2 misses %",
        "of these conflicts",
        "page walks %",
    ]
    draw = partial(charts.panel, Panel(ratios, misses, full, dots))
    return Part(one.title, _about(one, gains, full, ours), head, body, draw, key, charts.WIDE)


def _published(published: Mapping[str, float]) -> list[tuple[float, float]]:
    """Return the gains of the paper's Table 2 by dimension."""
    dimensions = sorted({int(name.split(".")[1]) for name in published if name.startswith("t2.")})
    pairs = [(n, published.get(f"t2.{n}.colour"), published.get(f"t2.{n}.stock")) for n in dimensions]
    return [(float(n), colour / stock) for n, colour, stock in pairs if colour and stock]


def _line(sweep: Mapping[int, Cell], arm: str, metric: str) -> Line:
    points = [(float(n), share) for n, cell in sweep.items() if (share := cell.share(metric)) is not None]
    return Line(points, _TONES[arm])


def _row(gain: Gain, base: Cell, ours: Cell) -> list[str]:
    each = [_both(base.share(metric), ours.share(metric)) for metric in (MISSES, CONFLICTS, WALKS)]
    fill = f"{100 * ours.fill:.0f}"
    return [str(gain.dimension), fill, f"{gain.ratio:.3f}", f"{gain.least:.2f}–{gain.most:.2f}", *each]


def _both(base: float | None, ours: float | None) -> str:
    texts = [formats.DASH if share is None else f"{share:.2f}" for share in (base, ours)]
    return " → ".join(texts)


def _about(one: _Figure, gains: Sequence[Gain], full: float, ours: Mapping[int, Cell]) -> str:
    most = max(gains, key=lambda gain: gain.ratio)
    least = min(gains, key=lambda gain: gain.ratio)
    seeds = len(next(iter(ours.values())).cycles)
    return (
        f"MB/s of {NAMES[one.ours]} over those of {NAMES[one.base]}, memory aged, medians of {seeds} "
        f"seed{'s' if seeds > 1 else ''} (shaded: all of them), and underneath the misses that explain them. The most "
        f"is {most.ratio:.2f} times at dimension {most.dimension}, the least {least.ratio:.3f} at {least.dimension}; "
        f"both matrices fill the L2 at {full:.0f} (dashed)."
    )


def _wide(of: str, cells: Sequence[Cell], key: str) -> Part | None:
    """Return the figures' curves over all dimensions, beyond the paper's panels too."""
    panels = colour_model.sweep(cells, of, STOCK)
    if not panels:
        return None
    first = next(iter(panels.values()))
    machine, full = first.where.machine, (first.cache / ELEMENT) ** 0.5
    arms = {
        arm: {**colour_model.sweep(cells, of, arm), **colour_model.sweep(cells, "wide", arm, machine)} for arm in _TONES
    }
    pairs = ((COLOUR, STOCK), (BOTH, STOCK), (BOTH, SUPER))
    tones = ("arm", "good", "fresh")
    ratios = {
        f"{NAMES[ours]} over {NAMES[base]}": (gains, tone)
        for (ours, base), tone in zip(pairs, tones, strict=True)
        if (gains := colour_model.gains(arms[ours], arms[base]))
    }
    last = max((gains[-1].dimension for gains, _ in ratios.values()), default=0)
    if last <= max(panels):
        return None
    about = f"{machine}: the three ratios to dimension {last}; beyond {max(panels)} with fewer seeds."
    body = [
        [str(n), *(f"{by[n].ratio:.3f}" if n in by else formats.DASH for by in _by_dimension(ratios))]
        for n in sorted(
            {gain.dimension for gains, _ in ratios.values() for gain in gains if gain.dimension > max(panels)}
        )
    ]
    misses = {NAMES[arm]: _line(arms[arm], arm, MISSES) for arm in (STOCK, COLOUR, SUPER)}
    title = f"The whole range: {machine}"
    draw = partial(charts.panel, Panel(ratios, misses, full))
    return Part(title, about, ["dimension", *ratios], body, draw, key, charts.WIDE)


def _by_dimension(ratios: Mapping[str, tuple[Sequence[Gain], str]]) -> list[dict[int, Gain]]:
    return [{gain.dimension: gain for gain in gains} for gains, _ in ratios.values()]
