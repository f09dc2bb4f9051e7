# SPDX-License-Identifier: Apache-2.0
"""Sasaki and others' scheduling hardware: threads created, switched and joined by SSH or in software, in simulation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar

from okosu.records.types import Record
from papers.common.base import LabExperiment, Measured, Ours, Paper, Say
from papers.common.entries import Target
from papers.common.points import Found, Point, Sides
from papers.scheduling_hardware import hardware, thread_model
from papers.scheduling_hardware import run as machine_runs
from papers.scheduling_hardware.hardware import Machine
from papers.scheduling_hardware.plan import locks, model, policies, primitives, scaling
from papers.scheduling_hardware.plan.model import LOAD, PES, THREADS
from papers.scheduling_hardware.plan.primitives import BEST
from papers.scheduling_hardware.run import Run
from papers.scheduling_hardware.thread_model import SAVING, Modelled

SOFT = Machine(pes=PES, context="soft")
"""The paper's machine: the library saves contexts, and there is no data cache."""
BACKENDS = ("ssh", "software")
PAPER, SOFTWARE = "ssh soft", "software"
GRAINS = (4, 20, 40, 60, 100, 160, 250, 400, 500, 630, 800, 1000, 1250, 1600, 2500, 5000, 10000)
"""Cycles per thread in Figure 7, and below: the hardware here pays earlier than the paper's."""
FEW_GRAINS = (4, 40, 160, 400, 630, 1000, 10000)
FINE = (4, 20, 40, 60, 80, 100, 120, 140, 160, 200, 300, 500, 1000, 2500, 10000)
"""Cycles per thread where the hardware switches contexts."""
COUNTS = (1, 2, 4, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24, 32, 40)
"""Threads in Figures 8 and 9."""
FINER = 8
"""Grains more between the last that does not pay and the first that does."""
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

Measure = Callable[[Say], Iterator[Record]]


class SchedulingHardware(Paper):
    """Scheduling Support Hardware for Multiprocessor System and its Evaluations."""

    name: ClassVar[str] = "scheduling-hardware"

    def experiments(self) -> list[LabExperiment]:
        """Return what is simulated: the paper's configuration first, the largest machines last."""
        return [
            _experiment("table4", primitives.of_paper, "primitives.c"),
            _experiment("figure6", _figure6, "model.c 16 …"),
            LabExperiment("figure7", _figure7(GRAINS, FINER), _shown("model.c 40 …"), True, _figure7(FEW_GRAINS, 0)),
            _experiment("figure8", _figure8, "model.c 1 …", lambda: _figure8((1, 8, 40))),
            _experiment("primitives", primitives.all_contexts, "primitives.c", lambda: primitives.runs(["banked"])),
            LabExperiment("break-even", _break_even(FINE, FINER), _shown("model.c 40 …"), True, _break_even_quick),
            _experiment("policies", policies.runs, "tree.c …", lambda: policies.runs(("fifo", "lifo"), ("model",))),
            _experiment("locks", lambda: locks.runs((2, 4, 8, 16)), "contend.c …", lambda: locks.runs((8,))),
            _experiment("scaling", scaling.runs, "model.c …", lambda: scaling.runs((PES,), ("25 %",))),
        ]

    def compare(self, measured: Measured) -> dict[str, Ours]:
        """Return ours by the id of the published entry."""
        found = {**_machine(measured), **_table4(measured), **_of_figures(measured)}
        return {name: ours for name, ours in found.items() if ours is not None}

    def sides(self, target: Target, measured: Measured) -> Found:
        """Return what a target compares, exact numbers of one run."""
        records = measured.records.get(target.experiment, [])
        if target.id == "efficiency":
            return _efficiency(records)
        if target.id == "break-even":
            runs = [one for one in thread_model.read(records) if one.variant == BEST]
            return _exact(target.id, BEST, thread_model.break_even(runs), "the sweep of grains does not enclose it")
        variant = SOFTWARE if target.experiment == "table4" else BEST
        cycles = primitives.cycles(records, variant, CALLS[target.id])
        return _exact(CALLS[target.id], variant, cycles, f"{CALLS[target.id]} was not measured with {variant}")


def _experiment(
    name: str, runs: Callable[[], Sequence[Run]], shown: str, thin: Callable[[], Sequence[Run]] | None = None
) -> LabExperiment:
    """Return an experiment of these runs, and of fewer with --quick."""
    quick: Measure | None = None
    if thin is not None:
        chosen = thin

        def quick(say: Say) -> Iterator[Record]:
            return machine_runs.measure(name, chosen(), say)

    return LabExperiment(name, lambda say: machine_runs.measure(name, runs(), say), _shown(shown), True, quick)


def _shown(words: str) -> str:
    return f"okosu lab run rtl -- sw/programs/{words}"


def _figure6() -> list[Run]:
    return [model.run(SOFT, 16, LOAD / 16, backend, sections=True) for backend in BACKENDS]


def _figure7(works: Sequence[float], finer: int) -> Measure:
    at = [model.run(SOFT, THREADS, 0, backend) for backend in BACKENDS]
    return lambda say: model.sweeps("figure7", at, works, say, finer)


def _figure8(counts: Sequence[int] = COUNTS) -> list[Run]:
    return [
        model.run(SOFT, threads, LOAD / threads, backend, sections=True) for backend in BACKENDS for threads in counts
    ]


def _break_even(works: Sequence[float], finer: int, contexts: Sequence[str] | None = None) -> Measure:
    def measure(say: Say) -> Iterator[Record]:
        there = contexts or [one for one in machine_runs.contexts() if one != "soft"]
        at = [model.run(Machine(pes=PES, context=context), THREADS, 0) for context in there]
        return model.sweeps("break-even", at, works, say, finer)

    return measure


_break_even_quick = _break_even(FEW_GRAINS, 0, ("banked",))


def _exact(label: str, variant: str, value: float | None, lacking: str) -> Found:
    """Return a number as a target's ratio: what it bounds is the number itself."""
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
        "5.2.pes.most": Ours(float(hardware.MOST_PES), "as far as 8 bits for a thread's id reach"),
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
            cycles = primitives.cycles(records, variant, line)
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
    for name, kinds in (("create", machine_runs.KINDS), ("switch", SAVING)):
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
