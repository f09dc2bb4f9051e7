# SPDX-License-Identifier: Apache-2.0
"""Whole trials of a simulated program: planted effects are found, absent ones are not, and the protocol is followed."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from effort import length
from sim import FakeLever, SimRunner, by_arm, trial

from okosu.errors import OkosuError
from okosu.levers.base import Availability
from okosu.records import files
from okosu.report import commands
from okosu.stats.eprocess import fewest_rounds


def test_a_planted_winner_is_found_confirmed_and_recommended() -> None:
    made, _ = trial(SimRunner({"good": 0.8}), [FakeLever("good"), FakeLever("idle")])
    found = by_arm(made)
    assert found["good"].verdict == "FASTER"
    assert found["good"].headline
    assert found["good"].interval is not None
    assert found["good"].interval[0] < 0.8 < found["good"].interval[1]
    assert found["idle"].verdict in ("SAME", "UNRESOLVED")
    assert commands.use(made.envelope, found["good"]) == "okosu run --good=on -- ./app"
    assert made.envelope.finished


def test_a_loser_is_shown_and_not_recommended() -> None:
    made, _ = trial(SimRunner({"bad": 1.1}), [FakeLever("bad")])
    assert by_arm(made)["bad"].verdict == "SLOWER"
    assert not any(v.headline for v in made.envelope.verdicts)


def test_every_round_runs_base_and_each_live_arm_once_with_one_padding() -> None:
    runner = SimRunner({"a": 0.99}, noise=0.05)
    made, _ = trial(runner, [FakeLever("a"), FakeLever("b", preload=True)], max_rounds=12)
    rounds = {r.lever: r.rounds for r in made.envelope.records if r.stage == "rounds" and r.metric == "wall"}
    assert rounds["base"] == list(range(12))
    assert rounds["a"] == rounds["b"] == rounds["placebo"] == rounds["base"]
    start = runner.ran.index("base") + len(runner.ran) - 4 * 12
    for n in range(12):
        block = slice(start + 4 * n, start + 4 * n + 4)
        assert sorted(runner.ran[block]) == ["a", "b", "base", "placebo"]
        assert len(set(runner.pads[block])) == 1
    assert len(set(runner.pads)) > 6


def test_positions_are_uniform_over_rounds() -> None:
    made, _ = trial(
        SimRunner(noise=0.3), [FakeLever("a"), FakeLever("b")], min_rounds=300, max_rounds=300, budget_s=10_000
    )
    orders: dict[int, list[tuple[int, str]]] = {}
    for r in made.envelope.records:
        if r.stage == "rounds" and r.metric == "wall":
            for o, n in zip(r.order, r.rounds, strict=True):
                orders.setdefault(n, []).append((o, r.lever))
    first = [min(v)[1] for v in orders.values()]
    for arm in set(first):
        assert abs(first.count(arm) / len(first) - 1 / 3) < 0.12


def test_an_arm_without_proof_is_not_applied_and_its_next_value_is_tried() -> None:
    runner = SimRunner({"page": 0.7}, unproved={"page=low", "gone"})
    made, watcher = trial(runner, [FakeLever("page", values=[["low", "high"]]), FakeLever("gone")])
    found = by_arm(made)
    assert found["page"].options == ["--page=high"]
    assert found["page"].verdict == "FASTER"
    assert found["gone"].verdict == "NOT APPLIED"
    assert any("gone" in line for line in watcher.said)


@pytest.mark.parametrize("values", [["low", "high"], ["high", "low"]])
def test_wrong_output_of_one_value_is_the_verdict_in_whatever_order_the_values_are_tried(values: list[str]) -> None:
    runner = SimRunner(unproved={"page=low"}, wrong_from={"page=high": 0})
    made, _ = trial(runner, [FakeLever("page", values=[values]), FakeLever("fine")], max_rounds=1)
    assert by_arm(made)["page"].verdict == "WRONG OUTPUT"
    assert "page=low does not hold" in by_arm(made)["page"].why


def test_an_arm_that_prints_something_else_later_is_wrong_output_and_base_goes_on() -> None:
    made, _ = trial(SimRunner({"odd": 0.5}, wrong_from={"odd": 4}), [FakeLever("odd"), FakeLever("fine")])
    found = by_arm(made)
    assert found["odd"].verdict == "WRONG OUTPUT"
    assert "round 4" in found["odd"].why
    assert found["fine"].rounds >= fewest_rounds(3, 0.05)


def test_an_unavailable_lever_says_why_and_what_to_do() -> None:
    levers = [FakeLever("numa", available=Availability(False, "one node", "a bigger machine")), FakeLever("a")]
    made, _ = trial(SimRunner(), levers, max_rounds=10)
    found = by_arm(made)["numa"]
    assert (found.verdict, found.why, found.fix) == ("UNAVAILABLE", "one node", "a bigger machine")


def test_a_program_that_fails_is_tried_only_where_that_was_asked_for() -> None:
    with pytest.raises(OkosuError, match="the program fails: exit status 3"):
        trial(SimRunner({"a": 0.8}, status=3), [FakeLever("a")])
    made, watcher = trial(SimRunner({"a": 0.8}, status=3), [FakeLever("a")], ignore_failure=True)
    assert by_arm(made)["a"].verdict == "FASTER"
    assert any("exit status 3" in line for line in watcher.said)


def test_the_budget_is_kept() -> None:
    runner = SimRunner(base_s=2, noise=0.05)
    trial(runner, [FakeLever("a"), FakeLever("b")], budget_s=300)
    assert runner.now <= 300


def test_long_rounds_are_split_so_that_each_arm_has_its_base_near() -> None:
    runner = SimRunner({"a": 0.8}, base_s=9)
    levers = [FakeLever(n) for n in "abcde"]
    made, _ = trial(runner, levers, budget_s=7200, max_rounds=11)
    base = next(r for r in made.envelope.records if r.stage == "rounds" and r.lever == "base" and r.metric == "wall")
    assert any(place.part == 1 for place in base.places())
    assert len(base.places()) == len(set(base.places()))
    assert by_arm(made)["a"].verdict == "FASTER"


def test_memory_is_warmed_before_each_timed_run_only_where_it_is_lazy() -> None:
    cold, lazy = SimRunner(noise=0.001), SimRunner(noise=0.001)
    trial(cold, [FakeLever("a")], max_rounds=9)
    made, _ = trial(lazy, [FakeLever("a")], lazy=True, max_rounds=9)
    assert cold.warmed == 0
    timed = sum(len(r.samples) for r in made.envelope.records if r.metric == "wall" and r.stage != "pilot")
    # The pilot warms memory before every run but base's first, from which it learns how much to warm.
    pilots = sum(len(r.samples) for r in made.envelope.records if r.metric == "wall" and r.stage == "pilot")
    assert lazy.warmed == timed + pilots - 1
    assert made.plan.warm_kb == 1250 + 8000 // 16


def test_an_inert_library_that_changes_the_output_takes_its_arms_out() -> None:
    levers = [FakeLever("p", preload=True), FakeLever("q")]
    made, _ = trial(SimRunner({"q": 0.8}, wrong_from={"placebo": 0}), levers)
    found = by_arm(made)
    assert found["p"].verdict == "WRONG OUTPUT"
    assert found["q"].verdict == "FASTER"


def test_no_false_alarm_and_a_stored_file_reads_back(tmp_path: Path) -> None:
    alarms, path = 0, tmp_path / "t.json"
    for seed in range(length(10, 30)):
        made, _ = trial(
            SimRunner(noise=0.03, seed=seed), [FakeLever("a"), FakeLever("b")], path if seed < 3 else None, seed=seed
        )
        alarms += any(v.verdict in ("FASTER", "SLOWER") for v in made.envelope.verdicts)
        if seed < 3:
            assert msgspec.to_builtins(files.read(path)) == msgspec.to_builtins(made.envelope)
    assert alarms <= length(2, 4)
