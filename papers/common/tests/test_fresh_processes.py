# SPDX-License-Identifier: Apache-2.0
"""The second stage of a reproduction: which processes are run, how they are pooled, and how often it errs.

As a program it makes a table of docs/METHOD.md: test_fresh_processes.py [TRIALS] [--summary FILE].
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

import msgspec
import pytest

from okosu.bench.rows import Result, Row
from okosu.errors import OkosuError
from okosu.records.summary import Section
from okosu.records.types import Compared
from papers.common import fresh_processes, judge, points, programs
from papers.common.base import Experiment, Said
from papers.common.entries import Target
from papers.common.tests.planted import FLOOR, LEAST
from papers.common.tests.rows import result, row
from tests.unit import simulated
from tests.unit.simulated import percent

BENCH = Experiment("b", "okosu-bench-b", ("--rounds", "21", "--sizes=9", "--variant", "x"))
Drawn = Callable[[random.Random], tuple[float, float]]
"""What ours and theirs cost in a process that is drawn."""


def steady(ratio: float, spread: float) -> Drawn:
    """Return processes whose ratio varies about a median, by so much (standard deviation of its logarithm)."""
    return lambda dice: (100.0 / ratio, 100.0 * dice.lognormvariate(0, spread))


def bistable(ratio: float) -> Drawn:
    """Return processes in each of which either side takes 8 or 10 cycles, as its operands come to lie."""
    return lambda dice: (dice.choice((8.0, 10.0)) / ratio, dice.choice((8.0, 10.0)))


def process(dice: random.Random, drawn: Drawn, count: int, rounds: int) -> list[Row]:
    found = []
    for n in range(1, count + 1):
        for variant, kind, cost in zip(("chosen", "p"), ("okosu", "peer"), drawn(dice), strict=True):
            samples = [cost * dice.lognormvariate(0, 0.01) for _ in range(rounds)]
            found.append(row("k", variant, kind, samples, n=n, point=n))
    return found


def trial(dice: random.Random, target: Target, drawn: Drawn, count: int = 4) -> tuple[Compared, bool]:
    """Return the target as judged, and whether one fresh process alone would have let a floor pass."""
    found = points.find(process(dice, drawn, count, 21), target)
    judged = judge.judge(target, found.sides)
    rounds = [21] + [fresh_processes.ROUNDS] * (fresh_processes.PROCESSES - 1)
    results = [result("b", process(dice, drawn, count, number)) for number in rounds]
    fresh = fresh_processes.fresh(lambda one: points.find(one.rows, target), target, judged, results)
    alone = not any(one.below(target.value) for one in fresh.first)
    return judge.conclude(target, found, judged, fresh, ""), alone


def rates(drawn: Drawn, trials: int, target: Target = FLOOR, count: int = 4) -> tuple[float, float]:
    """Return how often a target holds, and how often one fresh process alone would have said so."""
    dice = random.Random(5)
    said = [trial(dice, target, drawn, count) for _ in range(trials)]
    return sum(item.holds is True for item, _ in said) / trials, sum(alone for _, alone in said) / trials


def test_a_floor_that_is_just_met_passes_though_processes_differ() -> None:
    """At least 95 %; of 100 trials at that rate, fewer than 90 hold in 1 case of 100."""
    holds, alone = rates(bistable(FLOOR.value), 100)
    assert holds >= 0.9
    # The verdict of one process alone is luck: it depends on where its operands lie.
    assert alone < 0.85


def test_a_floor_that_is_missed_by_5_percent_fails() -> None:
    assert rates(steady(0.95 * FLOOR.value, 0.03), 60)[0] <= 0.1


def test_a_floor_that_is_missed_by_a_fifth_fails_though_processes_are_bistable() -> None:
    assert rates(bistable(0.8 * FLOOR.value), 60)[0] <= 0.1


@pytest.mark.parametrize(("truly", "holds"), [(0.95, False), (1.05, True)])
def test_an_at_least_is_judged_by_the_median_over_processes(truly: float, holds: bool) -> None:
    dice = random.Random(3)
    said = [trial(dice, LEAST, steady(truly * LEAST.value, 0.06), 1)[0].holds for _ in range(40)]
    # The median of 25 has a standard error of 1.5 %, one process alone of 6 %.
    assert said.count(holds) >= 36


def test_an_at_least_that_is_far_above_in_one_process_is_not_measured_again() -> None:
    def judged(ratio: float) -> list[judge.Judged]:
        found = [row("k", "chosen", "okosu", [100.0] * 11, n=1), row("k", "p", "peer", [100.0 * ratio] * 11, n=1)]
        return judge.judge(LEAST, points.find(found, LEAST).sides)

    assert judge.in_doubt(LEAST, judged(1.0))
    assert judge.in_doubt(LEAST, judged(1.6))
    assert not judge.in_doubt(LEAST, judged(1.66))
    assert not judge.in_doubt(msgspec.structs.replace(LEAST, held=True), judged(1.0))


def test_the_note_of_an_at_least_tells_both_verdicts() -> None:
    found = points.find([row("k", "chosen", "okosu", 100, n=1), row("k", "p", "peer", 140, n=1)], LEAST)
    judged = judge.judge(LEAST, found.sides)
    better = result("b", [row("k", "chosen", "okosu", 100, n=1), row("k", "p", "peer", 160, n=1)])
    fresh = fresh_processes.fresh(lambda one: points.find(one.rows, LEAST), LEAST, judged, [better] * 5)
    said = judge.conclude(LEAST, found, judged, fresh, "")
    assert said.holds is True
    assert said.measured == pytest.approx(1.6, rel=0.02)
    assert "1 of them over 5 fresh processes; in one process alone: missed at k n=1" in said.note


def test_too_few_processes_leave_a_floor_undecided() -> None:
    rows = [row("k", "chosen", "okosu", 100, n=1), row("k", "p", "peer", 80, n=1)]
    found = points.find(rows, FLOOR)
    judged = judge.judge(FLOOR, found.sides)
    fresh = fresh_processes.fresh(lambda one: points.find(one.rows, FLOOR), FLOOR, judged, [result("b", rows)] * 5)
    said = judge.conclude(FLOOR, found, judged, fresh, "")
    assert said.holds is None
    assert "1 points need 6 processes" in said.note


def test_a_point_that_fresh_processes_lack_leaves_a_floor_undecided() -> None:
    def rows(*sizes: int) -> list[Row]:
        return [r for n in sizes for r in (row("k", "chosen", "okosu", 100, n=n), row("k", "p", "peer", 80, n=n))]

    found = points.find(rows(1, 2), FLOOR)
    judged = judge.judge(FLOOR, found.sides)
    better = [row("k", "chosen", "okosu", 70, n=1), row("k", "p", "peer", 80, n=1)]
    for given, holds in ((rows(1), False), (better, None)):
        results = [result("b", given)] * fresh_processes.PROCESSES
        fresh = fresh_processes.fresh(lambda one: points.find(one.rows, FLOOR), FLOOR, judged, results)
        said = judge.conclude(FLOOR, found, judged, fresh, "")
        assert said.holds is holds
        assert "1 points in doubt were not measured in fresh processes" in said.note


def test_of_the_peers_the_one_of_least_median_over_processes_is_compared() -> None:
    """Choosing the best peer of each process would be wrong, because a program links with one library."""

    def one(p: float, q: float) -> Result:
        costs = {"chosen": ("okosu", 10.0), "p": ("peer", p), "q": ("peer", q)}
        return result("b", [row("k", name, kind, [cost] * 7, n=1) for name, (kind, cost) in costs.items()])

    pooled = fresh_processes.pooled([one(9, 12), one(12, 10), one(9, 10)])
    target = msgspec.structs.replace(FLOOR, against="peer:*")
    (sides,) = points.find(pooled.rows, target).sides
    assert sides.against == "p"
    assert sides.theirs == {0: 9, 1: 12, 2: 9}


def test_of_each_process_the_samples_that_had_the_core_to_themselves() -> None:
    """Of a process of which more than half had not, all are taken, and it counts as beside a neighbour."""
    loads = [[2.0, 2, 2, 1, 1], [2, 2, 1, 1, 1]]
    results = [result("b", [row("k", "p", "peer", [10.0, 11, 12, 20, 21], loads=each, n=1)]) for each in loads]
    (pooled,) = fresh_processes.pooled(results, 2.0).rows
    assert pooled.samples == [11, 12]
    assert pooled.loads == [2, 1]


def doubted(*sizes: int) -> list[judge.Judged]:
    rows = [r for n in sizes for r in (row("k", "chosen", "okosu", 200, n=n), row("k", "p", "peer", 100, n=n))]
    return judge.judge(FLOOR, points.find(rows, FLOOR).sides)


def test_only_the_points_in_doubt_are_measured_each_time_in_another_order() -> None:
    first = fresh_processes.arguments(BENCH.args, doubted(2, 7), 8, as_before=True)
    only = ["--only", "k", "--sizes", "2,7", "--points", "k/2/throughput/0/0,k/7/throughput/0/0"]
    assert first == ["--rounds", "21", "--variant", "x", *only, "--seed", "8"]
    later = fresh_processes.arguments(BENCH.args, doubted(2, 7), 9, as_before=False)
    assert later == ["--variant", "x", "--rounds", "7", *only, "--seed", "9"]


def runs(given: Callable[[list[str]], Result], clock: Iterator[float]) -> tuple[list[Result], dict[str, OkosuError]]:
    def none(experiment: Experiment, words: tuple[str, ...]) -> Said:
        raise AssertionError(experiment.name)

    into: dict[str, list[Result]] = {}
    runner = programs.Runner(lambda name, words: given(list(words)), none)
    asked = [(BENCH, BENCH.args, doubted(1))]
    failed = fresh_processes.measure(asked, runner, 1, 1.91, lambda _: None, into, lambda: next(clock))
    return into.get("b", []), failed


def test_the_number_of_processes_depends_on_time_alone() -> None:
    given = result("b", [])
    quick, _ = runs(lambda words: given, iter(float(second) for second in range(99)))
    assert len(quick) == fresh_processes.PROCESSES
    slow, _ = runs(lambda words: given, iter(40.0 * turn for turn in range(99)))
    # 40, 80, 120 and 160 s are within the limit; with a fifth process they would be 200.
    assert len(slow) == 4


def test_a_bench_that_takes_long_leaves_the_others_their_processes() -> None:
    now = 0.0

    def run(name: str, words: Sequence[str]) -> Result:
        nonlocal now
        now += 40 if name == "slow" else 1
        return result(name, [])

    def none(experiment: Experiment, words: tuple[str, ...]) -> Said:
        raise AssertionError(experiment.name)

    slow = Experiment("slow", "okosu-bench-slow", ())
    into: dict[str, list[Result]] = {}
    asked = [(each, each.args, doubted(1)) for each in (slow, BENCH)]
    fresh_processes.measure(asked, programs.Runner(run, none), 1, 0.0, lambda _: None, into, lambda: now)
    assert {name: len(results) for name, results in into.items()} == {"slow": 4, "b": fresh_processes.PROCESSES}


def test_a_process_that_fails_keeps_those_before() -> None:
    calls: list[list[str]] = []

    def given(words: list[str]) -> Result:
        calls.append(words)
        if len(calls) == 3:
            raise OkosuError("ended by SIGBUS")
        return result("b", [])

    found, failed = runs(given, iter(float(second) for second in range(99)))
    assert (len(found), len(calls), list(failed)) == (2, 3, ["b"])
    assert [words[-2:] for words in calls] == [["--core-loads", "191"]] * 3


def test_records_hold_every_sample_of_every_process() -> None:
    results = [result("b", [row("k", "p", "peer", [float(number)] * 3, n=1)]) for number in (1, 2)]
    (one,) = fresh_processes.records({"b": results}, "m")
    assert (one.stage, one.machine) == ("confirmation", "m")
    assert one.samples == [1, 1, 1, 2, 2, 2]
    assert one.order == [1, 1, 1, 2, 2, 2]
    assert one.rounds == [0, 1, 2, 0, 1, 2]


def sections(trials: int) -> list[Section]:
    """The table of docs/METHOD.md: how often a floor that is met or missed passes."""
    cases = {
        "just met; each side takes 8 or 10 cycles in a process, as its operands lie": bistable(FLOOR.value),
        "just met; the ratio of processes spreads by 3 %": steady(FLOOR.value, 0.03),
        "missed by 5 %; spread of 1 %": steady(0.95 * FLOOR.value, 0.01),
        "missed by 5 %; spread of 3 %": steady(0.95 * FLOOR.value, 0.03),
        "missed by 5 %; spread of 5 %": steady(0.95 * FLOOR.value, 0.05),
        "missed by 5 %; 8 or 10 cycles": bistable(0.95 * FLOOR.value),
        "missed by 20 %; 8 or 10 cycles": bistable(0.8 * FLOOR.value),
    }
    body = [[name, *map(percent, rates(drawn, trials, count=1))] for name, drawn in cases.items()]
    return [Section(id="floors", head=["truth", "passes", "by one fresh process"], body=body)]


if __name__ == "__main__":
    simulated.main("papers/common/tests/test_fresh_processes.py", sections, 1000)
