# SPDX-License-Identifier: Apache-2.0
"""Sections 5.3 to 5.6 of the HA8000 tutorial: the sum, the sum of squares, the dot product and daxpy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from okosu.bench import figures
from papers.common import points, quantities

if TYPE_CHECKING:
    from okosu.bench.rows import Result, Row
    from papers.common.base import Measured


class Listing(NamedTuple):
    """A listing of section 5: its row in the bench, and the loop that shows what the paper counts as its peak."""

    routine: str
    variant: str
    peak: str


LISTINGS = {
    "5.3.plain": Listing("dsum", "paper-plain", "limit-add"),
    "5.3.sse1": Listing("dsum", "paper-sse2-1", "limit-add"),
    "5.3.sse4": Listing("dsum", "paper-sse2-4", "limit-add"),
    "5.4.plain": Listing("dsumsq", "paper-plain", "limit-fma"),
    "5.4.sse1": Listing("dsumsq", "paper-sse2-1", "limit-fma"),
    "5.4.sse4": Listing("dsumsq", "paper-sse2-4", "limit-fma"),
    "5.5.plain": Listing("ddot", "paper-plain", "limit-fma"),
    "5.5.sse4": Listing("ddot", "paper-sse2-4", "limit-fma"),
    "5.6.plain": Listing("daxpy", "paper-plain", "limit-fma"),
    "5.6.sse": Listing("daxpy", "paper-sse2-1", "limit-fma"),
}
SCALAR = "paper-plain-scalar"
"""The plain daxpy, with the compiler kept from making vector code of it."""
_LIMITS = {"dsum": "limit-load", "dsumsq": "limit-load", "ddot": "limit-load2", "daxpy": "limit-load2-store1"}
_WIDTHS = {"avx512": 512.0, "avx2": 256.0, "sse2": 128.0, "neon": 128.0, "sve256": 256.0, "sve512": 512.0}


_IN_FLIGHT = {"plain": 1, "sse1": 2, "sse4": 8}
"""Running sums (in doubles) of the reductions, by the last part of the entry's id."""
SSE_BITS = 128
ALIKE = 0.15
"""A rate so close to what latency allows is said to be bound by it."""


class Shown(NamedTuple):
    """A listing as it ran here: flop/cycle of the listing, of okosu's own, of the peak and of what the caches allow."""

    listing: float
    own: float | None
    peak: float | None
    limit: float | None


def width(result: Result | None) -> float | None:
    """Return the bits of the widest vector registers that this machine's features name."""
    names = result.header.features.split() if result and result.header else []
    return max((_WIDTHS[name] for name in names if name in _WIDTHS), default=None)


def peak(result: Result | None, limit: str) -> float | None:
    """Return the flop/cycle of a loop that only computes, at its best size."""
    return quantities.best(quantities.rows(result, limit, kind="limit"), quantities.flops)


def in_l1(result: Result | None, listing: Listing) -> Row | None:
    """Return the listing's row with the largest arrays that fit the first-level cache, on whole lines."""
    found = [
        row
        for row in quantities.rows(result, listing.routine, listing.variant)
        if row.place == "L1" and not any(row.align) and row.mode == "throughput"
    ]
    return max(found, key=lambda row: row.n, default=None)


def shown(result: Result | None, listing: Listing) -> Shown | None:
    """Return what was measured of a listing, None if it was not."""
    row = in_l1(result, listing)
    if result is None or row is None:
        return None
    around = points.beside(result.rows, row)
    own = [other for other in around if other.routine == row.routine and figures.is_chosen(other)]
    limits = [other for other in around if other.routine == _LIMITS[row.routine]]
    rate = quantities.best(limits, quantities.bytes_per_cycle)
    by_bytes = rate * row.flops_per_item / row.bytes_per_item if rate else None
    computed = peak(result, listing.peak)
    return Shown(
        quantities.flops(row),
        quantities.best(own, quantities.flops),
        computed,
        min(computed, by_bytes) if computed and by_bytes else by_bytes,
    )


def _cause(name: str, found: Shown, flops: float, result: Result | None, waits: float | None, there: float) -> str:
    """Say what bounds a reduction here, as far as the measured numbers bear it out; `waits`: an addition's latency."""
    sums = _IN_FLIGHT.get(name.rpartition(".")[2])
    if sums is None or waits is None or name.startswith("5.6"):
        return ""
    takes = f"{waits:.1f} cycles, there {there:g}"
    bits, added = width(result), peak(result, "limit-add")
    units = added * SSE_BITS / bits * flops if added and bits else None
    if sums > 2 and quantities.near(found.listing, units, ALIKE):
        return f"; the most that additions of {SSE_BITS} bits can give here, of {bits:.0f} (an addition takes {takes})"
    if quantities.near(found.listing, sums * flops / waits, ALIKE):
        return f"; each addition is waited for ({takes})"
    return f"; not bound by the latency of an addition ({takes})"


