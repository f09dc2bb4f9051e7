# SPDX-License-Identifier: Apache-2.0
"""The summaries of simulations hold what the command that each names makes."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from okosu.records import summary

ROOT = Path(__file__).resolve().parents[2]
FEW = {"stats-course": 2}
"""Repetitions that are enough for every cell of the tables to have a value; 40 elsewhere."""


@pytest.mark.long
@pytest.mark.parametrize("path", sorted((ROOT / "results/simulated").glob("*.json")), ids=lambda path: path.stem)
def test_the_command_of_a_simulation_makes_its_tables(path: Path, tmp_path: Path) -> None:
    kept = summary.read(path)
    interpreter, script, _, option, _ = shlex.split(kept.command)
    assert (interpreter, option) == ("python", "--summary")
    made = tmp_path / "made.json"
    words = [sys.executable, script, str(FEW.get(path.stem, 40)), option, str(made)]
    subprocess.run(words, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    for old, new in zip(kept.sections, summary.read(made).sections, strict=True):
        assert (old.id, old.head) == (new.id, new.head)
        assert [row[0] for row in old.body] == [row[0] for row in new.body]
