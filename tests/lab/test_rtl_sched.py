# SPDX-License-Identifier: Apache-2.0
"""SSH-m against its golden model, message by message, with random PEs; planted bugs are found."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
from rtl_sched_mutants import MUTANTS, Mutant, plant

from okosu.lab import rtl_build

pytestmark = [
    pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it"),
    pytest.mark.skipif(
        not all(shutil.which(tool) for tool in ("verilator", "make", "g++")), reason="what simulates is not installed"
    ),
]
FULL = os.environ.get("OKOSU_LAB") == "full"
# What does not depend on the machine is compiled once for all of them.
MODEL = ("sched_model", "sched_words", "sched_rules", "sched_pes", "sched_commands", "sched_reach")
CXX = ("-O1", "-std=c++17")


class Machine(NamedTuple):
    """What is built: PEs, threads, watches, context mode (3: BANKED, and MEM for SSH-m; 0: SOFT)."""

    pes: int
    threads: int
    watches: int
    context: int


MACHINES = {
    "4 PEs": Machine(4, 32, 4, 3),
    "soft": Machine(3, 16, 3, 0),
    "1 PE": Machine(1, 8, 2, 3),
    "16 PEs": Machine(16, 64, 16, 3),
}
# Each outcome of each command is to be reached; in all a million messages.
SEEDS, MESSAGES = (60, 20_000) if FULL else (15, 20_000)
PLANTED = MUTANTS if FULL else MUTANTS[::25]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return the golden model and the random PEs, compiled."""
    folder = tmp_path_factory.mktemp("model")
    sim = rtl_build.rtl_folder() / "sim"
    running = [
        subprocess.Popen(["g++", *CXX, "-c", str(sim / f"{name}.cpp"), "-o", str(folder / f"{name}.o")])
        for name in MODEL
    ]
    assert not any(compiler.wait() for compiler in running)
    return [folder / f"{name}.o" for name in MODEL]


def build(rtl: Path, folder: Path, machine: Machine, model: list[Path], *options: str) -> Path:
    """Return sched-lockstep for the machine, from the sources in `rtl`."""
    sizes = {"NumPes": machine.pes, "Threads": machine.threads, "Watches": machine.watches, "Context": machine.context}
    defined = [f"-D{re.sub('(?<=[a-z])(?=[A-Z])', '_', name).upper()}={size}" for name, size in sizes.items()]
    words = ["verilator", "--cc", "--exe", "--build", "-j", "2", "-O3", "--x-assign", "unique", "--x-initial", "unique"]
    words += ["--output-split", "4000", *options, "-F", str(rtl / "files.f"), str(rtl / "sim/sched_top.sv")]
    words += ["--top-module", "sched_top", *(f"-G{name}={size}" for name, size in sizes.items())]
    words += ["-CFLAGS", " ".join((*CXX, f"-I{rtl / 'sim'}", *defined)), str(rtl / "sim/sched_main.cpp")]
    words += [*(str(part) for part in model), "--Mdir", str(folder), "-o", "sched-lockstep"]
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "sched-lockstep"


@pytest.mark.parametrize("name", MACHINES)
def test_ssh_m_says_what_the_golden_model_says(tmp_path: Path, model: list[Path], name: str) -> None:
    rtl = rtl_build.rtl_folder()
    program = build(rtl, tmp_path, MACHINES[name], model, "--assert")
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
    shutil.copytree(rtl_build.rtl_folder(), rtl)
    plant(rtl, MUTANTS)
    return build(rtl, folder / "build", MACHINES["4 PEs"], model, "--no-assert", "-Wno-fatal")


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
