# SPDX-License-Identifier: Apache-2.0
"""What the simulated multiprocessor gave, as the report shows it: the paper's figures, then what goes beyond them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from okosu.records.types import Record, ReproduceFile
from okosu.report import formats
from okosu.report.part import Part
from papers.scheduling_hardware import thread_model
from papers.scheduling_hardware.report import charts, tables
from papers.scheduling_hardware.report.charts import Axis, Line
from papers.scheduling_hardware.thread_model import BEST, PAPER, SAVING, SOFTWARE, Modelled

_TONES = {SOFTWARE: "fresh", PAPER: "arm", "ssh mem": "arm", "ssh local": "arm", BEST: "good"}
_PARTS = {"tasks": "arm", "create": "fresh", "join": "good", "switch": "ink", "lock": "muted", "idle and rest": "line"}
_IDS = 250
"""Threads that can be made before one is joined: 256 ids, less those that wait in PEs' pools."""


def parts(envelope: ReproduceFile, key: str) -> list[Part]:
    """Return what to show of the simulator's records; [] where there are none."""
    by: dict[str, list[Record]] = {}
    for record in envelope.records:
        if record.platform != "verilator":
            continue
        by.setdefault(str(record.parameters.get("of", "")), []).append(record)
    runs = {name: thread_model.read(records) for name, records in by.items()}
    return [
        *_figure6(runs.get("figure6", []), f"{key}-r6"),
        *_grains([*runs.get("figure7", []), *runs.get("break-even", [])], f"{key}-r7"),
        *_figure8(runs.get("figure8", []), f"{key}-r8"),
        *_figure9([one for one in runs.get("figure8", []) if one.variant == PAPER], f"{key}-r9"),
        *tables.calls([*by.get("table4", []), *by.get("primitives", [])]),
        *tables.policies(by.get("policies", [])),
        *tables.locks(by.get("locks", []), f"{key}-rl"),
        *_scaling(runs.get("scaling", []), f"{key}-rs"),
    ]


def _figure6(runs: Sequence[Modelled], key: str) -> list[Part]:
    by = {one.variant: one for one in runs if one.spent}
    if not {PAPER, SOFTWARE} <= by.keys():
        return []
    whole = by[SOFTWARE].pes * by[SOFTWARE].parallel
    split = {name: _split(by[name]) for name in (SOFTWARE, PAPER)}
    bars = {name: {part: 100 * value / whole for part, value in each.items()} for name, each in split.items()}
    body = []
    for name in _PARTS:
        before, after = split[SOFTWARE][name], split[PAPER][name]
        body.append(
            [name, formats.count(before), formats.count(after), f"{100 * after / before:.1f}" if before else "–"]
        )
    create, switch = (100 * split[PAPER][name] / split[SOFTWARE][name] for name in ("create", "switch"))
    about = (
        f"Figure 6: where the cycles of all {by[PAPER].pes} PEs go with {by[PAPER].threads} threads; software’s whole "
        f"is 100 %. SSH’s creations are {create:.0f} % of software’s cycles (the paper: 20 %), its switches, with the "
        f"wait for a thread, {switch:.0f} %."
    )
    head = ["part", "software", "SSH", "SSH in % of software"]
    draw = partial(charts.stacks, bars, _PARTS, "% of software’s cycles")
    return [Part("Where the cycles go", about, head, body, draw, key, charts.WIDE)]


def _split(one: Modelled) -> dict[str, float]:
    found = {"tasks": one.sequential, **{name: one.section(name) for name in thread_model.SECTIONS}}
    return {**found, "idle and rest": max(0.0, one.pes * one.parallel - sum(found.values()))}


