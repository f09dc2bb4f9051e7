# SPDX-License-Identifier: Apache-2.0
"""The course of a trial: after each round, which arms run on, whether the stack joins, and whether the trial is over
(docs/METHOD.md, section 5).

All of it follows from the records of whole rounds and from the time that is left, so that a resumed trial goes the way
that it would have gone.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, exp, sqrt
from statistics import median

from okosu.records.types import PLACEBO, Arm, Decision, Later, Leaving
from okosu.stats import carry, eprocess
from okosu.stats import verdict as judging
from okosu.stats.verdict import FASTER, RESOLVED, SAME, SLOWER, Judgement
from okosu.trial.arms import stack
from okosu.trial.session import Session

NEAR = 3
"""An arm whose interval's lower end is within this multiple of the smallest effect of interest has little to gain."""
TENTH = 0.1
"""A winner's interval is narrow enough when its half-width is this part of its effect."""
LIKELY = 0.75
"""An arm that wins so many of its rounds is put into the stack beside one that is known to win."""
PROMISING = 5
"""Rounds after which what must beat the leader has to look faster. Where rounds differ by 4 %, an arm that saves
another 5 % is given up by chance in a tenth of the trials."""
MOST_FORECAST = 10_000
COUNTED = ("lever", "user", "stack")


def judge(session: Session, arm: Arm) -> Judgement:
    """Judge one arm by all of its rounds."""
    options = session.plan.options
    against = None
    if arm.preload and arm.kind != "placebo" and session.values(PLACEBO):
        against = session.against(arm.name, PLACEBO)
    k = max(1, session.plan.k)
    return judging.judge(session.log_ratios(arm.name), against, k, options.alpha, options.min_effect)


def later(session: Session, arm: str) -> Later | None:
    """What the rounds after the decision of a winner say; None without such rounds."""
    known = session.envelope.decided.get(arm)
    if known is None or known.verdict != FASTER:
        return None
    xs = session.log_ratios(arm, since=known.round)
    return Later(exp(median(xs)), len(xs), sum(x < 0 for x in xs)) if xs else None


def confirmed(session: Session, arm: str) -> bool | None:
    """Whether the rounds after the decision of a winner alone point the same way; None for other arms, and while these
    rounds are fewer than are needed to decide.
    """
    since = later(session, arm)
    if since is None or since.rounds < eprocess.fewest_rounds(max(1, session.plan.k), session.plan.options.alpha):
        return None
    return since.ratio < 1


def worth(session: Session, arm: Arm, j: Judgement) -> bool:
    """Whether a lever that is FASTER is worth a line to type: not where it is known to have little to gain and may gain
    less than the smallest effect of interest. A user's own arm always is.
    """
    if arm.kind == "user" or j.interval is None:
        return True
    effect = session.plan.options.min_effect
    return j.interval[0] < 1 - NEAR * effect or j.interval[1] <= 1 - effect


def leader(session: Session, judged: dict[str, Judgement], apart: bool = False, sure: bool = False) -> str:
    """The best arm by what is known now; "" where there is none. `apart` asks for the best of the arms that change what
    the user did not accept, which are never recommended; `sure` for the one to recommend, of those that are worth it.

    Of the FASTER arms that later rounds have not refuted it is the one that was known first (in the same round: that
    of the least ratio), until another, a stack among them, is known to beat it in the rounds that both ran: arms that
    are hardly different would else take turns, and each would have to be confirmed anew.
    """
    plan = session.plan
    arms = {arm.name: arm for arm in plan.arms}
    own = {arm.name for arm in plan.given}
    standing = [
        (arms[name].kind == "stack" and name not in own, _known(session, name), j.ratio, name)
        for name, j in judged.items()
        if j.verdict == FASTER
        and j.ratio is not None
        and arms[name].kind in COUNTED
        and name not in session.failures
        and bool(plan.unaccepted(arms[name])) is apart
        and (not sure or worth(session, arms[name], j))
        and confirmed(session, name) is not False
    ]
    best = ""
    for _, _, _, name in sorted(standing):
        if not best or _against(session, name, best).verdict == FASTER:
            best = name
    return best


def _known(session: Session, arm: str) -> int:
    """The round after which an arm that is FASTER was first known to be."""
    known = session.envelope.decided.get(arm)
    return session.envelope.rounds if known is None or known.verdict != FASTER else known.round


