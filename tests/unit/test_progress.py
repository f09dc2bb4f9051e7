# SPDX-License-Identifier: Apache-2.0
"""What `okosu try` shows while it works: few plain lines, and a table between runs only."""

from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sim import FakeLever, SimRunner, fake_machine, go_on, session

from okosu import machine
from okosu.cli import _progress
from okosu.cli._progress import Lines, Screen, earliest
from okosu.report import state
from okosu.stats import eprocess


class Still:
    """A clock for the watcher that is told how late it is."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


def watched(watcher_of: type[Lines], runner: SimRunner, levers: list[FakeLever], **options: Any) -> Any:
    made = session(levers={lever.name: "" for lever in levers}, **options)
    with watcher_of(made) as watcher:
        go_on(made, runner, levers, watcher=watcher)
    return made


def test_plain_lines_tell_the_answer_at_once_and_little_else(capfd: pytest.CaptureFixture[str]) -> None:
    levers = [FakeLever("a"), FakeLever("b")]
    made = watched(Lines, SimRunner({"a": 0.4, "b": 1.5}), levers, precision=0.5, max_rounds=20)
    said = capfd.readouterr().err.splitlines()
    k = made.plan.k
    few = eprocess.fewest_rounds(k, 0.05)
    assert said[0] == f"base takes 1000 ms; arms: a, b; K = {k}; at most 10m"
    answer, slower = said[1:]
    if slower.startswith("known"):
        answer, slower = slower, answer
    assert answer.startswith(f"known after round {few}: a is 2.")
    assert answer.endswith(f"won {few} of {few}; the next rounds see it again and narrow it")
    assert slower.startswith(f"round {few}: b: 1.5")
    assert slower.endswith("SLOWER")


def test_where_things_stand_is_told_ever_more_rarely(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    clock = Still()
    monkeypatch.setattr(_progress, "time", clock)
    runner = SimRunner({"a": 0.99}, noise=0.001)
    made = session(levers={"a": ""})
    watcher = Lines(made)
    told = []
    for second in range(0, 1000, 5):
        clock.now = second
        if watcher._due():
            told.append(second)
    assert told == [15, 45, 105, 225, 465, 945]
    watcher = Lines(made)
    clock.now += 20
    watcher.piloting("a", 3, 6, 12.5)
    assert capfd.readouterr().err == "pilot: run 3 of 6 (a), about 13s left\n"
    assert runner.ran == []


def test_an_open_arm_is_told_with_its_wins_and_the_earliest_decision(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    clock = Still()
    monkeypatch.setattr(_progress, "time", clock)

    class Late(Lines):
        def round_done(self, number: int, judgements: Any, left_s: float) -> None:
            clock.now = 100.0 if number == 4 else 0.0
            super().round_done(number, judgements, left_s)

    watched(Late, SimRunner({"a": 0.5}), [FakeLever("a")], budget_s=60.0)
    said = capfd.readouterr().err
    assert "round 5, at most " in said
    assert " left: a won 5 of 5, earliest decision: round 6\n" in said


@given(st.integers(0, 60), st.integers(0, 60), st.integers(1, 6))
def test_the_earliest_decision_is_the_first_round_whose_evidence_suffices(wins: int, losses: int, k: int) -> None:
    at = earliest(wins + losses, wins, k, 0.05)
    limit, other = eprocess.threshold(k, 0.05), min(wins, losses)
    assert at >= max(1, wins + losses)
    assert eprocess.evidence(at, other) >= limit
    assert at == max(1, wins + losses) or eprocess.rank(at - 1, limit) <= other


def test_the_live_table_is_drawn_between_runs_and_shows_the_standing(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = io.StringIO()
    running = False

    class Runner(SimRunner):
        def run(self, *args: Any, **more: Any) -> Any:
            nonlocal running
            running, before = True, len(drawn.getvalue())
            done = super().run(*args, **more)
            running = len(drawn.getvalue()) != before
            assert not running, "something was drawn during a run"
            return done

    import rich.console

    real = rich.console.Console
    monkeypatch.setattr(rich.console, "Console", lambda **_: real(file=drawn, force_terminal=True, width=100))
    watched(Screen, Runner({"a": 0.5}), [FakeLever("a"), FakeLever("gone", values=[])], budget_s=60.0)
    text = drawn.getvalue()
    assert "pilot: run 3 of 3 (a), about 1s left" in text
    assert "won 5 of 5, earliest decision: round 6" in text
    assert "known after round 6: a is " in text
    assert "FASTER, won " in text


def rounds(*steps: dict[str, object]) -> Any:
    made = session()
    made.envelope.machine["state_rounds"] = [{"round": n, **step} for n, step in enumerate(steps, 1)]
    return made.envelope


def psi(value: float) -> dict[str, object]:
    return {"cpu": {"some_avg10": value}}


def test_a_state_that_changed_is_told_with_the_round() -> None:
    quiet, hog = {"load": [0.2, 0, 0], "pressure": psi(1.0)}, {"load": [3.4, 0, 0], "pressure": psi(47.0)}
    assert state.changes(rounds(quiet, hog, quiet)) == (
        "The machine was not the same in all rounds: load 0.2 to 3.4, highest after round 2; "
        "waiting for a CPU 1 to 47 % of the time, most after round 2."
    )


@pytest.mark.parametrize(
    "steps", [[], [{}], [{"load": [0.2]}, {"load": [0.9]}], [{"load": "x", "pressure": 3}], ["no"]]
)
def test_a_state_that_did_not_change_or_makes_no_sense_is_not_told(steps: Any) -> None:
    made = session()
    made.envelope.machine["state_rounds"] = steps
    assert state.changes(made.envelope) == ""


def test_time_that_the_host_took_is_a_share_of_the_round() -> None:
    made = watched(Lines, SimRunner(), [FakeLever("a")], max_rounds=3)
    steps = [{"round": n, "steal_ticks": ticks} for n, ticks in ((1, 100), (2, 100), (3, 200))]
    made.envelope.machine["state_rounds"] = steps
    assert "the host took 0 to 50 % of a CPU's time, most after round 3" in state.changes(made.envelope)


@pytest.mark.parametrize(
    ("terminal", "term", "kind"),
    [(True, "xterm", Screen), (True, "dumb", Lines), (True, "", Lines), (False, "xterm", Lines)],
)
def test_a_terminal_that_cannot_move_its_cursor_gets_plain_lines(
    monkeypatch: pytest.MonkeyPatch, terminal: bool, term: str, kind: type[Lines]
) -> None:
    monkeypatch.setenv("TERM", term)
    monkeypatch.setattr("sys.stderr", io.StringIO())
    monkeypatch.setattr(_progress.sys.stderr, "isatty", lambda: terminal)
    assert type(_progress.watcher(session())) is kind


@pytest.mark.parametrize("warm", [True, False])
def test_warming_memory_is_told_of_only_where_it_is_done(warm: bool) -> None:
    said = machine.notes(fake_machine(lazy=True), warm)
    assert any("memory is touched before each run" in line for line in said) == warm
