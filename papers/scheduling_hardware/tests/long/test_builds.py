# SPDX-License-Identifier: Apache-2.0
"""The two builds of the simulator of rtl/: the same cycles, whatever runs on whatever machine; and how fast it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from okosu.errors import OkosuError
from papers.scheduling_hardware import cross_compile, hardware, simulation, simulation_speed
from papers.scheduling_hardware.tests.long.rtl_run import NEEDS

pytestmark = NEEDS

ROOT = Path(__file__).resolve().parents[4]
PROGRAMS = ROOT / "papers/scheduling_hardware/sw/programs"
RUNS = {
    "conformance": [str(path) for path in sorted(PROGRAMS.glob("conformance*.c"))],
    "grain": [str(ROOT / "examples/grain.c"), "20", "100", "2"],
    "primitives": [str(PROGRAMS / "primitives.c")],
}
LIMIT = 8_000_000
full = pytest.mark.skipif(os.environ.get("OKOSU_LAB") != "full", reason="make test-lab-full runs it")


@pytest.mark.parametrize("context", [*(pytest.param(name, marks=full) for name in ("soft", "mem")), "banked"])
def test_checked_and_fast_simulate_the_same_cycles(context: str) -> None:
    machine = hardware.Machine(pes=4, context=context)
    fast, checked = hardware.build(machine), hardware.build(machine, checked=True)
    for backend in cross_compile.BACKENDS:
        for name, words in RUNS.items():
            program = cross_compile.compile_(cross_compile.parse(words), backend)
            ours, other = (simulation.run(one, program, max_cycles=LIMIT, seed=3) for one in (fast, checked))
            assert ours.status == 0, (backend, name)
            assert (other.cycles, other.counters) == (ours.cycles, ours.counters), (backend, name)
            assert (other.stdout, other.stderr) == (ours.stdout, ours.stderr), (backend, name)
            # Every instruction of the checked run was compared with the golden simulator's.
            assert other.report["compared"] > 1000
            assert not ours.report["compared"]


def test_what_random_values_registers_begin_with_makes_no_difference() -> None:
    simulator = hardware.build(hardware.Machine(pes=4, context="banked"), checked=True)
    program = cross_compile.compile_(cross_compile.parse(RUNS["grain"]), "ssh")
    runs = [simulation.run(simulator, program, max_cycles=LIMIT, seed=seed) for seed in (1, 2, 3)]
    assert len({(run.cycles, run.stdout, json.dumps(run.counters)) for run in runs}) == 1


def test_the_speed_is_told(tmp_path: Path) -> None:
    report = tmp_path / "speed.json"
    words = ["--pes", "4", "--runs", "1", "--json", str(report)]
    argv = [sys.executable, "-m", "okosu", "lab", "speed", "rtl", *words]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stderr
    told = json.loads(report.read_text())
    assert told["khz"] > 0
    assert abs(told["khz_pes"] - 4 * told["khz"]) < 1
    assert told["ratio"] is None
    assert "4 PEs, banked: " in done.stdout


@pytest.mark.skipif("OKOSU_PICORV32" not in os.environ, reason="OKOSU_PICORV32 names no checkout of picorv32")
def test_as_many_cores_of_picorv32_are_measured_beside_it() -> None:
    machine = hardware.Machine(pes=4)
    speed = simulation_speed.measure(
        machine, simulation_speed.work(machine), Path(os.environ["OKOSU_PICORV32"]), runs=1
    )
    assert speed.peer_khz
    assert speed.ratio
    assert speed.ratio == speed.khz / speed.peer_khz


def test_a_peer_that_is_something_else_is_told(tmp_path: Path) -> None:
    (source := tmp_path / "picorv32.v").write_text("module other(); endmodule\n")
    machine = hardware.Machine(pes=4)
    with pytest.raises(OkosuError, match="the peer cannot be built") as caught:
        simulation_speed.measure(machine, simulation_speed.work(machine), source, runs=1)
    assert "picorv32" in caught.value.why
