# SPDX-License-Identifier: Apache-2.0
"""The core against the golden simulator, one instruction at a time: random programs, and directed ones by group."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from papers.scheduling_hardware import ROOM
from papers.scheduling_hardware.tests.long.shared import NEEDS

pytestmark = NEEDS
CHECKOUT, DV = ROOM.parents[1], ROOM / "dv"
ISA = sorted(DV.glob("isa/*.S"))
# Ten million instructions in full; a tenth of them reaches all that is to be reached.
PROGRAMS = 1000 if os.environ.get("OKOSU_LAB") == "full" else 100
INSTRUCTIONS = 10_000
QEMU = "qemu-mipsel-static"
NOT_COVERED = 3


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bench")
    words = [sys.executable, "-m", "papers.scheduling_hardware.dv.core_bench", folder]
    subprocess.run(words, check=True, cwd=CHECKOUT)
    return folder


def lockstep(bench: Path, *words: object) -> subprocess.CompletedProcess[str]:
    argv = [bench / "core-lockstep", *map(str, words)]
    return subprocess.run(argv, capture_output=True, text=True, check=False)


def test_random_programs_do_what_the_golden_simulator_says(bench: Path) -> None:
    done = lockstep(bench, "random", 1, PROGRAMS, INSTRUCTIONS)
    print(done.stdout)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    assert re.findall(r"^seed (\d+): 10000 instructions alike", done.stdout, re.M) == [
        str(seed) for seed in range(1, PROGRAMS + 1)
    ]
    reached, points = re.findall(r"^reached (\d+) of (\d+)$", done.stdout, re.M)[0]
    assert reached == points
    assert int(points) >= 376


def test_what_is_not_reached_is_named(bench: Path) -> None:
    done = lockstep(bench, "random", 1, 1, 100)
    assert done.returncode == NOT_COVERED
    assert "never: trap: overflow" in done.stdout


@pytest.mark.parametrize("source", ISA, ids=[path.stem for path in ISA])
def test_directed_programs_hold_on_core_and_golden_simulator(bench: Path, source: Path) -> None:
    done = lockstep(bench, "program", bench / f"{source.stem}.elf")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "instructions alike, status 0" in done.stdout


@pytest.mark.skipif(not shutil.which(QEMU), reason=f"{QEMU} is not installed (Debian: qemu-user-static)")
def test_directed_programs_hold_under_qemu(bench: Path) -> None:
    programs = sorted(bench.glob("*.linux"))
    assert len(programs) >= 8
    for program in programs:
        assert subprocess.run([QEMU, program], check=False).returncode == 0, program.stem


def test_a_directed_program_that_fails_says_where(bench: Path, tmp_path: Path) -> None:
    wrong = (DV / "isa/logic.S").read_text().replace("0x33aa55cc", "0x33aa55cd")
    (tmp_path / "wrong.S").write_text(wrong)
    flags = [
        "-march=r3000",
        "-msoft-float",
        "-mfp32",
        "-mno-abicalls",
        "-fno-pic",
        "-no-pie",
        "-nostdlib",
        "-static",
        f"-I{DV / 'isa'}",
    ]
    words = ["mipsel-linux-gnu-gcc", *flags, f"-Wl,-T,{DV / 'isa/link.ld'}", "-Wl,--build-id=none"]
    subprocess.run([*words, "-o", tmp_path / "wrong.elf", tmp_path / "wrong.S"], check=True)
    assert lockstep(bench, "program", tmp_path / "wrong.elf").returncode == 3
