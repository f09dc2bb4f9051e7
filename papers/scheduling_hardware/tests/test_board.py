# SPDX-License-Identifier: Apache-2.0
"""A board's memory images, pins, command and tables; nothing is synthesised or simulated here."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest

from lab.tests import obeys
from okosu.cli.main import dispatch
from okosu.errors import USAGE_ERROR, OkosuError
from papers.scheduling_hardware import ROOM, board, board_table, synthesis
from papers.scheduling_hardware.report import summary

ULX3S = board.BOARDS["ulx3s"]
# The names of yosys and nextpnr for cells, and what each board's FPGA has of them.
COST = synthesis.cost({"LUT4": 20000, "CCU2C": 100, "TRELLIS_FF": 6000, "DP16KD": 128, "MULT18X18D": 8})
USED = {"TRELLIS_COMB": (21000, 83640), "DP16KD": (128, 208), "TRELLIS_IO": (10, 365), "EHXPLLL": (1, 4)}


def elf(*segments: tuple[int, bytes]) -> bytes:
    """Return an ELF file of 32 bits with these segments."""
    head = (
        b"\x7fELF\x01\x01\x01"
        + bytes(9)
        + struct.pack("<HHIIIIIHHHHHH", 2, 8, 1, 0, 52, 0, 0, 52, 32, len(segments), 0, 0, 0)
    )
    table, body, at = b"", b"", 52 + 32 * len(segments)
    for address, content in segments:
        table += struct.pack("<8I", 1, at + len(body), address, address, len(content), len(content), 5, 4)
        body += content
    return head + table + body


def test_images_have_each_segment_in_its_memory(tmp_path: Path) -> None:
    program = tmp_path / "program.elf"
    program.write_bytes(elf((0x80000004, b"\x01\x02\x03\x04"), (0x90000000, b"\xff\xee")))
    told = {name: text.split() for name, text in board.images(ULX3S.imem_words, ULX3S.dmem_words, program).items()}
    assert {name: len(words) for name, words in told.items()} == {"text.hex": 16384, "data.hex": 32768}
    assert told["text.hex"][:3] == ["00000000", "04030201", "00000000"]
    assert told["data.hex"][:2] == ["0000eeff", "00000000"]


@pytest.mark.parametrize("segment", [(0x80000000, bytes(65540)), (0x9001FFFC, bytes(8)), (0x7FFFFFFC, bytes(4))])
def test_a_program_that_does_not_fit_is_refused(tmp_path: Path, segment: tuple[int, bytes]) -> None:
    program = tmp_path / "program.elf"
    program.write_bytes(elf(segment))
    with pytest.raises(OkosuError, match="does not fit the memories"):
        board.images(ULX3S.imem_words, ULX3S.dmem_words, program)


def test_what_is_no_elf_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OkosuError, match="no ELF file"):
        board.segments(b"#!/bin/sh\n")


@pytest.mark.parametrize("one", board.BOARDS.values(), ids=lambda one: one.name)
def test_every_port_of_a_top_has_a_pin_and_no_pin_has_two(one: board.Board) -> None:
    top = (ROOM / f"rtl/board/{one.top}.sv").read_text()
    ports = set()
    for width, name in re.findall(r"^  (?:input|output) +logic (\[\d:0])? *(\w+),?$", top, re.MULTILINE):
        ports |= {f"{name}[{bit}]" for bit in range(int(width[1]) + 1)} if width else {name}
    pins = re.findall(r'LOCATE COMP "(\S+)" SITE "(\w+)";', (ROOM / f"rtl/board/{one.name}.lpf").read_text())
    assert {name for name, _ in pins} == ports
    assert len({site for _, site in pins}) == len(pins) == 10


@pytest.mark.parametrize("one", board.BOARDS.values(), ids=lambda one: one.name)
def test_the_parameters_are_those_of_the_top(one: board.Board) -> None:
    head = (ROOM / f"rtl/board/{one.top}.sv").read_text().partition(") (")[0]
    assert set(re.findall(r"parameter int unsigned (\w+)", head)) == {*one.parameters, "Baud"}


def test_a_simulation_is_made_of_the_files_that_synthesis_reads() -> None:
    names = [path.name for path in board.sources()]
    assert names[-3:] == ["wishbone_machine.sv", "uart_tx.sv", "ulx3s_top.sv"]
    assert all(path.is_file() for path in board.sources())


@pytest.mark.parametrize(
    "words", [["--board", "icebreaker"], ["--simulate"], ["--out", "o.bit"], ["--", "hello.c"]], ids=" ".join
)
def test_what_makes_no_sense_is_refused(words: list[str]) -> None:
    with pytest.raises(OkosuError, match="ulx3s") as refused:
        dispatch(["lab", "synth", *words])
    assert refused.value.status == USAGE_ERROR


def test_dry_run_names_board_and_program(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["lab", "synth", "--board", "ulx3s", "--simulate", "--dry-run", "--", "hello.c", "3"]) == 0
    _, program, limit = capsys.readouterr().out.splitlines()
    assert program == "program: hello.c 3"
    assert limit.startswith("memory is block RAM alone: 64 KiB of text for each PE, 128 KiB of data, ")
    assert "no controller" in limit


def test_what_the_limit_leaves_is_what_the_linker_gives() -> None:
    """Data and heap lie below the contexts, whose address the linker script computes from the same settings."""
    named = dict(re.findall(r"__okosu_(\w+)=(\d+)", " ".join(ULX3S.flags)))
    memory, stacks, log2, main = (int(named[one]) for one in ("memory", "stacks", "stack_log2", "main_stack"))
    top = (memory - main) & -(1 << log2)
    contexts = top - (stacks << log2) - (stacks << 8)
    assert f"leave {contexts // 1024} KiB" in ULX3S.limit
    assert "__contexts = __stacks_start - (__threads_max << 8);" in (ROOM / "sw/link.ld").read_text()


def test_the_record_has_its_schema_and_its_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board, "tools", lambda: {"pyosys": "1"})
    (bitstream := tmp_path / "ulx3s.bit").write_bytes(b"bits")
    built = board.Built(bitstream, COST, USED, 14.2, 12.5)
    told = obeys.its_schema(board_table.record(ULX3S, built, board.PROGRAM))
    assert told["program"][0] == "sw/programs/tree.c"
    kept = summary.raw(told)
    assert kept is not None
    fpga, clock = kept.sections
    assert fpga.body == [
        ["logic cells", "21,000", "83,640", "25 %"],
        ["block RAMs", "128", "208", "62 %"],
        ["PLLs", "1", "4", "25 %"],
        ["pins", "10", "365", "3 %"],
    ]
    assert clock.body == [
        ["2 PEs, mem, 16 threads", "2 x 64 KiB of text, 128 KiB of data", "14.2 MHz", "12.5 MHz"],
    ]
