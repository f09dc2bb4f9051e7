# SPDX-License-Identifier: Apache-2.0
"""What stands beside the tutorial's numbers: counter and latencies, pinning, memory on a node, the listings' loops."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from papers.common import quantities
from papers.common.base import Measured
from papers.hpc_programming import loops

if TYPE_CHECKING:
    from okosu.bench.rows import Result, Row

Values = Iterator[tuple[str, float | None, str]]
"""The id of a published entry, ours (None: not there), and the line on why they differ."""

LATENCY, TEN, WRITE = "latency", "ten-", "write"
"""Routines of the benches latency and numa."""
ALIKE = 0.1
"""Two medians of one run closer than this are called the same in the prose."""


def values(measured: Measured, there: Mapping[str, float]) -> Values:
    """Yield what was measured, section by section; `there` is what the paper publishes, by id."""
    yield from _section2(measured, there)
    yield from _section3(measured)
    yield from _section4(measured)
    yield from _section5(measured)
    yield from loops.section5(measured, there, _latency(measured, "add"))


def _latency(measured: Measured, operation: str) -> float | None:
    """Return the latency of add, mul or fma in cycles."""
    return _least(quantities.rows(measured.rows.get("latency"), LATENCY, operation))


def _ten(measured: Measured, operation: str, variant: str) -> float | None:
    return _least(quantities.rows(measured.rows.get("latency"), f"{TEN}{operation}", variant))


def _least(found: list[Row]) -> float | None:
    return min((quantities.cycles(row) / row.items for row in found), default=None)


def _section2(measured: Measured, there: Mapping[str, float]) -> Values:
    result = measured.rows.get("latency")
    per_cycle = quantities.over(1.0, result.header.cycles_per_tick if result and result.header else None)
    yield "2.counter-unit", per_cycle, _counter(result)
    ticks = _ticks(measured)
    for operation in ("add", "mul"):
        one = _latency(measured, operation)
        fastest = _ten(measured, operation, "gcc-O2")
        yield f"2.latency.{operation}", one, "the same chain of dependent operations, another core"
        for option in ("O0", "O1", "O2", "O3"):
            ours = _ten(measured, operation, f"gcc-{option}")
            why = _why_ten(operation, ours, fastest, one, there[f"2.latency.{operation}"])
            # The listing itself is built with this option, and prints ticks of the counter.
            printed = f"; the listing prints {ticks[operation]:.1f}" if option == "O2" and operation in ticks else ""
            yield f"2.gcc-{option}.{operation}", ours, f"{why}{printed}"
    added = _latency(measured, "add")
    yield "2.ten", None if added is None else 10 * added, "ten times this core's latency of an addition"
    same = quantities.over(_ten(measured, "add", "gcc-O1"), _ten(measured, "add", "gcc-O0"))
    yield "2.gcc-O1.same", same, "of the additions"


def _ticks(measured: Measured) -> dict[str, float]:
    """Return what the listing of section 2 printed: ticks of the counter for ten operations."""
    said = measured.said.get("ticks")
    found = re.findall(r"/N=([\d.]+)", said.text) if said else []
    return dict(zip(("add", "mul"), map(float, found), strict=False))


def _counter(result: Result | None) -> str:
    if result is None or result.header is None:
        return ""
    clock = quantities.ghz(result) or 0.0
    return f"here the counter runs at {result.header.tick_hz / 1e9:.3f} GHz and the core at {clock:.2f} GHz"


def _why_ten(operation: str, ours: float | None, fastest: float | None, one: float | None, there: float) -> str:
    """Say what the ten operations wait for, as far as the measured numbers bear it out."""
    if ours is None or one is None:
        return ""
    what = {"add": "an addition", "mul": "a multiplication"}[operation]
    takes = f"{what} takes {one:.1f} cycles here, {there:g} there"
    if quantities.near(ours, 10 * one, ALIKE):
        return f"ten times the latency, the best there can be: {takes}"
    if quantities.near(ours, fastest, ALIKE):
        return f"as fast as -O2, but not ten times the latency: {takes}"
    return f"{ours / 10:.1f} cycles each: the value goes through memory between operations; {takes}"


def _section3(measured: Measured) -> Values:
    here = measured.facts
    yield "3.processors", float(here.packages) if here else None, "another machine"
    cpus = _nprocs(measured)
    yield (
        "3.cpus",
        cpus,
        "another machine; get_nprocs() and the kernel's list of CPUs agree"
        if here and cpus == len(here.cpus_online)
        else "another machine",
    )
    yield "3.cores", quantities.over(cpus, float(here.packages) if here else None), "another machine"
    if on0 := measured.line("affinity-on-0"):
        yield "3.pinned", float(on0["allowed"]), f"run with CPU 0 in place of CPU 10, and found on CPU {on0['on']}"
    if ten := measured.line("affinity"):
        where = "there is no CPU 10 here" if ten["rv"] else "this machine has a CPU 10 too"
        yield "3.cpu-10", float(ten["rv"]), f"{where}; it ran on CPU {ten['on']}"


def _nprocs(measured: Measured) -> float | None:
    said = measured.said.get("nprocs")
    found = re.search(r"= (\d+)", said.text) if said else None
    return float(found[1]) if found else None


def _section4(measured: Measured) -> Values:
    here = measured.facts
    yield "4.nodes", float(len(here.nodes)) if here else None, "another machine"
    if bound := measured.line("bind"):
        why = "the mapping begins on a page" if bound["aligned"] else "the mapping does not begin on a page"
        yield "4.page", float(bound["page"]), why
        yield (
            "4.unaligned",
            float(bound["unaligned"] != 0),
            f"mbind at 16 bytes past a page: errno {bound['unaligned']}",
        )
        why = "mbind was refused" if bound["rv"] else f"all {bound['pages']} pages asked after a first touch"
        yield "4.bind", float(bound["elsewhere"]), why
        told = f"errno {bound['maxnode_1']} with 1, {bound['maxnode_2']} with 2"
        # If a mask of 1 bit is refused for node 0 and one of 2 is taken, Linux reads one bit fewer than it is told.
        fewer = 1 if bound["maxnode_1"] and not bound["maxnode_2"] else 0
        yield "4.maxnode", 8.0 - fewer, f"node 0 in a mask of one bit: {told}"
    result = measured.rows.get("numa")
    yield (
        "4.hz",
        result.header.tick_hz if result and result.header else None,
        "this machine's counter, by which our column is divided",
    )
    yield from _passes(measured)


def _passes(measured: Measured) -> Values:
    """Compare the write bandwidth by CPU and node: each CPU of the paper's with ours that is as near or as far."""
    rates = _rates(measured.rows.get("numa"))
    if not rates:
        return
    nodes = sorted({node for _, node, _ in rates})
    homes = {cpu.number: cpu.node for cpu in measured.facts.cpus} if measured.facts else {}
    pairs = sorted({(cpu, node) for cpu, node, _ in rates})
    own = next((pair for pair in pairs if homes.get(pair[0], pair[1]) == pair[1]), pairs[0])
    # Where there is but one node, another CPU of it stands for one that is further away.
    other = next((pair for pair in pairs if homes.get(pair[0], pair[1]) != pair[1]), pairs[-1])
    one = "the only node here" if len(nodes) == 1 else f"one of {len(nodes)} nodes here"
    for number in (0, 4, 8, 12):
        cpu, node = own if number == 4 else other
        for which in ("first", "second"):
            faults = ", page faults included" if which == "first" else ""
            yield (
                f"4.cpu{number}.{which}",
                rates.get((cpu, node, which)),
                f"CPU {cpu} writes node {node}, {one}{faults}",
            )
    ratio = quantities.over(rates.get((*own, "second")), rates.get((*other, "second")))
    for name in ("4.ratio.near", "4.ratio.near-0", "4.ratio.far"):
        yield name, ratio, f"CPU {other[0]} to node {other[1]} over CPU {own[0]} to node {own[1]}, {one}"


