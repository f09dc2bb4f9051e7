# SPDX-License-Identifier: Apache-2.0
"""What stands beside the poster's numbers: faults and clean pages, the engines that are here, Table 1's co-runners."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from okosu.bench.rows import Result, Row
from papers.common import quantities
from papers.common.base import Measured
from papers.zero_offload.report.summary import seconds

Values = Iterator[tuple[str, float | None, str]]
"""The id of a published entry, ours (None: not there), and the line on why they differ."""

WORKS = {"jhash": "jhash-100", "aes-1": "aes-1", "aes-10": "aes-10"}
"""The rows of Table 1, by the kernel of the bench corunner that stands beside."""
MCYCLE = 1e6
UNIT = 2 << 20
GIB = 1 << 30
CPU = frozenset({"nt", "memset", "kernel"})
"""Engines that are the CPU's own; any other is a device's."""
INSTEAD = {
    "cuda": "tested against a driver of the tests' own",
    "cuda-mailbox": "tested against a driver of the tests' own",
    "dsa": "tested against a mock",
    "opencl": "tested with PoCL on a CPU, where that is installed",
}
"""What stood in for a device that is not here."""


def values(measured: Measured) -> Values:
    yield from _pages(measured)
    yield from _devices(measured.rows.get("zero-engines"))
    yield from _table1(measured)


def _named(row: Row) -> str:
    device = "" if row.variant in CPU else f" on {row.config}"
    return f"{row.variant}{device} ({row.n / median(row.samples):.1f} GB/s)"


def _devices(result: Result | None) -> Values:
    """Yield how many kinds of device clear here, which, and which do not and what was tested in their place."""
    rows = [row for row in quantities.rows(result, "complete") if row.n == UNIT]
    if result is None or not rows:
        return
    devices = [row for row in rows if row.variant not in CPU]
    why = f"from asking to clean, a page at a time: {', '.join(map(_named, rows))}"
    if any(row.variant == "opencl" for row in devices):
        why += "; OpenCL's device is whatever this machine's driver offers, a CPU with PoCL"
    gone = [one.variant for one in result.absent if one.variant in INSTEAD]
    if gone:
        why += f"; not here: {'; '.join(f'{name}, {INSTEAD[name]}' for name in gone)}"
    yield "2.device", float(len(devices)), why


def _launches(result: Result | None) -> str:
    """Say what asking each device costs the core that asks, and how much processor time the whole takes; "" of none."""
    cost = {row.variant: row for row in quantities.rows(result, "processor") if row.n == UNIT}
    posts = [row for row in quantities.rows(result, "post") if row.n == UNIT and row.variant in cost]
    said = [
        f"{row.variant} {quantities.cycles(row):,.0f} cycles and "
        f"{seconds(median(cost[row.variant].samples) / row.n * GIB / 1e9)} s of processors a GiB"
        for row in posts
        if row.variant not in CPU
    ]
    return f"; asking a device: {', '.join(said)}" if said else ""


def _page(row: Row) -> float:
    """Return what one page cost, in the row's unit."""
    return quantities.cycles(row) / row.items


def _fault(measured: Measured, unit: str, mode: str = "backed") -> dict[str, float]:
    """Return the cost of a page of 2 MiB by how it is had; unbacked: from memory that the host had taken back."""
    found = quantities.rows(measured.rows.get("fault"), "fault-2m")
    return {row.variant: _page(row) for row in found if (row.unit, row.mode) == (unit, mode)}


def _pages(measured: Measured) -> Values:
    """Compare what a fault costs, what taking a clean page does, and what asking for one to be cleared does."""
    ns, cycles = _fault(measured, "ns"), _fault(measured, "cycles")
    how = "hugetlb-touch" if "hugetlb-touch" in ns else "thp-touch"
    kind = "a hugetlb page" if how == "hugetlb-touch" else "a transparent huge page; no hugetlb page was free here"
    fault, taken = ns.get(how), ns.get("pool-take")
    why = f"the whole fault on {kind}, another machine"
    if unbacked := _fault(measured, "ns", "unbacked").get("thp-touch"):
        why += f"; {unbacked / 1e3:,.0f} µs where this virtual machine's host had taken the memory back"
    yield "1.clear", quantities.over(fault, 1e3), why
    yield "1.ahead", quantities.over(taken, 1e3), "a clean block of the pool in user space, its first word stored"
    clear = cycles.get(how)
    yield "4.clear", quantities.over(clear, MCYCLE), f"the whole fault on {kind}; the kernel clears all of it there"
    posts = quantities.rows(measured.rows.get("zero-engines"), "post", "nt")
    post = next((quantities.cycles(row) for row in posts if row.n == 2 << 20), None)
    yield (
        "4.launch",
        post,
        "giving a page to the thread that clears, in the same process: a page is cleared ahead here, not in the fault"
        + _launches(measured.rows.get("zero-engines")),
    )
    take = cycles.get("pool-take")
    if clear is not None and post is not None and take is not None:
        why = f"the fault less the taking ({take:,.0f} cycles) and the giving back ({post:,.0f}) of a clean page"
        yield "4.saved", (clear - take - post) / MCYCLE, why


def _table1(measured: Measured) -> Values:
    result = measured.rows.get("corunner")
    for name, routine in WORKS.items():
        rows = {row.variant: row for row in quantities.rows(result, routine)}
        for column, variant in (("original", "at-fault"), ("proposal", "nt")):
            if variant not in rows:
                continue
            told = rows[variant].extra
            about = f"{told['calls']:,} calls, {told['pages_per_second']:.0f} pages a second"
            if variant == "nt" and "at-fault" in rows:
                ratio = told["mean"] / rows["at-fault"].extra["mean"]
                about += f", {ratio:.3f} times the original"
            elif variant == "at-fault" and "alone" in rows:
                about += f"; {rows['alone'].extra['mean'] / MCYCLE:.3g} where nobody takes pages"
            yield f"t1.{name}.{column}", told["mean"] / MCYCLE, f"{about}; {rows[variant].config}"
            yield f"t1.{name}.{column}.std", told["deviation"] / MCYCLE, "over all calls of all rounds"
