# SPDX-License-Identifier: Apache-2.0
"""What `okosu try` shows while it works: a live table on a terminal, a few plain lines elsewhere. Drawn between runs
only.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from typing import TYPE_CHECKING, Any

from okosu.cli import _table
from okosu.records.types import PLACEBO, Stage
from okosu.report import formats, view, words
from okosu.stats import eprocess
from okosu.stats.verdict import FASTER, RESOLVED, Judgement
from okosu.trial.costs import clock
from okosu.trial.rounds import Watcher
from okosu.trial.session import Session

if TYPE_CHECKING:
    from rich.live import Live

FIRST_LINE_S = 15.0
"""Seconds until plain lines say where things stand; every further time takes twice as long."""


def earliest(rounds: int, wins: int, k: int, alpha: float) -> int:
    """The round after which an arm with so many wins in so many rounds can be decided at the earliest: if all that
    follow go the way of most so far.
    """
    limit, other = eprocess.threshold(max(1, k), alpha), min(wins, rounds - wins)
    at = max(1, rounds)
    while eprocess.rank(at, limit) <= other:
        at += 1
    return at


class Lines(Watcher):
    """Progress as plain lines on stderr: the plan, what is decided, and now and then where things stand."""

    def __init__(self, session: Session) -> None:
        self.session, self.words = session, words.of(session.plan.options)
        self._known: set[str] = set()
        self._next, self._pause = time.monotonic() + FIRST_LINE_S, FIRST_LINE_S

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def say(self, text: str) -> None:
        """Print one line of prose."""
        print(text, file=sys.stderr, flush=True)

    def piloting(self, arm: str, number: int, count: int, left_s: float) -> None:
        if self._due():
            self.say(_pilot_line(arm, number, count, left_s))

    def planned(self) -> None:
        plan = self.session.plan
        self.say(_table.plan_line(self.session.envelope))
        if 0 < plan.base_s < view.SHORT_S:
            self.say(f"note: {formats.plain(view.short_run(plan.base_s))}")

    def round_done(self, number: int, judgements: dict[str, Judgement], left_s: float) -> None:
        """Print the arms that this round resolved, or where things stand."""
        for name, j in judgements.items():
            if j.verdict in RESOLVED and name not in self._known and name != PLACEBO:
                self._known.add(name)
                # The first winner is told as the answer, which follows.
                if j.verdict != FASTER or self._others_won(name, judgements):
                    self.say(f"round {number + 1}: {name}: {self._said(j)}, {self.words.verdict(j.verdict)}")
        if self._due():
            still = [f"{n} {self._standing(j)}" for n, j in judgements.items() if self._is_open(n, j)]
            if still:
                self.say(f"round {number + 1}, at most {clock(left_s)} left: {'; '.join(still)}")

    def answered(self, judgements: dict[str, Judgement]) -> None:
        """Print the first arm that is known to win, while the rounds go on."""
        won = [(j.ratio or 1.0, name, j) for name, j in judgements.items() if j.verdict == FASTER and name != PLACEBO]
        if won:
            _, name, j = min(won, key=lambda one: one[:2])
            self.say(
                f"known after round {j.rounds}: {name} is {self._said(j)}, won {j.wins} of {j.rounds}; "
                "the next rounds see it again and narrow it"
            )

    def _others_won(self, name: str, judgements: dict[str, Judgement]) -> bool:
        return any(n != name and n in self._known and j.verdict == FASTER for n, j in judgements.items())

    def _is_open(self, name: str, j: Judgement) -> bool:
        gone = name in self.session.envelope.left or name in self.session.failures
        return j.verdict not in RESOLVED and name != PLACEBO and not gone

    def _said(self, j: Judgement) -> str:
        return formats.plain(self.words.signed(j.ratio, j.interval))

    def _standing(self, j: Judgement) -> str:
        """won 5 of 5; earliest decision: round 6."""
        plan = self.session.plan
        if not j.rounds:
            return ""
        at = earliest(j.rounds, j.wins, plan.k, plan.options.alpha)
        return f"won {j.wins} of {j.rounds}" + (f", earliest decision: round {at}" if at > j.rounds else "")

    def _due(self) -> bool:
        if time.monotonic() < self._next:
            return False
        self._pause *= 2
        self._next = time.monotonic() + self._pause
        return True


class Screen(Lines):
    """Progress as a live table on a terminal, refreshed between runs and never by a thread of its own."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._live: Live | None = None
        self._judgements: dict[str, Judgement] = {}
        self._status = "pilot: the program as it is"
        self._left = ""

    def __enter__(self) -> Screen:
        from rich.console import Console
        from rich.live import Live

        self._live = Live(
            console=Console(stderr=True),
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._live.start()
        self._draw()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            # A terminal that was closed has nothing to be cleared.
            with contextlib.suppress(OSError):
                self._live.stop()

    def say(self, text: str) -> None:
        """Print one line above the live table."""
        if self._live is not None:
            self._live.console.print(text, highlight=False, markup=False)

    def piloting(self, arm: str, number: int, count: int, left_s: float) -> None:
        self._status = _pilot_line(arm, number, count, left_s)
        self._draw()

    def stage(self, stage: Stage, arms: list[str]) -> None:
        self._status = str(stage)
        for name in arms:
            self._judgements.setdefault(name, Judgement("", None, None, 0, 0, 0))
        self._draw()

    def running(self, arm: str, number: int) -> None:
        """Draw the table before the run starts, because nothing may be drawn during it."""
        self._status = f"round {number + 1}: {arm} runs{self._left}"
        self._draw()

    def round_done(self, number: int, judgements: dict[str, Judgement], left_s: float) -> None:
        self._judgements = judgements
        self._left = f"; at most {clock(left_s)} left"
        self._status = f"round {number + 1} done{self._left}"
        self._draw()

    def _draw(self) -> None:
        if self._live is not None:
            self._live.update(self._table(), refresh=True)

    def _table(self) -> Any:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        if not self._judgements:
            return Text(self._status)
        table = Table(box=None, pad_edge=False)
        for heading in ("arm", "change", "interval", ""):
            table.add_column(heading, no_wrap=True)
        for name, j in self._judgements.items():
            cells = [self.words.change(j.ratio), self.words.interval(j.ratio, j.interval), self._last(name, j)]
            table.add_row(name, *("" if cell == formats.DASH else formats.plain(cell) for cell in cells))
        return Group(Text(self._status), table)

    def _last(self, name: str, j: Judgement) -> str:
        if name == PLACEBO:
            return "(the noise of this place)"
        if j.verdict in RESOLVED:
            return f"{self.words.verdict(j.verdict)}, won {j.wins} of {j.rounds}"
        left = self.session.envelope.left.get(name)
        return self._standing(j) if left is None else f"won {j.wins} of {j.rounds}; runs no more ({left})"


def _pilot_line(arm: str, number: int, count: int, left_s: float) -> str:
    left = f", about {clock(left_s)} left" if left_s > 0 else ""
    return f"pilot: run {number}{f' of {count}' if count else ''} ({arm}){left}"


def watcher(session: Session) -> Lines:
    """A live table where stderr is a terminal that can move its cursor, plain lines elsewhere."""
    able = sys.stderr.isatty() and os.environ.get("TERM") not in (None, "", "dumb")
    return Screen(session) if able else Lines(session)
