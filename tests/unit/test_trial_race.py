# SPDX-License-Identifier: Apache-2.0
"""The race of the pilot: who is left out, and how seldom that is an arm with something to gain."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sim import FakeLever, SimRunner, trial

from okosu.trial.race import LITTLE, MOST, WANTED, race, room

NOISE = 0.06


def runs_of(ratios: dict[str, float], seed: int) -> tuple[list[float], dict[str, list[float]], Callable[[str], float]]:
    rng = random.Random(seed)

    def one(name: str) -> float:
        return ratios.get(name, 1.0) * rng.lognormvariate(0, NOISE)

    return [one("base"), one("base")], {name: [one(name)] for name in ratios}, one


def left_out(ratios: dict[str, float], seed: int) -> dict[str, str]:
    return race(*runs_of(ratios, seed))


def test_beside_a_clear_leader_what_gains_nothing_is_left_out() -> None:
    out = left_out({"big": 0.45, "none": 1.0, "some": 0.7}, 1)
    assert list(out) == ["none"]
    assert "2 runs took" in out["none"]
    assert "those of big" in out["none"]


def test_without_a_leader_few_arms_all_stay_and_are_not_run_again() -> None:
    base, runs, _ = runs_of(dict.fromkeys("abcd", 1.0), 2)
    assert race(base, runs, lambda _: pytest.fail("an arm was run again")) == {}


def test_of_many_the_slower_halves_leave() -> None:
    ratios = {f"arm{i}": 0.6 + i / 40 for i in range(16)}
    out = left_out(ratios, 3)
    assert len(ratios) - len(out) == MOST
    assert "arm0" not in out
    assert "arm15" in out


def test_an_arm_that_saves_a_fifth_is_seldom_left_out_beside_a_leader() -> None:
    lost = sum("fifth" in left_out({"big": 0.5, "fifth": 0.8}, seed) for seed in range(1000))
    assert lost <= 80


@given(st.lists(st.floats(0.1, 10), min_size=1, max_size=12), st.integers(0, 99))
def test_never_the_fastest_and_never_on_one_run(ratios: list[float], seed: int) -> None:
    base, runs, again = runs_of({f"arm{i}": ratio for i, ratio in enumerate(ratios)}, seed)
    out = race(base, runs, again)
    assert len(runs) - len(out) >= 1
    assert all(len(runs[name]) > 1 for name in out)
    assert all(min(runs[name]) > LITTLE * min(base) or len(runs) > MOST for name in out)


def test_where_arms_race_more_of_them_are_tried_than_the_budget_could_judge() -> None:
    levers = [FakeLever(name) for name in "abcdefgh"]
    made, _ = trial(SimRunner({"h": 0.5}, base_s=9), levers, race=True, budget_s=600)
    assert {v.arm: v for v in made.envelope.verdicts}["h"].headline
    named, _ = trial(SimRunner({"h": 0.5}, base_s=9), levers, budget_s=600)
    assert {v.arm: v for v in named.envelope.verdicts}["h"].why.startswith("not tried")


def test_as_many_arms_stay_as_have_room_for_enough_rounds() -> None:
    assert [room(WANTED * runs, 1.0, 1) for runs in (0, 1, 2, 3, 4, 5, 6)] == [1, 1, 1, 2, 3, 4, MOST]
    assert room(WANTED * 4.9, 1.0, 2) == 2
    assert room(WANTED * 5, 2.0, 1) == 1


@pytest.mark.parametrize(("base_s", "kept"), [(0.5, MOST), (5.0, 1)])
def test_a_long_program_has_fewer_arms_judged_and_the_best_among_them(base_s: float, kept: int) -> None:
    runner = SimRunner({"c": 0.94, **dict.fromkeys("abdef", 1.0)}, base_s=base_s)
    made, _ = trial(runner, list(map(FakeLever, "abcdef")), race=True, budget_s=300)
    assert len(made.plan.arms) == 1 + kept
    assert {v.arm: v for v in made.envelope.verdicts}["c"].headline


def test_a_trial_judges_the_leader_alone_and_says_who_was_left_out() -> None:
    levers = [FakeLever(name) for name in ("big", "none", "nil")]
    runner = SimRunner({"big": 0.45})
    made, watcher = trial(runner, levers, race=True)
    found = {v.arm: v for v in made.envelope.verdicts}
    assert found["big"].verdict == "FASTER"
    assert (made.plan.k, found["big"].decided) == (1, 6)
    assert (found["none"].verdict, found["none"].rounds) == ("UNRESOLVED", 0)
    assert found["none"].why.startswith("not judged: the pilot's 2 runs")
    assert found["none"].fix == "--levers none judges it"
    assert any(line.startswith("none: not judged") for line in watcher.said)
    named, _ = trial(SimRunner({"big": 0.45}), levers)
    assert named.plan.k > 1


def test_beside_a_lesser_leader_who_saves_half_as_much_stays() -> None:
    def again(name: str) -> float:
        return {"lead": 0.85, "half": 0.92, "less": 0.94, "none": 1.0}[name]

    out = race([1.0, 1.02], {name: [again(name)] for name in ("lead", "half", "less", "none")}, again)
    assert list(out) == ["less", "none"]


def test_a_plain_leader_is_not_run_again() -> None:
    ran = []

    def again(name: str) -> float:
        ran.append(name)
        return 1.0

    assert list(race([1.0, 1.02], {"lead": [0.5], "none": [1.0]}, again)) == ["none"]
    assert ran == ["none"]


def test_arms_of_another_race_lead_and_never_leave() -> None:
    def again(name: str) -> float:
        return {"lead": 0.6, "idle": 1.0, "none": 1.0, "good": 0.5}[name]

    beside = {"lead": [0.6], "idle": [1.0]}
    assert list(race([1.0], {"none": [1.0]}, again, beside=beside)) == ["none"]
    assert list(race([1.0], {"good": [0.5], "none": [1.0]}, again, beside=beside)) == ["none"]


def test_what_will_not_be_recommended_must_look_as_if_it_saved_a_tenth() -> None:
    second = {"none": 1.0, "less": 0.93, "tenth": 0.97, "late": 0.88}
    runs = {"none": [1.0], "less": [0.95], "tenth": [0.89], "late": [0.98]}
    assert list(race([1.0], runs, second.__getitem__, beside={})) == ["none", "less"]
    assert list(race([1.0], {"none": [1.0], "less": [0.95]}, second.__getitem__)) == []


def test_what_changes_something_never_puts_out_what_can_be_recommended() -> None:
    levers = [FakeLever("locale"), FakeLever("some")]
    levers[0].changes = {"ordering": "lines come in another order"}  # type: ignore[misc]
    made, _ = trial(SimRunner({"locale": 0.3, "some": 0.95}, noise=0.005), levers, race=True)
    found = {v.arm: v for v in made.envelope.verdicts}
    assert found["some"].headline
    made, _ = trial(SimRunner({"locale": 1.0, "some": 0.5}, noise=0.005), levers, race=True)
    found = {v.arm: v for v in made.envelope.verdicts}
    assert (found["locale"].verdict, found["locale"].rounds) == ("UNRESOLVED", 0)
