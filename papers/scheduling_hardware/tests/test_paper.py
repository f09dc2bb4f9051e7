# SPDX-License-Identifier: Apache-2.0
"""The scheduling hardware's paper beside planted runs: what contradicts itself there, and what we compare."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterator, Sequence

import pytest

from okosu.errors import OkosuError
from okosu.records.types import Compared, Record, ReproduceFile, ReproducePlan, Tool
from okosu.report import compared as report_compared
from papers import common
from papers.common import printing
from papers.common.base import LabExperiment, Measured, Ours, Say
from papers.common.judge import conclude, judge
from papers.scheduling_hardware import paper, thread_model
from papers.scheduling_hardware.machine import Machine
from papers.scheduling_hardware.plan import model, scaling
from papers.scheduling_hardware.run import Run, records
from papers.scheduling_hardware.tests.planted import CREATE, PRIMITIVES, SWITCH, everything, grains, of, result

PAPER = common.load()["scheduling-hardware"]
VALUE = {entry.id: entry.value for entry in PAPER.published()}
DISPUTED = {entry.id for entry in PAPER.published() if entry.mark == "disputed"}


def test_table_4_is_complete() -> None:
    assert [VALUE[f"t4.{call}.{side}"] for call in ("create", "join") for side in ("ssh", "software")] == [
        690,
        724,
        841,
        1180,
    ]


def test_what_table_4_and_the_figures_say_of_creation_cannot_both_hold() -> None:
    assert 100 * VALUE["t4.create.ssh"] / VALUE["t4.create.software"] == pytest.approx(95.3, abs=0.05)
    assert VALUE["f6.create"] == 20
    assert {"t4.create.ssh", "f6.create"} <= DISPUTED


def test_ssh_could_not_pay_where_the_paper_has_it_pay() -> None:
    main = VALUE["f7.threads"] * (VALUE["t4.create.ssh"] + VALUE["t4.join.ssh"])
    assert main == 61_240
    assert main > VALUE["f7.threads"] * VALUE["f7.ssh"] == 50_000
    assert VALUE["f7.threads"] * (VALUE["t4.create.software"] + VALUE["t4.join.software"]) < 40 * VALUE["f7.software"]
    assert {"f7.ssh", "f7.threads"} <= DISPUTED


@pytest.fixture(scope="module")
def measured() -> Measured:
    machine = {"cpus": [{"number": 0}, {"number": 1}], "memory": {"total_kb": 4 * 2**20}}
    return Measured(records=everything(), machine=machine)


@pytest.fixture(scope="module")
def ours(measured: Measured) -> dict[str, Ours]:
    return PAPER.compare(measured)


def test_every_entry_is_compared_or_excused(ours: dict[str, Ours]) -> None:
    for entry in PAPER.published():
        assert (entry.id in ours) != bool(entry.not_measured), entry.id


def test_the_tables_and_figures_are_taken_from_their_runs(ours: dict[str, Ours]) -> None:
    assert ours["t4.create.ssh"].value == PRIMITIVES["create"][1]
    assert ours["t4.join.software"].value == 20 * PRIMITIVES["join_finished"][1]
    assert (ours["t1.cpus"].value, ours["t1.memory"].value) == (2, 4)
    # Creations count with their waits (8 cycles here), switches without.
    assert ours["f6.create"].value == pytest.approx(100 * (16 * 150 + 8) / (16 * 400 + 8))
    assert ours["f6.switch"].value == pytest.approx(100 * 90 / 300)
    assert ours["f6.load"].value == pytest.approx(30_000, rel=0.02)
    assert (ours["f9.best"].value, ours["f9.threads"].value) == (8, 40)
    assert ours["f9.share"].value == pytest.approx(
        100 * (40 * (CREATE["ssh soft"] + SWITCH["ssh soft"]) + 8) / whole_at_40(), rel=1e-3
    )


def whole_at_40() -> float:
    return 40 * CREATE["ssh soft"] + 40 * (752 + 20 + SWITCH["ssh soft"]) / 8


def exact_break_even(variant: str) -> float:
    """Return where 40 w is 40 c + 40 (w + s) / 8."""
    return (CREATE[variant] + SWITCH[variant] / 8) / (1 - 1 / 8)


def test_the_break_even_is_where_the_costs_have_it(ours: dict[str, Ours]) -> None:
    assert ours["f7.ssh"].value == pytest.approx(exact_break_even("ssh soft"), rel=0.15)
    assert ours["f7.software"].value == pytest.approx(exact_break_even("software"), rel=0.15)
    assert "times SSH's" in ours["f7.ssh"].why


def test_no_break_even_is_made_up() -> None:
    runs = thread_model.read(grains("figure7", Machine()))
    paying = [one for one in runs if one.speedup >= 1]
    assert paying
    assert thread_model.break_even(paying) is None
    assert thread_model.break_even([one for one in runs if one.speedup < 1]) is None
    assert thread_model.break_even([]) is None


def test_a_grain_that_loses_once_more_moves_the_break_even() -> None:
    """What pays at one grain and no longer at a coarser one does not pay yet."""
    runs = sorted(thread_model.read(grains("figure7", Machine())), key=lambda one: one.work)
    runs[-2] = dataclasses.replace(runs[-2], parallel=2 * runs[-2].sequential)
    value = thread_model.break_even(runs)
    assert value is not None
    assert runs[-2].work < value < runs[-1].work


def test_a_sweep_is_made_finer_where_it_begins_to_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def measure(name: str, runs: Sequence[Run], say: Say) -> Iterator[Record]:
        asked.extend(int(run.arguments[1]) for run in runs)
        for run in runs:
            yield from records(name, run, result(run))

    monkeypatch.setattr(model, "measure", measure)
    at = model.run(Machine(context="soft"), 40, 0, "software")
    found = list(model.sweep("figure7", at, (100, 400, 1000, 5000), print, 8))
    assert asked[:4] == [25, 100, 250, 1250]
    assert asked[4:] == sorted(asked[4:])
    assert len(asked) == 12
    assert all(100 < steps < 250 for steps in asked[4:])
    value = thread_model.break_even(thread_model.read(found))
    assert value == pytest.approx(exact_break_even("software"), rel=0.01)


def test_a_sweep_that_fails_does_not_stop_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    def measure(name: str, runs: Sequence[Run], say: Say) -> Iterator[Record]:
        if runs[0].backend == "ssh":
            raise OkosuError("3 of 3 runs failed", "exit status 139")
        for run in runs:
            yield from records(name, run, result(run))

    monkeypatch.setattr(model, "measure", measure)
    at = [model.run(Machine(context="soft"), 40, 0, backend) for backend in ("ssh", "software")]
    found: list[Record] = []
    with pytest.raises(OkosuError, match="3 of 3"):
        found.extend(model.sweeps("figure7", at, (100, 1000), print, 0))
    assert {record.variant for record in found} == {"software"}


def outcome(name: str, measured: Measured) -> Compared:
    target = next(one for one in PAPER.targets() if one.id == name)
    found = PAPER.sides(target, measured)
    return conclude(target, found, judge(target, found.sides), None, "")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("create", 18), ("join-finished", 19), ("mutex-lock", 13), ("barrier", 29), ("yield-command", 8),
        ("yield-switch", 13), ("join-wake", 37), ("software-create", 360), ("software-join", 380),
    ],
)  # fmt: skip
def test_a_call_s_target_is_judged_by_its_slowest(measured: Measured, name: str, value: float) -> None:
    judged = outcome(name, measured)
    assert (judged.measured, judged.interval, judged.holds) == (value, (value, value), True)


def test_a_slow_call_misses_its_target(measured: Measured) -> None:
    slow = copy.deepcopy(measured.records["primitives"])
    for record in slow:
        if record.metric == "barrier_last_to_last":
            record.samples = [31.0]
    judged = outcome("barrier", Measured(records={"primitives": slow}))
    assert (judged.measured, judged.holds) == (31, False)


def test_grain_and_scale_are_judged(measured: Measured) -> None:
    assert outcome("break-even", measured).measured == pytest.approx(exact_break_even("ssh banked"), rel=0.6)
    judged = outcome("efficiency", measured)
    runs = thread_model.read(measured.records["scaling"])
    flat = [one for one in runs if (one.pes, one.task, one.creators) == (16, "grain", 0)]
    assert len(flat) == 3
    best = max(one.efficiency for one in flat)
    assert judged.measured == pytest.approx(best)
    assert judged.holds == (best >= 0.8)
    assert "by policy: fifo 0." in judged.note


def test_what_was_not_simulated_is_not_judged() -> None:
    for target in PAPER.targets():
        judged = outcome(target.id, Measured())
        assert (judged.measured, judged.holds) == (None, None)
        assert judged.note


def test_the_bus_bounds_a_task_that_loads_and_stores() -> None:
    assert thread_model.bound("25 %", 64) == pytest.approx(4 / 3)
    assert thread_model.bound("5 %", 2) == 2
    assert thread_model.bound("grain", 64) == 64
    assert {run.machine.pes for run in scaling.runs()} == {1, 2, 4, 8, 16, 32, 64}


def test_a_simulated_number_is_called_exact(measured: Measured) -> None:
    tool = Tool("okosu", "1", "2026-01-01T00:00:00Z")
    compared = [outcome(target.id, measured) for target in PAPER.targets()]
    held = ReproduceFile(tool=tool, machine={}, plan=ReproducePlan(), compared=compared)
    shown = printing.render(held, PAPER)
    assert shown.count(", exact:") == len(PAPER.targets())
    assert "95 %" not in shown
    shown = report_compared.compared(held)
    assert shown is not None
    assert {row.interval for row in shown.targets} == {"exact"}


def test_records_tell_what_was_run() -> None:
    [run] = [one for one in scaling.runs((16,)) if one.told["creators"]]
    record = of("scaling", [run])[0]
    assert (record.platform, record.variant, record.subject) == ("verilator", "ssh banked", "rtl model.c")
    assert record.parameters == {
        "of": "scaling", "pes": 16, "threads": 160, "task": "grain", "sample": 4, "steps": 33, "creators": 4,
        "policy": "fifo",
    }  # fmt: skip


@pytest.mark.parametrize("isa", ["mips1", "rv32"])
def test_every_experiment_runs_on_the_instruction_set_that_is_asked_for(
    isa: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Run] = []

    def measure(name: str, runs: Sequence[Run], say: Say) -> Iterator[Record]:
        asked.extend(runs)
        yield from ()

    for module in (paper, model):
        monkeypatch.setattr(module, "measure", measure)
    chosen = PAPER.on(isa)
    for one in chosen.experiments():
        assert isinstance(one, LabExperiment)
        for run in (one.run, one.thin or one.run):
            before = len(asked)
            assert list(run(print)) == []
            assert len(asked) > before, one.name
    assert {run.machine.isa for run in asked} == {isa}
    typed = [] if isa == "mips1" else ["--isa", "rv32"]
    assert printing.envelope(chosen, quick=True).plan.command[2:] == [PAPER.name, *typed, "--quick"]


def test_an_instruction_set_that_there_is_not_is_refused() -> None:
    with pytest.raises(OkosuError, match="'rv64'"):
        PAPER.on("rv64")
