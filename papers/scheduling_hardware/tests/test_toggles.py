# SPDX-License-Identifier: Apache-2.0
"""Toggles: what Verilator counted is read back, put to its part of the machine, and divided by what was done."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from okosu.errors import OkosuError
from papers.scheduling_hardware import ROOM, simulation, toggles, verilator
from papers.scheduling_hardware.machine import ISAS, Machine
from papers.scheduling_hardware.toggles import Measured, part, read, section

RECORD = ROOM.parents[1] / "results/epyc-zen5-vm-2026-11-26/scheduling-hardware-toggles.json"
PE = "TOP.machine.u_cluster.gen_pe[*].u_pe"


def line(signal: str, place: str, count: int) -> str:
    return f"C '\x01f\x02/rtl/a.sv\x01l\x0211\x01page\x02v_toggle/a\x01o\x02{signal}\x01h\x02{place}' {count}\n"


def test_a_name_is_put_to_its_part_of_the_machine() -> None:
    assert part(f"{PE}.u_core.u_alu") == "PEs"
    assert part(PE) == "PEs"
    assert part(f"{PE}.u_ssh_s.u_engine") == "SSH-s"
    assert part("TOP.machine.u_cluster.u_ssh_m.u_lists") == "SSH-m and its bus"
    assert part("TOP.machine.u_cluster.u_sched_bus") == "SSH-m and its bus"
    assert part("TOP.machine.gen_multiplexed.u_mem_bus.u_arbiter") == "memory bus"
    assert part("TOP.machine.u_cluster") == "rest"
    assert part(f"{PE}.u_counters") is None
    assert part("TOP.machine.u_cluster.u_ssh_m.u_checks") is None


def test_only_registers_are_counted_as_such_and_nothing_of_the_simulation() -> None:
    text = "# SystemC::Coverage-3\n"
    text += (
        line("pc_q[3]", f"{PE}.u_core", 7) + line("dec_q.we", f"{PE}.u_core", 2) + line("pc_d[3]", f"{PE}.u_core", 5)
    )
    text += line("clk_i", PE, 900) + line("count_q[1]", f"{PE}.u_counters", 80) + line("head_q", f"{PE}.u_ssh_s", 1)
    assert read(text) == (Counter({"PEs": 9, "SSH-s": 1}), 15)
    with pytest.raises(OkosuError, match="no toggle was counted"):
        read(line("clk_i", PE, 900))


def test_what_one_operation_takes_is_the_difference_of_two_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(
        simulator: object, machine: Machine, operation: str, backend: str, times: int
    ) -> tuple[int, Counter[str], int]:
        factor = 2 if backend == "software" else 1
        return 100 + 8 * times, Counter({"PEs": 50 + 16 * factor * times}), 70 + 24 * times

    simulator = verilator.Simulator(Path(), Machine(), checked=False, waves=False, key="", verilator="")
    monkeypatch.setattr(verilator, "build", lambda machine, **how: simulator)
    monkeypatch.setattr(toggles, "_run", run)
    found = {(one.operation, one.backend): one for one in toggles.measure(Machine(pes=2))}
    assert len(found) == 2 * len(toggles.OPERATIONS)
    create, yields = found["create", "ssh"], found["yield", "software"]
    assert (create.cycles, create.all, create.signals) == (8.0, 16.0, 24.0)
    # Eight threads yield for each time that one counts.
    assert (yields.cycles, yields.all, yields.signals) == (1.0, 4.0, 3.0)


def test_the_table_says_how_many_times_fewer() -> None:
    registers = dict.fromkeys(toggles.PARTS, 10.0)
    many = {**registers, "PEs": 1010.0}
    found = [
        Measured("lock", "ssh", 2, 38.0, registers, 400.0),
        Measured("lock", "software", 2, 57.5, many, 1234.0),
    ]
    table = section(found, "mips1")
    assert table.body == [
        ["a free mutex is locked and unlocked", "2", "hardware", "38.0", *["10"] * 5, "50", "21.0", "400"],
        ["a free mutex is locked and unlocked", "2", "software", "57.5", "1,010", *["10"] * 4, "1,050", "", "1,234"],
    ]
    assert len(table.head) == len(table.body[0])


def test_a_simulator_without_toggles_cannot_be_asked_for_them() -> None:
    words = verilator.command(ROOM, Machine(pes=1), checked=False, waves=False, toggles=True)
    assert "--coverage-toggle" in words
    assert "--coverage-toggle" not in verilator.command(ROOM, Machine(pes=1), checked=False, waves=False)


def test_a_run_is_told_where_toggles_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    simulator = tmp_path / "machine"
    simulator.write_text('#!/bin/sh\necho "okosu: $*" >&2\nexit 1\n')
    simulator.chmod(0o755)
    made = verilator.Simulator(simulator, Machine(), checked=False, waves=False, key="", verilator="")
    with pytest.raises(OkosuError, match=re.escape(f"--toggles {tmp_path / 'file'}")):
        simulation.run(made, tmp_path / "program.elf", toggles=tmp_path / "file")


def test_the_record_is_of_these_tables() -> None:
    tables = {table["id"]: table for table in json.loads(RECORD.read_text())["sections"]}
    names = [words for words, _ in toggles.OPERATIONS.values()]
    for isa in ISAS:
        rows = [row[:3] for row in tables.pop(f"toggles-{isa}")["body"]]
        assert rows == [[name, pes, how] for pes in "12" for name in names for how in ("hardware", "software")]
    assert not tables


def test_an_instruction_set_that_there_is_not_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert toggles.main(["--isa", "mips1,vax"]) == 1
    assert "mips1 or rv32" in capsys.readouterr().err
