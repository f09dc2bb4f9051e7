# SPDX-License-Identifier: Apache-2.0
"""The microbenchmarks of a records file: an overview of each, and a table and charts for each of its kernels."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

import msgspec

from okosu.bench import figures
from okosu.bench.figures import Comparison
from okosu.bench.rows import Header, Kernel, Row, from_records
from okosu.records.types import Envelope
from okosu.report import bench_charts, formats
from okosu.report.bench_charts import Line, Sizes
from okosu.stats.paired import Interval

PLACES = ("L1", "L2", "L3", "memory")
FEWEST = 3
"""Sizes below which a chart would show less than the table."""
_Found = dict[str, Any]


def sections(envelope: Envelope, key: str) -> list[_Found]:
    """Return a dictionary for each benchmark in the file, for bench.html.j2; [] where there is none."""
    about = envelope.plan.get("benches")
    stored = about if isinstance(about, dict) else {}
    return [
        _section(name, rows, stored.get(name, {}), f"{key}-b{i}")
        for i, (name, rows) in enumerate(from_records(envelope.records).items(), 1)
    ]


def _section(name: str, rows: Sequence[Row], about: Any, key: str) -> _Found:
    about = about if isinstance(about, dict) else {}
    header = _convert(about.get("header"), Header)
    kernels = {kernel.name: kernel for kernel in _convert(about.get("kernels"), list[Kernel]) or []}
    found = figures.compare(rows)
    groups = [_group(points, header, kernels, f"{key}-g{i}") for i, points in enumerate(figures.groups(found), 1)]
    count = figures.comparisons(found)
    needed = figures.rounds_needed(count)
    absent = about.get("absent")
    notes = about.get("notes")
    return {
        "key": key,
        "name": name,
        "facts": _facts(header),
        "smoke": bool(header and header.smoke),
        "unfinished": about.get("finished") is False,
        "groups": groups,
        "overview": _overview(found),
        "places": PLACES,
        "count": count,
        "too_few": needed if header and count and header.rounds < needed else 0,
        "rounds": header.rounds if header else 0,
        "absent": [one for one in absent if isinstance(one, dict)] if isinstance(absent, list) else [],
        "notes": [str(note) for note in notes] if isinstance(notes, list) else [],
    }


def _convert(value: Any, kind: Any) -> Any:
    """Return the value as its type, None where it is not of it: a report shows what it can."""
    try:
        return msgspec.convert({"type": "header", **value} if kind is Header else value, kind)
    except (msgspec.ValidationError, TypeError):
        return None


def _facts(header: Header | None) -> str:
    if header is None:
        return ""
    caches = ", ".join(f"{name} {bench_charts.size_text(size)}" for name, size in header.caches.items() if size)
    return (
        f"CPU {header.cpu} at {header.core_hz / 1e9:.2f} GHz, {header.features}; {caches}; {header.rounds} rounds, "
        f"order drawn from seed {header.seed}."
    )


def _overview(found: Sequence[Comparison]) -> list[tuple[str, list[str]]]:
    """Return, for each kernel and mode, the ratio to the best peer at each place: median (lowest – highest)."""
    rows: dict[str, dict[str, list[float]]] = {}
    for one in found:
        if one.works and one.ratio:
            rows.setdefault(_title(one), {}).setdefault(one.point.place, []).append(one.ratio.median)
    return [(title, [_span(by_place.get(place, [])) for place in PLACES]) for title, by_place in rows.items()]


def _span(values: list[float]) -> str:
    if not values:
        return formats.DASH
    if len(values) == 1:
        return f"{values[0]:.2f}"
    return f"{median(values):.2f} ({min(values):.2f} – {max(values):.2f})"


def _title(one: Comparison) -> str:
    where = f", {' '.join(f'+{offset}' for offset in one.point.align)}" if any(one.point.align) else ""
    return f"{one.point.kernel}, {one.point.mode}{where}"


def _group(points: list[Comparison], header: Header | None, kernels: dict[str, Kernel], key: str) -> _Found:
    kernel = kernels.get(points[0].point.kernel)
    item = kernel.item if kernel else "item"
    compared = any(one.works and (one.peer or one.limit) for one in points)
    hinted = [other for one in points if (other := one.hinted())]
    first = points[0].rows[0]
    per = [f"{first.bytes_per_item:g} B" if first.bytes_per_item else "", f"{first.flops_per_item:g} flop"]
    shown = [text for text in per if text and text != "0 flop"]
    return {
        "key": key,
        "title": _title(points[0]),
        "about": f"{kernel.doc}; {' and '.join(shown)} per {item}"
        if kernel and shown
        else kernel.doc
        if kernel
        else "",
        "compared": compared,
        "item": item,
        "rows": [_cells(one, header) for one in points if one.ours] if compared else [],
        "hinted": [_cells(one, header) for one in hinted],
        "entry": hinted[0].entry if hinted else "",
        "plain": [] if compared else [_plain(row, header) for one in points for row in one.rows],
        "charts": _charts(points, hinted, header, item, key) if compared else _dots(points, item, key),
    }


def _cells(one: Comparison, header: Header | None) -> dict[str, str]:
    ours = one.ours
    assert ours is not None
    share, ratio = one.share(ours), one.ratio
    return {
        "n": bench_charts.size_text(one.point.n) if one.point.n >= 1024 else str(one.point.n),
        "place": one.point.place,
        "ours": ours.config or ours.variant,
        "cost": _number(figures.cost(ours)),
        "rate": _number(figures.items_rate(ours)),
        "gigabytes": _number(figures.gigabytes(ours, header.core_hz) if header else None),
        "share": formats.DASH if share is None else f"{100 * share.median:.0f} %",
        "limit": f"{one.limit.kernel} {one.limit.variant}" if one.limit and share else "",
        "peer": one.peer.variant if one.peer else formats.DASH,
        "library": one.peer.library if one.peer else "",
        "peer_rate": _number(figures.items_rate(one.peer) if one.peer else None),
        "ratio": formats.ratio(ratio.median, _bounds(ratio)) if ratio else formats.DASH,
        "interval": formats.bounds(_bounds(ratio)) if ratio else formats.DASH,
    }


def _bounds(ratio: Interval) -> tuple[float, float] | None:
    return (ratio.low, ratio.high) if ratio.bounded else None


def _plain(row: Row, header: Header | None) -> dict[str, str]:
    cost = figures.cost(row)
    return {
        "variant": row.variant,
        "n": bench_charts.size_text(row.n),
        "cost": _number(cost),
        "each": _number(cost / row.items if cost is not None and row.items else None),
        "unit": row.unit,
        "gigabytes": _number(figures.gigabytes(row, header.core_hz) if header else None),
        "config": row.config,
    }


def _number(value: float | None) -> str:
    if value is None:
        return formats.DASH
    return formats.count(value) if value >= 1000 else formats.significant(value)


def _charts(
    points: list[Comparison], hinted: list[Comparison], header: Header | None, item: str, key: str
) -> list[dict[str, str]]:
    sizes = sorted({one.point.n for one in points if one.point.n > 0})
    if len(sizes) < FEWEST:
        return []
    axis = Sizes(sizes[0], sizes[-1], _plural(item), _caches(points, header))
    waiting = points[0].point.mode == figures.LATENCY
    unit = "cycles a call, lower is better" if waiting else f"{_plural(item)} a cycle"
    if any(row.unit != "cycles" for one in points for row in one.rows):
        unit = "ns a call, lower is better" if waiting else f"{_plural(item)} a nanosecond"
    drawn = []
    if lines := _speed_lines(points, hinted, waiting):
        drawn.append({"svg": bench_charts.speeds(lines, axis, unit, f"{key}-speed"), "caption": _caption(unit)})
    if lines := _ratio_lines(points, hinted):
        single = _single_peer(points)
        words = f"times as fast as {single or 'the best peer'}"
        drawn.append({"svg": bench_charts.ratios(lines, axis, words, f"{key}-ratio"), "caption": _caption(words)})
    return drawn


def _caption(text: str) -> str:
    return text[:1].upper() + text[1:]


def _plural(item: str) -> str:
    return f"{item}s"


def _caches(points: Sequence[Comparison], header: Header | None) -> list[tuple[str, float]]:
    """Return the sizes at which the operands fill each cache."""
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
    """Return how a row is drawn, "" where it is not: of the entries, only the chosen one and the one that is told."""
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
    """Return the name of the peer where there is only one, else ""."""
    names = {row.variant for one in points for row in one.rows if row.kind == "peer"}
    return names.pop() if len(names) == 1 else ""


def _lines(series: dict[tuple[str, str], dict[int, float]]) -> list[Line]:
    order = {role: i for i, role in enumerate(bench_charts.ROLES)}
    made = [
        Line(name, role, sorted(values), [values[n] for n in sorted(values)]) for (name, role), values in series.items()
    ]
    drawable = [line for line in made if all(0 < value < 1e15 for value in line.values) and min(line.sizes) > 0]
    return sorted(drawable, key=lambda line: order[line.role])


def _dots(points: list[Comparison], item: str, key: str) -> list[dict[str, str]]:
    rows = [(row.variant, row) for one in points for row in one.rows if row.samples]
    if len({label for label, _ in rows}) < len(rows):
        rows = [(f"{label} {bench_charts.size_text(row.n)}", row) for label, row in rows]
    if not 2 <= len(rows) <= 40 or len({row.unit for _, row in rows}) > 1 or not any(max(r.samples) for _, r in rows):
        return []
    unit = f"{rows[0][1].unit} per {item}"
    return [{"svg": bench_charts.costs(rows, unit, f"{key}-cost"), "caption": f"{_caption(unit)}, lower is better"}]
