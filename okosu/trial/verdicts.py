# SPDX-License-Identifier: Apache-2.0
"""From a session to one verdict for each arm, with the recommended one marked."""

from __future__ import annotations

import shlex
from statistics import median

from okosu.records.types import Arm, Verdict
from okosu.stats import eprocess
from okosu.stats.verdict import FASTER, UNRESOLVED, Judgement, ratio_of_sums
from okosu.trial.costs import clock, round_s
from okosu.trial.course import MOST_FORECAST, Course, carried_over, confirmed, later, leader, worth
from okosu.trial.session import Session

NOT_CONFIRMED = "NOT CONFIRMED"
MAY_BE_LESS = "it may gain less than the smallest effect of interest,"
FORECAST_FACTOR = 10
"""Forecasts beyond this multiple of the budget are not given as a number."""


def conclude(session: Session) -> list[Verdict]:
    """The verdicts by what the session holds now, also after an interruption; may be called after any round."""
    judged = Course(session, {}).judgements()
    best = leader(session, judged, sure=True)
    after = {c.arm for c in carried_over(session)}
    found = []
    for arm in session.plan.arms:
        if arm.name in judged:
            verdict = _verdict(session, arm, judged[arm.name])
            verdict.headline, verdict.carry_over = arm.name == best, arm.name in after
            if verdict.headline and confirmed(session, arm.name) is None:
                count = verdict.later.rounds if verdict.later else 0
                verdict.why = f"{count} rounds came after it was known, fewer than were needed to know it"
            elif verdict.verdict == FASTER and not worth(session, arm, judged[arm.name]):
                verdict.why = f"{MAY_BE_LESS} {100 * session.plan.options.min_effect:g} %: not recommended"
            found.append(verdict)
    for name, failed in session.failures.items():
        found.append(
            Verdict(
                arm=name,
                verdict=failed.verdict,
                why=failed.why,
                fix=failed.fix,
                bound=failed.bound,
                applied=False if failed.verdict == "NOT APPLIED" else None,
            )
        )
    return found


def _verdict(session: Session, arm: Arm, judged: Judgement) -> Verdict:
    plan, held = session.plan, session.envelope
    in_rounds = (r.proof for r in held.records if r.stage == "rounds" and r.arm == arm.name and r.proof)
    proof = next(in_rounds, plan.proofs.get(arm.name))
    mine, base = session.pairs(arm.name)
    known = held.decided.get(arm.name)
    verdict = Verdict(
        arm=arm.name,
        verdict=judged.verdict,
        options=arm.options,
        ratio=judged.ratio,
        interval=judged.interval,
        ratio_of_sums=ratio_of_sums(mine, base),
        rounds=judged.rounds,
        wins=judged.wins,
        ties=judged.ties,
        value=session.shown(median(mine)) if mine else None,
        base_value=session.shown(median(base)) if base else None,
        decided=known.round if known else None,
        later=later(session, arm.name),
        proof=proof.text if proof else "",
        applied=proof.holds if proof else None,
    )
    if arm.kind == "placebo":
        verdict.verdict, verdict.why = UNRESOLVED, "not judged: it shows the noise of the place"
    elif verdict.later is not None and confirmed(session, arm.name) is False:
        verdict.verdict = NOT_CONFIRMED
        verdict.why = f"{verdict.later.rounds} rounds after the decision alone point the other way"
    elif judged.verdict == UNRESOLVED:
        _look_ahead(session, arm, judged, verdict)
    return verdict


def _look_ahead(session: Session, arm: Arm, judged: Judgement, verdict: Verdict) -> None:
    """Say of an undecided arm what was reached, why it left, and what would decide it."""
    plan, n, left = session.plan, judged.rounds - judged.ties, session.envelope.left.get(arm.name)
    few = eprocess.fewest_rounds(max(plan.k, 1), plan.options.alpha)
    if judged.interval is not None:
        verdict.bound = max(judged.interval[0], plan.least_ratio(arm.name))
    verdict.rounds_needed = few if n < few else _forecast(session, n, judged.wins)
    if verdict.rounds_needed is not None:
        verdict.minutes_needed = (verdict.rounds_needed - n) * round_s(plan, [arm.name]) / 60
        if n >= few and verdict.minutes_needed * 60 > FORECAST_FACTOR * plan.options.budget_s:
            verdict.rounds_needed = verdict.minutes_needed = None
    if verdict.decided is not None:
        verdict.why = f"it was known after round {verdict.decided}, and the interval of all rounds holds 1 again"
    elif judged.held_by_placebo:
        verdict.why = "faster than base, but not told apart from the inert preload library"
    elif left == "beaten":
        verdict.why = "it left the rounds: it does not look as if it beat the winner"
    elif left == "bounded" and verdict.bound is not None:
        arithmetic = judged.interval is None or plan.least_ratio(arm.name) > judged.interval[0]
        by = "by arithmetic" if arithmetic else "by its interval"
        verdict.why = f"it left the rounds: it saves at most {100 * (1 - verdict.bound):.2g} %, {by}"
    elif n < few:
        verdict.why = f"{judged.rounds} rounds are too few: {few} can decide at the fewest"
    else:
        verdict.why = _outlook(verdict, n)
    more = verdict.minutes_needed * 60 if verdict.minutes_needed else 0.0
    if more > 0 and left in (None, "futile") and session.path is not None:
        verdict.fix = f"okosu try --resume {shlex.quote(str(session.path))} --budget +{clock(1.1 * more)}"


def _forecast(session: Session, n: int, wins: int) -> int | None:
    return eprocess.rounds_needed(n, wins, max(session.plan.k, 1), session.plan.options.alpha, MOST_FORECAST)


def _outlook(verdict: Verdict, n: int) -> str:
    if verdict.rounds_needed is None or verdict.minutes_needed is None:
        return "at this share of wins it takes over 10x the budget to decide"
    if verdict.rounds_needed <= n:
        return "ties with base keep 1 inside the interval; more rounds may settle it"
    more, minutes = verdict.rounds_needed - n, max(1, round(verdict.minutes_needed))
    return f"about {more} more rounds ({minutes} min) if the share of wins holds"
