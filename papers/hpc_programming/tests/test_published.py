# SPDX-License-Identifier: Apache-2.0
"""The paper's own numbers: its tables are complete, agree where it says so, and its known errors are disputed."""

from __future__ import annotations

import re

import pytest

from papers import common
from papers.common.entries import Published


def hpc() -> dict[str, Published]:
    return {entry.id: entry for entry in common.load()["hpc-programming"].published()}


def test_the_tables_of_the_hpc_paper_are_complete() -> None:
    """Counted on the paper's pages: 16 cycle counts of section 2 (rows that stand for two
    options count twice), 8 bandwidths and 3 ratios of 4, 10 rates of 5.3 to 5.6 with their shares."""
    entries = hpc()
    values = {name for name, entry in entries.items() if entry.mark == "value"}
    assert len([name for name in values if re.match(r"2\.(gcc|icc)-O\d\.(add|mul)", name)]) == 16
    assert len([name for name in values if re.fullmatch(r"4\.cpu\d+\.(first|second)", name)]) == 8
    assert len([name for name in values if name.startswith("4.ratio.")]) == 3
    assert len([name for name in values if re.fullmatch(r"5\.[3456]\.(plain|sse\d?)", name)]) == 10
    assert len([name for name in values if re.fullmatch(r"5\.[3456]\.(plain|sse\d?)\.share", name)]) == 10
    assert entries["5.1.table1"].value == 20
    assert entries["5.1.table2"].value == 5


def test_rates_and_clock_of_the_hpc_paper_agree_where_it_says_so() -> None:
    """4 flop a clock at 2.3 GHz; a plain sum takes the latency; a plain daxpy fewer clocks than that."""
    value = {name: entry.value for name, entry in hpc().items()}
    assert value["5.2.peak"] == pytest.approx(value["5.2.flops-per-cycle"] * value["5.2.hz"])
    assert value["5.3.peak"] == pytest.approx(value["5.2.adds-per-cycle"] * value["5.2.hz"])
    assert value["5.2.flops-per-cycle"] == value["5.2.adds-per-cycle"] + value["5.2.muls-per-cycle"]
    assert value["5.3.plain.cycles"] == value["5.2.latency.k10"] == value["2.latency.add"]
    assert 2 * value["5.2.hz"] / value["5.6.plain"] < value["5.6.plain.cycles"]
    assert value["3.processors"] * value["3.cores"] == value["3.cpus"]
    assert value["4.hz"] == pytest.approx(1e9 * value["5.2.hz"], rel=1e-4)
    assert value["5.1.width"] == 64 * value["5.1.doubles"]


def test_the_known_errors_of_the_hpc_paper_are_disputed() -> None:
    disputed = {name for name, entry in hpc().items() if entry.mark == "disputed"}
    assert {"4.macro", "4.maxnode", "5.1.setr", "5.1.header", "3.nprocs-printf", "2.gcc-O1.same"} <= disputed
