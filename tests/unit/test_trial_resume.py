# SPDX-License-Identifier: Apache-2.0
"""A trial that was interrupted goes on as if it had not been, and a finished one goes on with more time."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path
from typing import Any

import msgspec
import pytest
from effort import length
from hypothesis import given, settings
from hypothesis import strategies as st
from sim import FakeLever, SimRunner, go_on, session, trial

from okosu.cli import _resume, main
from okosu.errors import USAGE_ERROR, OkosuError
from okosu.trial import Session, resume
from okosu.trial.verdicts import conclude

RATIOS = {"a": 0.9, "b": 1.0, "p": 0.8, "odd": 1.0}


def levers() -> list[FakeLever]:
    return [FakeLever("a"), FakeLever("b"), FakeLever("p", preload=True), FakeLever("odd")]


def runner(**more: Any) -> SimRunner:
    return SimRunner(RATIOS, noise=0.02, steady=True, **more)


def rounds_of(made: Session) -> list[dict[str, Any]]:
    """What the rounds left in the file, but for the predecessor of the first run after an interruption, which is not
    known.
    """
    kept = [r for r in msgspec.to_builtins(made.envelope.records) if r["stage"] == "rounds"]
    first: dict[int, int] = {}
    for record in kept:
        for order, number in zip(record["order"], record["rounds"], strict=True):
            first[number] = min(order, first.get(number, order))
    for record in kept:
        columns = zip(record["predecessor"], record["order"], record["rounds"], strict=True)
        record["predecessor"] = [p if first[n] != o else "" for p, o, n in columns]
    return kept


@functools.cache
def uninterrupted() -> Session:
    made = begin(None)
    go_on(made, runner(), levers())
    return made


def begin(path: Path | None) -> Session:
    return session(path, levers=dict.fromkeys(RATIOS, ""), max_rounds=14, budget_s=1e4)


@settings(deadline=None, max_examples=length(10, 300))
@given(st.integers(0, 90))
def test_a_trial_interrupted_after_any_run_has_the_records_of_one_that_was_not(at: int) -> None:
    whole = uninterrupted()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.json")
        stopped, ran = begin(path), runner(interrupt_at=at)
        try:
            go_on(stopped, ran, levers())
        except KeyboardInterrupt:
            if stopped.plan.arms:
                stopped.envelope.verdicts = conclude(stopped)
            stopped.write()
            again = resume(path)
            go_on(again, ran, levers())
        else:
            again = stopped
        piloted = len(again.plan.pilots) + 1
        if at >= piloted:
            assert rounds_of(again) == rounds_of(whole)
        assert again.envelope.rounds == whole.envelope.rounds
        assert again.envelope.decided == whole.envelope.decided
        assert again.envelope.left == whole.envelope.left
        assert [(v.arm, v.verdict, v.headline) for v in again.envelope.verdicts] == [
            (v.arm, v.verdict, v.headline) for v in whole.envelope.verdicts
        ]


def args(path: Path, *words: str) -> Any:
    return main.parse(["try", "--resume", str(path), *words])


def finished(path: Path, **options: Any) -> Session:
    made, _ = trial(SimRunner({"a": 0.99}, noise=0.06), [FakeLever("a")], path, budget_s=40, **options)
    assert made.envelope.verdicts[0].verdict == "UNRESOLVED"
    return made


def test_a_finished_trial_goes_on_with_more_budget(tmp_path: Path) -> None:
    old = finished(tmp_path / "t.json")
    again = _resume.session(tmp_path / "t.json", args(tmp_path / "t.json", "--budget", "+5m"))
    assert again.plan.options.budget_s == pytest.approx(old.envelope.spent_s + 300)
    go_on(again, SimRunner({"a": 0.99}, noise=0.06, seed=2), [FakeLever("a")])
    assert again.envelope.rounds > old.envelope.rounds
    assert again.log_ratios("a")[: old.envelope.rounds] == old.log_ratios("a")
    assert again.envelope.finished


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "nothing is left to do within its budget"),
        (["--budget", "10s"], "nothing is left to do within its budget"),
        (["--levers", "pin", "--budget", "+5m"], "--levers does not go with --resume"),
        (["--min-effect", "2%"], "--min-effect does not go with --resume"),
        (["--seed", "3"], "--seed does not go with --resume"),
        (["--no-warm"], "--no-warm does not go with --resume"),
        (["--budget", "+5m", "--", "./other"], "a program does not go with --resume"),
        (["--precision", "80%"], "is not a share"),
    ],
)
def test_what_would_change_a_resumed_trial_is_refused(words: list[str], said: str, tmp_path: Path) -> None:
    finished(tmp_path / "t.json")
    with pytest.raises(OkosuError, match=said) as refused:
        _resume.session(tmp_path / "t.json", args(tmp_path / "t.json", *words))
    assert refused.value.status == USAGE_ERROR


def test_budget_rounds_and_precision_of_a_resumed_trial_may_change(tmp_path: Path) -> None:
    finished(tmp_path / "t.json")
    words = ["--budget", "20m", "--max-rounds", "77", "--precision", "2%"]
    options = _resume.session(tmp_path / "t.json", args(tmp_path / "t.json", *words)).plan.options
    assert (options.budget_s, options.max_rounds, options.precision) == (1200, 77, 0.02)


def test_a_budget_named_when_a_trial_goes_on_is_not_halved(tmp_path: Path) -> None:
    session(tmp_path / "t.json", levers={"a": ""}, brief=True).write()
    made = _resume.session(tmp_path / "t.json", args(tmp_path / "t.json", "--budget", "20m"))
    go_on(made, SimRunner({"a": 0.5}), [FakeLever("a")])
    assert made.plan.options.budget_s == 1200
