# SPDX-License-Identifier: Apache-2.0
"""What the runs gave beside what the paper printed, and what each target compares."""

from __future__ import annotations

from collections.abc import Sequence

from okosu.records.types import Record
from papers.common.base import Measured, Ours
from papers.common.entries import Target
from papers.common.points import Found, Point, Sides
from papers.scheduling_hardware import thread_model
from papers.scheduling_hardware.machine import MOST_PES, Machine
from papers.scheduling_hardware.simulation import KINDS
from papers.scheduling_hardware.thread_model import BEST, PAPER, SAVING, SOFTWARE, Modelled

CALLS = {
    "create": "create",
    "join-finished": "join_finished",
    "mutex-lock": "mutex_lock",
    "barrier": "barrier_last_to_last",
    "yield-command": "yield_command",
    "yield-switch": "yield_switch",
    "join-wake": "join_wake",
    "software-create": "create",
    "software-join": "join_finished",
}
"""The line of sw/programs that a target speaks of."""


def published(measured: Measured) -> dict[str, Ours]:
    """Return ours by the id of the published entry."""
    found = {**_machine(measured), **_table4(measured), **_of_figures(measured)}
    return {name: ours for name, ours in found.items() if ours is not None}


def sides(target: Target, measured: Measured) -> Found:
    """Return what a target compares, exact numbers of one run."""
    records = measured.records.get(target.experiment, [])
    if target.id == "efficiency":
        return _efficiency(records)
    if target.id == "break-even":
        runs = [one for one in thread_model.read(records) if one.variant == BEST]
        return _exact(target.id, BEST, thread_model.break_even(runs), "the sweep of grains does not enclose it")
    variant = SOFTWARE if target.experiment == "table4" else BEST
    call = CALLS[target.id]
    return _exact(call, variant, _cycles(records, variant, call), f"{call} was not measured with {variant}")


def _cycles(records: Sequence[Record], variant: str, name: str) -> float | None:
    """Return the most cycles that an operation took, None where it was not measured."""
    for record in records:
        if record.variant == variant and record.metric == name and record.samples:
            return record.samples[0]
    return None


def _exact(label: str, variant: str, value: float | None, lacking: str) -> Found:
    """Return a number as a target's ratio, which is then the number itself."""
    if value is None:
        return Found([], [lacking])
    return Found([Sides(Point(), label, variant, "", {0: value}, {0: 1.0}, exact=True)], [])


def _efficiency(records: Sequence[Record]) -> Found:
    """Return the cycles of all 16 PEs beside those of the tasks one after the other, with the policy that is best."""
    runs = [one for one in thread_model.read(records) if (one.variant, one.pes, one.task) == (BEST, 16, "grain")]
    flat = [one for one in runs if not one.creators]
    if not flat:
        return Found([], ["16 PEs were not simulated"])
    best = max(flat, key=lambda one: one.efficiency)
    others = ", ".join(f"{one.policy} {one.efficiency:.3f}" for one in flat)
    ours, theirs = {0: best.pes * best.parallel}, {0: best.sequential}
    label = f"one creator, {best.policy} (by policy: {others})"
    return Found([Sides(Point(), label, BEST, "sequential", ours, theirs, exact=True)], [])


def _machine(measured: Measured) -> dict[str, Ours | None]:
    """Return what stands beside sections 4, 5.1 and 5.2: the machine and what simulates it."""
    here = measured.facts
    best = Machine()
    found: dict[str, Ours | None] = {
        "4.snooping": Ours(float(best.watches), "the unit wakes who waits for a word that is stored to"),
        "5.2.pes.least": Ours(1.0, "the same"),
        "5.2.pes.most": Ours(float(MOST_PES), "as far as 8 bits for a thread's id reach"),
    }
    if here is not None:
        found["t1.cpus"] = Ours(float(len(here.cpus)), "each simulates one run at a time")
        if here.memory.total_kb:
            found["t1.memory"] = Ours(here.memory.total_kb / 2**20, "a run needs 100 MB")
    return found


