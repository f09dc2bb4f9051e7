# SPDX-License-Identifier: Apache-2.0
"""The second stage: points that one process leaves in doubt, measured in many fresh ones (docs/METHOD.md, section 10).

What a short call costs depends on where the process's stack, heap and pages lie, which all its rounds share. So the
process is what is repeated. Each process gives one cost for each row, the median of its rounds, which is used as
one round is in the first stage. The best peer is the one with the least median over processes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median

import msgspec

from okosu.bench import alone, rows
from okosu.bench.rows import Result, Row
from okosu.errors import OkosuError
from okosu.records.types import Record
from papers.common import judge
from papers.common.base import Experiment, Say
from papers.common.entries import Target
from papers.common.judge import Fresh, Judged
from papers.common.points import Found, Sides
from papers.common.programs import Runner

PROCESSES = 25
"""A floor with one point in doubt fails where 18 processes are below it; with ten points in doubt, 20."""
ROUNDS = 7
"""Rounds of every process but the first; only their median is used. The first has as many as the first stage."""
BUDGET_S = 180.0
"""Of each bench: no further process is started with which its processes would have taken longer."""
POINTS = 200
"""Most points of one bench that are measured again: about as many as the length of its option --points allows."""

Clock = Callable[[], float]


def measure(
    asked: Sequence[tuple[Experiment, Sequence[str], Sequence[Judged]]],
    runner: Runner,
    seed: int,
    core: float,
    say: Say,
    into: dict[str, list[Result]],
    clock: Clock = time.monotonic,
) -> dict[str, OkosuError]:
    """Measure the points of each bench in fresh processes, in turn; return what failed, by bench.

    `asked` are the benches with the arguments of the first stage and the points in doubt. `into` gets each process's
    result at once, the first with the rounds of the first stage. How many there are depends on time alone. `core` is
    what okosu.bench.alone.core_loads gave of the first stage: a process that begins beside a busy hyperthread cannot
    see it by itself.
    """
    failed: dict[str, OkosuError] = {}
    taken = dict.fromkeys((experiment.name for experiment, _, _ in asked), 0.0)
    for process in range(PROCESSES):
        for experiment, args, doubted in asked:
            if experiment.name not in taken:
                continue
            words = arguments(args, doubted, seed + 1 + process, process == 0)
            words += ["--core-loads", f"{100 * core:.0f}"] if core else []
            say(f"{experiment.program}: {len(doubted)} points in doubt, process {process + 1} of up to {PROCESSES}")
            began = clock()
            try:
                into.setdefault(experiment.name, []).append(runner.bench(experiment.name, words))
            except OkosuError as error:
                failed[experiment.name] = error
            took = clock() - began
            taken[experiment.name] += took
            # The next process takes about as long as this one; the first one, with more rounds, took longer.
            if experiment.name in failed or taken[experiment.name] + took > BUDGET_S:
                del taken[experiment.name]
    return failed


def arguments(args: Sequence[str], doubted: Sequence[Judged], seed: int, as_before: bool) -> list[str]:
    """Return the bench's arguments for these points alone; `as_before`: with as many rounds as in the first stage."""
    kept: list[str] = []
    drop = {"--only", "--sizes", *(() if as_before else ("--rounds",))}
    words = iter(args)
    for word in words:
        if word in drop:
            next(words, None)
        elif word.partition("=")[0] not in drop:
            kept.append(word)
    chosen = list({_name(one): one.sides for one in doubted}.items())[:POINTS]
    points = [name for name, _ in chosen]
    routines = sorted({sides.routine for _, sides in chosen})
    sizes = sorted({sides.point.n for _, sides in chosen})
    few = [] if as_before else ["--rounds", str(ROUNDS)]
    only = ["--only", ",".join(routines), "--sizes", ",".join(map(str, sizes)), "--points", ",".join(points)]
    # Another seed for each: the same order of rows could favour the same one again.
    return [*kept, *few, *only, "--seed", str(seed)]


def _name(one: Judged) -> str:
    """Return a point as the bench's option --points has it."""
    at = one.sides.point
    return "/".join([one.sides.routine, str(at.n), at.mode, *map(str, at.align)])


def pooled(results: Sequence[Result], core: float = 0.0) -> Result:
    """Return a result in which each process is a round: a row's samples are its medians, process by process.

    Of a process of which half of the row's samples or more had the core to themselves, these alone are taken.
    """
    held: dict[tuple[object, ...], tuple[Row, dict[int, tuple[float, float]]]] = {}
    for process, result in enumerate(results):
        for row in result.rows:
            if row.samples:
                key = (row.routine, row.variant, row.kind, row.n, row.footprint, tuple(row.align), row.mode, row.point)
                held.setdefault(key, (row, {}))[1][process] = _median(row, core)
    found = [
        msgspec.structs.replace(
            row,
            samples=[cost for cost, _ in costs.values()],
            rounds=list(costs),
            loads=[loads for _, loads in costs.values()] if row.loads else [],
            dropped=0,
            shared=0,
        )
        for row, costs in held.values()
    ]
    return Result(results[0].name, results[0].header, found, finished=True)


def _median(row: Row, core: float) -> tuple[float, float]:
    """Return the median sample of a row in one process, and the median of the loads beside the samples it is of."""
    kept = alone.alone(row, core)
    taken = [i for i, number in enumerate(row.rounds) if number in kept]
    if 2 * len(taken) < len(row.samples):
        taken = list(range(len(row.samples)))
    return median(row.samples[i] for i in taken), median([row.loads[i] for i in taken] if row.loads else [core])


def fresh(
    sides: Callable[[Result], Found],
    target: Target,
    judged: Sequence[Judged],
    results: Sequence[Result],
    core: float = 0.0,
) -> Fresh:
    """Return what the processes gave for the points of a target that are in doubt; `sides` is the paper's."""
    doubted = {(one.sides.routine, one.sides.point) for one in judge.in_doubt(target, judged)}

    def again_in(result: Result) -> list[Sides]:
        return [one for one in sides(result).sides if (one.routine, one.point) in doubted]

    # The first process alone is held to the level of the whole sweep, for these points were chosen from it.
    first = judge.judge(target, again_in(results[0]), of=max(1, len(judged)))
    return Fresh(first, judge.judge(target, again_in(pooled(results, core))), len(results))


def records(taken: Mapping[str, Sequence[Result]], machine: str) -> list[Record]:
    """Return a record for each row with every sample of every process: `order` is the process, `rounds` its round."""
    held: dict[tuple[object, ...], Record] = {}
    for results in taken.values():
        for process, result in enumerate(results, 1):
            for one in rows.records(result, machine):
                parts = {key: value for key, value in one.parameters.items() if key not in ("dropped", "shared")}
                key = (one.subject, one.variant, *parts.items())
                none = msgspec.structs.replace(one, stage="confirmation", samples=[], rounds=[], loads=[])
                whole = held.setdefault(key, none)
                whole.samples += one.samples
                whole.loads += one.loads
                whole.rounds += one.rounds
                whole.order += [process] * len(one.samples)
    return list(held.values())
