# SPDX-License-Identifier: Apache-2.0
"""Whole trials of a simulated program of one second, by the code that runs real ones, with the noise of docs/METHOD.md.

`python tests/unit/test_stats_course.py [REPLICATIONS] [--summary FILE]` makes the tables of docs/METHOD.md.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, prod
from statistics import fmean, median

import pytest
import simulated
from effort import length
from sim import FakeLever, SimRunner, trial
from simulated import percent
from test_stats_noise import FIRST_SLOT, noise

from okosu.records.measurement import Measurement
from okosu.records.summary import Section
from okosu.records.types import Arm
from okosu.stats.eprocess import fewest_rounds
from okosu.stats.rate import clopper_pearson
from okosu.trial.runs import Run

ARMS = ("a", "b", "c", "d")
K = len(ARMS) + 1
"""The stack counts too."""
BUDGET_S = 600.0
CASES: dict[str, dict[str, float]] = {
    "nothing helps": {},
    "a saves 1 %": {"a": 0.99},
    "a saves 2 %": {"a": 0.98},
    "a saves 5 %": {"a": 0.95},
    "a saves 20 %": {"a": 0.80},
    "a saves 20 %, b 10 %": {"a": 0.80, "b": 0.90},
}
"""By the arm, its time as a share of base's; the other arms change nothing."""


class NoisyRunner(SimRunner):
    """A program of one second, whose runs are disturbed as docs/METHOD.md says; with `hog`, another process comes and
    goes.
    """

    def __init__(self, ratios: dict[str, float], seed: str, hog: bool) -> None:
        super().__init__(ratios)
        self._disturbance = iter(noise(random.Random(seed), 5000, hog))

    def run(self, arm: Arm, *, pad: int, sample: bool, timeout_s: float) -> Run:
        # Each round draws its own padding, so that a new one tells that a round begins.
        first = not self.pads or self.pads[-1] != pad
        seconds = ratio(arm.name, self.ratios) * exp(next(self._disturbance) + FIRST_SLOT * first)
        self.ran.append(arm.name)
        self.pads.append(pad)
        self.now += seconds
        return Run(arm.name, Measurement(wall_ns=int(seconds * 1e9), maxrss_kb=1000, status=0), "digest", seconds)


def ratio(arm: str, ratios: dict[str, float]) -> float:
    """The true ratio of an arm, or of a stack of arms."""
    return prod(ratios.get(name, 1.0) for name in arm.split("+"))


@dataclass(frozen=True)
class Ended:
    """What one trial came to. Seconds are of the program's own time, from the first pilot run."""

    k: int
    """The arms that shared the level."""
    answered: int | None
    """The round after which a first arm was known to win."""
    answer_s: float | None
    end_s: float
    rounds: int
    wrong: bool
    """An arm was at some round decided on the wrong side of the truth, or decided though it changes nothing."""
    recommended: str
    unconfirmed: bool
    bound: float | None
    """The largest share that an undecided arm could still save, by its interval."""
    misses: bool
    """The interval of some arm at the end does not contain the truth."""
    gains: tuple[float, float, float] | None
    """The share of base's time that a, known to win, seems to save: at its decision, at the end from all of its rounds,
    and from those after the decision alone."""


def simulate(case: str, seed: int, hog: bool, min_rounds: int = 0) -> Ended:
    """One trial of four arms within BUDGET_S."""
    ratios = CASES[case]
    runner = NoisyRunner(ratios, f"{case}/{seed}/{hog}", hog)
    levers = [FakeLever(name) for name in ARMS]
    made, _ = trial(runner, levers, seed=seed, budget_s=BUDGET_S, min_rounds=min_rounds, race=True)
    held = made.envelope
    true = {v.arm: ratio(v.arm, ratios) for v in held.verdicts}
    right = {name: "FASTER" if ratio < 1 else "" for name, ratio in true.items()}
    first = min((d.round for d in held.decided.values() if d.verdict == "FASTER"), default=None)
    judged = [r for r in held.records if r.metric == "wall"]
    before = [1 for r in judged for n in r.rounds if r.stage == "pilot" or (first is not None and n < first)]
    gains = None
    a = next(v for v in held.verdicts if v.arm == "a")
    if a.later is not None and a.ratio is not None:
        early = made.log_ratios("a")[: a.rounds - a.later.rounds]
        gains = 1 - exp(median(early)), 1 - a.ratio, 1 - a.later.ratio
    return Ended(
        k=made.plan.k,
        answered=first,
        answer_s=None if first is None else float(len(before)),
        end_s=held.spent_s,
        rounds=held.rounds,
        wrong=any(d.verdict not in ("SAME", right[name]) for name, d in held.decided.items()),
        recommended=next((v.arm for v in held.verdicts if v.headline), ""),
        unconfirmed=any(v.verdict == "NOT CONFIRMED" for v in held.verdicts),
        bound=max((1 - v.bound for v in held.verdicts if v.verdict == "UNRESOLVED" and v.bound), default=None),
        misses=any(not v.interval[0] <= true[v.arm] <= v.interval[1] for v in held.verdicts if v.interval),
        gains=gains,
    )


