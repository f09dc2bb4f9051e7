# SPDX-License-Identifier: Apache-2.0
"""The two builds of the simulator of rtl/: the same cycles, whatever runs on whatever machine; and how fast it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from papers.scheduling_hardware import ROOM, cross_compile, simulation, verilator
from papers.scheduling_hardware.machine import Machine
from papers.scheduling_hardware.tests.long.shared import NEEDS

pytestmark = NEEDS

ROOT = ROOM.parents[1]
PROGRAMS = ROOM / "sw/programs"
RUNS = {
    "conformance": [str(path) for path in sorted(PROGRAMS.glob("conformance*.c"))],
    "grain": [str(ROOT / "examples/programs/grain.c"), "20", "100", "2"],
    "primitives": [str(PROGRAMS / "primitives.c")],
}
LIMIT = 8_000_000
full = pytest.mark.skipif(os.environ.get("OKOSU_LAB") != "full", reason="make test-lab-full runs it")


@pytest.mark.parametrize("context", [*(pytest.param(name, marks=full) for name in ("soft", "mem")), "banked"])
def test_checked_and_fast_simulate_the_same_cycles(context: str) -> None:
    machine = Machine(pes=4, context=context)
    fast, checked = verilator.build(machine), verilator.build(machine, checked=True)
    for backend in cross_compile.BACKENDS:
        for name, words in RUNS.items():
            program = cross_compile.compile_(cross_compile.parse(words), backend)
            ours, other = (simulation.run(one, program, max_cycles=LIMIT, seed=3) for one in (fast, checked))
            assert ours.status == 0, (backend, name)
            assert (other.cycles, other.counters) == (ours.cycles, ours.counters), (backend, name)
            assert (other.stdout, other.stderr) == (ours.stdout, ours.stderr), (backend, name)
            # The checked run compared every instruction with the golden simulator's.
            assert other.report["compared"] > 1000
            assert not ours.report["compared"]


def test_what_random_values_registers_begin_with_makes_no_difference() -> None:
    simulator = verilator.build(Machine(pes=4, context="banked"), checked=True)
    program = cross_compile.compile_(cross_compile.parse(RUNS["grain"]), "ssh")
    runs = [simulation.run(simulator, program, max_cycles=LIMIT, seed=seed) for seed in (1, 2, 3)]
    assert len({(run.cycles, run.stdout, json.dumps(run.counters)) for run in runs}) == 1


def test_the_speed_is_told(tmp_path: Path) -> None:
    report = tmp_path / "speed.json"
    words = ["--pes", "4", "--runs", "1", "--json", str(report)]
    argv = [sys.executable, "-m", "okosu", "lab", "speed", "rtl", *words]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(report.read_text())
    assert told["khz"] > 0
    assert abs(told["khz_pes"] - 4 * told["khz"]) < 1
    assert "4 PEs, banked: " in done.stdout
