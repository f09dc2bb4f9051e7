# SPDX-License-Identifier: Apache-2.0
"""The core against the golden simulator, instruction by instruction, on random programs; planted bugs are found."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from okosu.lab import rtl_build

pytestmark = [
    pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it"),
    pytest.mark.skipif(
        not all(shutil.which(tool) for tool in ("verilator", "make", "g++")), reason="what simulates is not installed"
    ),
]
PROGRAMS = ("core_main.cpp", "golden.cpp", "random_program.cpp")
# What is planted: the file, what is right in it, and what is put instead.
BUGS = {
    "a load's result is used too early": ("cpu/core.sv", "hazard = x_writes &&", "hazard = 1'b0 && x_writes &&"),
    "less than, unsigned, is at most": (
        "cpu/alu.sv",
        "less_unsigned = !sum[32];",
        "less_unsigned = !sum[32] || a_i == b_i;",
    ),
    "a branch on zero forgets zero": ("cpu/core.sv", "taken = d_a[31] || d_a == '0;", "taken = d_a[31];"),
}


def lockstep(rtl: Path, folder: Path, seed: int, instructions: int) -> subprocess.CompletedProcess[str]:
    """Build core-lockstep from the sources in `rtl`, unless it is there, and run one random program."""
    program = folder / "core-lockstep"
    if not program.exists():
        sources = [str(rtl / "sim" / name) for name in PROGRAMS]
        words = ["verilator", "--cc", "--exe", "--build", "-j", "2", "-O3", "--assert", "--x-initial", "unique"]
        words += ["-F", str(rtl / "files.f"), str(rtl / "sim/core_top.sv"), "--top-module", "core_top"]
        words += ["-CFLAGS", f"-O1 -std=c++17 -I{rtl / 'sim'}", *sources, "--Mdir", str(folder), "-o", program.name]
        subprocess.run(words, check=True, capture_output=True)
    words = [str(program), str(seed), str(instructions)]
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=600)


def test_random_programs_do_what_the_golden_simulator_says(tmp_path: Path) -> None:
    for seed in range(1, 9):
        done = lockstep(rtl_build.rtl_folder(), tmp_path, seed, 100_000)
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith(f"seed {seed}: 100000 instructions alike")


@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_found(tmp_path: Path, bug: str) -> None:
    name, right, wrong = BUGS[bug]
    rtl = tmp_path / "rtl"
    shutil.copytree(rtl_build.rtl_folder(), rtl)
    text = (rtl / name).read_text()
    assert right in text
    (rtl / name).write_text(text.replace(right, wrong))
    runs = [lockstep(rtl, tmp_path / "build", seed, 50_000) for seed in (1, 2)]
    assert any(run.returncode for run in runs)
