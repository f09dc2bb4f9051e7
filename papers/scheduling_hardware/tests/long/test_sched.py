# SPDX-License-Identifier: Apache-2.0
"""SSH-m against its golden model, message by message, with random PEs; planted bugs are found."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from papers.scheduling_hardware import hardware
from papers.scheduling_hardware.dv import sched_bench
from papers.scheduling_hardware.dv.sched_bench import FOUR_PES, Machine
from papers.scheduling_hardware.tests.long.rtl_sched_mutants import MUTANTS, Mutant, plant

pytestmark = [
    pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it"),
    pytest.mark.skipif(
        not all(shutil.which(tool) for tool in ("verilator", "make", "g++")), reason="what simulates is not installed"
    ),
]
FULL = os.environ.get("OKOSU_LAB") == "full"
MACHINES = {
    "4 PEs": FOUR_PES,
    "soft": Machine(3, 16, 3, 0),
    "1 PE": Machine(1, 8, 2, 3),
    "16 PEs": Machine(16, 64, 16, 3),
}
# Each outcome of each command is to be reached; in all a million messages.
SEEDS, MESSAGES = (60, 20_000) if FULL else (15, 20_000)
PLANTED = MUTANTS if FULL else MUTANTS[::25]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return the golden model and the random PEs, compiled once for all machines."""
    return sched_bench.model(tmp_path_factory.mktemp("model"))


@pytest.mark.parametrize("name", MACHINES if FULL else [name for name in MACHINES if name != "1 PE"])
def test_ssh_m_says_what_the_golden_model_says(tmp_path: Path, model: list[Path], name: str) -> None:
    rtl = hardware.home()
    program = sched_bench.build(rtl, tmp_path, MACHINES[name], model, "--assert")
    words = [str(program), "1", str(SEEDS), str(MESSAGES)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=600)
    # 3: an outcome of a command was never reached, and stands in the list that is printed.
    assert done.returncode == 0, done.stdout + done.stderr
    print(done.stdout)
    heard = re.search(r"seeds 1 to \d+: (\d+) messages alike", done.stdout)
    assert heard
    assert int(heard[1]) >= SEEDS * MESSAGES


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory, model: list[Path]) -> Path:
    """Return sched-lockstep with every bug planted in it, to be chosen by +mutant=NUMBER, and without assertions."""
    folder = tmp_path_factory.mktemp("planted")
    rtl = folder / "rtl"
    shutil.copytree(hardware.home(), rtl)
    plant(rtl, MUTANTS)
    return sched_bench.build(rtl, folder / "build", FOUR_PES, model, "--no-assert", "-Wno-fatal")


def lockstep(program: Path, number: int) -> subprocess.CompletedProcess[str]:
    # Survivors take seconds; what is found is found in a fraction of one.
    words = [str(program), "1", "12", "10000", f"+mutant={number}"]
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)


def test_without_a_bug_chosen_none_is_found(planted: Path) -> None:
    done = lockstep(planted, 0)
    assert done.returncode in (0, 3), done.stderr


@pytest.mark.parametrize("mutant", PLANTED, ids=lambda mutant: mutant.name)
def test_a_planted_bug_is_found(planted: Path, mutant: Mutant) -> None:
    done = lockstep(planted, MUTANTS.index(mutant) + 1)
    assert done.returncode == 1, done.stdout
