# SPDX-License-Identifier: Apache-2.0
"""What the machine's hardware costs: its blocks in cells of ECP5, the scheduler's share, growth, clocks."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from lab.cache import Say, quiet
from okosu.records.summary import Section, markdown
from papers.scheduling_hardware import run, synthesis
from papers.scheduling_hardware.formats import CallRecord, ClockRecord, CostRecord, SynthFile
from papers.scheduling_hardware.machine import ISAS, SCHEDULERS, Machine
from papers.scheduling_hardware.plan import primitives
from papers.scheduling_hardware.synthesis import Block

# Sizes of the machines in the tables of growth; one size varies while the other is _PES or _THREADS.
PES = (1, 2, 4, 8, 16)
THREADS = (16, 64, 256)
_PES, _THREADS = 8, 256
CONTEXTS = ("soft", "mem", "banked")
# The machine whose calls are timed has so many thread ids; the calls have the names that sw/programs print.
_TIMED_THREADS = 64
CALLS = {
    "create": "pthread_create",
    "join_finished": "pthread_join of a thread that has ended",
    "join_wake": "from a thread's end to its joiner's going on",
    "mutex_lock": "pthread_mutex_lock of a free mutex",
    "barrier_last_to_last": "a barrier, from the last arrival",
    "yield_command": "the yield command",
}
# Seconds of processor time for each route.
LIMIT_S = 1800.0


def _mode(context: str) -> tuple[str, str]:
    return "CtxMode", f"okosu_pkg::Ctx{context.capitalize()}"


def _per_pe(context: str) -> tuple[tuple[str, int | str], ...]:
    banks = Machine(context=context).numbers["banks"]
    return (("NumPes", _PES), ("Threads", _THREADS), _mode(context), ("Banks", banks))


def pe(context: str, isa: str = ISAS[0]) -> Block:
    """Return a PE with this context mode: core, SSH-s and the logic that joins them; no data cache."""
    given = _per_pe(context)
    if isa == ISAS[0]:
        return Block(f"PE, {context}", "pe", given)
    return Block(f"PE, {context}, {isa}", "pe", (*given, ("Rv32", ISAS.index(isa))))


def core(context: str) -> Block:
    """Return the core alone, with its sets of registers."""
    banks = Machine(context=context).numbers["banks"]
    given = (("Threads", _THREADS), ("Banks", banks))
    return Block(f"core, {banks} set{'s' * (banks > 1)} of registers", "core", given)


def ssh_s(context: str) -> Block:
    return Block(f"SSH-s, {context}", "ssh_s", _per_pe(context))


def ssh_m(pes: int, threads: int, scheduler: str = SCHEDULERS[0]) -> Block:
    """Return SSH-m of a machine with so many PEs and thread ids, with 16 watches."""
    given: tuple[tuple[str, int | str], ...] = (("NumPes", pes), ("Threads", threads), _mode("banked"))
    name = f"SSH-m, {pes} PE{'s' * (pes > 1)}, {threads} threads"
    if scheduler == SCHEDULERS[0]:
        return Block(name, "ssh_m", given)
    return Block(f"{name}, {scheduler}", "ssh_m", (*given, ("Staged", SCHEDULERS.index(scheduler))))


def mem_bus(pes: int) -> Block:
    """Return the memory bus of so many PEs; SSH-m has a port too."""
    return Block(f"memory bus, {pes} PE{'s' * (pes > 1)}", "mem_bus", (("NumPorts", pes + 1),))


def sched_bus(pes: int) -> Block:
    return Block(f"scheduler bus, {pes} PE{'s' * (pes > 1)}", "sched_bus", (("NumPes", pes),))


def blocks(quick: bool = False) -> list[Block]:
    """Return what is synthesised; the quick ones are small."""
    if quick:
        return [*map(mem_bus, PES[:2]), *map(sched_bus, PES[:2]), ssh_s("soft")]
    per_pe = [make(context) for context in CONTEXTS for make in (pe, ssh_s)]
    per_pe += [pe("banked", "rv32"), core("soft"), core("banked")]
    shared = [make(pes) for pes in PES for make in (mem_bus, sched_bus)]
    growing = [ssh_m(_PES, threads) for threads in THREADS] + [ssh_m(pes, 64) for pes in PES if pes != _PES]
    staged = [ssh_m(_PES, threads, "staged") for threads in THREADS]
    return [*per_pe, *shared, *growing, *staged]


def routes(quick: bool = False) -> list[Block]:
    if quick:
        return []
    schedulers = [ssh_m(_PES, threads, scheduler) for scheduler in SCHEDULERS for threads in THREADS]
    return [ssh_s("banked"), pe("soft"), pe("banked"), pe("banked", "rv32"), *schedulers]


def timed() -> list[Block]:
    """Return the blocks whose clocks the table of times has."""
    return [pe("banked"), *(ssh_m(_PES, _TIMED_THREADS, scheduler) for scheduler in SCHEDULERS)]


def calls(say: Say = quiet) -> list[CallRecord]:
    """Return what each call takes on the machine of the table of times, with each scheduler."""
    found = []
    for scheduler in SCHEDULERS:
        cycles = {
            one.metric: max(one.samples)
            for one in run.measure(scheduler, primitives.beside_clocks(scheduler, _TIMED_THREADS), say)
            if one.samples
        }
        found += [CallRecord(scheduler=scheduler, name=name, cycles=cycles[name]) for name in CALLS]
    return found


def measure(
    wanted: Iterable[Block],
    routed: Iterable[Block],
    limit_s: float = LIMIT_S,
    say: Say = quiet,
    called: Sequence[CallRecord] = (),
    seeds: int = 1,
) -> SynthFile:
    """Synthesise and route, each block with so many seeds of the router, and return the record; what was done before
    comes from the cache."""
    first = synthesis.FIRST_SEED

    def clock(block: Block) -> ClockRecord:
        told = [synthesis.route(block, limit_s, say, seed) for seed in range(first, first + seeds)]
        others = [one.mhz for one in told[1:]]
        return ClockRecord(**_described(block), **asdict(told[0]), others=others)

    return SynthFile(
        versions=synthesis.tools(),
        device=" ".join(synthesis.DEVICE),
        blocks=[CostRecord(**_described(one), **asdict(synthesis.synthesise(one, say=say))) for one in wanted],
        routes=[clock(one) for one in routed],
        calls=list(called),
    )


def sections(record: SynthFile) -> list[Section]:
    """Return the record's tables: blocks, whole machines with the scheduler's share by their size, clocks."""
    blocks = [[one.name, f"{one.logic:,}", f"{one.ff:,}", str(one.ram), str(one.dsp)] for one in record.blocks]
    found = [
        Section(id="blocks", head=["block", "logic cells", "flip-flops", "block RAMs", "multipliers"], body=blocks)
    ]
    if machines := _machines(record):
        head = ["PEs, banked", "threads", "logic cells", "flip-flops", "block RAMs"]
        head += ["of the logic, SSH-s, SSH-m and their bus", "clock of PE and SSH-m"]
        found.append(Section(id="machines", head=head, body=machines))
    if record.routes:
        routes = [
            [
                one.name,
                f"not placed and routed within {one.limit_s:.0f} s of processor time"
                if one.mhz is None
                else f"{one.mhz:.1f} MHz" + _spread(one),
                "" if one.used is None else format(one.used, ","),
            ]
            for one in record.routes
        ]
        found.append(Section(id="clocks", head=["block, routed", "clock", "logic cells in use"], body=routes))
    if times := _times(record):
        found.append(times)
    return found


def _spread(one: ClockRecord) -> str:
    """Return in words between which clocks the router's seeds lie."""
    reached = [mhz for mhz in (one.mhz, *one.others) if mhz is not None]
    if not one.others:
        return ""
    failed = 1 + len(one.others) - len(reached)
    lost = f", {failed} not routed" if failed else ""
    return f" ({1 + len(one.others)} seeds: {min(reached):.1f} to {max(reached):.1f}{lost})"


