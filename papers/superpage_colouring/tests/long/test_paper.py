# SPDX-License-Identifier: Apache-2.0
"""okosu reproduce superpage-colouring, quick: one seed of each machine comes to its end, and has the paper's shape."""

from __future__ import annotations

import os
import shutil

import pytest

from lab.run import qemu
from okosu.records.types import Compared, ReproduceFile
from papers import common
from papers.common.tests.long import quick_paper
from papers.superpage_colouring import colour_model
from papers.superpage_colouring.colour_model import CONFLICTS, Cell
from papers.superpage_colouring.report import parts

pytestmark = [
    pytest.mark.skipif(os.environ.get("OKOSU_LAB") != "full", reason="make test-lab-full runs it"),
    pytest.mark.skipif(
        not shutil.which(qemu.PROGRAM), reason="qemu-system-x86 is not installed (tools/setup/lab-deps.sh)"
    ),
]
PAPER = common.load()["superpage-colouring"]


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> ReproduceFile:
    return quick_paper.reproduce(PAPER.name, tmp_path_factory.mktemp("reproduce"))


@pytest.fixture(scope="module")
def compared(held: ReproduceFile) -> dict[str, Compared]:
    return {item.id: item for item in held.compared}


@pytest.fixture(scope="module")
def cells(held: ReproduceFile) -> list[Cell]:
    return colour_model.read(held.records)


def test_every_boot_of_the_quick_experiments_gave_its_counts(held: ReproduceFile) -> None:
    assert held.finished
    left_out = {one.name for one in PAPER.experiments() if not one.quick}  # type: ignore[union-attr]
    assert set(held.plan.missing) == left_out
    assert {record.platform for record in held.records} == {"qemu"}
    assert all(record.rounds == [1] for record in held.records)


def test_every_published_entry_has_its_number_but_the_excused(compared: dict[str, Compared]) -> None:
    for entry in PAPER.published():
        assert (compared[entry.id].measured is None) == bool(entry.not_measured), entry.id


def test_no_target_is_judged_by_one_seed(compared: dict[str, Compared]) -> None:
    for target in PAPER.targets():
        assert compared[target.id].holds is None
        said = compared[target.id].note
        assert any(words in said for words in ("1", "two seeds", "did not come to its end")), said


@pytest.mark.parametrize(("of", "dimensions"), [("celeron", (85, 87, 89)), ("pentium4", (171, 181))])
def test_colours_and_super_pages_spare_the_conflicts(cells: list[Cell], of: str, dimensions: tuple[int, ...]) -> None:
    stock, colour, super_ = (colour_model.sweep(cells, of, arm) for arm in ("stock", "hop", "thp"))
    for n in dimensions:
        assert colour[n].speed > 1.3 * stock[n].speed, n
        assert super_[n].speed > 1.3 * stock[n].speed, n
        if colour[n].fill <= 0.9:
            share = colour[n].share(CONFLICTS)
            assert share is not None
            assert share <= 0.1, n


def test_small_sets_are_as_fast_with_any_pages(cells: list[Cell]) -> None:
    stock, colour = (colour_model.sweep(cells, "celeron", arm) for arm in ("stock", "hop"))
    for n in (43, 45, 47, 49):
        assert colour[n].speed == pytest.approx(stock[n].speed, rel=0.05)


def test_one_colour_is_the_worst(cells: list[Cell]) -> None:
    single = colour_model.sweep(cells, "one-colour", "mask", mask=1.0)
    stock = colour_model.sweep(cells, "celeron", "stock")
    assert all(single[n].speed < 0.5 * stock[n].speed for n in (43, 45, 47, 49))


def test_the_report_has_the_figures(held: ReproduceFile) -> None:
    pytest.importorskip("matplotlib")
    titles = [part.title for part in parts.parts(held, "k")]
    assert titles[0] == "Table 2: published, and here"
    assert sum("over" in title for title in titles) == 6
