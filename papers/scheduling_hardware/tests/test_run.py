# SPDX-License-Identifier: Apache-2.0
"""Runs of the simulated machine: kept by what decides them, gone on with after an interruption, told when they fail."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from okosu.errors import OkosuError
from okosu.records.types import Record
from papers.scheduling_hardware import cross_compile, simulation, verilator
from papers.scheduling_hardware.machine import Machine
from papers.scheduling_hardware.plan import model
from papers.scheduling_hardware.run import Run, measure
from papers.scheduling_hardware.tests.planted import result
from papers.scheduling_hardware.verilator import Simulator

RUNS = [model.run(Machine(), threads, 500) for threads in (1, 2, 3, 4)]


class Lab:
    """A lab whose simulator gives planted numbers; `fails` are the arguments with which it ends badly."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self.ran: list[str] = []
        self.fails: dict[str, int] = {}
        self.interrupts = ""
        self.folder = folder
        monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        monkeypatch.setattr(verilator, "build", lambda machine, say: Simulator(folder, machine, False, False, "k", "v"))
        monkeypatch.setattr(cross_compile, "compile_", self.compile)
        monkeypatch.setattr(simulation, "run", self.run)

    def compile(self, wanted: cross_compile.Command, backend: str, isa: str) -> Path:
        assert isa == "mips1"
        elf = self.folder / f"{backend}-{'-'.join(wanted.arguments)}"
        elf.write_text(elf.name)
        return elf

    def run(self, simulator: Simulator, program: Path, max_cycles: int) -> simulation.Outcome:
        threads = program.name.split("-")[1]
        self.ran.append(threads)
        if threads == self.interrupts:
            raise KeyboardInterrupt
        run = RUNS[int(threads) - 1]
        told = result(run)
        return simulation.Outcome(
            self.fails.get(threads, 0), told["cycles"], 1.0, [], told["stdout"].encode(), b"it broke"
        )


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Lab:
    return Lab(monkeypatch, tmp_path)


def measured(runs: list[Run] = RUNS) -> list[Record]:
    return list(measure("x", runs, lambda text: None))


def test_records_come_in_the_order_of_the_runs(lab: Lab) -> None:
    found = measured()
    threads = [record.parameters["threads"] for record in found if record.metric == "parallel"]
    assert threads == [1, 2, 3, 4]
    assert sorted(lab.ran) == ["1", "2", "3", "4"]


def test_a_machine_that_cannot_be_built_loses_no_run_of_those_before_it(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So an interruption while a large machine is built leaves what the small ones gave."""
    built: list[int] = []

    def build(machine: Machine, say: Callable[[str], None]) -> Simulator:
        if machine.pes == 64:
            raise OkosuError("no room", "")
        built.append(machine.pes)
        return Simulator(lab.folder, machine, False, False, f"k{machine.pes}", "v")

    monkeypatch.setattr(verilator, "build", build)
    runs = [model.run(Machine(pes=pes), threads, 500) for pes in (1, 2, 64) for threads in (1, 2)]
    found: list[Record] = []
    with pytest.raises(OkosuError, match="no room"):
        found.extend(measure("x", runs, lambda text: None))
    told = [(record.parameters["pes"], record.parameters["threads"]) for record in found if record.metric == "parallel"]
    assert told == [(1, 1), (1, 2), (2, 1), (2, 2)]
    assert built == [1, 2]


def test_what_was_simulated_once_is_not_simulated_again(lab: Lab) -> None:
    first = measured(RUNS[:2])
    assert measured()[: len(first)] == first
    assert sorted(lab.ran) == ["1", "2", "3", "4"]


def test_an_interruption_loses_only_what_was_under_way(lab: Lab) -> None:
    lab.interrupts = "3"
    with pytest.raises(KeyboardInterrupt):
        measured()
    before = [threads for threads in lab.ran if threads != "3"]
    lab.interrupts = ""
    lab.ran.clear()
    measured()
    assert not set(before) & set(lab.ran)
    assert "3" in lab.ran


def test_a_run_that_fails_is_told_and_the_others_go_on(lab: Lab) -> None:
    lab.fails["2"] = 1
    found: list[Record] = []
    with pytest.raises(OkosuError, match="1 of 4 runs failed") as caught:
        found.extend(measure("x", RUNS, lambda text: None))
    assert "model 2 125" in caught.value.why
    [failed] = [record for record in found if not record.samples]
    assert "it broke" in failed.note
    assert len([record for record in found if record.metric == "parallel"]) == 3
    lab.fails.clear()
    lab.ran.clear()
    measured()
    assert lab.ran == ["2"]