def simulated_trials(case: str, replications: int, hog: bool, min_rounds: int = 0) -> list[Ended]:
    return [simulate(case, seed, hog, min_rounds) for seed in range(replications)]


TRIALS = length(6, 60)


def test_where_nothing_helps_the_trial_ends_early_with_a_bound() -> None:
    done = simulated_trials("nothing helps", TRIALS, hog=False)
    assert sum(e.wrong for e in done) <= 1 + TRIALS // 10
    assert median(e.end_s for e in done) < BUDGET_S / 3
    assert all(e.bound is not None and e.bound < 0.10 for e in done)


@pytest.mark.parametrize("case", ["a saves 20 %", "a saves 20 %, b 10 %"])
def test_a_large_gain_is_known_after_the_fewest_rounds_and_measured_by_all(case: str) -> None:
    done = simulated_trials(case, TRIALS, hog=False)
    # Where arms leave in the race, the others share the level.
    assert median((e.answered or 0) - fewest_rounds(e.k, 0.05) for e in done) == 0
    assert all(1 <= e.k <= K for e in done)
    assert all("a" in e.recommended.split("+") and e.end_s < BUDGET_S / 2 for e in done)
    _, pooled, later = (median(gain) for gain in zip(*(e.gains for e in done if e.gains), strict=True))
    assert pooled == pytest.approx(0.20, abs=0.01)
    assert later == pytest.approx(0.20, abs=0.02)


def minutes(seconds: Sequence[float]) -> str:
    return f"{median(seconds) / 60:.1f}" if seconds else "–"


def rate(hits: Sequence[bool]) -> str:
    low, high = clopper_pearson(sum(hits), len(hits))
    return f"{percent(fmean(hits))} ({100 * low:.1f}–{100 * high:.1f})"


def course_row(name: str, done: list[Ended]) -> list[str]:
    won = [e for e in done if e.answered is not None]
    bounds = [e.bound for e in done if e.bound is not None]
    return [
        name,
        percent(len(won) / len(done), 0),
        f"{median(e.answered or 0 for e in won):.0f}" if won else "–",
        minutes([e.answer_s or 0.0 for e in won]),
        minutes([e.end_s for e in done]),
        percent(median(bounds)) if bounds else "–",
        rate([e.wrong for e in done]),
        percent(fmean(e.unconfirmed for e in done)),
        rate([e.misses for e in done]),
    ]


def gain_row(name: str, done: list[Ended]) -> list[str]:
    known = [e.gains for e in done if e.gains is not None]
    if not known:
        return [name, "0", "–", "–", "–"]
    return [name, str(len(known)), *(percent(fmean(gain), 2) for gain in zip(*known, strict=True))]


def sections(replications: int) -> list[Section]:
    """The tables of docs/METHOD.md."""
    course, gains = [], []
    for hog in (False, True):
        for case in CASES:
            done = simulated_trials(case, replications, hog)
            name = f"{case}, hog" if hog else case
            course.append(course_row(name, done))
            if CASES[case]:
                gains.append(gain_row(name, done))
    # As many rounds as the budget holds, if all four arms stay.
    stay = int(BUDGET_S // len(("base", *ARMS))) - 3
    for case in ("nothing helps", "a saves 1 %", "a saves 2 %"):
        done = simulated_trials(case, replications, False, stay)
        course.append(course_row(f"{case}, no arm leaves before round {stay}", done))
    return [
        Section(
            id="course",
            head=[
                "trial",
                "answered",
                "after round",
                "after minutes",
                "ended after",
                "bound of the undecided",
                "decided wrongly",
                "NOT CONFIRMED",
                "truth outside an interval at the end",
            ],
            body=course,
        ),
        Section(
            id="gains",
            head=[
                "trial",
                "trials in which a won",
                "gain at the decision",
                "at the end, all rounds",
                "later rounds alone",
            ],
            body=gains,
        ),
    ]


if __name__ == "__main__":
    simulated.main("tests/unit/test_stats_course.py", sections, 100)