def _rates(result: Result | None) -> dict[tuple[int, int, str], float]:
    """Return MiB/s by CPU, node and pass."""
    found = {}
    clock = quantities.ghz(result)
    for row in quantities.rows(result, WRITE):
        to_ns = 1.0 if row.unit == "ns" else 1.0 / clock if clock else 0.0
        seconds = quantities.cycles(row) * to_ns / 1e9
        where = (int(row.extra["cpu"]), int(row.extra["node"]), row.mode)
        found[where] = row.bytes_per_item * row.items / seconds / 1024**2
    return found


def _section5(measured: Measured) -> Values:
    for table in (1, 2):
        said = measured.said.get("intrinsics")
        done = [line for line in said.lines if line["table"] == table] if said else []
        wrong = [str(line["name"]) for line in done if not line["holds"]]
        why = f"not as printed: {', '.join(wrong)}" if wrong else "each was run and its result compared"
        yield f"5.1.table{table}", float(len(done) - len(wrong)) if done else None, why
    result = measured.rows.get("blas1")
    bits = loops.width(result)
    yield "5.1.width", bits, "the widest registers that this machine's features name"
    yield "5.1.doubles", quantities.over(bits, 64.0), "as many as fit the widest registers"
    clock = quantities.ghz(result)
    yield "5.2.hz", clock, "the core's clock while the bench ran, by chains of dependent additions"
    fused, added = loops.peak(result, "limit-fma"), loops.peak(result, "limit-add")
    yield "5.2.flops-per-cycle", fused, "a loop of nothing but fused multiply-adds, two operations each"
    yield "5.2.adds-per-cycle", added, "a loop of nothing but additions"
    yield "5.2.muls-per-cycle", quantities.over(fused, 2.0), "half of the fused operations' rate"
    gflops = fused * clock if fused and clock else None
    yield "5.2.peak", gflops, f"{fused or 0:.1f} flop/cycle at {clock or 0:.2f} GHz"
    caches = measured.facts.caches if measured.facts else []
    l1 = [cache.size / 1024 for cache in caches if cache.level == 1 and cache.type == "Data"]
    yield "5.2.l1", l1[0] if l1 else None, "another core"
    add, mul = _latency(measured, "add"), _latency(measured, "mul")
    why = f"an addition; a multiplication takes {mul:.1f}" if mul else "an addition"
    yield "5.2.latency.k10", add, why
    vectors = quantities.over(added, quantities.over(bits, 64.0))
    # Latency and additions in a cycle are whole numbers, measured with noise.
    count = float(round(add) * round(vectors)) if add and vectors else None
    why = f"{add or 0:.1f} cycles times {vectors or 0:.1f} vector additions in a cycle"
    yield "5.3.registers.k10", count, why
