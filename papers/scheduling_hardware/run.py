# SPDX-License-Identifier: Apache-2.0
"""Runs of the machine in rtl/ for the paper scheduling-hardware, as records: each one run, for a simulation is exact.

What a run gave is kept by its simulator and its program, which decide it: a reproduction that was interrupted goes on
where it stopped, and only what has changed is simulated again.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

import okosu
from lab import cache
from okosu.errors import OkosuError
from okosu.records.types import Record
from papers.common.base import Say
from papers.scheduling_hardware import ROOM, cross_compile, simulation, sweeps, verilator
from papers.scheduling_hardware.machine import Machine

KINDS = simulation.KINDS
POLICIES = ("fifo", "rr", "lifo", "priority", "edf", "affinity")
"""The policies, by the number that __okosu_policy takes."""
QUANTUM = 1000
"""Cycles after which rr takes a PE from a thread."""
_KEPT = "rtl-run"
_REPORT = "run.json"
_LINE = re.compile(r"^(\w+) (\d+)(?: (\d+))?$", re.MULTILINE)
# Runs of this study take less than two million cycles; one that takes 50 million has gone wrong.
_MAX_CYCLES = 50_000_000


@dataclass(frozen=True)
class Run:
    """One run: a program of sw/programs with its arguments, on a machine.

    `told` goes into its records; `sections`: where the cycles of all PEs went, too. `cycles`: how long the program took
    from reset, and nothing that it prints.
    """

    program: str
    arguments: tuple[str, ...]
    machine: Machine
    backend: str = "ssh"
    flags: tuple[str, ...] = ()
    told: Mapping[str, str | float] = field(default_factory=dict)
    sections: tuple[str, ...] = ()
    cycles: bool = False

    def on(self, isa: str) -> Run:
        """Return the same run on PEs of that instruction set."""
        return replace(self, machine=replace(self.machine, isa=isa))

    @property
    def variant(self) -> str:
        """Return what is compared: the back end, and of the hardware's where it keeps contexts."""
        return f"ssh {self.machine.context}" if self.backend == "ssh" else self.backend

    @property
    def point(self) -> sweeps.Point:
        source = str(ROOM / "sw" / "programs" / f"{self.program}.c")
        return sweeps.Point(self.machine, self.backend, (source, *self.flags, *self.arguments))


def policy_flags(policy: str) -> tuple[str, ...]:
    """Return the linker's words by which a program asks for a policy at its start."""
    number = f"-Wl,--defsym=__okosu_policy={POLICIES.index(policy)}"
    return (number, f"-Wl,--defsym=__okosu_quantum={QUANTUM}") if policy == "rr" else (number,)


def measure(of: str, runs: Sequence[Run], say: Say) -> Iterator[Record]:
    """Yield the records of the runs in their order, each as soon as those before it have ended.

    A run that fails is a record without samples that says why, and the others go on; OkosuError in the end names it.
    A machine's simulator is built when its runs come, so that nothing waits for the largest.
    """
    failed: list[str] = []
    number = 0
    pool = ThreadPoolExecutor(len(os.sched_getaffinity(0)))
    try:
        for machine, group in itertools.groupby(runs, lambda run: run.machine):
            simulator = verilator.build(machine, say=say)
            futures = [(run, pool.submit(_result, run, simulator)) for run in group]
            for run, future in futures:
                number += 1
                try:
                    yield from records(of, run, future.result())
                except OkosuError as error:
                    failed.append(f"{run.program} {' '.join(run.arguments)} ({run.variant}): {error.what}")
                    yield _record(of, run, "run", "", [], note=f"{error.what}: {error.why}")
                say(f"{of}: {number} of {len(runs)} runs")
    finally:
        # Runs that have begun cannot be stopped; their results are waited for and kept.
        pool.shutdown(cancel_futures=True)
    if failed:
        raise OkosuError(f"{of}: {len(failed)} of {len(runs)} runs failed", "\n       ".join(failed[:5]))


def _result(run: Run, simulator: verilator.Simulator) -> dict[str, Any]:
    """Return what a run gave, simulated where it is not kept; OkosuError where it does not end well."""
    program = cross_compile.compile_(cross_compile.parse(run.point.words), run.backend, isa=run.machine.isa)
    key = cache.key(simulator.key, hashlib.sha256(program.read_bytes()).hexdigest())

    def fill(folder: Path) -> None:
        outcome = simulation.run(simulator, program, max_cycles=_MAX_CYCLES)
        found = sweeps.record(run.point, outcome)
        if outcome.status:
            why = outcome.message or outcome.stderr.decode(errors="replace").strip()
            raise OkosuError(f"exit status {outcome.status}", why or "it found its own result to be wrong")
        (folder / _REPORT).write_bytes(msgspec.json.encode(found))

    held: dict[str, Any] = json.loads((cache.made(_KEPT, key, fill) / _REPORT).read_text())
    return held


def records(of: str, run: Run, result: Mapping[str, Any]) -> list[Record]:
    """Return the records of a run: every line `name number` or `name least most` that it printed, and the sections."""
    found = []
    for name, first, second in [] if run.cycles else _LINE.findall(result["stdout"]):
        told: dict[str, str | float] = {"least": float(first)} if second else {}
        found.append(_record(of, run, name, _unit(name), [float(second or first)], told))
    for section in run.sections:
        for kind in KINDS:
            spent = sum(pe[section][kind] for pe in result["counters"])
            found.append(_record(of, run, section, "PE cycles", [float(spent)], {"kind": kind}))
    if run.cycles:
        found.append(_record(of, run, "cycles", "cycles", [float(result["cycles"])]))
    return found


def _unit(name: str) -> str:
    return "times" if name.endswith("_seen") else {"reads": "loads", "instructions": "instructions"}.get(name, "cycles")


def _record(
    of: str,
    run: Run,
    metric: str,
    unit: str,
    samples: list[float],
    told: Mapping[str, str | float] | None = None,
    note: str = "",
) -> Record:
    return Record(
        tool=f"okosu {okosu.__version__}",
        machine="",
        platform="verilator",
        subject=f"rtl {run.program}.c",
        variant=run.variant,
        stage="bench",
        metric=metric,
        unit=unit,
        samples=samples,
        parameters={"of": of, "pes": float(run.machine.pes), **run.told, **(told or {})},
        note=note,
    )
