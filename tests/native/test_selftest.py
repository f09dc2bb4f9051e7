# SPDX-License-Identifier: Apache-2.0
"""okosu selftest --quick passes, and can fail: a tool that sees effects everywhere does not pass."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from effort import some

from okosu.cli import selftest
from okosu.stats import verdict
from okosu.stats.rate import clopper_pearson


@pytest.mark.long
def test_the_quick_selftest_passes(tmp_path: Path) -> None:
    path = tmp_path / "rates.json"
    done = subprocess.run(
        [sys.executable, "-m", "okosu", "selftest", "--quick", "--json", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rates = json.loads(path.read_text())["rates"]
    assert [r["trials"] for r in rates] == [5, 5]
    assert all(r["limit"] in done.stdout for r in rates)


@pytest.mark.parametrize(
    ("case", "passed"),
    some(
        [
            (selftest.Case("planted as A/A", 0, 3.0, 2, most_alarms=1), False),
            (selftest.Case("planted", 0, 3.0, 2, fewest_found=2), True),
            (selftest.Case("nothing planted", 0, 0.0, 2, fewest_found=2), False),
        ],
        1,
    ),
)
def test_a_rate_passes_or_fails_by_its_bound(case: selftest.Case, passed: bool) -> None:
    [rate] = selftest._rates([case], 12_000, seed=1)
    assert rate.passed is passed


def trial(verdict: str, noise: float = 0.0) -> selftest.Outcome:
    """A trial of 20 rounds in which base takes 1 s, and the other takes the same time, alternately plus and minus
    `noise`.
    """
    return selftest.Outcome(verdict, 20, [(1.0, 1 + noise * (-1) ** i + 1e-6 * i) for i in range(20)], 1.0)


PLANTED = selftest.Case("planted", 0, 0.05, 40, fewest_found=36)


@pytest.mark.parametrize(
    ("found", "noise", "visible", "passed"),
    [
        (36, 0.2, 0, True),
        (33, 0.0, 40, False),  # a quiet machine shows all of them: the tool missed seven
        (33, 0.2, 0, True),  # a noisy one hides them all, whatever the tool does
    ],
)
def test_a_slow_down_is_missed_only_where_the_noise_hides_it(
    found: int, noise: float, visible: int, passed: bool
) -> None:
    planted = [trial("SLOWER")] * found + [trial("UNRESOLVED")] * (40 - found)
    rate = selftest._rate(PLANTED, planted, [trial("UNRESOLVED", noise)] * 40)
    assert (rate.visible, rate.passed) == (visible, passed)


def test_the_time_planted_is_that_of_the_pilot() -> None:
    quick = selftest.Outcome("UNRESOLVED", 20, [(1.0, 0.97 + 1e-6 * i) for i in range(20)], 0.5)
    assert not selftest._would_show(quick, PLANTED)  # 0.97 + 0.025 is still less than 1
    assert selftest._would_show(trial("UNRESOLVED"), PLANTED)


def test_the_full_test_is_as_large_as_promised() -> None:
    cases = selftest.cases(quick=False, cpus=2)
    alone = [c for c in cases if not c.slow]
    assert [c.hogs for c in alone] == [0, 1, 2]
    for case in alone:
        assert case.most_alarms is not None
        # More would be incompatible with the level of 5 %.
        assert clopper_pearson(case.most_alarms, case.trials)[0] <= 0.05
        assert clopper_pearson(case.most_alarms + 1, case.trials)[0] > 0.05
    planted = next(c for c in cases if c.slow == 0.05)
    assert (planted.trials, planted.fewest_found, planted.rounds) == (40, 36, 20)


def test_the_trials_of_a_smaller_case_are_spread_over_those_of_the_larger(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []

    def one(case: selftest.Case, turns: int, seed: int) -> selftest.Outcome:
        ran.append(case.name)
        return trial("UNRESOLVED")

    monkeypatch.setattr(selftest, "_trial", one)
    rates = selftest._rates([selftest.Case("all", 0, 0, 5), selftest.Case("some", 0, 0.05, 2)], 1, 1)
    assert [rate.trials for rate in rates] == [5, 2]
    assert ran == ["all", "all", "all", "some", "all", "all", "some"]


def test_a_verdict_that_a_later_round_takes_back_is_counted() -> None:
    case = selftest.Case("A/A", 0, 0, 1, most_alarms=0)
    turns = selftest._turns(0.002)
    outcome = selftest._trial(case, turns, 1)
    first = next((n for n in range(1, 21) if _decides(outcome.pairs[:n])), None)
    assert len(outcome.pairs) == case.rounds
    assert (outcome.verdict, outcome.rounds) == (
        ("UNRESOLVED", 20) if first is None else (_decides(outcome.pairs[:first]), first)
    )


def _decides(pairs: list[tuple[float, float]]) -> str:
    xs = verdict.log_ratios([other for _, other in pairs], [base for base, _ in pairs])
    found = verdict.judge(xs, None, 1, selftest.ALPHA, 0.0).verdict
    return found if found in verdict.RESOLVED else ""
