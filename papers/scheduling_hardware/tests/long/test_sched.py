# SPDX-License-Identifier: Apache-2.0
"""SSH-m against its golden model, message by message, with random PEs; planted bugs are found."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from papers.scheduling_hardware import ROOM, planting
from papers.scheduling_hardware.dv import sched_bench
from papers.scheduling_hardware.dv.sched_bench import FOUR_PES, STAGED
from papers.scheduling_hardware.machine import Machine
from papers.scheduling_hardware.tests.long.shared import NEEDS

pytestmark = NEEDS
FULL = os.environ.get("OKOSU_LAB") == "full"
MACHINES = {
    "4 PEs": FOUR_PES,
    "soft": Machine(pes=3, threads=16, watches=3, context="soft"),
    "1 PE": Machine(pes=1, threads=8, watches=2),
    "16 PEs": Machine(pes=16, threads=64, watches=16),
    "staged": STAGED,
    "staged, soft": Machine(pes=3, threads=16, watches=3, context="soft", scheduler="staged"),
    "staged, 16 PEs": Machine(pes=16, threads=64, watches=16, scheduler="staged"),
}
# The cheapest that have all the bugs' places in them; FULL runs all.
CHOSEN = ("4 PEs", "soft", "16 PEs", "staged", "staged, soft")
# Each outcome of each command is to be reached; in all a million messages.
SEEDS, MESSAGES = (60, 20_000) if FULL else (15, 20_000)
BUGS = planting.read(ROOM / "dv" / "sched_bugs.toml")
PLANTED = BUGS if FULL else BUGS[::25]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return the golden model and the random PEs, compiled once for all machines."""
    return sched_bench.model(tmp_path_factory.mktemp("model"))


@pytest.mark.parametrize("name", MACHINES if FULL else CHOSEN)
def test_ssh_m_says_what_the_golden_model_says(tmp_path: Path, model: list[Path], name: str) -> None:
    program = sched_bench.build(ROOM, tmp_path, MACHINES[name], model, "--assert")
    words = [str(program), "1", str(SEEDS), str(MESSAGES)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    # 3: an outcome of a command was never reached, and stands in the list that is printed.
    assert done.returncode == 0, done.stdout + done.stderr
    print(done.stdout)
    heard = re.search(r"seeds 1 to \d+: (\d+) messages alike", done.stdout)
    assert heard
    assert int(heard[1]) >= SEEDS * MESSAGES


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory, model: list[Path]) -> Path:
    """Return sched-lockstep with every bug planted in it and without assertions."""
    folder = tmp_path_factory.mktemp("planted")
    room = planting.copy(folder / "room")
    planting.plant_all(room, BUGS)
    return sched_bench.build(room, folder / "build", FOUR_PES, model, "--no-assert", "-Wno-fatal")


def lockstep(program: Path, number: int) -> subprocess.CompletedProcess[str]:
    # A bug that is found is found within a fraction of a second; one that is not takes seconds.
    words = [str(program), "1", "12", "10000"]
    env = {**os.environ, planting.VARIABLE: str(number)}
    return subprocess.run(words, env=env, capture_output=True, text=True, check=False)


def test_without_a_bug_chosen_none_is_found(planted: Path) -> None:
    done = lockstep(planted, 0)
    assert done.returncode in (0, 3), done.stderr


@pytest.mark.parametrize("bug", PLANTED, ids=lambda bug: bug.says)
def test_a_planted_bug_is_found(planted: Path, bug: planting.Bug) -> None:
    done = lockstep(planted, BUGS.index(bug) + 1)
    assert done.returncode == 1, done.stdout
