# SPDX-License-Identifier: Apache-2.0
"""What `okosu try` shows while it works: a live table on a terminal, plain lines elsewhere. Drawn between runs only."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

from okosu.cli import _table
from okosu.records.types import Stage
from okosu.report import formats
from okosu.stats.verdict import RESOLVED, Judgement
from okosu.trial.pilot import clock
from okosu.trial.rounds import Watcher
from okosu.trial.session import Session

if TYPE_CHECKING:
    from rich.live import Live

LINES_EVERY_S = 15.0


class Lines(Watcher):
    """Progress as plain lines on stderr: stages, resolved arms, and where things stand every quarter of a minute."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._known: set[str] = set()
        self._last = time.monotonic()

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def say(self, text: str) -> None:
        """Print one line of prose."""
        print(text, file=sys.stderr, flush=True)

    def planned(self) -> None:
        self.say(_table.plan_line(self.session.envelope))

    def stage(self, stage: Stage, arms: list[str]) -> None:
        self._known.clear()
        self.say(f"{stage}: {', '.join(arms)}")

    def running(self, arm: str, number: int) -> None:
        """Plain lines do not show single runs."""

    def round_done(self, number: int, judgements: dict[str, Judgement], left_s: float) -> None:
        """Print the arms that this round resolved, or where things stand."""
        for name, j in judgements.items():
            if j.verdict in RESOLVED and name not in self._known:
                self._known.add(name)
                self.say(f"  round {number + 1}: {name} {j.verdict} {_interval(j)}")
        if time.monotonic() - self._last > LINES_EVERY_S:
            self._last = time.monotonic()
            open_arms = [f"{n} {_interval(j)}" for n, j in judgements.items() if j.verdict not in RESOLVED]
            self.say(f"  round {number + 1}, at most {clock(left_s)} left: {', '.join(open_arms)}")


class Screen(Lines):
    """Progress as a live table on a terminal, refreshed between runs and never by a thread of its own."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._live: Live | None = None
        self._judgements: dict[str, Judgement] = {}
        self._stage = "pilot"
        self._status = "pilot: each arm once, to see what it does"
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
            self._live.stop()

    def say(self, text: str) -> None:
        """Print one line above the live table."""
        if self._live is not None:
            self._live.console.print(text, highlight=False, markup=False)

    def stage(self, stage: Stage, arms: list[str]) -> None:
        self._stage, self._left = stage, ""
        self._judgements = {name: Judgement("", None, None, 0, 0, 0) for name in arms}
        self._draw()

    def running(self, arm: str, number: int) -> None:
        """Draw the table before the run starts, because nothing may be drawn during it."""
        self._status = f"{self._stage} round {number + 1}: {arm} runs{self._left}"
        self._draw()

    def round_done(self, number: int, judgements: dict[str, Judgement], left_s: float) -> None:
        self._judgements = judgements
        self._left = f"; at most {clock(left_s)} left in this stage"
        self._status = f"{self._stage} round {number + 1} done{self._left}"
        self._draw()

    def _draw(self) -> None:
        if self._live is not None:
            self._live.update(self._table(), refresh=True)

    def _table(self) -> Any:
        from rich.console import Group
        from rich.table import Table

        if not self._judgements:
            return self._status
        table = Table(box=None, pad_edge=False)
        for heading in ("arm", "ratio", "interval", "rounds", "verdict"):
            table.add_column(heading, no_wrap=True)
        for name, j in self._judgements.items():
            table.add_row(
                name, formats.ratio(j.ratio, j.interval), _interval(j), str(j.rounds), j.verdict if j.rounds else ""
            )
        return Group(self._status, table)


def _interval(j: Judgement) -> str:
    if j.interval is None:
        return "(too few rounds)" if j.rounds else ""
    return formats.plain(formats.bounds(j.interval))


def watcher(session: Session) -> Lines:
    """A live table where stderr is a terminal, plain lines elsewhere."""
    return Screen(session) if sys.stderr.isatty() else Lines(session)
