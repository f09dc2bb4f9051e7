# SPDX-License-Identifier: Apache-2.0
"""Many runs of the machine in rtl/: one process a point, as many at a time as there are cores, or a job array."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lab.cache import Say, quiet
from okosu.errors import USAGE_ERROR, OkosuError
from papers.scheduling_hardware import cross_compile, simulation
from papers.scheduling_hardware.formats import PointRecord
from papers.scheduling_hardware.machine import BY_NAME, Machine
from papers.scheduling_hardware.verilator import Simulator, build


@dataclass(frozen=True)
class Point:
    """One run: what is simulated, the back end, and the words of the program (see cross_compile.parse)."""

    machine: Machine
    backend: str
    words: tuple[str, ...]
    # The names and values that the sweep set.
    varied: tuple[tuple[str, str], ...] = ()


def points(base: Point, axes: Sequence[tuple[str, Sequence[str]]]) -> list[Point]:
    """Return the points of a sweep: every combination of the axes' values, the last axis fastest.

    An axis is a field of Machine, "backend", or any other name: then {name} in the program's words is its value.
    """
    found = []
    for values in itertools.product(*(values for _, values in axes)):
        varied = tuple(zip((name for name, _ in axes), values, strict=True))
        point = replace(base, varied=varied)
        for name, value in varied:
            point = _set(point, name, value)
        point.machine.check()
        found.append(point)
    return found


def _set(point: Point, name: str, value: str) -> Point:
    if name == "backend":
        if value not in cross_compile.BACKENDS:
            why = f"the back ends are {', '.join(cross_compile.BACKENDS)}"
            raise OkosuError(f"no back end is called {value!r}", why, "", USAGE_ERROR)
        return replace(point, backend=value)
    if name in BY_NAME:
        try:
            return replace(point, machine=point.machine.having(name, value))
        except ValueError:
            raise OkosuError(
                f"--sweep {name}: {value!r} is no number", "", f"--sweep {name}=1,2,4", USAGE_ERROR
            ) from None
    words = tuple(word.replace(f"{{{name}}}", value) for word in point.words)
    if words == point.words:
        why = f"it is neither a part of the machine nor is {{{name}}} among the program's words"
        raise OkosuError(f"--sweep {name}: there is nothing to vary", why, f"-- … {{{name}}}", USAGE_ERROR)
    return replace(point, words=words)


def run(
    wanted: Sequence[Point],
    *,
    checked: bool = False,
    max_cycles: int = simulation.MAX_CYCLES,
    seed: int = 1,
    say: Say = quiet,
    done: Callable[[int, PointRecord], None] | None = None,
) -> list[PointRecord]:
    """Run every point, several at a time, and return what record() says of each, in their order.

    Simulators and programs are built first. `done(index, record)` hears of each as it ends. A point that fails is a
    record with its error; the others run on.
    """
    simulators: dict[Machine, Simulator] = {}
    for machine in dict.fromkeys(point.machine for point in wanted):
        simulators[machine] = build(machine, checked, say=say)
    cores = len(os.sched_getaffinity(0))
    with ThreadPoolExecutor(cores) as pool:
        programs = list(pool.map(_compiled, wanted))

    def one(index: int) -> PointRecord:
        point = wanted[index]
        try:
            simulator = simulators[point.machine]
            return record(point, simulation.run(simulator, programs[index], max_cycles=max_cycles, seed=seed))
        except simulation.UnfinishedError as error:
            return record(point, error.outcome, error)
        except OkosuError as error:
            return described(point, error.status, error=_said(error))

    records: dict[int, PointRecord] = {}
    with ThreadPoolExecutor(cores) as pool:
        futures = {pool.submit(one, index): index for index in range(len(wanted))}
        for future in as_completed(futures):
            index = futures[future]
            records[index] = future.result()
            say(f"{len(records)} of {len(wanted)} {'#' * (30 * len(records) // len(wanted)):.<30}")
            if done:
                done(index, records[index])
    return [records[index] for index in range(len(wanted))]


def record(point: Point, outcome: simulation.Outcome, failed: simulation.UnfinishedError | None = None) -> PointRecord:
    """Return the record of a point that ran, to its end or until it `failed`."""
    return described(
        point,
        failed.status if failed else outcome.status,
        **({"error": _said(failed)} if failed else {}),
        end=outcome.end,
        message=outcome.message,
        cycles=outcome.cycles,
        seconds=outcome.seconds,
        khz=round(outcome.khz, 1),
        counters=outcome.counters,
        stdout=outcome.stdout.decode(errors="replace"),
        stderr=outcome.stderr.decode(errors="replace"),
    )


def described(point: Point, status: int, **measured: Any) -> PointRecord:
    """Return the fields that the record of any point has, whether it ran or not."""
    return PointRecord(
        machine=point.machine,
        backend=point.backend,
        command=list(point.words),
        varied=dict(point.varied),
        status=status,
        **measured,
    )


def _compiled(point: Point) -> Path:
    return cross_compile.compile_(cross_compile.parse(point.words), point.backend, isa=point.machine.isa)


def _said(error: OkosuError) -> str:
    return f"{error.what}: {error.why}"
