# SPDX-License-Identifier: Apache-2.0
"""The verdict table of `okosu try`: at most 80 columns of plain text, the losers included, and the line to type
next."""

from __future__ import annotations

import textwrap

from okosu.records.types import Verdict
from okosu.trial.arms import BASE
from okosu.trial.pilot import clock
from okosu.trial.session import Session
from okosu.trial.verdicts import command_line

WIDTH = 80
ARM = 20


def render(session: Session) -> str:
    """Return the table, with a note for each arm that needs one."""
    plan = session.plan
    times, _ = session.base_history("screening")
    lines = [_headline(session)]
    title = {"wall": "time", "cpu": "CPU", "rss": "memory", "regex": "metric"}[plan.options.metric]
    lines.append(_columns("arm", title + " x", "interval", "rounds", "applied", "verdict"))
    lines += [_row(v) for v in session.envelope.verdicts]
    notes = [note for v in session.envelope.verdicts for note in _notes(v)]
    if notes:
        lines += ["", *notes]
    if times:
        lines += ["", _footer(session)]
    return "\n".join(lines)


def _headline(session: Session) -> str:
    return textwrap.fill(_said(session), WIDTH) + "\n"


def _said(session: Session) -> str:
    if not session.piloted:
        return "the pilot did not end: nothing is decided yet"
    best = [v for v in session.envelope.verdicts if v.headline]
    base = f"base {session.plan.base_s:.3g} s; "
    if not best:
        open_ones = [v.arm for v in session.envelope.verdicts if v.verdict == "FASTER" and v.confirmed is None]
        if open_ones:
            return f"{base}faster so far, and not yet confirmed on fresh rounds: {', '.join(open_ones)}"
        nothing = "no lever made it faster" if session.plan.k else "no lever applies"
        return f"{base}{nothing} (as far as the verdicts below are resolved)"
    v = best[0]
    assert v.ratio is not None
    assert v.interval is not None
    low, high = 1 / v.interval[1], 1 / v.interval[0]
    return (
        f"{base}{v.arm} makes it {_times(1 / v.ratio)} faster "
        f"(95 % interval {_times(low)} to {_times(high)}), confirmed on {v.rounds} fresh rounds"
    )


def _times(x: float) -> str:
    return f"{x:.3f}x" if x < 1.1 else f"{x:.2f}x" if x < 10 else f"{x:.1f}x"


def _number(x: float) -> str:
    return f"{x:.4f}" if x < 10 else f"{x:.1f}"


def _row(v: Verdict) -> str:
    name = v.arm if len(v.arm) <= ARM else v.arm[: ARM - 1] + "…"
    ratio = "" if v.ratio is None else _number(v.ratio)
    interval = "" if v.interval is None else f"{_number(v.interval[0])}–{_number(v.interval[1])}"
    applied = "" if v.ratio is None else ("yes" if v.applied else "no")
    rounds = str(v.rounds) if v.rounds else ""
    mark = "*" if v.headline else ""
    return _columns(name, ratio, interval, rounds, applied, f"{v.verdict}{mark}")


def _columns(arm: str, ratio: str, interval: str, rounds: str, applied: str, verdict: str) -> str:
    return f"{arm:<{ARM}} {ratio:>9}  {interval:^15} {rounds:>6} {applied:^7}  {verdict}".rstrip()


def _notes(v: Verdict) -> list[str]:
    said = []
    if v.proof and v.ratio is not None:
        said.append(f"effect: {v.proof}")
    if v.why:
        said.append(v.why)
    if v.fix:
        said.append(f"fix: {v.fix}")
    if v.carry_over:
        said.append("CARRY-OVER: base runs differently after this arm; confirmation ran base between")
    if v.stage == "screening" and v.verdict == "FASTER":
        said.append("screening only: not among the arms confirmed on fresh rounds")
    head = f"{v.arm}: "
    return [textwrap.fill(s, WIDTH, initial_indent=head, subsequent_indent="  ") for s in said]


def _footer(session: Session) -> str:
    plan = session.plan
    rounds = len(session.log_ratios("screening", plan.arms[1].name)) if len(plan.arms) > 1 else 0
    text = (
        f"x is t_arm / t_base, below 1 is faster; intervals hold at any stopping round, for {plan.k} arms together at "
        f"{100 * (1 - plan.options.alpha):g} %. Base {BASE!r} ran in every round ({rounds} screening rounds, seed "
        f"{plan.options.seed}); smallest effect of interest {plan.options.min_effect:.3g}."
    )
    return textwrap.fill(text, WIDTH)


def advice(session: Session) -> str:
    """Return the last line to print: the `okosu run …` to type, or "" when nothing is recommended."""
    best = [v for v in session.envelope.verdicts if v.headline]
    return command_line(session, best[0]) if best else ""


def plan_line(session: Session) -> str:
    """Return what is about to be done and how long it may take, in one line."""
    plan = session.plan
    arms = ", ".join(a.name for a in plan.arms[1:]) or "none"
    return f"base takes {plan.base_s:.3g} s; arms: {arms}; K = {plan.k}; at most {clock(plan.options.budget_s)}"
