# SPDX-License-Identifier: Apache-2.0
"""What was measured on the lab's platforms, as the report shows it: a chart or a table for each kind of records."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from statistics import median

from okosu.bench import rows
from okosu.bench.rows import Row
from okosu.records.types import Record, ReproduceFile
from okosu.report import formats
from okosu.report.part import Part
from papers.simd_kernel.report import charts

FEWEST = 3
"""The fewest sizes, or boots, that are drawn as a chart or given quartiles."""
_TIMES = {"memcpy": ("function", "memcpy"), "kernel": ("kernel", ""), "wall": ("wall", "")}
"""Columns of the table of workloads: the metric, and of which function."""


def parts(envelope: ReproduceFile, key: str) -> list[Part]:
    """Return what to show of the records that are not this machine's own; [] where all are."""
    held = [record for record in envelope.records if record.platform != "native"]
    return [*_benches(held, key), *_workloads(held), *_callers(held), *_break_even(held), *_survey(held)]


def _benches(held: Sequence[Record], key: str) -> list[Part]:
    found = []
    for name, listed in rows.from_records(held).items():
        by_function: dict[tuple[str, str], dict[int, dict[str, Row]]] = {}
        for row in listed:
            if row.samples:
                by_function.setdefault((row.routine, row.mode), {}).setdefault(row.n, {})[row.variant] = row
        for number, ((function, mode), by_size) in enumerate(sorted(by_function.items()), 1):
            found.append(_bench(f"{name}: {function}, {mode}", dict(sorted(by_size.items())), f"{key}-l{number}"))
    return found


def _bench(title: str, by_size: dict[int, dict[str, Row]], key: str) -> Part:
    routines = list(dict.fromkeys(routine for each in by_size.values() for routine in each))
    some = next(iter(next(iter(by_size.values())).values()))
    boots = max(len(row.samples) for each in by_size.values() for row in each.values())
    unit = {"ticks": "ticks of the time stamp counter", "ns": "nanoseconds"}.get(some.unit, some.unit)
    body = [
        [formats.count(size), *(formats.significant(median(each[r].samples)) if r in each else "–" for r in routines)]
        for size, each in by_size.items()
    ]
    shaded = " Shaded: quartiles of the boots." if boots > 1 and len(by_size) >= FEWEST else ""
    part = Part(title, f"One call in {unit}: medians of {boots} boots.{shaded}", ["bytes", *routines], body)
    if len(by_size) >= FEWEST:
        part.draw = partial(charts.costs, by_size, f"one call in {unit}")
        part.key, part.wide = key, charts.WIDE
    return part


def _workloads(held: Sequence[Record]) -> list[Part]:
    """Return the table of routines by workload: seconds of memcpy, of the kernel and by the clock."""
    found: dict[tuple[str, str], dict[str, Record]] = {}
    for record in held:
        said = record.parameters
        for column, (metric, function) in _TIMES.items():
            if record.metric == metric and "workload" in said and said.get("function", "") == function:
                found.setdefault((str(said["workload"]), record.variant), {})[column] = record
    if not found:
        return []
    body = [
        [workload, routine, *(_seconds(columns.get(column)) for column in _TIMES)]
        for (workload, routine), columns in found.items()
    ]
    about = "Seconds, medians of the boots with quartiles: memcpy and the kernel by gprof, wall by the guest's clock."
    return [Part("Workloads", about, ["workload", "routine", *_TIMES], body)]


def _seconds(record: Record | None) -> str:
    if record is None or not record.samples:
        return "–"
    middle = formats.significant(median(record.samples))
    if len(record.samples) < FEWEST:
        return middle
    ordered = sorted(record.samples)
    low, high = ordered[len(ordered) // 4], ordered[-1 - len(ordered) // 4]
    return f"{middle} ({formats.significant(low)}–{formats.significant(high)})"


def _callers(held: Sequence[Record]) -> list[Part]:
    """Return who copies how much under each workload, and which exact sizes are hot."""
    sites, sizes = [], []
    for record in held:
        said = record.parameters
        if record.metric not in ("site", "size") or not record.samples or not {"workload", "kind"} <= said.keys():
            continue
        whose = [str(said["workload"]), str(said["kind"])]
        if record.metric == "site":
            calls = formats.count(_number(said.get("calls")))
            sites.append([*whose, str(said.get("function", "")), calls, formats.count(record.samples[0])])
        else:
            size = _number(said.get("bytes"))
            total = formats.count(record.samples[0] * size)
            sizes.append([*whose, formats.count(size), formats.count(record.samples[0]), total])
    about = "Counted in the kernel by return address and size, the most of each workload."
    head = ["workload", "kind", "function", "calls", "bytes in all"]
    tables = [Part("Who copies and sets", about, head, sites)] if sites else []
    if sizes:
        tables.append(Part("Hot sizes", about, [*head[:2], "bytes", *head[3:]], sizes))
    return tables


def _number(value: str | float | None) -> float:
    """Return a record's number, 0 where an altered file has something else."""
    return value if isinstance(value, float | int) else 0.0


def _break_even(held: Sequence[Record]) -> list[Part]:
    """Return from which size each routine of a real kernel pays, and what its calls cost by state of the registers."""
    sizes = [record for record in held if record.metric == "break-even"]
    costs = [record for record in held if record.metric == "cost" and record.samples and "state" in record.parameters]
    if not sizes:
        return []
    body = [[one.variant, formats.count(one.samples[0]) if one.samples else one.note] for one in sizes]
    about = "The smallest copy, in bytes, that gains by the vector unit with a program’s registers kept."
    found = [Part("Break-even in a real kernel", about, ["routine", "from"], body)]
    by: dict[tuple[float, str], dict[str, Record]] = {}
    for one in costs:
        state = str(one.parameters["state"])
        by.setdefault((_number(one.parameters.get("bytes")), one.variant), {})[state] = one
    states = list(dict.fromkeys(str(one.parameters["state"]) for one in costs))
    if states:
        listed = [
            [formats.count(size), routine, *(formats.count(of[s].samples[0]) if s in of else "–" for s in states)]
            for (size, routine), of in by.items()
        ]
        found.append(Part("Cost of a copy", "Ticks of a call.", ["bytes", "routine", *states], listed))
    return found


def _survey(held: Sequence[Record]) -> list[Part]:
    """Return the loops that the compiler vectorised, by configuration and by file."""
    counts = ("objects", "loops", "blocks", "text")
    by: dict[str, dict[str, float]] = {}
    files: dict[str, dict[str, int]] = {}
    for record in held:
        if record.metric in counts and record.samples and "flags" in record.parameters:
            by.setdefault(record.variant, {})[record.metric] = record.samples[0]
        if record.metric == "loop" and "file" in record.parameters:
            file = files.setdefault(str(record.parameters["file"]), {})
            file[record.variant] = file.get(record.variant, 0) + 1
    if not by:
        return []
    body = [[name, *(formats.count(found.get(one, 0)) for one in counts)] for name, found in by.items()]
    about = "Loops, and rows of statements (blocks), that GCC vectorised by itself in the whole kernel; text in bytes."
    listed = [[file, *(str(of.get(name, "")) for name in by)] for file, of in sorted(files.items())]
    return [
        Part("Vectorised loops", about, ["configuration", *counts], body),
        Part("Vectorised loops by file", "How many in each configuration.", ["file", *by], listed),
    ]
