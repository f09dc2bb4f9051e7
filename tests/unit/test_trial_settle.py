# SPDX-License-Identifier: Apache-2.0
"""What outlives a run is brought into the state of each run's arm, and undone at the end."""

from __future__ import annotations

from pathlib import Path

import pytest

from okosu import levers
from okosu.levers.base import Lever
from okosu.records.types import Arm, Options, Plan
from okosu.trial import settle
from okosu.trial.settle import ENOUGH, Settling, UnsettledError

BASE = Arm("base", "base")
LEFT = Arm("left", "lever", {"left": "on"})
BOTH = Arm("both", "stack", {"left": "on", "other": "x"})
OTHER = Arm("other", "lever", {"other": "x"})


class State:
    """A lever whose runs leave a file behind; every change of it is written down."""

    def __init__(self, folder: Path) -> None:
        self.log, self.stuck = folder / "log", folder / "stuck"

    def settle(self, value: str, applied: bool, program: str) -> list[str]:
        word = f"{program}:{value}:{'there' if applied else 'gone'}"
        undo = "" if applied else f"if [ -e '{self.stuck}' ]; then echo held by 7; exit 1; fi; "
        return ["sh", "-c", f"{undo}echo {word} >> '{self.log}'"]

    def said(self) -> list[str]:
        lines = self.log.read_text().split() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return [line.removeprefix("app:on:") for line in lines]


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> State:
    made = State(tmp_path)
    monkeypatch.setattr(levers, "load", lambda: {"left": made, "other": Plain()})
    monkeypatch.setattr(settle, "PATIENCE_S", 0.0)
    return made


class Plain(Lever):
    name = "other"
    needs = values = proof = lambda *_: None  # type: ignore[assignment]


def settling(*arms: Arm) -> Settling:
    return Settling(Plan(options=Options(command=["app"]), arms=[BASE, *arms]))


def test_nothing_is_done_for_levers_that_leave_nothing(state: State) -> None:
    settles = settling(OTHER)
    settles.before(OTHER)
    settles.leave()
    assert state.said() == []


def test_every_run_finds_its_own_state(state: State) -> None:
    settles = settling(LEFT, OTHER, BOTH)
    for arm, word in [(BASE, "gone"), (LEFT, "there"), (OTHER, "gone"), (BASE, "gone"), (BOTH, "there")]:
        settles.before(arm)
        assert state.said() == [word], arm.name
    settles.leave()
    assert state.said() == ["gone"]


def test_an_arm_of_the_pilot_is_undone_once_first_and_after_it(state: State) -> None:
    settles = settling()
    settles.before(BASE)
    assert not settles.expect(OTHER)
    assert state.said() == []
    assert settles.expect(LEFT)
    assert state.said() == ["gone"]
    settles.before(LEFT)
    assert state.said() == ["there"]
    settles.before(OTHER)
    assert state.said() == ["gone"]


def test_an_arm_that_has_left_costs_nothing_after_a_while(state: State) -> None:
    settles = settling(LEFT)
    settles.before(LEFT)
    state.said()
    for _ in range(4 * ENOUGH):
        settles.before(BASE)
    assert len(state.said()) == 2 * ENOUGH + 1


def test_what_cannot_be_undone_is_not_done(state: State) -> None:
    settles = settling()
    state.stuck.touch()
    with pytest.raises(UnsettledError) as error:
        settles.expect(LEFT)
    assert error.value.why == "held by 7"
    settles.before(BASE)
    assert settles.leave() == []
    assert state.said() == []


def test_base_does_not_run_with_what_is_left(state: State) -> None:
    settles = settling(LEFT)
    settles.before(LEFT)
    state.stuck.touch()
    with pytest.raises(UnsettledError, match="cannot be undone"):
        settles.before(BASE)
    assert settles.leave() == ["what left did stays until memory is short: held by 7"]