def section5(
    measured: Measured, there: Mapping[str, float], waits: float | None
) -> Iterator[tuple[str, float | None, str]]:
    """Yield the id of each published entry of 5.3 to 5.6, ours, and the line on why they differ.

    `there` is what the paper publishes, by id; `waits` this core's latency of an addition in cycles.
    """
    result = measured.rows.get("blas1")
    clock = quantities.ghz(result)
    rates: dict[str, float] = {}
    for name, listing in LISTINGS.items():
        found = shown(result, listing)
        if found is None or clock is None:
            continue
        rates[name] = found.listing * clock
        before = f"there {there[name] / there['5.2.hz']:.2f} at {there['5.2.hz']:g}"
        flops = _flops_of(result, listing)
        cause = _cause(name, found, flops, result, waits, there["2.latency.add"])
        why = f"{found.listing:.2f} flop/cycle at {clock:.2f} GHz, {before}{cause}"
        yield name, rates[name], f"{why}{_scalar(result, name, clock)}{_own(found, clock)}"
        share = quantities.over(found.listing, found.peak)
        yield f"{name}.share", None if share is None else 100 * share, _share(found)
        yield f"{name}.cycles", flops / found.listing, why
    for routine, section in (("dsum", "5.3"), ("dsumsq", "5.4"), ("ddot", "5.5")):
        added = peak(result, "limit-add" if routine == "dsum" else "limit-fma")
        what = "additions alone" if routine == "dsum" else "fused multiply-adds alone"
        why = f"a loop of {what}: {added or 0:.1f} flop/cycle at {clock or 0:.2f} GHz"
        yield f"{section}.peak", added * clock if added and clock else None, why
    yield from _gains(rates)
    yield from _beyond_l2(result)


def _gains(rates: dict[str, float]) -> Iterator[tuple[str, float | None, str]]:
    for name, plain in (("5.3.sse1", "5.3.plain"), ("5.4.sse4", "5.4.plain"), ("5.5.sse4", "5.5.plain")):
        gain = quantities.over(rates.get(name), rates.get(plain))
        yield f"{name}.gain", gain, f"{rates.get(name, 0):.2f} over {rates.get(plain, 0):.2f} GFlops"
    over = quantities.over(rates.get("5.4.sse4"), rates.get("5.5.sse4"))
    yield "5.5.over-sumsq", over, "the loads of the second array, beside the same arithmetic"


def _beyond_l2(result: Result | None) -> Iterator[tuple[str, float | None, str]]:
    """Compare dot and sum of squares of one length beyond the second-level cache, at the largest length of both."""
    by_length: dict[int, dict[str, Row]] = {}
    for routine in ("dsumsq", "ddot"):
        for row in quantities.rows(result, routine, "paper-sse2-4"):
            if row.place in ("L3", "memory") and not any(row.align):
                by_length.setdefault(row.n, {})[routine] = row
    both = [(n, rows) for n, rows in by_length.items() if len(rows) == 2]
    if both:
        n, rows = max(both, key=lambda item: item[0])
        over = quantities.cycles(rows["ddot"]) / quantities.cycles(rows["dsumsq"])
        yield "5.5.over-sumsq.memory", over, f"n={n}: twice the bytes, in {rows['ddot'].place}"


def _flops_of(result: Result | None, listing: Listing) -> float:
    row = in_l1(result, listing)
    return row.flops_per_item if row else 0.0


def _scalar(result: Result | None, name: str, clock: float) -> str:
    """Say what the plain daxpy does when the compiler is kept from turning it into vector code."""
    if name != "5.6.plain":
        return ""
    kept = shown(result, LISTINGS[name]._replace(variant=SCALAR))
    if kept is None:
        return ""
    return f"; gcc here makes SSE2 code of it, without that it is {kept.listing * clock:.2f} GFlops"


def _own(found: Shown, clock: float) -> str:
    if found.own is None:
        return ""
    part = f", {100 * found.own / found.limit:.0f} % of the measured limit" if found.limit else ""
    return f"; okosu's own {found.own * clock:.1f} GFlops ({found.own:.2f} flop/cycle{part})"


def _share(found: Shown) -> str:
    if found.peak is None:
        return ""
    own = f"; okosu's own {100 * found.own / found.peak:.0f} %" if found.own else ""
    loads = ""
    # Where the caches cannot deliver what the arithmetic could take, no code reaches the peak.
    if found.limit and found.limit < 0.9 * found.peak:
        loads = f"; loads and stores allow {100 * found.limit / found.peak:.0f} %"
    return f"of {found.peak:.1f} flop/cycle, by this core's widest vectors{own}{loads}"