def _against(session: Session, arm: str, other: str) -> Judgement:
    """The judgement of one arm against another, from the rounds that both ran in."""
    options = session.plan.options
    xs = session.against(arm, other)
    return judging.judge(xs, None, max(1, session.plan.k), options.alpha, options.min_effect)


def carried_over(session: Session) -> list[carry.CarryOver]:
    """The arms after which base took a different time than after the others (docs/METHOD.md, section 6)."""
    return carry.by_predecessor(*session.base_history(), session.plan.options.min_effect)


@dataclass
class Course:
    """Keeps the decisions of one trial in its session. `excludes` names for each lever those it is not stacked with."""

    session: Session
    excludes: dict[str, frozenset[str]]

    def judgements(self) -> dict[str, Judgement]:
        """The judgement of each arm that has not failed, base apart."""
        return {
            arm.name: judge(self.session, arm)
            for arm in self.session.plan.arms
            if arm.kind != "base" and arm.name not in self.session.failures
        }

    def take_note(self, judged: dict[str, Judgement], affordable: int) -> bool:
        """Keep what a whole round decided, let the stack join and let arms leave; `affordable` is the number of rounds
        at which time or --max-rounds will end the trial. Returns whether an arm is known to win for the first time.
        """
        session, plan, held = self.session, self.session.plan, self.session.envelope
        answered = False
        accepted = {arm.name for arm in plan.arms if not plan.unaccepted(arm)}
        won_before = any(d.verdict == FASTER and name in accepted for name, d in held.decided.items())
        for arm in plan.arms:
            j = judged.get(arm.name)
            if j is not None and arm.kind in COUNTED and j.verdict in RESOLVED and arm.name not in held.decided:
                held.decided[arm.name] = Decision(j.verdict, held.rounds)
                answered |= j.verdict == FASTER and not won_before and not plan.unaccepted(arm)
        if held.rounds >= plan.options.min_rounds:
            first = leader(session, judged)
            if not first or first in held.left:
                # The winner that they could not beat was refuted by its later rounds.
                held.left = {name: why for name, why in held.left.items() if why != "beaten"}
            for arm in plan.arms:
                if arm.name in judged and arm.kind in COUNTED and arm.name not in held.left:
                    reason = self._leaving(arm, judged, first, affordable)
                    if reason:
                        held.left[arm.name] = reason
        self._join_stack(judged)
        return answered

    def live(self, judged: dict[str, Judgement], affordable: int) -> list[Arm]:
        """The arms that run in the next round, base apart; [] when no arm needs one. `affordable` as in take_note."""
        held, plan = self.session.envelope, self.session.plan
        running = [
            arm
            for arm in plan.arms
            if arm.kind in COUNTED and arm.name not in held.left and arm.name not in self.session.failures
        ]
        first = leader(self.session, judged)
        if held.rounds >= plan.options.min_rounds:
            if not self._open(running, judged, affordable):
                return []
            if plan.options.race and not first:
                running = self._promising_first(running, judged)
        if any(self._needs_placebo(arm, judged, first) for arm in running):
            running += [arm for arm in plan.arms if arm.kind == "placebo" and arm.name not in self.session.failures]
        return running

    def _promising_first(self, running: list[Arm], judged: dict[str, Judgement]) -> list[Arm]:
        """The arms that run while none is known to win, where nobody named any: as long as one of them looks as if no
        more than as many rounds again would decide it, those that do not look so wait, and with them those that
        change what was not accepted. An answer mostly spares them their rounds.
        """

        def promises(arm: Arm) -> bool:
            j = judged[arm.name]
            return j.interval is None or not (self.session.plan.unaccepted(arm) or self._takes_as_long_again(j))

        waiting = [arm for arm in running if arm.kind == "lever" and not promises(arm)]
        going = [arm for arm in running if arm not in waiting]
        return going if any(arm.kind == "lever" for arm in going) else running

    def _needs_placebo(self, arm: Arm, judged: dict[str, Judgement], first: str) -> bool:
        """Whether an arm has to be told from the placebo yet. A stack need not be until it looks as if it could beat
        the leader, for without that it is of no use.
        """
        j = judged.get(arm.name)
        if not arm.preload or (j is not None and j.verdict == FASTER and self.session.values(PLACEBO)):
            return False
        rival = arm.kind == "stack" and first not in ("", arm.name) and arm.name not in self._own()
        return not rival or len(self.session.against(arm.name, first)) >= PROMISING

    def _own(self) -> set[str]:
        """The names of the arms that the user described."""
        return {arm.name for arm in self.session.plan.given}

    def _open(self, running: list[Arm], judged: dict[str, Judgement], affordable: int) -> bool:
        """Say whether any arm needs another round."""
        first, apart = leader(self.session, judged), leader(self.session, judged, apart=True)
        for arm in running:
            j = judged.get(arm.name)
            if j is None or j.verdict not in RESOLVED:
                return True
            if arm.name in (first, apart) and not self._well_known(arm.name, j, affordable):
                return True
            if first and arm.name != first and self._is_rival(arm, first):
                return True
        return False

    def _is_rival(self, arm: Arm, first: str) -> bool:
        """Whether it is worth rounds to know if an arm that is FASTER, too, beats the leader: a stack, or one that
        cannot be stacked with it. It leaves once it does not look so any more, or cannot be known to.
        """
        if arm.kind == "stack":
            return True
        unaccepted = self.session.plan.unaccepted(arm)
        return not unaccepted and self._adds_nothing(arm, first) and self._looks_better(arm, first)

    def _looks_better(self, arm: Arm, first: str) -> bool:
        xs = self.session.against(arm.name, first)
        return bool(xs) and exp(median(xs)) <= 1 - self.session.plan.options.min_effect

    def _well_known(self, name: str, j: Judgement, affordable: int) -> bool:
        """Say whether a winner has been seen again often enough, and its interval is as narrow as asked, or will not
        become so where nobody asked.
        """
        if confirmed(self.session, name) is None:
            return False
        assert j.interval is not None
        assert j.ratio is not None
        options = self.session.plan.options
        low, high = j.interval
        if options.precision is not None:
            return (high - low) / 2 <= options.precision
        wanted = max(options.min_effect, TENTH * abs(1 - j.ratio))
        if (high - low) / 2 <= wanted:
            return True
        low, high = self._expected(self.session.log_ratios(name), self._reach(j, affordable))
        return (high - low) / 2 > wanted

    def _leaving(self, arm: Arm, judged: dict[str, Judgement], first: str, affordable: int) -> Leaving | None:
        j, plan = judged[arm.name], self.session.plan
        if j.verdict in (SAME, SLOWER) or confirmed(self.session, arm.name) is False:
            return "decided"
        if arm.name == first:
            return None
        if arm.kind == "stack" and first and arm.name not in self._own():
            return self._rival_leaving(arm, first, affordable)
        if j.interval is None:
            return None
        best = judged[first].interval if first else None
        least = plan.least_ratio(arm.name)
        if best is not None and max(j.interval[0], least) > best[1]:
            return "beaten"
        if plan.unaccepted(arm) and j.verdict == FASTER and (first or self._well_known(arm.name, j, affordable)):
            return "beaten" if first else "decided"
        unnamed = arm.kind == "lever" and plan.options.race
        if first and self._adds_nothing(arm, first):
            if unnamed or (arm.kind == "lever" and j.verdict == FASTER):
                return self._rival_leaving(arm, first, affordable)
            # Their intervals against base overlap for longer: both have base's noise in them.
            if _against(self.session, arm.name, first).verdict in (SAME, SLOWER):
                return "beaten"
        if j.held_by_placebo:
            return self._leaving_beside(arm, PLACEBO, "bounded", affordable)
        if j.verdict == FASTER:
            return None
        left = self._futile(j, self.session.log_ratios(arm.name), affordable, least)
        if left is None and first and unnamed:
            # Beside an answer what nobody asked about is worth no more than as many rounds again.
            left = "beaten" if self._takes_as_long_again(j) else None
        return left

    def _adds_nothing(self, arm: Arm, first: str) -> bool:
        """Whether an arm that is not faster than the leader is of no use beside it, either: the stack runs already, or
        can never hold both.
        """
        plan = self.session.plan
        if arm.kind == "stack":
            return False
        joined = any(other.kind == "stack" and other.name not in self.session.failures for other in plan.arms)
        return joined or bool(plan.unaccepted(arm)) or stack([plan.arm(first), arm], self.excludes) is None

    def _rival_leaving(self, arm: Arm, first: str, affordable: int) -> Leaving | None:
        """An arm that is of use only if it beats the leader stays until that is known, if it looks as if it could:
        after a few rounds, half of them have to show more than the smallest effect of interest.
        """
        if len(self.session.against(arm.name, first)) >= PROMISING and not self._looks_better(arm, first):
            return "beaten"
        return self._leaving_beside(arm, first, "beaten", affordable)

    def _leaving_beside(self, arm: Arm, other: str, reason: Leaving, affordable: int) -> Leaving | None:
        """Why an arm leaves that must be faster than `other`, too: for the reason given if it is not."""
        j = _against(self.session, arm.name, other)
        if j.verdict in (SAME, SLOWER):
            return reason
        if j.interval is None or j.verdict == FASTER:
            return None
        return self._futile(j, self.session.against(arm.name, other), affordable)

    def _futile(self, j: Judgement, xs: list[float], affordable: int, least: float = 0.0) -> Leaving | None:
        """Why more rounds are not worth their time: there is too little to gain, or too few can be had to decide, or to
        show that there is too little to gain. `least`: the least ratio that arithmetic leaves possible.
        """
        assert j.interval is not None
        options, k = self.session.plan.options, max(1, self.session.plan.k)
        near = 1 - NEAR * options.min_effect
        n = j.rounds - j.ties
        if max(j.interval[0], least) >= near and self._takes_as_long_again(j):
            return "bounded"
        reach = self._reach(j, affordable)
        if n < 2 * eprocess.fewest_rounds(k, options.alpha) or self._needed(j) <= reach:
            return None
        return None if self._expected(xs, reach)[0] >= near and reach > n else "futile"

    def _reach(self, j: Judgement, affordable: int) -> int:
        """The rounds that an arm will have had when the trial ends, if it runs in all that are left."""
        return j.rounds + max(0, affordable - self.session.envelope.rounds)

    def _needed(self, j: Judgement) -> int:
        """The rounds after which an undecided arm may be known."""
        options, k = self.session.plan.options, max(1, self.session.plan.k)
        n = j.rounds - j.ties
        # Of what nobody named it is of no use to know that it is slower.
        share = j.wins if options.race else max(j.wins, n - j.wins)
        # The share of wins is known to about a standard deviation only, and the arm is given the benefit of it.
        hopeful = min(n, share + ceil(sqrt(n) / 2))
        return eprocess.rounds_needed(n, hopeful, k, options.alpha, MOST_FORECAST) or MOST_FORECAST

    def _takes_as_long_again(self, j: Judgement) -> bool:
        return self._needed(j) > 2 * (j.rounds - j.ties)

    def _expected(self, xs: list[float], rounds: int) -> tuple[float, float]:
        """The interval after so many rounds, if the ratios of further ones lie as those so far."""
        limit = eprocess.threshold(max(1, self.session.plan.k), self.session.plan.options.alpha)
        left_out = ceil(eprocess.rank(rounds, limit) / max(1, rounds) * len(xs))
        ordered = sorted(xs)
        return exp(ordered[max(0, left_out - 1)]), exp(ordered[-max(1, left_out)])

    def _join_stack(self, judged: dict[str, Judgement]) -> None:
        session, plan = self.session, self.session.plan
        counted = [arm for arm in plan.arms if arm.kind in COUNTED]
        if len(counted) == plan.k:
            return
        judged_arms = [(j, arm) for arm in counted if (j := judged.get(arm.name)) and not plan.unaccepted(arm)]
        winners = sorted((j.ratio, arm.name) for j, arm in judged_arms if j.verdict == FASTER and j.ratio is not None)
        if not winners:
            return
        # What is likely to win goes in at once: the stack is judged against the best single arm, not by its parts.
        likely = sorted(
            (j.ratio, arm.name)
            for j, arm in judged_arms
            if j.verdict not in RESOLVED
            and j.ratio is not None
            and j.ratio < 1 - plan.options.min_effect
            and j.wins >= LIKELY * j.rounds
            and arm.name not in session.envelope.left
        )
        together = stack([plan.arm(name) for _, name in winners + likely], self.excludes)
        if together is not None:
            plan.arms.append(together)
            plan.arm_s[together.name] = min(plan.arm_s.get(name, plan.base_s) for _, name in winners)
            judged[together.name] = judge(session, together)