def _grains(runs: Sequence[Modelled], key: str) -> list[Part]:
    by: dict[str, list[Modelled]] = {}
    for one in sorted(runs, key=lambda one: one.work):
        by.setdefault(one.variant, []).append(one)
    if not by:
        return []
    order = [name for name in _TONES if name in by]
    lines = {
        name: Line([(one.work, one.speedup) for one in by[name]], _TONES[name], at) for at, name in enumerate(order)
    }
    evens = {name: thread_model.break_even(by[name]) for name in order}
    said = "; ".join(f"{name} from {value:.0f} cycles" for name, value in evens.items() if value is not None)
    some = by[order[0]][0]
    about = (
        f"Figure 7, and the other context modes: {some.threads} threads on {some.pes} PEs against the same tasks one "
        f"after the other, by cycles per thread. It pays with {said} (the paper: SSH from 1,250, software from 5,000)."
    )
    body = [
        [name, formats.count(value) if (value := evens[name]) is not None else "–", f"{by[name][-1].speedup:.2f}"]
        for name in order
    ]
    head = ["variant", "pays from (cycles)", "speedup at the coarsest grain"]
    x, y = Axis("cycles per thread", log=True), Axis("times as fast as sequential", mark=1.0)
    return [Part("Which grain pays", about, head, body, partial(charts.lines, lines, x, y), key, charts.WIDE)]


def _figure8(runs: Sequence[Modelled], key: str) -> list[Part]:
    by: dict[str, dict[int, Modelled]] = {}
    for one in sorted(runs, key=lambda one: one.threads):
        by.setdefault(one.variant, {})[one.threads] = one
    if not {PAPER, SOFTWARE} <= by.keys():
        return []
    lines = {
        name: Line([(n, one.parallel) for n, one in by[name].items()], _TONES[name], at)
        for at, name in enumerate((SOFTWARE, PAPER))
    }
    best = {name: min(by[name].values(), key=lambda one: one.parallel) for name in (SOFTWARE, PAPER)}
    about = (
        f"Figure 8: cycles of a load of {formats.count(best[PAPER].sequential)} cycles by the number of threads that "
        f"it is divided among, on {best[PAPER].pes} PEs. SSH is best with {best[PAPER].threads} threads "
        f"({best[PAPER].speedup:.2f} times as fast as sequential; the paper: 8 threads), software with "
        f"{best[SOFTWARE].threads} ({best[SOFTWARE].speedup:.2f} times). The tasks are equal: with one more "
        "than there are PEs, one PE has two of them."
    )
    counts = sorted(by[PAPER].keys() & by[SOFTWARE].keys())
    body = [
        [
            str(n),
            *(
                text
                for name in (SOFTWARE, PAPER)
                for text in (formats.count(by[name][n].parallel), f"{by[name][n].speedup:.2f}")
            ),
        ]
        for n in counts
    ]
    head = ["threads", "software: cycles", "speedup", "SSH: cycles", "speedup"]
    draw = partial(charts.lines, lines, Axis("threads"), Axis("cycles"))
    return [Part("Into how many threads", about, head, body, draw, key, charts.WIDE)]


def _figure9(runs: Sequence[Modelled], key: str) -> list[Part]:
    ordered = sorted((one for one in runs if one.spent), key=lambda one: one.threads)
    if not ordered:
        return []
    created = [(one.threads, one.section("create")) for one in ordered]
    switched = [(n, cycles + one.section("switch", SAVING)) for (n, cycles), one in zip(created, ordered, strict=True)]
    lines = {
        "whole": Line([(one.threads, one.parallel) for one in ordered], "arm"),
        "+ switches": Line(switched, "fresh", 1),
        "creations": Line(created, "ink", 2),
    }
    last = ordered[-1]
    about = (
        f"Figure 9: SSH’s curve with the cycles of all creations, and on top those of all context switches (saving and "
        f"restoring). With {last.threads} threads both are {100 * switched[-1][1] / last.parallel:.0f} % of the whole "
        "(the paper: 87 %); the switches are those of all PEs, which go on at the same time."
    )
    body = [
        [str(one.threads), formats.count(one.parallel), formats.count(made), formats.count(both - made)]
        for one, (_, made), (_, both) in zip(ordered, created, switched, strict=True)
    ]
    head = ["threads", "whole", "creations", "switches"]
    draw = partial(charts.lines, lines, Axis("threads"), Axis("cycles"))
    return [Part("What it is spent on", about, head, body, draw, key, charts.WIDE)]


