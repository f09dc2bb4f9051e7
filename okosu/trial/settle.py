# SPDX-License-Identifier: Apache-2.0
"""What outlives the runs of an arm, as its code in the page cache does. Before every run, and outside its clock, it is
brought into the state that the run's arm is to find, so that no arm carries over into another.
"""

from __future__ import annotations

import subprocess
import time

from okosu import levers
from okosu.errors import OkosuError
from okosu.records.types import Arm, Plan

PATIENCE_S = 3.0
"""How long a state that cannot be undone is tried again: a process that is still ending may hold it."""
AGAIN_S = 0.2
ENOUGH = 3
"""Rounds without an arm after which its state is taken to stay undone."""


class UnsettledError(OkosuError):
    """The state that base needs cannot be had."""


class Settling:
    """The states of one trial. They are brought about anew before each run, in every arm alike, whether they hold
    already or not; but an arm that has left the rounds, and was undone often enough, costs nothing any more.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan, self._levers = plan, levers.load()
        self._undone: dict[tuple[str, str], int] = {}
        """For each lever and value of which something outlives the run: how often it was undone since it was there."""
        self._commands: dict[tuple[str, str, bool], list[str]] = {}

    def expect(self, arm: Arm) -> bool:
        """Say whether something outlives the arm's runs. It is undone for once: UnsettledError where that fails, for
        then it must not be done in the first place.
        """
        outliving = [item for item in arm.levers.items() if self._command(*item, True)]
        for item in outliving:
            self._undo(*item)
            self._undone[item] = 0
        return bool(outliving)

    def before(self, arm: Arm) -> None:
        """Bring about what a run of the arm is to find. UnsettledError where what other arms left cannot be undone."""
        for item in [item for made in self._plan.arms for item in made.levers.items()]:
            if self._command(*item, True):
                self._undone.setdefault(item, 0)
        applied = [item for item in arm.levers.items() if self._command(*item, True)]
        for item, times in self._undone.items():
            if item not in applied and times <= ENOUGH * len(self._plan.arms):
                self._undo(*item)
                self._undone[item] += 1
        for item in applied:
            self._undone[item] = 0
            _run(self._command(*item, True))

    def leave(self) -> list[str]:
        """Undo all of it, for the trial has ended; what could not be undone is returned, a sentence each."""
        whys = {name: _run(self._command(name, value, False)) for name, value in self._undone}
        return [f"what {name} did stays until memory is short: {why}" for name, why in whys.items() if why]

    def _command(self, name: str, value: str, applied: bool) -> list[str]:
        lever, asked = self._levers.get(name), (name, value, applied)
        if asked not in self._commands:
            program = self._plan.options.command[0]
            self._commands[asked] = lever.settle(value, applied, program) if lever else []
        return self._commands[asked]

    def _undo(self, name: str, value: str) -> None:
        until = time.monotonic() + PATIENCE_S
        while why := _run(self._command(name, value, False)):
            if time.monotonic() > until:
                what = f"what {name} did cannot be undone for the runs without it"
                raise UnsettledError(what, why, f"end the programs that use its files, or leave {name} out of --levers")
            time.sleep(AGAIN_S)


def _run(command: list[str]) -> str:
    """What the command printed if it failed, else ""."""
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    return (done.stdout + done.stderr).strip()[-600:] or "it failed" if done.returncode else ""
