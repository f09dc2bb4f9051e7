# SPDX-License-Identifier: Apache-2.0
"""Which lines the charts of a microbenchmark have: from the rows of a routine to lines over sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median

from okosu.bench import figures
from okosu.bench.figures import Comparison
from okosu.bench.rows import Header, Row
from okosu.report import bench_charts
from okosu.report.bench_charts import Line, Sizes

FEWEST = 3
"""Sizes below which a chart would show less than the table."""


def charts(
    points: list[Comparison], hinted: list[Comparison], header: Header | None, item: str, key: str
) -> list[dict[str, str]]:
    """The charts of a routine over its sizes: speed, and ratio to the best peer (or to the only one)."""
    sizes = sorted({one.point.n for one in points if one.point.n > 0})
    if len(sizes) < FEWEST:
        return []
    axis = Sizes(sizes[0], sizes[-1], _plural(item), _caches(points, header))
    waiting = points[0].point.mode == figures.LATENCY
    unit = "cycles a call, lower is better" if waiting else f"{_plural(item)} a cycle"
    if any(row.unit != "cycles" for one in points for row in one.rows):
        unit = "ns a call, lower is better" if waiting else f"{_plural(item)} a nanosecond"
    single = _single_peer(points)
    drawn = []
    if lines := _speed_lines(points, hinted, waiting):
        drawn.append(_both(bench_charts.speeds, lines, axis, unit, f"{key}-speed", not single))
    if lines := _ratio_lines(points, hinted):
        words = f"times as fast as {single or 'the best peer'}"
        drawn.insert(0 if single else 1, _both(bench_charts.ratios, lines, axis, words, f"{key}-ratio", bool(single)))
    return drawn


def _both(
    chart: Callable[[Sequence[Line], Sizes, str, str, int], str], lines: list[Line], axis: Sizes, unit: str, name: str,
    large: bool,
) -> dict[str, str]:  # fmt: skip
    """One chart, `large` ones in a wide and in a narrow form."""
    if not large:
        return {"svg": chart(lines, axis, unit, name, bench_charts.HALF), "narrow": "", "caption": _caption(unit)}
    wide = chart(lines, axis, unit, f"{name}-wide", bench_charts.WIDE)
    return {
        "svg": wide,
        "narrow": chart(lines, axis, unit, f"{name}-narrow", bench_charts.NARROW),
        "caption": _caption(unit),
    }


def _caption(text: str) -> str:
    return text[:1].upper() + text[1:]


def _plural(item: str) -> str:
    return f"{item}s"


def _caches(points: Sequence[Comparison], header: Header | None) -> list[tuple[str, float]]:
    """The sizes at which the operands fill each cache."""
    each = [one.point.footprint / one.point.n for one in points if one.point.n and one.point.footprint]
    if header is None or not each:
        return []
    return [(name.removesuffix("d"), size / median(each)) for name, size in header.caches.items() if size]


def _speed_lines(points: list[Comparison], hinted: list[Comparison], waiting: bool) -> list[Line]:
    def speed(row: Row | None) -> float | None:
        if row is None:
            return None
        return figures.cost(row) if waiting else figures.items_rate(row)

    series: dict[tuple[str, str], dict[int, float]] = {}
    entries = {other.entry for other in hinted}
    for one in points:
        for row in one.rows:
            role = _role(one, row, entries)
            if role and (value := speed(row)) is not None:
                series.setdefault((row.variant, role), {})[one.point.n] = value
        if one.limit and not waiting and (value := speed(one.limit)) is not None:
            series.setdefault(("limit", "limit"), {})[one.point.n] = value
    return _lines(series)


def _role(one: Comparison, row: Row, entries: set[str]) -> str:
    """How a row is drawn, "" where it is not. Of the entries, only the chosen one and the one with the hint are
    drawn.
    """
    if one.ours and row.variant == one.ours.variant and row.kind == "okosu":
        return "chosen"
    if row.variant in entries:
        return "hinted"
    return "" if figures.is_entry(row) else row.kind


def _ratio_lines(points: list[Comparison], hinted: list[Comparison]) -> list[Line]:
    series: dict[tuple[str, str], dict[int, float]] = {}
    bounds: dict[str, dict[int, tuple[float, float]]] = {}
    for role, comparisons in (("chosen", points), ("hinted", hinted)):
        for one in comparisons:
            if one.ours and one.ratio:
                series.setdefault((one.ours.variant, role), {})[one.point.n] = one.ratio.median
                if one.ratio.bounded:
                    bounds.setdefault(one.ours.variant, {})[one.point.n] = (one.ratio.low, one.ratio.high)
    if _single_peer(points):
        for one in points:
            theirs = figures.cost(one.peer) if one.peer else None
            for row in one.rows:
                mine = figures.cost(row)
                if theirs and mine and row.kind in ("okosu", "paper") and not figures.is_entry(row):
                    series.setdefault((row.variant, row.kind), {})[one.point.n] = theirs / mine
    return [Line(line.name, line.role, line.sizes, line.values, bounds.get(line.name, {})) for line in _lines(series)]


def _single_peer(points: Sequence[Comparison]) -> str:
    """The name of the peer where there is only one, else ""."""
    names = {row.variant for one in points for row in one.rows if row.kind == "peer"}
    return names.pop() if len(names) == 1 else ""


def _lines(series: dict[tuple[str, str], dict[int, float]]) -> list[Line]:
    order = {role: i for i, role in enumerate(bench_charts.ROLES)}
    made = [
        Line(name, role, sorted(values), [values[n] for n in sorted(values)]) for (name, role), values in series.items()
    ]
    drawable = [line for line in made if all(0 < value < 1e15 for value in line.values) and min(line.sizes) > 0]
    return sorted(drawable, key=lambda line: order[line.role])


def dots(points: list[Comparison], item: str, key: str) -> list[dict[str, str]]:
    """The chart of a routine without peers and limits: the cost of one item in each row."""
    rows = [(row.variant, row) for one in points for row in one.rows if row.samples]
    if any(row.unit == "cycles" for _, row in rows):
        # Where the same routine was measured in cycles and in time, only one of the two is drawn.
        rows = [(label, row) for label, row in rows if row.unit == "cycles"]
    if len({label for label, _ in rows}) < len(rows):
        rows = [(f"{label} {bench_charts.size_text(row.n)}", row) for label, row in rows]
    if not 2 <= len(rows) <= 40 or len({row.unit for _, row in rows}) > 1 or not any(max(r.samples) for _, r in rows):
        return []
    unit = f"{rows[0][1].unit} per {item}"
    only = bench_charts.costs(rows, unit, f"{key}-cost")
    return [{"svg": only, "narrow": "", "caption": f"{_caption(unit)}, lower is better"}]
