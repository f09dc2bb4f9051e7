# SPDX-License-Identifier: Apache-2.0
"""Whole trials of a simulated program: planted effects are found, absent ones are not, and the protocol is followed."""

from __future__ import annotations

import statistics
from pathlib import Path

import msgspec
import pytest
from effort import length
from sim import FakeLever, SimRunner, go_on, session, trial

from okosu.errors import OkosuError
from okosu.levers.base import Availability
from okosu.records import files
from okosu.records.types import Arm, Verdict
from okosu.report import commands
from okosu.stats.eprocess import fewest_rounds
from okosu.trial import Session, resume
from okosu.trial.verdicts import conclude


def by_arm(made: Session) -> dict[str, Verdict]:
    return {v.arm: v for v in made.envelope.verdicts}


def test_a_planted_winner_is_found_confirmed_and_recommended() -> None:
    made, _ = trial(SimRunner({"good": 0.8}), [FakeLever("good"), FakeLever("idle")])
    found = by_arm(made)
    assert found["good"].verdict == "FASTER"
    assert found["good"].confirmed
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


def test_the_stack_of_compatible_winners_is_measured_on_fresh_rounds() -> None:
    levers = [FakeLever("a"), FakeLever("b"), FakeLever("c", excludes=frozenset({"a"}))]
    made, watcher = trial(SimRunner({"a": 0.5, "b": 0.7, "c": 0.9}), levers)
    assert watcher.stages[-1] == ("confirmation", ["a", "a+b"])
    found = by_arm(made)
    assert found["a+b"].headline
    assert found["a+b"].stage == "confirmation"
    assert found["c"].verdict == "FASTER"
    assert found["c"].confirmed is None
    screened = {o for r in made.envelope.records if r.stage == "screening" for o in r.order}
    confirmed = {o for r in made.envelope.records if r.stage == "confirmation" for o in r.order}
    assert screened.isdisjoint(confirmed)


def test_every_round_runs_base_and_each_live_arm_once_with_one_padding() -> None:
    runner = SimRunner({"a": 0.99}, noise=0.05)
    made, _ = trial(runner, [FakeLever("a"), FakeLever("b", preload=True)], max_rounds=12)
    rounds = {r.lever: r.rounds for r in made.envelope.records if r.stage == "screening" and r.metric == "wall"}
    assert rounds["base"] == list(range(12))
    assert rounds["a"] == rounds["b"] == rounds["placebo"] == rounds["base"]
    start = runner.ran.index("base") + len(runner.ran) - 4 * 12
    for n in range(12):
        block = slice(start + 4 * n, start + 4 * n + 4)
        assert sorted(runner.ran[block]) == ["a", "b", "base", "placebo"]
        assert len(set(runner.pads[block])) == 1
    assert len(set(runner.pads)) > 6


def test_positions_are_uniform_over_rounds() -> None:
    made, _ = trial(SimRunner(noise=0.3), [FakeLever("a"), FakeLever("b")], max_rounds=300, budget_s=10_000)
    orders: dict[int, list[tuple[int, str]]] = {}
    for r in made.envelope.records:
        if r.stage == "screening" and r.metric == "wall":
            for o, n in zip(r.order, r.rounds, strict=True):
                orders.setdefault(n, []).append((o, r.lever))
    first = [min(v)[1] for v in orders.values()]
    for arm in set(first):
        assert abs(first.count(arm) / len(first) - 1 / 4) < 0.12


def test_resolved_arms_stop_running() -> None:
    made, _ = trial(SimRunner({"fast": 0.5}, noise=0.02), [FakeLever("fast"), FakeLever("idle")], max_rounds=40)
    lengths = {r.lever: len(r.samples) for r in made.envelope.records if r.stage == "screening" and r.metric == "wall"}
    assert lengths["fast"] == fewest_rounds(2, 0.05)
    assert lengths["idle"] > lengths["fast"]


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
    assert found["fine"].rounds >= fewest_rounds(2, 0.05)


def test_an_unavailable_lever_says_why_and_what_to_do() -> None:
    levers = [FakeLever("numa", available=Availability(False, "one node", "a bigger machine")), FakeLever("a")]
    made, _ = trial(SimRunner(), levers, max_rounds=10)
    found = by_arm(made)["numa"]
    assert (found.verdict, found.why, found.fix) == ("UNAVAILABLE", "one node", "a bigger machine")


