# SPDX-License-Identifier: Apache-2.0
"""The pilot: what is tried within a budget, what cannot matter, and who is to blame where the output changes."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from sim import FakeLever, SimRunner, by_arm, go_on, session, trial

from okosu.errors import OkosuError
from okosu.levers.base import Bound
from okosu.machine.model import Machine
from okosu.records.measurement import Measurement
from okosu.records.types import Arm, Service
from okosu.trial import Session
from okosu.trial.runs import Run


def levers(*names: str) -> list[FakeLever]:
    return [FakeLever(name, likely=0.5 - i / 10) for i, name in enumerate(names)]


def test_an_arm_that_cannot_matter_costs_no_run() -> None:
    runner = SimRunner({"a": 0.8})
    made, watcher = trial(runner, [FakeLever("a"), FakeLever("tiny", bound=0.004)])
    found = by_arm(made)["tiny"]
    assert (found.verdict, found.bound, found.why) == ("CANNOT MATTER", 0.004, "by arithmetic")
    assert "tiny" not in runner.ran
    assert made.plan.k == 1
    assert any("tiny: CANNOT MATTER" in line for line in watcher.said)


class Timed(FakeLever):
    """A lever with a run that serves for its bound alone, which is told by its fault."""

    bounding = "timed"

    def bound(self, machine: Machine, base: Sequence[Measurement], run: Measurement | None) -> Bound | None:
        return Bound(0.004, "as measured") if run is not None and run.majflt else None


def test_a_run_for_the_bound_alone_may_spare_all_others() -> None:
    runner = SimRunner(unproved={"a=timed"})
    made, _ = trial(runner, [Timed("a")])
    assert (by_arm(made)["a"].verdict, by_arm(made)["a"].why) == ("CANNOT MATTER", "as measured")
    assert runner.ran.count("a") == 1


@pytest.mark.parametrize("runner", [{"wrong_from": {"a=timed": 0}}, {"base_s": 60.0}])
def test_a_run_for_the_bound_is_not_made_or_used_where_it_is_dear_or_ends_otherwise(runner: dict[str, Any]) -> None:
    made, _ = trial(SimRunner({"a": 0.8}, unproved={"a=timed"}, **runner), [Timed("a")], budget_s=900)
    assert by_arm(made)["a"].verdict != "CANNOT MATTER"


@pytest.mark.parametrize(
    "options",
    [
        {"metric": "rss"},
        {"min_rounds": 9, "max_rounds": 9},
        {"min_effect": 0.001},
        {"service": Service(load="true", ready=["tcp:1"])},
    ],
)
def test_a_bound_on_time_is_not_used_where_it_says_nothing(options: dict[str, object]) -> None:
    made, _ = trial(
        SimRunner({"a": 0.8}), [FakeLever("a", bound=0.004)], max_rounds=options.pop("max_rounds", 9), **options
    )
    assert by_arm(made)["a"].verdict != "CANNOT MATTER"


def test_where_nothing_can_matter_no_round_is_run() -> None:
    made, _ = trial(SimRunner(), [FakeLever("a", bound=0.001)])
    assert (made.envelope.rounds, made.envelope.finished) == (0, True)


def test_what_fits_the_budget_is_tried_in_order_of_expected_gain_and_the_rest_is_listed() -> None:
    made, watcher = trial(SimRunner({"a": 0.5}, base_s=20), levers("a", "b", "c", "d"), budget_s=600)
    found = by_arm(made)
    assert found["a"].verdict == "FASTER"
    left_out = [name for name in "bcd" if found[name].why.startswith("not tried")]
    assert "d" in left_out
    assert all(found[name].verdict == "UNRESOLVED" for name in left_out)
    named = found["d"].fix.removeprefix("--budget ")
    assert any(named in line and "not tried" in line for line in watcher.said)
    enough = float(named[:-1]) * {"s": 1, "m": 60, "h": 3600}[named[-1]]
    made, _ = trial(SimRunner({"a": 0.5}, base_s=20), levers("a", "b", "c", "d"), budget_s=enough)
    assert not [v for v in made.envelope.verdicts if v.why.startswith("not tried")]


@pytest.mark.parametrize("base_s", [20.0, 60.0, 300.0])
def test_the_default_budget_never_refuses_and_is_kept(base_s: float) -> None:
    runner = SimRunner({"a": 0.5}, base_s=base_s)
    made, watcher = trial(runner, [FakeLever("a", [["low", "high"]], likely=0.9), *levers("b", "c")], budget_s=600)
    assert made.envelope.finished
    assert runner.now <= 600 * 1.5
    assert any("not tried: b, c" in line for line in watcher.said) or base_s == 20
    assert any("--resume" in line for line in watcher.said) == (base_s > 20)


@pytest.mark.parametrize(("base_s", "brief", "budget_s"), [(10.0, True, 300), (10.1, True, 600), (10.0, False, 600)])
def test_a_short_program_has_half_of_the_budget_that_nobody_named(base_s: float, brief: bool, budget_s: float) -> None:
    runner = SimRunner({"a": 0.99}, base_s=base_s)
    made, _ = trial(runner, levers("a"), budget_s=600, brief=brief)
    assert made.plan.options.budget_s == budget_s
    assert runner.now <= budget_s * 1.5


def test_arms_that_come_to_nothing_do_not_use_up_more_than_the_budget() -> None:
    runner = SimRunner(base_s=300, unproved=set("abcd"))
    made, watcher = trial(runner, levers("a", "b", "c", "d"), budget_s=600)
    assert runner.ran == ["base", "a"]
    assert by_arm(made)["a"].verdict == "NOT APPLIED"
    assert "not tried" in by_arm(made)["b"].why
    assert "room for 2 runs, and to decide one arm takes" in watcher.said[0]


@pytest.mark.parametrize(("base_s", "told"), [(2.0, False), (20.0, True), (60.0, True)])
def test_what_the_budget_allows_is_said_before_a_long_pilot(base_s: float, told: bool) -> None:
    _, watcher = trial(SimRunner(base_s=base_s), [FakeLever("idle")], budget_s=600)
    assert any(line.startswith("base takes") for line in watcher.said) is told


def test_a_cheap_program_has_all_its_values_tried_and_a_dear_one_the_first_that_holds() -> None:
    for base_s, values in ((1.0, {"low", "high"}), (100.0, {"low"})):
        made, _ = trial(SimRunner(base_s=base_s), [FakeLever("a", values=[["low", "high"]])], max_rounds=1)
        runs = [r for r in made.envelope.records if r.stage == "pilot" and r.lever == "a" and r.metric == "wall"]
        assert len(runs[0].samples) == len(values)


def test_no_further_value_is_tried_where_one_does_all_that_can_be_done() -> None:
    runner = SimRunner()
    trial(runner, [FakeLever("a", values=[["all", "more"]])], max_rounds=1)
    assert runner.ran.count("a") == 2


def test_output_that_differs_at_once_is_refused_with_a_way_out() -> None:
    with pytest.raises(OkosuError) as refused:
        trial(SimRunner(wrong_from={"base": 1}), [FakeLever("a")])
    assert "--check true" in refused.value.fix


@pytest.mark.parametrize("since", [2, 5, 9, 14])
def test_output_that_changes_by_itself_blames_no_arm(since: int) -> None:
    """Like `date`, or `ls -l` of a folder that changes: from some run on everything prints something else."""
    with pytest.raises(OkosuError) as refused:
        trial(SimRunner(faults_at=list(range(since, 999))), [FakeLever("a"), FakeLever("b")])
    assert "the program itself changed" in refused.value.what
    assert "--check" in refused.value.fix


@pytest.mark.parametrize("first", [3, 6, 7, 8, 13])
def test_a_program_that_fails_now_and_then_blames_no_arm(first: int) -> None:
    with pytest.raises(OkosuError) as refused:
        trial(SimRunner(faults_at=list(range(first, 999, 13))), [FakeLever("a"), FakeLever("b")])
    assert "the program itself changed" in refused.value.what


def test_a_program_of_its_own_wrong_output_is_named_and_stays_out() -> None:
    made, _ = trial(SimRunner({"fine": 0.5}, wrong_from={"odd": 3}), [FakeLever("odd"), FakeLever("fine")])
    assert by_arm(made)["odd"].verdict == "WRONG OUTPUT"
    assert by_arm(made)["fine"].verdict == "FASTER"


@dataclasses.dataclass
class Refusing(SimRunner):
    """The launcher refuses the lever "odd", as it does where a system call is forbidden."""

    def run(self, arm: Arm, *, pad: int, sample: bool, timeout_s: float) -> Run:
        made = super().run(arm, pad=pad, sample=sample, timeout_s=timeout_s)
        if arm.name != "odd":
            return made
        measured = msgspec.structs.replace(made.measurement, status=125)
        said = "okosu: odd=1 not applied: it is forbidden\n  why: x\n  fix: y\n"
        return dataclasses.replace(made, measurement=measured, digest="", stderr=said)


def test_a_lever_that_the_launcher_refuses_is_not_applied() -> None:
    made, _ = trial(Refusing({"fine": 0.5}), [FakeLever("odd"), FakeLever("fine")])
    found = by_arm(made)
    assert (found["odd"].verdict, found["odd"].why) == ("NOT APPLIED", "odd=1 not applied: it is forbidden")
    assert found["fine"].verdict == "FASTER"


def test_nothing_is_said_to_be_applied_where_nothing_was_to_be_proved() -> None:
    made, _ = trial(SimRunner(unproved={"gone"}), levers("a", "gone"), max_rounds=2, user_arms={"own": {"A": "1"}})
    found = by_arm(made)
    assert (found["own"].applied, found["a"].applied, found["gone"].applied) == (None, True, False)


class Observing(FakeLever):
    """A lever whose proof needs threads to be followed."""

    def __init__(self, name: str, spares: frozenset[str] = frozenset()) -> None:
        super().__init__(name)
        self.observes = frozenset({"threads"})
        self.spares = spares


class Disturbed(FakeLever):
    """A lever that saves what following threads takes."""

    disturbed_by = frozenset({"threads"})


def observing(runner: SimRunner, *levers: FakeLever) -> Session:
    made = session(levers={lever.name: "" for lever in levers})
    made.plan.observes = ["files", "threads"]
    go_on(made, runner, list(levers))
    return made


def test_what_takes_the_time_that_a_lever_saves_is_not_observed_in_the_rounds() -> None:
    runner = SimRunner({"saves": 0.5})
    made = observing(runner, Observing("pins", frozenset({"threads"})), Disturbed("saves"))
    assert made.plan.observes == ["files"]
    assert by_arm(made)["saves"].verdict == "FASTER"
    assert made.plan.k == 3


def test_a_lever_is_not_judged_beside_one_whose_proof_takes_the_time_that_it_saves() -> None:
    made = observing(SimRunner({"saves": 0.5, "needs": 0.5}), Observing("needs"), Disturbed("saves"))
    assert made.plan.observes == ["files", "threads"]
    found = by_arm(made)
    assert (found["saves"].verdict, found["saves"].fix) == ("UNAVAILABLE", "--levers saves")
    assert "needs" in found["saves"].why
    assert found["needs"].verdict == "FASTER"


def test_a_lever_that_has_no_effect_disturbs_nothing() -> None:
    made = observing(SimRunner(unproved={"saves"}), Observing("pins", frozenset({"threads"})), Disturbed("saves"))
    assert made.plan.observes == ["files", "threads"]
