# SPDX-License-Identifier: Apache-2.0
"""okosu selftest: are the verdicts of `try` right on this machine? It runs base against itself and against planted
slow-downs, and compares the rates of right and wrong verdicts with their bounds.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from okosu.cli._options import whole
from okosu.records.types import Rate, SelftestFile

if TYPE_CHECKING:
    from okosu.machine.model import Machine

NAME = "selftest"
PLACE = 9
HELP = "test okosu try itself: false alarms with and without load, planted slow-downs found"
EXAMPLES = """\
  okosu selftest                  the whole acceptance test (some twenty minutes)
  okosu selftest --quick          a few trials of each, in seconds
  okosu selftest --json rates.json
"""

# A loop of the shell: some tens of milliseconds on any machine, without memory or input, and the same each time.
LOOP = "i=0; while [ $i -lt {turns} ]; do i=$((i+1)); done"
HOG = ["/bin/sh", "-c", "while :; do :; done"]
QUICK_S, RUN_S, PLANTED_S = 0.01, 0.025, 0.1
"""Seconds of one run. What is planted is a share of it, and must not be less than the start of a process varies by."""
ROUNDS = 20
TRIALS, UNPLANTED_TRIALS = 40, 100
ALPHA = 0.05
LONG_S = 1e9
"""A budget that ends no trial: each has its number of rounds."""
UNLIKELY = 0.01
"""A rate below its bound fails if noise like that of the A/A trials explains it with less than this probability."""


@dataclass(frozen=True)
class Case:
    """One kind of trial: `hogs` CPU-bound processes run beside it, and `slow` is the planted slow-down (0: none).

    `most_alarms` and `fewest_found` bound how many of the trials may, or must, decide within `rounds` rounds.
    """

    name: str
    hogs: int
    slow: float
    trials: int
    most_alarms: int | None = None
    fewest_found: int | None = None
    rounds: int = ROUNDS


@dataclass(frozen=True)
class Outcome:
    """The first verdict of one trial and the rounds until it, or all of its rounds; and the wall times in seconds of
    its pairs (base, other), round by round.
    """

    verdict: str
    rounds: int
    pairs: list[tuple[float, float]]
    base_s: float


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quick", action="store_true", help="few trials, for a first impression and for make test")
    parser.add_argument("--json", metavar="FILE|-", help="write the rates as JSON")
    parser.add_argument("--seed", type=whole("--seed", 0), default=1, metavar="N", help="of the orders (default 1)")


def cases(quick: bool, cpus: int) -> list[Case]:
    if quick:
        # These bounds fail a correct tool less than once in 10,000 times, even if each of its rates is exactly at its
        # limit.
        return [Case(name, hogs, 0, 5, most_alarms=3, rounds=15) for name, hogs in (("A/A", 0), ("A/A, 1 hog", 1))]
    # Ten alarms are the most of 100 whose exact 95 % interval still holds 5 %.
    alone = {hogs: f"A/A, {hogs} hog{'s' * (hogs > 1)}" if hogs else "A/A" for hogs in (0, 1, cpus)}
    return [
        *(Case(name, hogs, 0, UNPLANTED_TRIALS, most_alarms=10) for hogs, name in alone.items()),
        Case("5 % slower", 0, 0.05, TRIALS, fewest_found=36),
        Case("2 % slower", 0, 0.02, TRIALS),
    ]


@contextlib.contextmanager
def hogs(count: int) -> Iterator[None]:
    """Keep `count` endless shell loops running in the background."""
    running = [subprocess.Popen(HOG) for _ in range(count)]
    try:
        yield
    finally:
        for hog in running:
            hog.kill()
            hog.wait()


def run(args: argparse.Namespace) -> int:
    """Run the command. Returns 0 when every bound holds, else 1."""
    import os

    from okosu.cli._lock import measuring
    from okosu.records import files

    chosen = cases(args.quick, len(os.sched_getaffinity(0)))
    rates = []
    with measuring():
        for beside in dict.fromkeys(case.hogs for case in chosen):
            together = [case for case in chosen if case.hogs == beside]
            seconds = QUICK_S if args.quick else PLANTED_S if any(case.slow for case in together) else RUN_S
            turns = _turns(seconds)
            with hogs(beside):
                rates += _rates(together, turns, args.seed + 100_000 * beside)
    if args.json:
        files.put_json(args.json, SelftestFile(rates=rates))
    return 0 if all(rate.passed for rate in rates) else 1


def _turns(target_s: float) -> int:
    """How many turns of the loop take about `target_s` seconds on this machine."""
    turns = 20_000
    begun = time.monotonic()
    subprocess.run(["/bin/sh", "-c", LOOP.format(turns=turns)], check=True)
    return max(1000, int(turns * target_s / max(1e-3, time.monotonic() - begun)))


def _rates(together: list[Case], turns: int, seed: int) -> list[Rate]:
    """Run the trials of several cases in turn, so that all meet the same load; print a line for each case."""
    outcomes: dict[str, list[Outcome]] = {case.name: [] for case in together}
    most = max(case.trials for case in together)
    for number in range(1, most + 1):
        for place, case in enumerate(together):
            done = outcomes[case.name]
            # The trials of a case that has fewer are spread over the same time.
            if number * case.trials // most > len(done):
                done.append(_trial(case, turns, seed + 100 * number + place))
                if sys.stderr.isatty():
                    print(f"\r{case.name}: {len(done)} of {case.trials}", end="\033[K\r", file=sys.stderr)
    unplanted = next((outcomes[case.name] for case in together if not case.slow), None)
    rates = [_rate(case, outcomes[case.name], unplanted) for case in together]
    for rate in rates:
        print(_line(rate), flush=True)
    return rates


def _rate(case: Case, outcomes: list[Outcome], unplanted: list[Outcome] | None) -> Rate:
    from okosu.stats.rate import clopper_pearson, fewer_by_chance

    wanted = ("SLOWER",) if case.slow else ("FASTER", "SLOWER")
    ended = [outcome.rounds for outcome in outcomes if outcome.verdict in wanted]
    hits, trials = len(ended), len(outcomes)
    passed, limit, visible = True, "reported only", None
    if case.most_alarms is not None:
        passed, limit = hits <= case.most_alarms, f"at most {case.most_alarms} false alarms"
    if case.slow and unplanted:
        visible = sum(_would_show(outcome, case) for outcome in unplanted)
    if case.fewest_found is not None:
        passed, limit = hits >= case.fewest_found, f"at least {case.fewest_found} found by round {case.rounds}"
        if not passed and visible is not None:
            # The bound is for an unloaded machine; the A/A trials tell whether this one was unloaded.
            limit += f", or what the noise of A/A leaves visible ({visible} of {len(unplanted or [])})"
            passed = fewer_by_chance(hits, trials, visible, len(unplanted or [])) >= UNLIKELY
    mean = sum(ended) / hits if ended else 0.0
    return Rate(case.name, trials, hits, clopper_pearson(hits, trials), mean, limit, passed, visible)


def _would_show(outcome: Outcome, case: Case) -> bool:
    """Say whether an A/A trial would have ended SLOWER if each run of its second arm had taken the planted time
    longer.
    """
    from okosu.stats import verdict

    planted = outcome.base_s * case.slow
    xs = verdict.log_ratios([other + planted for _, other in outcome.pairs], [base for base, _ in outcome.pairs])
    return any(
        verdict.judge(xs[:n], None, 1, ALPHA, 0.0).verdict == verdict.SLOWER
        for n in range(1, min(len(xs), case.rounds) + 1)
    )


def _trial(case: Case, turns: int, seed: int) -> Outcome:
    """Run one trial of base against itself, or against itself with the planted delay.

    Without a delay it runs all of its rounds, even where the course of a trial would end it sooner: their noise tells
    what planted time would have shown.
    """
    from okosu import trial
    from okosu.records.types import Arm, Decision, Options
    from okosu.trial.runs import ProcessRunner

    options = Options(
        command=["/bin/sh", "-c", LOOP.format(turns=turns)],
        seed=seed,
        alpha=ALPHA,
        min_effect=0.0,
        budget_s=LONG_S,
        min_rounds=0 if case.slow else case.rounds,
        max_rounds=case.rounds,
        timeout_s=60.0,
        warm=False,
    )
    session = trial.new(options, None, here=_here())
    runner, base = ProcessRunner(session.plan), Arm("base", "base")
    first = [runner.run(base, pad=0, sample=False, timeout_s=60.0) for _ in range(3)]
    base_s = min(run.measurement.wall_ns for run in first) / 1e9
    # The delay is a share of base's time, so the planted arm can be made only after base has been timed.
    session.plan.given = [Arm("other", "user", extra=[f"--delay={base_s * case.slow:.6f}"] if case.slow else [])]
    trial.run(session, here=_here())
    others, bases = session.pairs("other")
    # A verdict that a later round takes back was one all the same.
    decided = session.envelope.decided.get("other", Decision("UNRESOLVED", session.envelope.rounds))
    return Outcome(decided.verdict, decided.round, list(zip(bases, others, strict=True)), base_s)


@functools.cache
def _here() -> Machine:
    from okosu import machine

    return machine.read()


def _line(rate: Rate) -> str:
    low, high = (100 * x for x in rate.interval)
    kept = "ok" if rate.passed else "FAILED"
    when = f", mean round {rate.rounds:.0f}" if rate.hits else ""
    return (
        f"{rate.case:<14} {rate.hits:>3} of {rate.trials:>3} ended in a verdict "
        f"({low:.0f}–{high:.0f} %{when}); {rate.limit}: {kept}"
    )
