# SPDX-License-Identifier: Apache-2.0
"""What is booted for page colouring's paper, and how boots become records: seed by seed, whatever fails."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from lab.model import machines
from lab.run import qemu
from okosu.errors import OkosuError
from okosu.records.types import Record
from papers.superpage_colouring import colour_model, placement, plan, run
from papers.superpage_colouring.placement import Placed, Point, Setting
from papers.superpage_colouring.plan import CELERON, SEEDS, TABLE2, figures
from papers.superpage_colouring.tests.planted import DIMENSIONS, measure, of


def test_records_grow_seed_by_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qemu, "build", lambda say, base: None)
    monkeypatch.setattr(placement, "measure", measure)
    boots = figures(CELERON, [85, 89], 3)
    seen: list[int] = []
    found: list[Record] = []
    for record in run.measure("celeron", boots, lambda text: seen.append(len(found))):
        found.append(record)
    # Four metrics of two dimensions in five arms, and of two arms the huge pages; all once the first seed is done.
    assert len(found) == 2 * (4 * 5 + 2)
    assert seen[2:] == [44] * 7
    assert {tuple(record.rounds) for record in found} == {(1, 2, 3)}
    assert all(len(record.samples) == 3 for record in found)
    assert found == of("celeron", boots)


def test_a_boot_that_fails_costs_its_own_samples_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def some(built: object, setting: Setting, points: Sequence[Point]) -> list[Placed]:
        if (setting.colour, setting.seed) == ("hop", 2):
            raise OkosuError("the guest did not boot", "panic")
        return measure(built, setting, points)

    monkeypatch.setattr(qemu, "build", lambda say, base: None)
    monkeypatch.setattr(placement, "measure", some)
    found: list[Record] = []
    with pytest.raises(OkosuError, match="1 of 9 boots failed") as error:
        found.extend(run.measure("celeron", figures(CELERON, [85], 3), print))
    assert "celeron-900, hop, seed 2: the guest did not boot: panic" in error.value.why
    assert {tuple(one.rounds) for one in found if "hop" in one.variant} == {(1, 3)}
    assert {tuple(one.rounds) for one in found if one.variant == "stock"} == {(1, 2, 3)}


def test_points_of_one_dimension_are_told_apart() -> None:
    cells = colour_model.read(of("strides", plan.strides(1)))
    places = [cell.where for cell in cells]
    assert len(places) == len(set(places)) == sum(len(boot.points) for boot in plan.strides(1))
    beside = colour_model.read(of("beside", plan.beside(1)))
    assert colour_model.sweep(beside, "beside", "mask", beside="hog-apart").keys() == {31, 43, 61}


def test_another_walk_cost_wants_no_other_run() -> None:
    cells = colour_model.read(of("pentium4", figures(plan.PENTIUM4, [185], 1)))
    stock = colour_model.sweep(cells, "pentium4", "stock")[185]
    walks, cycles = stock.by["walks"][1], stock.cycles[1]
    assert walks > 0
    assert stock.walk == machines.find(plan.PENTIUM4).walk.cycles_4k
    longer = stock.speeds(stock.walk + 100)
    assert longer[1] / stock.speeds()[1] == pytest.approx(cycles / (cycles + 100 * walks))


def test_the_dimensions_are_the_paper_s() -> None:
    assert DIMENSIONS[CELERON]
    boots = figures(CELERON, plan.odd(199), SEEDS)
    assert {point.dimension for point in boots[0].points} == set(range(1, 200, 2)) >= set(TABLE2)
    assert len({boot.setting.seed for boot in boots}) == SEEDS
    assert all(point.rounds * point.dimension**2 >= 10_000 for boot in boots[:3] for point in boot.points)
