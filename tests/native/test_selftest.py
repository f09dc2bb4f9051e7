# SPDX-License-Identifier: Apache-2.0
"""okosu selftest --quick, and that it can fail: a tool that sees planted effects everywhere does not pass."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from okosu.cli import selftest


def test_the_quick_selftest_passes(tmp_path: Path) -> None:
    path = tmp_path / "rates.json"
    done = subprocess.run(
        [sys.executable, "-m", "okosu", "selftest", "--quick", "--json", str(path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rates = json.loads(path.read_text())["rates"]
    assert [r["trials"] for r in rates] == [5, 5]
    assert all(r["limit"] in done.stdout for r in rates)


@pytest.mark.parametrize(
    ("case", "passed"),
    [
        (selftest.Case("planted as A/A", 0, 0.5, most_alarms=1), False),
        (selftest.Case("planted", 0, 0.5, fewest_found=2), True),
        (selftest.Case("nothing planted", 0, 0.0, fewest_found=2), False),
    ],
)
def test_a_rate_passes_or_fails_by_its_bound(case: selftest.Case, passed: bool) -> None:
    assert selftest._rate(case, 2, 12_000, seed=1).passed is passed


def test_the_full_test_is_as_large_as_promised() -> None:
    cases, trials = selftest.cases(quick=False, cpus=2)
    assert trials >= 40
    assert [c.hogs for c in cases if c.most_alarms is not None] == [0, 1, 2]
    assert all(c.most_alarms == 4 for c in cases if not c.slow)
    assert next(c for c in cases if c.slow == 0.05).fewest_found == 36