def test_a_program_that_ends_with_an_error_is_tried_all_the_same() -> None:
    made, watcher = trial(SimRunner({"a": 0.8}, status=3), [FakeLever("a")])
    assert by_arm(made)["a"].verdict == "FASTER"
    assert any("exit status 3" in line for line in watcher.said)


def test_output_that_changes_is_refused_with_a_way_out() -> None:
    with pytest.raises(OkosuError) as refused:
        trial(SimRunner(wrong_from={"base": 1}), [FakeLever("a")])
    assert "--check true" in refused.value.fix


def test_a_budget_too_small_names_one_that_will_do_and_what_fits() -> None:
    with pytest.raises(OkosuError) as refused:
        trial(SimRunner(base_s=2), [FakeLever("a"), FakeLever("b"), FakeLever("c")], budget_s=100)
    assert refused.value.status == 2
    named = refused.value.fix.split("--budget ")[1].split(",")[0]
    assert "--levers" in refused.value.fix
    seconds = float(named[:-1]) * {"s": 1, "m": 60, "h": 3600}[named[-1]]
    trial(SimRunner(base_s=2), [FakeLever("a"), FakeLever("b"), FakeLever("c")], budget_s=seconds)


def test_the_levers_that_a_refusal_names_do_fit() -> None:
    with pytest.raises(OkosuError) as refused:
        trial(SimRunner(base_s=2), [FakeLever("a"), FakeLever("b"), FakeLever("c")], budget_s=100)
    names = refused.value.fix.split("--levers ")[1].split(" ")[0].split(",")
    made, _ = trial(SimRunner(base_s=2), [FakeLever(n) for n in names], budget_s=100)
    assert made.envelope.finished


def test_the_budget_is_kept() -> None:
    runner = SimRunner(base_s=2, noise=0.05)
    trial(runner, [FakeLever("a"), FakeLever("b")], budget_s=300)
    assert runner.now <= 300


def test_long_rounds_are_split_so_that_each_arm_has_its_base_near() -> None:
    runner = SimRunner({"a": 0.8}, base_s=9)
    levers = [FakeLever(n) for n in "abcde"]
    made, _ = trial(runner, levers, budget_s=7200, max_rounds=11)
    base = next(r for r in made.envelope.records if r.stage == "screening" and r.lever == "base" and r.metric == "wall")
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


def test_a_winner_no_better_than_the_placebo_is_not_faster() -> None:
    made, _ = trial(SimRunner({"p": 0.8, "placebo": 0.8}), [FakeLever("p", preload=True)], max_rounds=25)
    found = by_arm(made)["p"]
    assert found.verdict == "UNRESOLVED"
    assert "placebo" in found.why or "preload" in found.why


def test_carry_over_is_flagged_and_confirmation_settles_with_an_untimed_base() -> None:
    runner = SimRunner({"dirty": 0.6}, after={"dirty": 1.5}, noise=0.005)
    made, _ = trial(runner, [FakeLever("dirty"), FakeLever("clean")], max_rounds=30)
    assert by_arm(made)["dirty"].carry_over
    assert not by_arm(made)["clean"].carry_over
    confirmation = [r for r in made.envelope.records if r.stage == "confirmation"]
    assert confirmation
    assert all(p == "base" for r in confirmation for p in r.predecessor)


def test_confirmation_gets_its_fewest_rounds_even_when_carry_over_doubles_its_cost() -> None:
    runner = SimRunner({"dirty": 0.8, "also": 0.8}, after={"dirty": 1.4}, noise=0.004)
    made, _ = trial(runner, [FakeLever("dirty"), FakeLever("also")], budget_s=100)
    assert by_arm(made)["dirty"].carry_over
    assert made.envelope.confirm_arms == ["dirty", "dirty+also"]
    for name in made.envelope.confirm_arms:
        assert by_arm(made)[name].rounds >= fewest_rounds(2, 0.05)
        assert by_arm(made)[name].confirmed


