# SPDX-License-Identifier: Apache-2.0
"""The microbenchmarks of a records file: an overview of each, and a table and charts for each of its routines."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

import msgspec

from okosu.bench import figures
from okosu.bench.figures import Comparison
from okosu.bench.rows import Absent, Header, Routine, Row, from_records
from okosu.records.types import BenchFile, ReproduceFile
from okosu.report import bench_charts, bench_plots, formats
from okosu.stats.paired import Interval

PLACES = ("L1", "L2", "L3", "memory")
_Found = dict[str, Any]


def sections(file: BenchFile | ReproduceFile, key: str) -> list[_Found]:
    """A dictionary for each benchmark in a file, for bench.html.j2; [] where there is none."""
    # Timings from inside a guest are neither of this library nor in this machine's cycles; the papers' parts show them.
    own = from_records([record for record in file.records if record.platform == "native"])
    return [
        _section(name, rows, file.plan.benches.get(name, {}), f"{key}-b{i}")
        for i, (name, rows) in enumerate(own.items(), 1)
    ]


def _section(name: str, rows: Sequence[Row], about: Any, key: str) -> _Found:
    about = about if isinstance(about, dict) else {}
    header = _convert(about.get("header"), Header)
    routines = {routine.name: routine for routine in _convert(about.get("routines"), list[Routine]) or []}
    found = figures.compare(rows)
    groups = [_group(points, header, routines, f"{key}-g{i}") for i, points in enumerate(figures.groups(found), 1)]
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
        "absent": [one for one in map(_absent, absent) if one] if isinstance(absent, list) else [],
        "notes": [str(note) for note in notes] if isinstance(notes, list) else [],
    }


def _convert(value: Any, kind: Any) -> Any:
    """The value converted to its type, None where that fails: a report shows as much of a file as it can."""
    try:
        return msgspec.convert(value, kind)
    except (msgspec.ValidationError, TypeError):
        return None


def _absent(value: Any) -> Absent | None:
    found: Absent | None = _convert({"type": "absent", **value} if isinstance(value, dict) else value, Absent)
    return found


def _facts(header: Header | None) -> str:
    if header is None:
        return ""
    caches = ", ".join(f"{name} {bench_charts.size_text(size)}" for name, size in header.caches.items() if size)
    return (
        f"CPU {header.cpu} at {header.core_hz / 1e9:.2f} GHz, {header.features}; {caches}; {header.rounds} rounds, "
        f"order drawn from seed {header.seed}."
    )


def _overview(found: Sequence[Comparison]) -> list[tuple[str, list[str]]]:
    """For each routine and mode, the ratio to the best peer at each placement: median (lowest – highest)."""
    rows: dict[str, dict[str, list[float]]] = {}
    for one in found:
        if one.works and one.ratio:
            rows.setdefault(title(one), {}).setdefault(one.point.place, []).append(one.ratio.median)
    return [(title, [_span(by_place.get(place, [])) for place in PLACES]) for title, by_place in rows.items()]


def _span(values: list[float]) -> str:
    if not values:
        return formats.DASH
    if len(values) == 1:
        return f"{values[0]:.2f}"
    return f"{median(values):.2f} ({min(values):.2f} – {max(values):.2f})"


def title(one: Comparison) -> str:
    """The routine, its mode, and where its operands lie if they are not aligned."""
    where = f", {' '.join(f'+{offset}' for offset in one.point.align)}" if any(one.point.align) else ""
    return f"{one.point.routine}, {one.point.mode}{where}"


def _group(points: list[Comparison], header: Header | None, routines: dict[str, Routine], key: str) -> _Found:
    routine = routines.get(points[0].point.routine)
    item = routine.item if routine else "item"
    compared = any(one.works and (one.peer or one.limit) for one in points)
    hinted = [other for one in points if (other := one.hinted())]
    drawn = bench_plots.charts(points, hinted, header, item, key) if compared else bench_plots.dots(points, item, key)
    return {
        "key": key,
        "title": title(points[0]),
        "about": _about(routine, points[0].rows[0], item),
        "compared": compared,
        "item": item,
        "rows": [_cells(one, header) for one in points if one.ours] if compared else [],
        "hinted": [_cells(one, header) for one in hinted],
        "entry": hinted[0].entry if hinted else "",
        "plain": [] if compared else [_plain(row, header) for one in points for row in one.rows],
        "charts": drawn,
    }


def _about(routine: Routine | None, row: Row, item: str) -> str:
    """What a routine does, and what it moves and computes for one item."""
    said = [routine.doc if routine else "", per_item(row, item)]
    return "; ".join(filter(None, said))


def per_item(row: Row, item: str) -> str:
    """What a routine moves and computes for one item; "" for nothing."""
    moves = row.bytes_per_item and (item, row.bytes_per_item) != ("byte", 1)
    per = [formats.size(row.bytes_per_item)] if moves else []
    per += [f"{row.flops_per_item:g} flop"] if row.flops_per_item else []
    return f"{' and '.join(per)} per {item}" if per else ""


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
        "limit": f"{one.limit.routine} {one.limit.variant}" if one.limit and share else "",
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
