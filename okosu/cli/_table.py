# SPDX-License-Identifier: Apache-2.0
"""The verdict table of `okosu try`: a trial in at most 80 columns of plain text."""

from __future__ import annotations

import textwrap

from okosu.records.types import TryFile
from okosu.report import formats, view
from okosu.report.view import Row
from okosu.trial.pilot import clock

WIDTH = 80
ARM = 20


def render(file: TryFile) -> str:
    """The headline, the table with the remarks on each arm, and how to read it."""
    seen = view.of(file)
    head = f"{seen.headline.text} with {seen.headline.arm}." if seen.headline.arm else f"{seen.headline.text}."
    lines = [_wrapped(formats.plain(f"{head} {seen.headline.detail}".strip())), ""]
    lines.append(_columns("arm", "ratio", "interval", "rounds", "applied", "verdict"))
    lines += [_row(row) for row in seen.rows]
    notes = [note for row in seen.rows for note in _notes(row)]
    lines += ["", *notes] if notes else []
    return "\n".join([*lines, "", _wrapped(formats.plain(f"{seen.caption} {seen.about}"))])


def _row(row: Row) -> str:
    name = row.arm if len(row.arm) <= ARM else row.arm[: ARM - 1] + "…"
    interval = formats.plain(row.interval).replace(" ", "")
    mark = "*" if row.headline else ""
    return _columns(name, row.ratio, interval, row.rounds, row.applied, f"{row.verdict}{mark}")


def _columns(arm: str, ratio: str, interval: str, rounds: str, applied: str, verdict: str) -> str:
    return f"{arm:<{ARM}} {ratio:>9}  {interval:^15} {rounds:>6} {applied:^7}  {verdict}".rstrip()


def _notes(row: Row) -> list[str]:
    effect = [("effect", row.proof)] if row.proof else []
    said = [f"{row.arm}: {label}: {text}" for label, text in [*effect, *row.remarks]]
    return [textwrap.fill(formats.plain(text), WIDTH, subsequent_indent="  ") for text in said]


def _wrapped(text: str) -> str:
    return textwrap.fill(text, WIDTH)


def plan_line(file: TryFile) -> str:
    """One line: what will be run, and how long it may take."""
    plan = file.plan
    arms = ", ".join(a.name for a in plan.arms[1:]) or "none"
    return f"base takes {plan.base_s:.3g} s; arms: {arms}; K = {plan.k}; at most {clock(plan.options.budget_s)}"
