# SPDX-License-Identifier: Apache-2.0
"""The tables of `okosu bench`: 80 columns of plain text, a block for each routine, mode and placement."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from statistics import geometric_mean, quantiles

from okosu.bench import figures, profile
from okosu.bench.figures import Comparison
from okosu.bench.rows import Header, Result, Row
from okosu.report import bench, formats
from okosu.stats.paired import Interval

WIDTH = 80
DASH = "–"


def listing(result: Result) -> str:
    """The routines and variants of a benchmark (--list)."""
    lines = [f"{result.name}", f"  {'routine':<20} {'bytes':>6} {'flops':>6}  an item is"]
    for routine in result.routines:
        costs = f"{routine.bytes_per_item:>6g} {routine.flops_per_item:>6g}"
        lines += _hanging(f"  {routine.name:<20} {costs}  {routine.item:<8} {routine.doc}", 46)
    if result.variants:
        lines.append(f"  {'variant':<20} {'usable':>6}  needs")
    for variant in result.variants:
        usable = "yes" if variant.usable else "no"
        lines += _hanging(f"  {variant.name:<20} {usable:>6}  {variant.needs or 'nothing':<16} {variant.doc}", 46)
    return "\n".join(lines)


BESIDE_HEAD = ("use", "bytes", "learned", "built in", "built in takes")


def beside_built_in(name: str, rows: Sequence[Row], header: Header | None) -> list[list[str]]:
    """A row of texts for each stretch of sizes, under BESIDE_HEAD: the last cell is how much longer than what was
    learned the built-in choice takes where each is worst, in the mean over the sizes and at the worst of them.
    """
    found = []
    for one in profile.beside_built_in(name, rows, header):
        bytes_ = " to ".join(formats.size(n) for n in dict.fromkeys((one.sizes[0], one.sizes[-1])))
        takes = f"{geometric_mean(one.factors) - 1:+.0%} (at most {max(one.factors) - 1:+.0%})"
        if one.learned == one.built_in:
            takes = "the same"
        found.append([one.section or "any", bytes_, one.learned, one.built_in, takes])
    return found


def learned(result: Result) -> str:
    """The profile that was learned, beside the choice without it; "" where no entry of the library was measured."""
    found = beside_built_in(result.name, result.rows, result.header)
    if not found:
        return ""
    rows = [list(BESIDE_HEAD), *found]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join(["", "learned, beside what is chosen without a profile", *lines]) + "\n"


def render(result: Result) -> str:
    """The whole table of one benchmark, as far as it was measured."""
    lines = _head(result)
    found = figures.compare(result.rows)
    for points in figures.groups(found):
        lines += ["", *_title(result, points[0])]
        if any(one.works and (one.peer or one.limit) for one in points):
            lines += _compared(points, result)
            if hinted := [other for one in points if (other := one.hinted())]:
                lines += ["", *_title(result, hinted[0]), *_compared(hinted, result)]
        else:
            lines += _plain(points, result)
    if absent := [
        f"{one.variant}: {one.why}. Fix: {one.fix}" if one.fix else f"{one.variant}: {one.why}" for one in result.absent
    ]:
        lines += ["", "not here:", *(line for text in absent for line in _hanging(f"  {text}", 4))]
    lines += _remarks(result, found)
    return "\n".join(lines) + "\n"


def _head(result: Result) -> list[str]:
    header = result.header
    if header is None:
        return [f"{result.name}: nothing was measured"]
    caches = ", ".join(f"{name} {formats.size(size)}" for name, size in header.caches.items() if size)
    said = (
        f"{result.name}: CPU {header.cpu} at {header.core_hz / 1e9:.2f} GHz, {header.rounds} rounds, seed "
        f"{header.seed}; {header.features}; {caches}"
    )
    lines = textwrap.wrap(said, WIDTH)
    if header.smoke:
        lines.append("a smoke test: no number of it means anything")
    return lines


def _title(result: Result, first: Comparison) -> list[str]:
    about = next((one for one in result.routines if one.name == first.point.routine), None)
    said = f"{bench.title(first)}{f', by {first.entry}' if first.entry else ''}"
    right = bench.per_item(first.rows[0], about.item if about else "item")
    return [f"{said:<{max(0, WIDTH - len(right))}}{right}".rstrip()]


def _compared(points: Sequence[Comparison], result: Result) -> list[str]:
    unit = "cycles" if all(row.unit == "cycles" for one in points for row in one.rows) else "cost"
    head = f"{'n':>8} {'place':<6} {unit:>7} {'items/cy':>8} {'GB/s':>5} {'limit':>5}"
    lines = [f"{head}  {'best peer':<14} {'ratio':>6}  interval"]
    for one in points:
        ours = one.ours
        if ours is None:
            continue
        share = one.share(ours)
        hz = result.header.core_hz if result.header else 0.0
        ratio = one.ratio
        cells = (
            f"{one.point.n:>8} {one.point.place[:6]:<6} {_short(figures.cost(ours)):>7} "
            f"{_short(figures.items_rate(ours)):>8} {_short(figures.gigabytes(ours, hz)):>5} "
            f"{_share(share):>5}  {_cut(one.peer.variant if one.peer else DASH, 14):<14} "
            f"{f'{ratio.median:.3f}' if ratio else DASH:>6}  {_interval(ratio)}"
        )
        lines.append(cells.rstrip())
    return lines


def _plain(points: Sequence[Comparison], result: Result) -> list[str]:
    """One line for each variant of a routine that has neither peer nor limit: its cost as measured."""
    lines = [f"{'variant':<21} {'n':>9} {'a call':>8} {'an item':>8} {'quartiles':>17} {'unit':<6} {'GB/s':>5}"]
    hz = result.header.core_hz if result.header else 0.0
    for row in (row for one in points for row in one.rows):
        each = figures.cost(row)
        rate = figures.gigabytes(row, hz)
        lines.append(
            f"{_cut(row.variant, 21):<21} {row.n:>9} {_short(each):>8} "
            f"{_short(each / row.items) if each is not None and row.items else DASH:>8} {_quartiles(row):>17} "
            f"{row.unit:<6} {_short(rate) if rate else '':>5}".rstrip()
        )
    return lines


def _remarks(result: Result, found: Sequence[Comparison]) -> list[str]:
    said = list(result.notes)
    count = figures.comparisons(found)
    if count and result.header:
        over = f" over all {count} points together" if count > 1 else ""
        said.append(
            "cycles are core cycles a call of what okosu chooses; limit: its share of the speed of the fastest loop "
            "that only loads, stores or computes as much; ratio: the best peer's cost over ours in the same round, "
            f"above 1 okosu is faster; interval: 95 %{over}."
        )
        needed = figures.rounds_needed(count)
        if result.header.rounds < needed:
            said.append(
                f"{result.header.rounds} rounds bound no ratio at 95 %{over}: --rounds {needed} is the fewest that do."
            )
    dropped, shared = sum(row.dropped for row in result.rows), sum(row.shared for row in result.rows)
    total = dropped + sum(len(row.samples) for row in result.rows)
    if dropped:
        said.append(f"{dropped} of {total} batches are left out: the core's speed changed in every try.")
    if shared:
        said.append(f"{shared} of {total} batches never had the core to themselves: another hyperthread was busy.")
    return [line for text in said for line in ("", *textwrap.wrap(text, WIDTH))]


def _quartiles(row: Row) -> str:
    if len(row.samples) < 2:
        return ""
    low, _, high = quantiles(row.samples, n=4, method="inclusive")
    return f"{_short(low)} {DASH} {_short(high)}"


def _share(share: Interval | None) -> str:
    return DASH if share is None else f"{100 * share.median:.0f} %"


def _interval(ratio: Interval | None) -> str:
    if ratio is None:
        return ""
    return f"{ratio.low:.2f}{DASH}{ratio.high:.2f}" if ratio.bounded else "(too few)"


def _short(value: float | None) -> str:
    """Three significant digits in at most 7 characters, mostly in 5."""
    if value is None:
        return DASH
    for least, one, letter in ((1e9, 1e9, "G"), (1e6, 1e6, "M"), (1e4, 1e3, "k")):
        if abs(value) >= least:
            return f"{value / one:.0f}{letter}" if value >= 100 * one else f"{value / one:.3g}{letter}"
    if abs(value) >= 100:
        return f"{value:.0f}"
    if value == 0 or abs(value) >= 0.1:
        return f"{value:.3g}"
    return f"{value:.3f}" if abs(value) >= 0.001 else f"{value:.1e}"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _hanging(text: str, indent: int) -> list[str]:
    return textwrap.wrap(text, WIDTH, subsequent_indent=" " * indent, drop_whitespace=True, initial_indent="") or [""]
