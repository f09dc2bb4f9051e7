# SPDX-License-Identifier: Apache-2.0
"""What the papers' files say: complete, consistent in themselves, and each entry either compared or excused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from papers import common
from papers.common import entries
from papers.common.base import LabExperiment, Measured, Paper
from papers.common.entries import Published

PAPERS = Path(entries.__file__).resolve().parents[1]
KNOWN = list(common.load().values())
ENTRIES = [pytest.param(paper, entry, id=entry.id) for paper in KNOWN for entry in paper.published()]


def decimals(value: float) -> int:
    return len(f"{value:.10f}".rstrip("0").partition(".")[2])


def test_every_file_belongs_to_a_paper() -> None:
    folders = {paper.name.replace("-", "_") for paper in KNOWN}
    assert folders == {path.parent.name for path in PAPERS.glob("*/published.toml")}
    assert {path.parent.name for path in PAPERS.glob("*/targets.toml")} <= folders
    assert all(paper.about().name == paper.name for paper in KNOWN)


@pytest.mark.parametrize("paper", KNOWN, ids=lambda paper: paper.name)
def test_no_id_is_there_twice(paper: Paper) -> None:
    for ids in ([entry.id for entry in paper.published()], [target.id for target in paper.targets()]):
        assert len(ids) == len(set(ids))


@pytest.mark.parametrize(("paper", "entry"), ENTRIES)
def test_an_entry_says_where_it_is_from_and_why_it_is_disputed(paper: Paper, entry: Published) -> None:
    assert entry.where
    assert entry.text
    assert entry.unit
    assert bool(entry.why) == (entry.mark == "disputed")


@pytest.mark.parametrize(("paper", "entry"), [p for p in ENTRIES if p.values[1].ratio])  # type: ignore[union-attr]
def test_what_the_paper_computed_follows_from_its_own_numbers(paper: Paper, entry: Published) -> None:
    """To the digits that it prints; an entry for which this fails would have to be marked disputed."""
    values = {other.id: other.value for other in paper.published()}
    assert entry.ratio is not None
    over, under = (values[name] for name in entry.ratio)
    exact = entry.factor * over / under
    # Half of its last digit, and half a unit more where a half was rounded up (57.5 to 58).
    assert abs(exact - entry.value) <= 0.5000001 * 10.0 ** -decimals(entry.value)


@pytest.mark.parametrize("paper", KNOWN, ids=lambda paper: paper.name)
def test_targets_are_ones_that_can_be_judged(paper: Paper) -> None:
    lab = {one.name for one in paper.experiments() if isinstance(one, LabExperiment)}
    benches = {one.name for one in paper.experiments() if not isinstance(one, LabExperiment) and one.read == "rows"}
    for target in paper.targets():
        assert target.measured_by in (benches if target.bench else lab), target.id
        assert target.value > 0, target.id
        if target.experiment:
            # Before anything was measured, too.
            assert not paper.sides(target, Measured()).sides, target.id
            continue
        assert re.fullmatch(r"elements|bytes|flops|limit:[\w-]+|(peer|variant):[\w*-]+(,[\w*-]+)*", target.against), (
            target.id
        )
        assert (target.unit == "times") == target.against.startswith(("peer:", "variant:")), target.id


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