def command(record: SynthFile) -> str:
    """Return the command that made the record."""
    seeds = max((1 + len(one.others) for one in record.routes), default=1)
    asked = f" --seeds {seeds}" if seeds > 1 else ""
    limit = max((one.limit_s for one in record.routes), default=LIMIT_S)
    asked += f" --limit {limit:.0f}s" if limit != LIMIT_S else ""
    if [one.name for one in record.blocks] == [block.name for block in timed()]:
        return f"okosu lab synth --times{asked} --json scheduling-hardware-times.json"
    return f"okosu lab synth{asked} --json scheduling-hardware-synthesis.json"


def tables(record: SynthFile) -> list[str]:
    """Return the same in lines of Markdown."""
    return "\n".join(map(markdown, sections(record))).splitlines()


def _machines(record: SynthFile) -> list[list[str]]:
    """Return the table of whole machines, sums of their blocks, as far as these are in the record."""
    costs = {one.name: one for one in record.blocks}
    sizes = [(n, 64) for n in PES] + [(_PES, n) for n in THREADS if n != 64]
    lines = []
    for scheduler, (pes, threads) in itertools.product(SCHEDULERS, sizes):
        shared = ssh_m(pes, threads, scheduler)
        parts = [(pe("banked"), pes), (shared, 1), (mem_bus(pes), 1), (sched_bus(pes), 1)]
        ours = [(ssh_s("banked"), pes), (shared, 1), (sched_bus(pes), 1)]
        if all(block.name in costs for block, _ in [*parts, *ours]):
            cells, flops, rams = (
                sum(count * getattr(costs[block.name], kind) for block, count in parts)
                for kind in ("logic", "ff", "ram")
            )
            share = sum(count * costs[block.name].logic for block, count in ours) / cells
            mhz = _slower(record, shared)
            size = [str(pes), str(threads) + f", {scheduler}" * (scheduler != SCHEDULERS[0])]
            clock = "" if mhz is None else f"{mhz:.1f} MHz"
            lines.append([*size, f"{cells:,}", f"{flops:,}", str(rams), f"{100 * share:.0f} %", clock])
    return lines