def _table4(measured: Measured) -> dict[str, Ours | None]:
    records = measured.records.get("table4", [])
    found: dict[str, Ours | None] = {}
    for variant, name in ((PAPER, "ssh"), (SOFTWARE, "software")):
        for call, line in (("create", "create"), ("join", "join_finished")):
            cycles = _cycles(records, variant, line)
            if cycles is not None:
                why = "from call to return, all else idle; the paper does not say what its library does in a call"
                if variant == PAPER:
                    why += ". Here an id lies ready in SSH-s, a stack belongs to it, and operands go through registers"
                found[f"t4.{call}.{name}"] = Ours(cycles, why)
    return found


def _of_figures(measured: Measured) -> dict[str, Ours | None]:
    """Return what stands beside Figures 6 to 9, and how they were run."""
    sixth = {one.variant: one for one in thread_model.read(measured.records.get("figure6", []))}
    seventh = thread_model.read(measured.records.get("figure7", []))
    eighth = thread_model.read(measured.records.get("figure8", []))
    found: dict[str, Ours | None] = {}
    for figure, runs in (("f6", list(sixth.values())), ("f7", seventh), ("f8", eighth)):
        if runs:
            found |= _configured(figure, runs[0])
    if {PAPER, SOFTWARE} <= sixth.keys():
        found |= _figure6_shares(sixth[PAPER], sixth[SOFTWARE])
    evens = {
        name: thread_model.break_even([one for one in seventh if one.variant == name]) for name in (PAPER, SOFTWARE)
    }
    for variant, name in ((PAPER, "ssh"), (SOFTWARE, "software")):
        if (value := evens[variant]) is not None:
            found[f"f7.{name}"] = Ours(value, _ratio(evens[PAPER], evens[SOFTWARE]))
    return {**found, **_figure9([one for one in eighth if one.variant == PAPER])}


def _configured(figure: str, one: Modelled) -> dict[str, Ours | None]:
    """Return how a figure was run."""
    found: dict[str, Ours | None] = {f"{figure}.pes": Ours(float(one.pes), "the same")}
    if figure == "f6":
        found["f6.threads"] = Ours(float(one.threads), "the same")
    if figure == "f7":
        found |= {name: Ours(float(one.threads), "threads") for name in ("f7.threads", "6.threads")}
        found["6.pes"] = Ours(float(one.pes), "the same")
    else:
        why = "with the calls of the tasks and what they load and store themselves"
        found[f"{figure}.load"] = Ours(one.sequential, why)
    return found


def _ratio(ssh: float | None, software: float | None) -> str:
    if ssh is None or software is None:
        return "interpolated between the runs around it"
    return f"software's is {software / ssh:.2f} times SSH's; the paper's {5000 / 1250:.0f} times"


def _figure6_shares(ssh: Modelled, software: Modelled) -> dict[str, Ours | None]:
    found: dict[str, Ours | None] = {}
    for name, kinds in (("create", KINDS), ("switch", SAVING)):
        before, after = software.section(name, kinds), ssh.section(name, kinds)
        if before:
            why = f"{after:.0f} of {before:.0f} cycles of all PEs"
            found[f"f6.{name}"] = Ours(100 * after / before, why)
    return found


def _figure9(runs: Sequence[Modelled]) -> dict[str, Ours | None]:
    if not runs:
        return {}
    best = min(runs, key=lambda one: one.parallel)
    around = ", ".join(f"{one.threads}: {one.parallel:.0f}" for one in runs)
    found: dict[str, Ours | None] = {"f9.best": Ours(float(best.threads), f"cycles by threads: {around}")}
    most = max(runs, key=lambda one: one.threads)
    spent = most.section("create") + most.section("switch", SAVING)
    why = f"creations {most.section('create'):.0f} and switches {most.section('switch', SAVING):.0f} cycles of all PEs"
    found["f9.threads"] = Ours(float(most.threads), "the same")
    found["f9.share"] = Ours(100 * spent / most.parallel, f"{why}, of {most.parallel:.0f} that the whole takes")
    return found
