# SPDX-License-Identifier: Apache-2.0
"""Programs of riscv-arch-test: which apply, what they are assembled with, whose signature is theirs."""

from __future__ import annotations

from pathlib import Path

import pytest

from okosu.errors import OkosuError
from papers.scheduling_hardware import arch_suite, riscv_suite, simulation, verilator
from papers.scheduling_hardware.arch_suite import NO_REFERENCE, Program, difference, macros, programs
from papers.scheduling_hardware.machine import Machine
from papers.scheduling_hardware.suite import PASS

ANY = 'RVTEST_CASE(0,"//check ISA:=regex(.*32.*);check ISA:=regex(.*I.*);def TEST_CASE_1=True;",add)\n'
MADE = """RVTEST_CASE(0,"//check ISA:=regex(.*I.*); check hw_data_misaligned_support:=True; def MADE=1;def T=True;",lw)
RVTEST_CASE(1,"//check ISA:=regex(.*I.*); check hw_data_misaligned_support:=False; def rvtest_mtrap_routine=True;",lw)
"""
JUMPS = """RVTEST_CASE(0,"//check ISA:=regex(.*I.*C.*); def WITH=True;",beq)
RVTEST_CASE(1,"//check ISA:=regex(.*I.*); check ISA:=regex(^[^C]+$); def rvtest_mtrap_routine=True;",beq)
"""


def test_a_case_applies_by_what_it_asks_of_the_machine() -> None:
    assert macros(ANY) == ("TEST_CASE_1=True",)
    assert macros(MADE) == ("rvtest_mtrap_routine=True",)
    assert macros(JUMPS) == ("rvtest_mtrap_routine=True",)
    assert macros('RVTEST_CASE(0,"//check ISA:=regex(.*64.*);def X=1;",ld)') is None
    assert macros('RVTEST_CASE(0,"// check ISA:=regex(.*32.*); check ISA:=regex(.*Zifencei.*); def X=1")') == ("X=1",)
    assert macros("# a program of version 1.0") == ()


def test_two_signatures_differ_where_they_differ_first() -> None:
    assert difference([1, 2], [1, 2]) == ""
    assert difference([1, 2, 3], [1, 7, 8]) == "word 1 is 00000002, expected 00000007"
    assert difference([1], [1, 2]) == "1 words, expected 2"
    assert difference([], []) == "the signature is empty"


def suite_of(folder: Path, **texts: str) -> Path:
    for name, text in texts.items():
        source = folder / f"riscv-test-suite/rv32i_m/I/src/{name}.S"
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(text)
    return folder


def test_a_reference_is_the_suites_where_it_is_of_such_a_machine(tmp_path: Path) -> None:
    folder = suite_of(tmp_path, add=ANY, beq=JUMPS, ld='RVTEST_CASE(0,"//check ISA:=regex(.*64.*);def X=1;",ld)')
    references = folder / "riscv-test-suite/rv32i_m/I/references"
    references.mkdir()
    for name in ("add", "beq"):
        references.joinpath(f"{name}.reference_output").write_text("00000001\n")
    found = {one.name: one for one in programs(folder)}
    assert set(found) == {"rv32i_m/I/add", "rv32i_m/I/beq"}
    assert found["rv32i_m/I/add"].reference == references / "add.reference_output"
    assert not found["rv32i_m/I/add"].takes_traps
    # What it was made on has compressed instructions.
    assert found["rv32i_m/I/beq"].reference is None
    assert found["rv32i_m/I/beq"].takes_traps
    assert [one.name for one in programs(folder, "add")] == ["rv32i_m/I/add"]
    with pytest.raises(OkosuError, match="is not riscv-arch-test"):
        programs(tmp_path / "elsewhere")


def test_a_program_is_judged_by_its_reference_then_by_qemu_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reference = tmp_path / "reference"
    reference.write_text("00000001\n00000002\n")
    outcome = simulation.Outcome(0, 9, 0.1, [], bytes([1, 0, 0, 0, 2, 0, 0, 0]), b"")
    monkeypatch.setattr(riscv_suite, "assemble", lambda sources, elf, *flags: "")
    monkeypatch.setattr(simulation, "run", lambda *one, **how: outcome)
    monkeypatch.setattr(arch_suite, "under_qemu", lambda elf: [1, 3])
    simulator = verilator.Simulator(tmp_path, Machine(), checked=True, waves=False, key="", verilator="")

    def judged(macros: tuple[str, ...], reference: Path | None) -> tuple[str, str]:
        said = arch_suite.judge(simulator, tmp_path, Program("a", tmp_path / "a.S", macros, reference))
        return said.verdict, said.why

    assert judged((), reference) == (PASS, "")
    assert judged((), None) == ("fail", "word 1 is 00000002, expected 00000003")
    assert judged(("rvtest_mtrap_routine=True",), reference) == (PASS, "")
    assert judged(("rvtest_mtrap_routine=True",), None)[0] == NO_REFERENCE
    monkeypatch.setattr(riscv_suite, "assemble", lambda sources, elf, *flags: "unknown opcode")
    assert judged((), reference) == ("not compiled", "unknown opcode")