def _slower(record: SynthFile, shared: Block) -> float | None:
    """Return the clock of the slower of a PE and this SSH-m in MHz; None where one of them was not routed."""
    routed = {one.name: one.mhz for one in record.routes}
    clocks = [routed.get(block.name) for block in (pe("banked"), shared)]
    reached = [mhz for mhz in clocks if mhz is not None]
    return min(reached) if len(reached) == len(clocks) else None


def _times(record: SynthFile) -> Section | None:
    """Return what each call takes in nanoseconds with each scheduler: its cycles at the clock of the slower of a PE and
    SSH-m. A scheduler that was not routed, or whose calls were not counted, has no columns; None where none has."""
    head, columns = [f"{_PES} PEs, banked, {_TIMED_THREADS} threads"], []
    for scheduler in SCHEDULERS:
        mhz = _slower(record, ssh_m(_PES, _TIMED_THREADS, scheduler))
        cycles = {one.name: one.cycles for one in record.calls if one.scheduler == scheduler}
        if cycles and mhz is not None:
            head += [f"{scheduler}, cycles", f"{scheduler}, time"]
            told = [[f"{cycles[name]:.0f}", f"{1000 * cycles[name] / mhz:,.0f} ns"] for name in CALLS]
            columns.append([["", f"{mhz:.1f} MHz"], *told])
    rows = zip(["the clock", *CALLS.values()], *columns, strict=True)
    body = [[text, *itertools.chain(*cells)] for text, *cells in rows]
    return Section(id="times", head=head, body=body) if columns else None


def _described(block: Block) -> dict[str, Any]:
    return {"name": block.name, "top": block.top, "parameters": dict(block.parameters)}
