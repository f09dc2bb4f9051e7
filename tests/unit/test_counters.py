# SPDX-License-Identifier: Apache-2.0
"""Hardware counters: read once for base and for the recommended arm, shown as an explanation, never judged."""

from __future__ import annotations

from typing import Any

from sim import FakeLever, Remembering, SimRunner, trial

from okosu.cli import _table
from okosu.records.types import Arm
from okosu.trial.counters import explain


class Counter:
    """Counters that are made up: those of base, and a tenth of them for any other arm."""

    def __init__(self, why: str = "") -> None:
        self.why, self.ran = why, list[str]()

    def uncountable(self) -> str:
        return self.why

    def count(self, arm: Arm, timeout_s: float) -> dict[str, int]:
        assert timeout_s > 0
        self.ran.append(arm.name)
        part = 1 if arm.kind == "base" else 10
        return {"cycles": 9_870_000_000 // part, "instructions": 2_000_000_000, "dtlb_misses": 41_234_567 // part}


def explained(counter: Counter, ratio: float = 0.5, **options: Any) -> tuple[str, list[str]]:
    made, _ = trial(SimRunner({"a": ratio}), [FakeLever("a")], max_rounds=20, **options)
    watcher = Remembering()
    explain(made, counter, watcher)
    return " ".join(_table.render(made.envelope).split()), watcher.said


def test_the_counters_of_both_stand_below_the_table() -> None:
    counter = Counter()
    text, said = explained(counter)
    assert counter.ran == ["base", "a"]
    assert said == ["one more run of base and of a, under hardware counters"]
    assert (
        "Counted in one more run of base and of a, in user mode: cycles 9.87 G -> 987 M, "
        "instructions 2.00 G -> 2.00 G, dTLB misses 41.2 M -> 4.12 M."
    ) in text


def test_where_there_are_none_the_program_is_not_run_again() -> None:
    counter = Counter("the processor shows none")
    text, said = explained(counter)
    assert (counter.ran, said) == ([], [])
    assert "Hardware counters are not available here: the processor shows none." in text


def test_nothing_is_counted_without_a_winner_or_beyond_the_budget() -> None:
    counter = Counter()
    text, _ = explained(counter, ratio=1.0)
    assert "ounter" not in text
    text, _ = explained(counter, budget_s=14.0)
    assert "two more runs would take more than 10% of the budget" in text
    assert counter.ran == []
