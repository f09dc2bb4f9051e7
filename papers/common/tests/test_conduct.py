# SPDX-License-Identifier: Apache-2.0
"""A whole reproduction with programs that are planted: what is run, repeated, kept and concluded."""

from __future__ import annotations

import dataclasses

import msgspec
import pytest

from okosu.bench import drive
from okosu.bench.rows import Absent, Result, from_records
from okosu.errors import OkosuError
from papers import common
from papers.common import fresh_processes
from papers.common.base import Measured
from papers.common.tests.planted import FLOOR, LEAST, Planted, Programs, conduct, rows
from papers.common.tests.rows import result


def test_published_values_stand_beside_ours_and_are_never_judged() -> None:
    held = conduct(Programs(rows(50)))
    held.run()
    a, b, c = (item for item in held.envelope.compared if item.kind == "published")
    assert (a.target, a.measured, a.holds, a.note, a.mark) == (3, 2, None, "other trees", "value")
    assert (b.measured, b.holds) == (5, None)
    assert b.note == "disputed: it is five. counted"
    assert (c.measured, c.note) == (None, "no scales")
    assert held.envelope.finished


def test_a_floor_that_holds_is_measured_once() -> None:
    given = Programs(rows(50))
    held = conduct(given)
    held.run()
    assert [name for name, _ in given.calls] == ["l", "b", "slow"]
    assert held.envelope.compared[-1].holds is True


@pytest.mark.parametrize(("fresh", "holds"), [(200.0, False), (50.0, True)])
def test_a_floor_that_fails_is_measured_again_in_fresh_processes(fresh: float, holds: bool) -> None:
    given = Programs(rows(200), rows(fresh))
    held = conduct(given)
    held.run()
    calls = [words for name, words in given.calls if name == "b"][1:]
    assert len(calls) == fresh_processes.PROCESSES
    points = "k/1/throughput/0/0,k/2/throughput/0/0"
    assert calls[0] == ["--rounds", "21", "--only", "k", "--sizes", "1,2", "--points", points, "--seed", "8"]
    assert len({words[words.index("--seed") + 1] for words in calls}) == fresh_processes.PROCESSES
    assert held.envelope.compared[-1].holds is holds
    # All that was measured is kept, and only the first counts as the bench's own.
    assert [record.stage for record in held.envelope.records[1:]] == ["bench"] * 4 + ["confirmation"] * 4
    assert len(from_records(held.envelope.records)["b"]) == 4


@pytest.mark.parametrize(("first", "fresh", "holds"), [(100, 60, True), (64, 70, False), (50, 100, True)])
def test_an_at_least_that_is_missed_or_nearly_is_judged_over_fresh_processes(
    first: float, fresh: float, holds: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Planted, "asked", [LEAST])
    held = conduct(Programs(rows(first), rows(fresh)))
    held.run()
    assert held.envelope.compared[-1].holds is holds


def test_quick_measures_nothing_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Planted, "asked", [FLOOR, LEAST])
    given = Programs(rows(200))
    held = conduct(given, quick=True)
    held.run()
    assert [name for name, _ in given.calls] == ["l", "b"]
    assert [item.holds for item in held.envelope.compared[-2:]] == [None, False]


def test_an_interruption_of_fresh_processes_keeps_those_before() -> None:
    class Interrupted(Programs):
        def bench(self, name: str, words: list[str]) -> Result:
            if len(self.calls) == 9:
                raise KeyboardInterrupt
            return super().bench(name, words)

    held = conduct(Interrupted(rows(200)))
    with pytest.raises(KeyboardInterrupt):
        held.run()
    assert max(max(record.order, default=0) for record in held.envelope.records) == 6


def test_quick_takes_its_own_arguments_and_leaves_out_what_has_none() -> None:
    given = Programs(rows(50))
    held = conduct(given, quick=True)
    held.run()
    assert given.calls == [("l", ["1"]), ("b", ["--smoke", "--seed", "7"])]
    assert held.envelope.plan.missing == {"slow": "--quick leaves it out"}
    assert not held.measured.failed


def test_a_bench_that_fails_costs_its_own_claims_only() -> None:
    held = conduct(Programs(OkosuError("okosu-bench-b not found", "never built")))
    held.run()
    floor = held.envelope.compared[-1]
    assert floor.holds is None
    assert "never built" in floor.note
    assert held.envelope.compared[0].measured == 2
    assert list(held.measured.failed) == ["b"]


def test_a_bench_that_fails_half_way_is_judged_by_what_it_gave() -> None:
    error = drive.BenchError(OkosuError("ended by SIGKILL"), result("b", rows(50)))
    held = conduct(Programs(error))
    held.run()
    floor = held.envelope.compared[-1]
    assert floor.holds is True
    assert "ended by SIGKILL" in floor.note


def test_a_second_measurement_that_fails_leaves_the_floor_undecided() -> None:
    held = conduct(Programs(rows(200), OkosuError("ended by SIGBUS")))
    held.run()
    floor = held.envelope.compared[-1]
    assert floor.holds is None
    assert "not measured again" in floor.note
    assert list(held.measured.failed) == ["b"]


def test_peers_that_could_not_take_part_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    some = result("b", rows(50))
    some.absent.append(Absent(variant="q", why="not installed", fix="make peers"))
    some.absent.append(Absent(variant="r", why="not installed", fix="make peers"))
    monkeypatch.setattr(Planted, "asked", [msgspec.structs.replace(FLOOR, against="peer:p,q")])
    held = conduct(Programs())
    held.measured.rows["b"] = some
    held.conclude()
    assert held.envelope.compared[-1].holds is True
    assert "without q (make peers)" in held.envelope.compared[-1].note


def test_records_hold_every_row_and_number_and_give_them_back() -> None:
    held = conduct(Programs(rows(50)))
    held.run()
    assert len(from_records(held.envelope.records)["b"]) == 4
    (apples,) = [record for record in held.envelope.records if record.metric == "apples"]
    assert apples.samples == [2.0]


def test_everything_is_kept_after_each_program() -> None:
    kept: list[int] = []
    held = conduct(Programs(rows(50)))
    held.keep = lambda: kept.append(len(held.envelope.records))
    held.run()
    assert kept == [1, 5, 5, 5]


def test_results_are_plain_data() -> None:
    """A paper must not keep what it compared: the second reproduction in a process starts afresh."""
    assert dataclasses.asdict(Measured())["missing"] == {}
    assert not common.load()["hpc-programming"].compare(Measured())
