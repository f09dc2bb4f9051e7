# SPDX-License-Identifier: Apache-2.0
"""The report reads what `okosu try` writes: same pairs and same intervals, on the file of a simulated trial."""

from __future__ import annotations

from pathlib import Path

import pytest
from sim import FakeLever, SimRunner, trial

from okosu.levers.base import Availability
from okosu.records import files
from okosu.records.types import TryFile
from okosu.report import model


@pytest.mark.parametrize("seconds", [600.0, 4000.0])
def test_the_last_running_interval_is_that_of_the_verdict(seconds: float, tmp_path: Path) -> None:
    levers = [
        FakeLever("a"),
        FakeLever("b", preload=True),
        FakeLever("c"),
        FakeLever("gone", available=Availability(False, "no such thing", "apt-get install thing")),
    ]
    made, _ = trial(SimRunner({"a": 0.5, "b": 0.7}, noise=0.02), levers, budget_s=seconds)
    made.path = tmp_path / "trial.json"
    made.write()
    envelope = files.read_as(TryFile, made.path)
    shown = model.load(envelope)
    assert [arm.name for arm in shown.arms][:2] == ["base", "placebo"]
    compared = 0
    for verdict in envelope.verdicts:
        if verdict.interval is None:
            continue
        pairs = shown.pairs(verdict.arm)
        last = model.running(pairs, shown.k, shown.alpha)[-1]
        assert (last.low, last.high) == pytest.approx(verdict.interval)
        assert last.ratio == pytest.approx(verdict.ratio)
        assert len(pairs) == verdict.rounds
        compared += 1
    assert compared >= 4