def test_an_interrupted_trial_goes_on_where_it_stopped(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    whole, _ = trial(SimRunner({"a": 0.9}, noise=0.002), [FakeLever("a")])
    runner, levers = SimRunner({"a": 0.9}, noise=0.002, interrupt_at=4 + 3 * 3 + 1), [FakeLever("a")]
    stopped = session(path, levers={"a": ""})
    with pytest.raises(KeyboardInterrupt):
        go_on(stopped, runner, levers)
    stopped.envelope.verdicts = conclude(stopped)
    stopped.write()
    again = resume(path)
    kept = dict(again.values("screening", "base"))
    assert kept
    go_on(again, runner, levers)
    assert again.envelope.finished
    assert by_arm(again)["a"].verdict == by_arm(whole)["a"].verdict == "FASTER"
    assert all(
        again.values("screening", "base")[n] == v for n, v in kept.items() if n in again.values("screening", "a")
    )
    orders = [o for r in again.envelope.records if r.metric == "wall" for o in r.order]
    assert len(orders) == len(set(orders))


def test_a_trial_interrupted_in_its_pilot_is_piloted_anew(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    runner, levers = SimRunner({"a": 0.8, "b": 0.9}, interrupt_at=3), [FakeLever("a"), FakeLever("b")]
    stopped = session(path, levers={"a": "", "b": ""})
    with pytest.raises(KeyboardInterrupt):
        go_on(stopped, runner, levers)
    stopped.write()
    again = resume(path)
    assert not again.piloted
    go_on(again, runner, levers)
    assert again.piloted
    assert again.plan.k == 2
    assert {v.arm: v.verdict for v in again.envelope.verdicts if v.arm in "ab"} == {"a": "FASTER", "b": "FASTER"}
    assert [a.name for a in again.plan.arms if a.kind != "stack"] == ["base", "placebo", "a", "b"]


def revalidation(path: Path | None = None) -> Session:
    made = session(path, budget_s=30, levers={"a": "", "b": ""})
    made.plan.given, made.plan.stages = [Arm("a", "lever", {"a": "on"})], ["confirmation"]
    return made


def test_a_revalidation_runs_one_arm_against_base_and_needs_no_budget_for_screening() -> None:
    made = revalidation()
    watcher = go_on(made, SimRunner({"a": 0.8}), [FakeLever("a"), FakeLever("b")])
    assert watcher.stages == [("confirmation", ["a"])]
    assert [number for number, _ in watcher.rounds] == list(range(fewest_rounds(1, 0.05)))
    (verdict,) = made.envelope.verdicts
    assert (verdict.verdict, verdict.confirmed, verdict.rounds) == ("FASTER", True, fewest_rounds(1, 0.05))


def test_a_revalidation_interrupted_in_its_pilot_still_tries_its_one_arm(tmp_path: Path) -> None:
    runner, levers = SimRunner({"a": 0.8}, interrupt_at=2), [FakeLever("a"), FakeLever("b")]
    stopped = revalidation(tmp_path / "t.json")
    stopped.write()
    with pytest.raises(KeyboardInterrupt):
        go_on(stopped, runner, levers)
    again = resume(tmp_path / "t.json")
    assert go_on(again, runner, levers).stages == [("confirmation", ["a"])]


def test_a_screening_alone_confirms_nothing_and_recommends_nothing() -> None:
    made = session(levers={"a": ""})
    made.plan.stages = ["screening"]
    watcher = go_on(made, SimRunner({"a": 0.8}), [FakeLever("a")])
    assert [stage for stage, _ in watcher.stages] == ["screening"]
    assert (by_arm(made)["a"].verdict, by_arm(made)["a"].headline) == ("FASTER", False)


@pytest.mark.parametrize(("least", "most", "ran"), [(0, 1000, fewest_rounds(1, 0.05)), (13, 1000, 13), (13, 11, 11)])
def test_as_many_rounds_are_run_as_are_asked_for(least: int, most: int, ran: int) -> None:
    made, _ = trial(SimRunner({"a": 0.5}), [FakeLever("a")], min_rounds=least, max_rounds=most)
    for stage in ("screening", "confirmation"):
        assert len(made.pairs(stage, "a")[0]) == ran  # type: ignore[arg-type]


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


def test_the_headline_ratio_comes_from_fresh_rounds() -> None:
    made, _ = trial(SimRunner({"a": 0.7}), [FakeLever("a")])
    best = by_arm(made)["a"]
    fresh = statistics.median(made.log_ratios("confirmation", "a"))
    assert best.ratio == pytest.approx(2.718281828459045**fresh)
