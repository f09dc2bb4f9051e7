# SPDX-License-Identifier: Apache-2.0
"""What calls of the thread library cost on the simulated machine, by context mode; policies by program; locks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from okosu.records.types import Record
from okosu.report import formats
from okosu.report.part import Part
from papers.scheduling_hardware.report import charts
from papers.scheduling_hardware.report.charts import Axis, Line

_LOCKS = {"mutex": ("mutex", "good"), "exchange": ("exchange", "bad"), "look": ("look, then exchange", "fresh")}


def calls(held: Sequence[Record]) -> list[Part]:
    """Return the table of calls: cycles from call to return by variant, the least and the most of those measured."""
    variants = list(dict.fromkeys(record.variant for record in held))
    rows: dict[str, dict[str, str]] = {}
    for record in held:
        if record.samples and record.unit == "cycles":
            most = record.samples[0]
            least = _number(record.parameters.get("least", most))
            text = formats.count(most) if least == most else f"{least:.0f}–{most:.0f}"
            rows.setdefault(record.metric, {})[record.variant] = text
    if not rows:
        return []
    about = (
        "Cycles from call to return, compiled C at -O2; “all”: with a thread on every PE that does the same. Bus: read "
        "3 cycles, write 2, exchange 3, one more where it is parked elsewhere."
    )
    body = [[name.replace("_", " "), *(by.get(variant, "–") for variant in variants)] for name, by in rows.items()]
    return [Part("What a call costs", about, ["call", *variants], body)]


def _number(value: str | float | None) -> float:
    """Return a record's number, 0 where a file that was altered has something else."""
    return value if isinstance(value, float | int) and math.isfinite(value) else 0.0


def policies(held: Sequence[Record]) -> list[Part]:
    """Return the table of programs by policy: cycles from reset to the end."""
    by: dict[str, dict[str, float]] = {}
    for record in held:
        if record.samples and record.metric == "cycles":
            program = record.subject.removeprefix("rtl ").removesuffix(".c")
            by.setdefault(program, {})[str(record.parameters.get("policy"))] = record.samples[0]
    if not by:
        return []
    names = list(dict.fromkeys(policy for each in by.values() for policy in each))
    body = [[program, *(formats.count(each[n]) if n in each else "–" for n in names)] for program, each in by.items()]
    best = "; ".join(f"{program}: {min(each, key=lambda name: each[name])}" for program, each in by.items())
    about = f"Cycles from reset to the program’s end, by the scheduler’s policy. Least: {best}."
    return [Part("Policies", about, ["program", *names], body)]


def locks(held: Sequence[Record], key: str) -> list[Part]:
    """Return the cycles for each taking of one lock that all want, by kind of lock and PEs, and how busy the bus is."""
    found: dict[tuple[int, int], dict[str, dict[str, float]]] = {}
    for record in held:
        said = record.parameters
        where = int(_number(said.get("per_pe"))), int(_number(said.get("pes")))
        taken = _number(said.get("taken"))
        if record.samples and record.samples[0] > 0 and min(*where, taken) > 0:
            values = found.setdefault(where, {}).setdefault(str(said.get("lock")), {"taken": taken})
            values[record.metric] = record.samples[0]
    whole = {
        where: {name: each for name, each in by.items() if {"contended", "reads"} <= each.keys()}
        for where, by in found.items()
    }
    if not any(whole.values()):
        return []
    lines: dict[str, Line] = {}
    for name, (label, tone) in _LOCKS.items():
        points = [(pes, by[name]) for (per_pe, pes), by in sorted(whole.items()) if per_pe == 1 and name in by]
        if len(points) > 1:
            lines[label] = Line([(pes, each["contended"] / each["taken"]) for pes, each in points], tone, len(lines))
    body = [
        [str(pes), str(per_pe), *(_lock_cell(by.get(name)) for name in _LOCKS)]
        for (per_pe, pes), by in sorted(whole.items())
    ]
    about = (
        "One lock that a thread on each PE but one wants (in the table two threads, too): cycles for each taking. The "
        "mutex is handed on by the scheduler, which sees the unlocking store on the bus; the others spin by exchanges, "
        "or by loads until it is free. In brackets: loads in 1,000 cycles of the PE that does not want it."
    )
    largest = whole[max(whole, key=lambda where: (where[0] == 1, where[1]))]
    each = [f"{_LOCKS[name][0]} {of['contended'] / of['taken']:.0f}" for name, of in largest.items() if name in _LOCKS]
    about += f" On the largest machine: {', '.join(each)} cycles."
    head = ["PEs", "threads a PE", *(label for label, _ in _LOCKS.values())]
    part = Part("One lock for all", about, head, body)
    if lines:
        counts = sorted({pes for line in lines.values() for pes, _ in line.points})
        x, y = Axis("PEs", log=True, ticks=counts), Axis("cycles for each taking")
        part.draw, part.key, part.wide = partial(charts.lines, lines, x, y), key, charts.WIDE
    return [part]


def _lock_cell(each: dict[str, float] | None) -> str:
    if not each:
        return "–"
    return f"{each['contended'] / each['taken']:.1f} ({1000 * each['reads'] / each['contended']:.0f})"
