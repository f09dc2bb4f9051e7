# SPDX-License-Identifier: Apache-2.0
"""Whether a target holds, with planted samples: what fails, what does not, and what cannot be judged."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from okosu.bench import alone
from okosu.bench.rows import Row
from okosu.records.types import Compared
from papers.common import fresh_processes, judge, points
from papers.common.entries import Select, Target
from papers.common.tests.rows import result, row

PEERS = "peer:fast,slow"


def target(**fields: Any) -> Target:
    usual: dict[str, Any] = {
        "id": "t", "text": "planted", "kind": "floor", "bench": "blas1", "against": PEERS, "value": 1.0,
        "select": Select(routine=["dsum"]),
    }  # fmt: skip
    return Target(**{**usual, **fields})


def pair(ours: float, theirs: float, n: int = 2048, **fields: Any) -> list[Row]:
    return [
        row("dsum", "chosen", "okosu", ours, n=n, **fields),
        row("dsum", "fast", "peer", theirs, n=n, **fields),
    ]


def outcome(
    asked: Target,
    rows: list[Row],
    again: list[Row] | None = None,
    processes: int = fresh_processes.PROCESSES,
    core: float = 0.0,
) -> Compared:
    """Judge the rows together with planted results of so many fresh processes."""
    found = points.find(rows, asked, core)
    judged = judge.judge(asked, found.sides)
    fresh = None
    if again is not None:
        results = [result("blas1", again)] * processes
        fresh = fresh_processes.fresh(lambda one: points.find(one.rows, asked, core), asked, judged, results, core)
    return judge.conclude(asked, found, judged, fresh, "test")


def test_a_floor_that_is_met_holds_without_a_second_measurement() -> None:
    said = outcome(target(), pair(100, 120))
    assert said.holds is True
    assert said.kind == "floor"
    assert said.measured == pytest.approx(1.2, rel=0.02)
    assert said.interval is not None
    assert said.interval[0] < 1.2 < said.interval[1]


def test_a_floor_that_is_below_in_one_process_is_decided_by_fresh_ones() -> None:
    below, above = pair(110, 100), pair(100, 120)
    assert outcome(target(), below).holds is None
    assert outcome(target(), below, below).holds is False
    once = outcome(target(), below, above)
    assert once.holds is True
    assert "1 of them over 25 fresh processes, which decide. in one process below at dsum n=2048" in once.note
    assert "in a second one alone not below. over all not below" in once.note


def test_of_a_floor_that_failed_the_point_is_quoted_where_it_failed_in_fresh_processes() -> None:
    first = pair(200, 100, n=1) + pair(150, 100, n=2)
    again = pair(90, 100, n=1) + pair(125, 100, n=2)
    said = outcome(target(), first, again)
    assert said.holds is False
    assert said.measured == pytest.approx(0.8, rel=0.02)
    assert said.interval is not None
    assert "worst of 2 points: dsum n=2" in said.note


def test_a_floor_that_the_interval_straddles_does_not_fail_though_the_median_is_below() -> None:
    ours = [90.0] * 9 + [115.0] * 12
    rows = [row("dsum", "chosen", "okosu", ours), row("dsum", "fast", "peer", [100.0] * 21)]
    said = outcome(target(), rows)
    assert said.measured is not None
    assert said.measured < 1.0
    assert said.holds is True


@pytest.mark.parametrize(("again", "holds"), [(110.0, False), (90.0, True)])
def test_a_floor_whose_median_alone_is_below_is_decided_by_fresh_processes(again: float, holds: bool) -> None:
    rows = [row("dsum", "chosen", "okosu", [90.0] * 9 + [115.0] * 12), row("dsum", "fast", "peer", [100.0] * 21)]
    said = outcome(target(), rows, pair(again, 100))
    assert said.holds is holds
    assert said.measured == pytest.approx(100 / again, rel=0.02)
    assert "in one process not below" in said.note


def test_the_interval_is_corrected_over_all_points_of_the_sweep() -> None:
    # 18 of 21 rounds below: enough at 5 %, not at 5 % over a hundred points.
    ours = [110.0] * 18 + [90.0] * 3
    one = [row("dsum", "chosen", "okosu", ours, n=1), row("dsum", "fast", "peer", [100.0] * 21, n=1)]
    assert outcome(target(), one, one).holds is False
    many = one + [r for n in range(2, 101) for r in pair(50, 100, n=n)]
    assert outcome(target(), many).holds is True


def test_the_second_measurement_keeps_the_level_of_the_whole_sweep() -> None:
    ours = [110.0] * 21
    one = [row("dsum", "chosen", "okosu", ours, n=1), row("dsum", "fast", "peer", [100.0] * 21, n=1)]
    many = one + [r for n in range(2, 101) for r in pair(50, 100, n=n)]
    weak = [row("dsum", "chosen", "okosu", [110.0] * 18 + [90.0] * 3, n=1), one[1]]
    assert "in a second one alone below" in outcome(target(), many, one).note
    assert "in a second one alone not below" in outcome(target(), many, weak).note


def test_a_floor_with_too_few_rounds_is_not_decided() -> None:
    said = outcome(target(), pair(110, 100, count=3))
    assert said.holds is None
    assert "6 rounds" in said.note


def test_a_correction_over_many_points_asks_for_more_rounds() -> None:
    below = [r for n in range(1, 101) for r in pair(110, 100, n=n, count=6)]
    said = outcome(target(), below)
    assert said.holds is None
    assert "100 points need 12 rounds" in said.note


def test_a_median_that_is_not_below_needs_no_more_rounds() -> None:
    """Whatever the number of rounds, an interval holds the median."""
    above = [r for n in range(1, 101) for r in pair(90, 100, n=n, count=2)]
    assert outcome(target(), above).holds is True
    one_below = above + pair(110, 100, n=101, count=2)
    assert outcome(target(), one_below).holds is None
    assert "dsum n=101" in outcome(target(), one_below).note


@pytest.mark.parametrize(("ours", "holds"), [(99.0, True), (102.0, False)])
def test_an_at_least_is_judged_by_the_median(ours: float, holds: bool) -> None:
    samples = [100.0] * 11
    rows = [
        row("dsum", "chosen", "okosu", [ours] * 6 + [300.0] * 5),
        row("dsum", "fast", "peer", samples),
    ]
    assert outcome(target(kind="at-least"), rows).holds is holds


def test_an_at_least_must_be_reached_at_every_point_and_names_those_where_it_is_not() -> None:
    rows = pair(50, 100, n=1) + pair(120, 100, n=2) + pair(50, 100, n=3)
    said = outcome(target(kind="at-least"), rows)
    assert said.holds is False
    assert "missed at dsum n=2" in said.note
    assert said.measured == pytest.approx(100 / 120, rel=0.02)


def test_a_point_whose_batches_were_all_disturbed_is_named_and_judges_nothing() -> None:
    lost = pair(100, 120, n=2, count=2)
    lost[1] = msgspec.structs.replace(lost[1], rounds=[7, 8])
    said = outcome(target(), pair(100, 120, n=1) + lost, [])
    assert said.holds is True
    assert "1 more points have no round that holds both sides" in said.note
    assert outcome(target(), lost).holds is None


def test_held_over_time_means_each_third_of_the_rounds() -> None:
    drifting = [60.0] * 14 + [80.0] * 7
    rows = [row("dsum", "chosen", "okosu", drifting, n=2048, items=2048)]
    rate = target(kind="at-least", against="bytes", value=8 * 2048 / 70.0)
    assert outcome(rate, rows).holds is True
    held = outcome(target(kind="at-least", against="bytes", value=8 * 2048 / 70.0, held=True), rows)
    assert held.holds is False
    assert held.measured == pytest.approx(8 * 2048 / 80.0)


def test_the_fastest_of_the_named_peers_is_taken_and_no_other() -> None:
    rows = [*pair(100, 120), row("dsum", "slow", "peer", 500), row("dsum", "unnamed", "peer", 10)]
    said = outcome(target(kind="at-least"), rows)
    assert said.measured == pytest.approx(1.2, rel=0.02)
    assert "against fast" in said.note


def test_of_several_rows_that_match_a_pattern_the_fastest_is_taken() -> None:
    rows = [
        row("dsum", "inline-base", "okosu", [100.0] * 11),
        row("dsum", "inline-avx512", "okosu", [50.0] * 11),
        row("dsum", "avx2", "okosu", [10.0] * 11),
        row("dsum", "fast", "peer", [100.0] * 11),
    ]
    said = outcome(target(kind="at-least", select=Select(routine=["dsum"], variant="inline-*")), rows)
    assert said.measured == pytest.approx(2.0)


def test_a_share_of_a_limit_compares_bytes_and_takes_the_best_order_of_its_loop() -> None:
    rows = [
        row("daxpy", "chosen", "okosu", [300.0] * 11, bytes_per_item=24.0),
        row("limit-load2-store1", "a", "limit", [290.0] * 11, bytes_per_item=24.0),
        row("limit-load2-store1", "b", "limit", [270.0] * 11, bytes_per_item=24.0),
    ]
    asked = target(kind="at-least", against="limit:limit-load2-store1", select=Select(routine=["daxpy"]), value=0.9)
    said = outcome(asked, rows)
    assert said.measured == pytest.approx(0.9)
    assert said.holds is True


def test_a_limit_of_arithmetic_is_compared_by_operations() -> None:
    rows = [
        row("ddot", "chosen", "okosu", [256.0] * 11, flops_per_item=2.0),
        row("limit-fma", "avx512", "limit", [128.0] * 11, bytes_per_item=0.0, flops_per_item=2.0),
    ]
    asked = target(kind="at-least", against="limit:limit-fma", select=Select(routine=["ddot"]), value=0.5)
    assert outcome(asked, rows).measured == pytest.approx(0.5)


def test_of_several_limits_the_one_that_allows_least_is_the_limit() -> None:
    """A sum of sizes is held up by loads on one machine, and on another by its two operations for each vector."""
    asked = target(kind="at-least", against="limit:limit-load,limit-fma,limit-size", select=Select(routine=["dasum"]))
    for size, share, named in ((64.0, 0.8, "limit-load"), (304.0, 0.95, "limit-size")):
        rows = [
            row("dasum", "chosen", "okosu", [320.0] * 11, bytes_per_item=8.0, flops_per_item=1.0),
            row("limit-load", "avx512", "limit", [256.0] * 11, bytes_per_item=8.0),
            row("limit-size", "avx512", "limit", [size] * 11, bytes_per_item=0.0, flops_per_item=1.0),
        ]
        said = outcome(asked, rows)
        assert said.measured == pytest.approx(share)
        assert named in said.note
    none = target(kind="at-least", against="limit:limit-fma,limit-add", select=Select(routine=["dasum"]))
    assert "no limit-fma,limit-add beside dasum" in outcome(none, rows).note


def test_rates_are_work_in_a_cycle() -> None:
    rows = [row("daxpy", "chosen", "okosu", [256.0] * 11, flops_per_item=2.0, bytes_per_item=24.0)]
    for against, value in (("elements", 8.0), ("flops", 16.0), ("bytes", 192.0)):
        asked = target(kind="at-least", against=against, select=Select(routine=["daxpy"]), value=value)
        assert outcome(asked, rows).measured == pytest.approx(value)


def test_what_is_not_there_is_not_judged_and_says_so() -> None:
    alone = outcome(target(), pair(100, 120)[:1])
    assert (alone.holds, alone.measured) == (None, None)
    assert "no peer fast,slow beside dsum" in alone.note
    nothing = outcome(target(), [])
    assert nothing.holds is None
    assert "okosu bench blas1 gave no such row" in nothing.note


def test_rows_of_another_point_are_never_compared() -> None:
    ours, theirs = pair(100, 120, n=64)
    for other in (
        row("dsum", "fast", "peer", 120, n=128),
        row("dsum", "fast", "peer", 120, n=64, align=[8, 8]),
        row("dsum", "fast", "peer", 120, n=64, mode="latency"),
        row("dsum", "fast", "peer", 120, n=64, point=1),
    ):
        assert not points.find([ours, other], target()).sides
    assert points.find([ours, theirs], target()).sides


@pytest.mark.parametrize(
    ("select", "taken"),
    [
        ({}, True),
        ({"n": [2048]}, True),
        ({"n": [1024]}, False),
        ({"n_from": 2048, "n_to": 2048}, True),
        ({"n_from": 2049}, False),
        ({"n_to": 2047}, False),
        ({"footprint": (1, 16384)}, True),
        ({"footprint": (16385, 99999)}, False),
        ({"place": ["L1", "L2"]}, True),
        ({"place": ["L2"]}, False),
        ({"aligned": True}, True),
        ({"aligned": False}, False),
        ({"align": [0, 0]}, True),
        ({"align": [8, 8]}, False),
        ({"mode": ["throughput"]}, True),
        ({"mode": ["latency"]}, False),
        ({"routine": ["ddot"]}, False),
        ({"variant": "avx512"}, False),
        ({"variant": "cho*"}, True),
    ],
)
def test_selection(select: dict[str, Any], taken: bool) -> None:
    asked = target(select=Select(**{"routine": ["dsum"], **select}))
    assert bool(points.find(pair(100, 120), asked).sides) is taken


LIMIT = {"against": "limit:limit-load", "kind": "at-least", "value": 0.9}


def shared(count: int, n: int = 2048, alone: float = 100, beside: float = 200) -> list[Row]:
    """Return a routine and its limit of 95; in the last `count` of 21 rounds another hyperthread has half the core."""
    costs = [alone] * (21 - count) + [beside] * count
    loads = [2.0] * (21 - count) + [1.0] * count
    return [
        row("dsum", "chosen", "okosu", costs, n=n, point=n, loads=loads),
        row("limit-load", "avx2", "limit", [95.0] * 21, n=n, point=n, loads=[2.0] * 21),
    ]


def test_rounds_beside_another_hyperthread_are_left_out_and_counted() -> None:
    asked = target(**LIMIT)
    for count in (0, 11, 16):
        said = outcome(asked, shared(count), core=2.0)
        assert (said.holds, said.measured) == (True, pytest.approx(0.95))
        assert (f"{count} of 21 pairs are left out" in said.note) == (count > 0)
    # Where nothing says what a core of one's own does, all rounds count.
    assert outcome(asked, shared(11)).holds is False


def test_a_share_of_the_limit_is_not_judged_without_a_core_of_ones_own() -> None:
    asked = target(**LIMIT)
    said = outcome(asked, shared(17), core=2.0)
    assert said.holds is None
    assert "not judged at dsum n=2048 +0,+0 throughput (0.475), for which it takes a core of one's own" in said.note
    # A point that misses alone is missed, whatever the others had.
    both = [*shared(21), *shared(0, n=4096, alone=120)]
    assert outcome(asked, both, core=2.0).holds is False
    assert outcome(asked, [*shared(21), *shared(0, n=4096)], core=2.0).holds is None
    # Fresh processes that have the core to themselves decide.
    assert outcome(asked, shared(21), shared(0), core=2.0).holds is True


def test_a_ratio_to_a_peer_is_judged_beside_another_hyperthread_and_says_so() -> None:
    rows = pair(100, 120, loads=[1.0] * 21)
    said = outcome(target(), rows, core=2.0)
    assert said.holds is True
    assert "at 1 points another hyperthread was busy" in said.note
    # An interval needs more rounds than a median, so it is over all where fewer than half had the core to themselves.
    for count, beside in ((11, 0), (10, 10)):
        rows = pair(100, 120, loads=[2.0] * (21 - count) + [1.0] * count)
        (sides,) = points.find(rows, target(), 2.0).sides
        assert (sides.beside, sides.crowded, len(sides.ours)) == (beside, not beside, 21 - beside)


def test_what_a_core_of_ones_own_does_is_read_off_all_processes() -> None:
    crowded, own = row("k", "a", "okosu", 1, loads=[1.2] * 21), row("k", "a", "okosu", 1, loads=[1.9] * 21)
    assert alone.core_loads([crowded, own, row("k", "p", "peer", 1)]) == 1.9
    assert alone.core_loads([row("k", "p", "peer", 1)]) == 0
    assert alone.alone(crowded, 1.9) == set()
    assert alone.alone(row("k", "p", "peer", 1), 1.9) == set(range(21))
