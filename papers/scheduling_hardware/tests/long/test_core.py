# SPDX-License-Identifier: Apache-2.0
"""The core of each instruction set beside its golden simulator, one instruction at a time: random and directed ones."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from papers.scheduling_hardware import ROOM, planting
from papers.scheduling_hardware.dv import core_bench
from papers.scheduling_hardware.dv.core_bench import Isa
from papers.scheduling_hardware.tests.long.shared import NEEDS

pytestmark = NEEDS
CHECKOUT = ROOM.parents[1]
DIRECTED = [(isa, path) for isa in core_bench.ISAS.values() for path in core_bench.programs(isa)]
# Ten million instructions in full; a tenth of them reaches all that is to be reached.
PROGRAMS = 1000 if os.environ.get("OKOSU_LAB") == "full" else 100
INSTRUCTIONS = 10_000
NOT_COVERED = 3
FAILED = 125
# The planted bugs of RV32, and how many random programs they get.
BUGS = planting.read(ROOM / "dv" / "rv32_bugs.toml")
PLANTED_PROGRAMS = 40
# How many cases there are to reach, at least.
POINTS = {"mips1": 376, "rv32": 409}
EVERY = pytest.mark.parametrize("isa", core_bench.ISAS.values(), ids=lambda isa: isa.name)

Bench = Callable[[Isa], Path]


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """Return what builds the bench of an instruction set, once, and gives its folder."""

    @functools.cache
    def built(isa: Isa) -> Path:
        folder = tmp_path_factory.mktemp(isa.name)
        words = [sys.executable, "-m", "papers.scheduling_hardware.dv.core_bench", folder, isa.name]
        subprocess.run(words, check=True, cwd=CHECKOUT)
        return folder

    return built


def lockstep(bench: Path, *words: object) -> subprocess.CompletedProcess[str]:
    argv = [bench / "core-lockstep", *map(str, words)]
    return subprocess.run(argv, capture_output=True, text=True, check=False)


def needs(tool: str, package: str) -> None:
    if not shutil.which(tool):
        pytest.skip(f"{tool} is not installed (Debian: {package})")


@EVERY
def test_random_programs_do_what_the_golden_simulator_says(bench: Bench, isa: Isa) -> None:
    done = lockstep(bench(isa), "random", 1, PROGRAMS, INSTRUCTIONS)
    print(done.stdout)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    assert re.findall(r"^seed (\d+): 10000 instructions alike", done.stdout, re.M) == [
        str(seed) for seed in range(1, PROGRAMS + 1)
    ]
    reached, points = re.findall(r"^reached (\d+) of (\d+)$", done.stdout, re.M)[0]
    assert reached == points
    assert int(points) >= POINTS[isa.name]


@EVERY
def test_what_is_not_reached_is_named(bench: Bench, isa: Isa) -> None:
    done = lockstep(bench(isa), "random", 1, 1, 40)
    assert done.returncode == NOT_COVERED
    assert f"never: trap: {'overflow' if isa.name == 'mips1' else 'ecall'}" in done.stdout


@pytest.mark.parametrize(("isa", "source"), DIRECTED, ids=[f"{isa.name}-{path.stem}" for isa, path in DIRECTED])
def test_directed_programs_hold_on_core_and_golden_simulator(bench: Bench, isa: Isa, source: Path) -> None:
    needs(isa.compiler, isa.package)
    done = lockstep(bench(isa), "program", bench(isa) / f"{source.stem}.elf")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "instructions alike, status 0" in done.stdout


@EVERY
def test_directed_programs_hold_under_qemu(bench: Bench, isa: Isa) -> None:
    needs(isa.compiler, isa.package)
    needs(isa.qemu, "qemu-user-static")
    programs = sorted(bench(isa).glob("*.linux"))
    assert len(programs) >= 6
    for program in programs:
        assert subprocess.run([isa.qemu, program], check=False).returncode == 0, program.stem


@pytest.mark.parametrize(("isa", "check"), [(core_bench.MIPS1, 3), (core_bench.RV32, 1)], ids=["mips1", "rv32"])
def test_a_directed_program_that_fails_says_where(bench: Bench, tmp_path: Path, isa: Isa, check: int) -> None:
    needs(isa.compiler, isa.package)
    wrong = "«0x33aa55cc → 0x33aa55cd»" if isa.name == "mips1" else "«0x00f00f00 → 0x00f00f01»"
    shutil.copy(isa.programs / "logic.S", tmp_path)
    planting.plant(tmp_path, planting.Bug("a result is expected that is none", "logic.S", wrong))
    core_bench.compile_(tmp_path / "logic.S", tmp_path, isa)
    assert lockstep(bench(isa), "program", tmp_path / "logic.elf").returncode == check


def test_a_program_of_the_other_instruction_set_is_refused(bench: Bench) -> None:
    isa = core_bench.RV32
    needs(isa.compiler, isa.package)
    done = lockstep(bench(isa), "program", bench(core_bench.MIPS1) / "logic.elf")
    assert done.returncode == FAILED
    assert "this is an ELF file for machine 8; the machine is a RISC-V (243)" in done.stderr


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the bench of RV32 with all of its bugs in it."""
    folder = tmp_path_factory.mktemp("planted")
    room = planting.copy(folder / "room")
    planting.plant_all(room, BUGS)
    return core_bench.build(folder / "bench", room, ("-Wno-lint", "-Wno-style"), core_bench.RV32)


@pytest.mark.parametrize("number", range(len(BUGS) + 1), ids=["none", *(bug.says for bug in BUGS)])
def test_planted_bugs_are_found(planted: Path, number: int) -> None:
    env = {**os.environ, planting.VARIABLE: str(number)}
    words = [str(planted), "random", "1", str(PLANTED_PROGRAMS), str(INSTRUCTIONS)]
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode in (0, NOT_COVERED)) == (number == 0), done.stdout[-500:]