def _scaling(runs: Sequence[Modelled], key: str) -> list[Part]:
    by: dict[str, dict[int, Modelled]] = {}
    for one in sorted(runs, key=lambda one: one.pes):
        by.setdefault(_called(one), {})[one.pes] = one
    if not by:
        return []
    lines: dict[str, Line] = {}
    for name, each in by.items():
        tone = "good" if name.startswith("grain") else "ink" if name == "registers" else "fresh"
        if len(each) > 1:
            same = sum(line.tone == tone for line in lines.values())
            lines[name] = Line([(n, one.efficiency) for n, one in each.items()], tone, same)
    counts = sorted({n for each in by.values() for n in each})
    body = [[str(n), *(_cell(each[n]) if n in each else "–" for each in by.values())] for n in counts]
    part = Part("1 to 64 PEs", _scaled(by), ["PEs", *by], body)
    if lines:
        x, y = Axis("PEs", log=True, ticks=counts), Axis("efficiency", mark=1.0)
        part.draw, part.key, part.wide = partial(charts.lines, lines, x, y), key, charts.WIDE
    return [part]


def _called(one: Modelled) -> str:
    """Name a run of the scaling: its task, and its policy or its creators where they are not the usual ones."""
    if one.creators:
        return f"{one.task}, tree"
    return one.task if one.task != "grain" else f"{one.task}, {one.policy}"


def _cell(one: Modelled) -> str:
    """Return the efficiency, and of a task that loads and stores the instructions per cycle with the bus's bound."""
    text = f"{100 * one.efficiency:.0f} %"
    if not one.task.endswith("%"):
        return text
    return f"{text}, {one.instructions / one.parallel:.2f} of {thread_model.bound(one.task, one.pes):.2f}"


def _scaled(by: Mapping[str, Mapping[int, Modelled]]) -> str:
    flat = [each for name, each in by.items() if name.startswith("grain") and not name.endswith("tree")]
    tree, said = by.get("grain, tree", {}), []
    if flat:
        most = max(max(each) for each in flat)
        last = max((each[most] for each in flat if most in each), key=lambda one: one.efficiency)
        at16 = [each[16] for each in flat if 16 in each and most > 16]
        best = max(at16, key=lambda one: one.efficiency, default=None)
        first = f"{100 * best.efficiency:.0f} % at 16 PEs ({best.policy}), " if best else ""
        said.append(
            f"Efficiency of {last.threads // last.pes} threads a PE of {formats.count(last.work)} cycles each, of "
            f"grain’s task in registers: {first}{100 * last.efficiency:.0f} % at {most} ({last.policy})."
        )
        # With more threads than ids a creator waits for ids, and its time is not that of creation alone.
        unhindered = [one for each in flat for one in each.values() if one.threads < _IDS]
        if unhindered:
            one = max(unhindered, key=lambda one: one.threads)
            each_takes = one.creating / one.threads
            said.append(
                f"One creator takes {each_takes:.0f} cycles a thread, and so feeds {one.work / each_takes:.0f} PEs at "
                "most."
            )
        if last.threads >= _IDS:
            said.append("With more threads than the 256 ids it joins the oldest to create the next.")
        if most in tree:
            said.append(f"With {tree[most].creators} creators it is {100 * tree[most].efficiency:.0f} %.")
    if any(name.endswith("%") for name in by):
        said.append(
            "A share is that of loads and stores among a task’s instructions; beside the efficiency stand the "
            "instructions per cycle of the whole machine, and the 1/(3f) to which reads of 3 cycles on one bus bound "
            "them (stores take 2)."
        )
    return " ".join(said)
