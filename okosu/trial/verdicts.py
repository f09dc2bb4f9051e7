# SPDX-License-Identifier: Apache-2.0
"""From a session to one verdict for each arm, with the recommended one marked."""

from __future__ import annotations

from okosu.records.types import Arm, Stage, Verdict
from okosu.stats import carry, eprocess
from okosu.stats.verdict import FASTER, UNRESOLVED, Judgement, ratio_of_sums
from okosu.trial.costs import round_s
from okosu.trial.rounds import judge
from okosu.trial.session import Session

NOT_CONFIRMED = "NOT CONFIRMED"
FORECAST_FACTOR = 10
"""Forecasts beyond this multiple of the budget are not given as a number."""


def carry_over(session: Session) -> list[carry.CarryOver]:
    """The arms after which base's screening runs took a different time than after the others."""
    times, before = session.base_history("screening")
    return carry.by_predecessor(times, before, session.plan.options.min_effect)


def conclude(session: Session) -> list[Verdict]:
    """The verdicts by what the session holds now, also after an interruption; may be called after any round."""
    plan = session.plan
    carried = {c.arm for c in carry_over(session)}
    found = []
    for arm in plan.arms:
        if arm.kind in ("base", "stack") or arm.name in session.failures:
            continue
        found.append(_screened(session, arm, arm.name in carried))
    for name in session.envelope.confirm_arms:
        arm = plan.arm(name)
        if arm.name in session.failures:
            continue
        fresh = _confirmed(session, arm)
        replaced = [i for i, v in enumerate(found) if v.arm == name]
        if replaced:
            fresh.carry_over = found[replaced[0]].carry_over
            found[replaced[0]] = fresh
        else:
            found.append(fresh)
    best = [v for v in found if v.confirmed and v.ratio is not None]
    if best:
        min(best, key=lambda v: v.ratio or 1.0).headline = True
    for name, failed in session.failures.items():
        found.append(Verdict(arm=name, verdict=failed.verdict, why=failed.why, fix=failed.fix))
    return found


def _fill(session: Session, stage: Stage, arm: Arm, judged: Judgement) -> Verdict:
    in_rounds = (r.proof for r in session.envelope.records if r.stage == stage and r.arm == arm.name and r.proof)
    proof = next(in_rounds, session.plan.proofs.get(arm.name))
    return Verdict(
        arm=arm.name,
        verdict=judged.verdict,
        options=arm.options,
        ratio=judged.ratio,
        interval=judged.interval,
        ratio_of_sums=ratio_of_sums(*session.pairs(stage, arm.name)),
        rounds=judged.rounds,
        ties=judged.ties,
        proof=proof.text if proof else "",
        applied=proof.holds if proof else True,
        stage="confirmation" if stage == "confirmation" else "screening",
    )


def _screened(session: Session, arm: Arm, carried: bool) -> Verdict:
    plan = session.plan
    judged = judge(session, "screening", arm, max(plan.k, 1))
    verdict = _fill(session, "screening", arm, judged)
    verdict.carry_over = carried
    if judged.verdict == UNRESOLVED and judged.rounds:
        if judged.held_by_placebo:
            verdict.why = "faster than base, but not yet told apart from the inert preload library"
        most = 10_000
        n = judged.rounds - judged.ties
        verdict.rounds_needed = eprocess.rounds_needed(n, judged.wins, max(plan.k, 1), plan.options.alpha, most)
        if verdict.rounds_needed is not None:
            more = verdict.rounds_needed - n
            minutes = more * round_s(plan, [arm.name]) / 60
            verdict.minutes_needed = minutes
            if minutes * 60 > FORECAST_FACTOR * plan.options.budget_s:
                verdict.rounds_needed = verdict.minutes_needed = None
        if not verdict.why:
            verdict.why = _outlook(verdict, n)
    return verdict


def _outlook(verdict: Verdict, n: int) -> str:
    if verdict.rounds_needed is None or verdict.minutes_needed is None:
        return "at this share of wins it takes over 10x the budget to decide"
    if verdict.rounds_needed <= n:
        return "ties with base keep 1 inside the interval; more rounds may settle it"
    more, minutes = verdict.rounds_needed - n, max(1, round(verdict.minutes_needed))
    return f"about {more} more rounds ({minutes} min) if the share of wins holds"


def _confirmed(session: Session, arm: Arm) -> Verdict:
    judged = judge(session, "confirmation", arm, max(len(session.envelope.confirm_arms), 1))
    verdict = _fill(session, "confirmation", arm, judged)
    holds = judged.interval is not None and judged.interval[1] < 1
    verdict.confirmed = holds
    if not holds and arm.kind != "stack":
        verdict.verdict = NOT_CONFIRMED
        verdict.why = f"{judged.rounds} fresh rounds leave 1 inside the interval"
    elif holds and judged.verdict != FASTER:
        verdict.why = "confirmed, within the smallest effect of interest"
    return verdict
