# SPDX-License-Identifier: Apache-2.0
"""okosu reproduce scheduling-hardware, quick: on two machines of 8 PEs it comes to its end, and says what must hold.

In full, of both instruction sets.
"""

from __future__ import annotations

import os
import shutil

import pytest

from okosu.records.types import Compared, ReproduceFile
from papers import common
from papers.common.tests.long import quick_paper
from papers.scheduling_hardware import cross_compile
from papers.scheduling_hardware.report import parts as report_parts
from papers.scheduling_hardware.tests.long.shared import NEEDS

pytestmark = NEEDS
PAPER = common.load()["scheduling-hardware"]
RV32_COMPILER = cross_compile.COMPILERS["rv32"]
LATER = [
    pytest.mark.skipif(os.environ.get("OKOSU_LAB") != "full", reason="make test-lab-full runs it"),
    pytest.mark.skipif(not shutil.which(RV32_COMPILER), reason=f"{RV32_COMPILER} is not installed"),
]


@pytest.fixture(scope="module", params=["mips1", pytest.param("rv32", marks=LATER)])
def held(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ReproduceFile:
    return quick_paper.reproduce(PAPER.name, tmp_path_factory.mktemp("reproduce"), "--check", "--isa", request.param)


@pytest.fixture(scope="module")
def compared(held: ReproduceFile) -> dict[str, Compared]:
    return {item.id: item for item in held.compared}


def measured(compared: dict[str, Compared], name: str) -> float:
    value = compared[name].measured
    assert value is not None, compared[name].note
    return value


def test_every_run_gave_its_cycles(held: ReproduceFile) -> None:
    assert held.finished
    assert not held.plan.missing
    assert {record.platform for record in held.records} == {"verilator"}
    assert [record.note for record in held.records if not record.samples] == []


def test_every_published_entry_has_its_number_but_the_excused(compared: dict[str, Compared]) -> None:
    for entry in PAPER.published():
        assert (compared[entry.id].measured is None) == bool(entry.not_measured), entry.id


def test_the_load_is_the_paper_s(compared: dict[str, Compared]) -> None:
    """Its tasks, without threads, take 30,000 cycles and those of their calls; so the cycles of a step are right."""
    for name in ("f6.load", "f8.load"):
        assert 30_000 <= measured(compared, name) <= 30_600


def test_the_curves_have_the_paper_s_shape(compared: dict[str, Compared]) -> None:
    assert measured(compared, "f9.best") == 8
    assert measured(compared, "f7.ssh") < measured(compared, "f7.software")
    assert measured(compared, "f6.create") < 100
    assert measured(compared, "t4.create.ssh") < measured(compared, "t4.create.software")


def test_all_targets_are_judged_but_the_one_on_16_pes(compared: dict[str, Compared]) -> None:
    undecided = {target.id for target in PAPER.targets() if compared[target.id].holds is None}
    assert undecided == {"efficiency"}
    assert all(compared[target.id].holds for target in PAPER.targets() if target.id not in undecided)


def test_the_report_has_every_experiment(held: ReproduceFile) -> None:
    pytest.importorskip("matplotlib")
    assert len(report_parts.parts(held, "k")) == 8
