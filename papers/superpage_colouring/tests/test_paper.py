# SPDX-License-Identifier: Apache-2.0
"""Page colouring's paper beside planted placements: what contradicts itself there, what we compare, what is judged."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from statistics import fmean, median, stdev

import pytest

from lab.model import machines
from lab.run import qemu
from okosu.errors import OkosuError
from okosu.records.types import Compared, Record
from papers import common
from papers.common.base import LabExperiment, Measured, Ours
from papers.common.judge import conclude, judge
from papers.superpage_colouring import colour_model, costs, huge_supply, kernel_cost, plan
from papers.superpage_colouring.huge_supply import Supply
from papers.superpage_colouring.kernel_cost import Cost
from papers.superpage_colouring.plan import CELERON, SEEDS, TABLE2
from papers.superpage_colouring.tests.planted import everything, measure, sweeps

PAPER = common.load()["superpage-colouring"]
VALUE = {entry.id: entry.value for entry in PAPER.published()}
DISPUTED = {entry.id for entry in PAPER.published() if entry.mark == "disputed"}


def test_table_2_is_complete() -> None:
    """Counted on the paper's page: ten rows of two columns."""
    assert [entry.id for entry in PAPER.published() if entry.where == "Table 2"] == [
        f"t2.{n}.{column}" for n in TABLE2 for column in ("stock", "colour")
    ]
    assert sum(VALUE[f"t2.{n}.stock"] for n in TABLE2) == pytest.approx(5745.91)
    assert sum(VALUE[f"t2.{n}.colour"] for n in TABLE2) == pytest.approx(12078.70)


def test_the_sets_are_as_large_as_the_paper_computes() -> None:
    for figure in ("f9", "f12"):
        assert round(16 * VALUE[f"{figure}.last"] ** 2 / 1024, 1) == VALUE[f"{figure}.set"]


def test_the_summary_and_table_2_cannot_both_hold() -> None:
    assert max(VALUE[f"t2.{n}.colour"] / VALUE[f"t2.{n}.stock"] for n in TABLE2) == pytest.approx(4.72, abs=0.005)
    assert VALUE["6.celeron"] == 2
    assert {"6.celeron", "3.3.shift"} == DISPUTED


def test_the_paper_s_colours_are_pages_of_the_cache() -> None:
    for name in ("celeron", "pentium4"):
        assert VALUE[f"3.1.colours.{name}"] == VALUE[f"t1.{name}"] / VALUE["2.1.page.ia32"]
    assert {CELERON: VALUE["3.1.colours.celeron"], plan.PENTIUM4: VALUE["3.1.colours.pentium4"]} == (
        plan.PAPERS_COLOURS
    )


@pytest.fixture(scope="module")
def measured() -> Measured:
    return Measured(records=everything())


@pytest.fixture(scope="module")
def ours(measured: Measured) -> dict[str, Ours]:
    return PAPER.compare(measured)


def test_every_entry_is_compared_or_excused(ours: dict[str, Ours]) -> None:
    for entry in PAPER.published():
        assert (entry.id in ours) != bool(entry.not_measured), entry.id
    assert PAPER.compare(Measured()) == {}


def test_table_2_has_the_median_of_the_seeds(ours: dict[str, Ours]) -> None:
    machine, at = machines.find(CELERON), plan.points([85])
    boots = [plan.setting(CELERON, "stock", seed) for seed in range(1, SEEDS + 1)]
    speeds = [measure(None, boot, at)[0].megabytes_per_second(machine) for boot in boots]
    assert ours["t2.85.stock"].value == pytest.approx(median(speeds))
    assert f"from {min(speeds):.0f} to {max(speeds):.0f}" in ours["t2.85.stock"].why
    assert "the paper's 4.72" in ours["t2.85.colour"].why


def test_rows_47_and_49_are_said_not_to_be_reproduced(ours: dict[str, Ours], measured: Measured) -> None:
    for n in (47, 49):
        assert "not reproduced; with all of the program's pages in one colour" in ours[f"t2.{n}.colour"].why
    assert "not reproduced" not in ours["t2.45.colour"].why
    without = {name: held for name, held in measured.records.items() if name != "one-colour"}
    assert PAPER.compare(Measured(records=without))["t2.47.colour"].why.endswith("is not reproduced")


def test_the_figures_prose_is_taken_from_the_sweeps(ours: dict[str, Ours]) -> None:
    assert ours["f9.range"].value == 191
    assert ours["f8.best"].value == ours["f9.last"].value == 89
    assert ours["f9.dip"].value < 1
    assert ours["f12.last"].value == 181
    assert ours["f12.set"].value == pytest.approx(VALUE["f12.set"], abs=0.1)
    assert (ours["3.1.colours.celeron"].value, ours["3.1.colours.pentium4"].value) == (8, 16)
    assert ours["6.loss"].value == pytest.approx(1)


def outcome(name: str, measured: Measured) -> Compared:
    target = next(one for one in PAPER.targets() if one.id == name)
    found = PAPER.sides(target, measured)
    return conclude(target, found, judge(target, found.sides), None, "")


def test_all_targets_are_judged(measured: Measured) -> None:
    for target in PAPER.targets():
        judged = outcome(target.id, measured)
        assert judged.holds is not None, judged
        assert judged.measured is not None


def test_the_gain_is_the_median_over_the_seeds(measured: Measured) -> None:
    judged = outcome("celeron-colour", measured)
    cells = colour_model.read(measured.records["celeron"])
    stock, colour = (colour_model.sweep(cells, "celeron", arm) for arm in ("stock", "hop"))
    worst = min(
        median(stock[n].cycles[seed] / colour[n].cycles[seed] for seed in range(1, SEEDS + 1)) for n in (85, 87, 89)
    )
    assert judged.measured == pytest.approx(worst)
    assert "worst of 3 points" in judged.note


def test_the_best_dimension_within_the_cache_is_taken(measured: Measured) -> None:
    cells = colour_model.read(measured.records["pentium4"])
    stock = colour_model.sweep(cells, "pentium4", "stock")
    for name, arm in (("pentium4-colour", "hop"), ("pentium4-super", "thp+hop")):
        gains = colour_model.gains(colour_model.sweep(cells, "pentium4", arm), stock)
        best = max((one for one in gains if one.dimension <= 181), key=lambda one: one.ratio)
        assert outcome(name, measured).note == f"{arm} n={best.dimension} against stock"
        assert outcome(name, measured).measured == pytest.approx(best.ratio)


def changed(measured: Measured, experiment: str, change: Callable[[Record], None]) -> Measured:
    records = copy.deepcopy(measured.records)
    for record in records[experiment]:
        change(record)
    return Measured(records=records)


def scaled(arm: str, metric: str, times: float, at: float | None = None) -> Callable[[Record], None]:
    def change(record: Record) -> None:
        if (record.variant, record.metric) == (arm, metric) and at in (None, record.parameters["dimension"]):
            record.samples = [times * sample for sample in record.samples]

    return change


def test_a_dimension_that_colouring_slows_down_misses_its_target(measured: Measured) -> None:
    assert outcome("celeron-never-below", measured).holds
    worse = changed(measured, "celeron", scaled("hop", "cycles", 1.1, at=31))
    judged = outcome("celeron-never-below", worse)
    assert judged.holds is False
    assert "n=31" in judged.note
    beyond = changed(measured, "celeron", scaled("hop", "cycles", 1.1, at=131))
    assert outcome("celeron-never-below", beyond).holds


def test_together_is_against_the_better_of_the_two_but_about_a_full_cache(measured: Measured) -> None:
    assert outcome("pentium4-together", measured).holds
    worse = changed(measured, "pentium4", scaled("thp+hop", "cycles", 1.03, at=131))
    judged = outcome("pentium4-together", worse)
    assert (judged.holds, judged.measured) == (False, pytest.approx(1 / 1.03))
    about_full = changed(measured, "pentium4", scaled("thp+hop", "cycles", 2.0, at=181))
    assert outcome("pentium4-together", about_full).holds


def test_conflicts_are_in_percent_of_the_accesses(measured: Measured) -> None:
    judged = outcome("celeron-conflicts", measured)
    assert judged.holds
    assert judged.measured == pytest.approx(0, abs=1e-6)

    def conflict(record: Record) -> None:
        if (record.variant, record.metric) == ("hop", "L2 conflicts") and record.parameters["dimension"] == 71:
            share = [0.003 * float(record.parameters["accesses"]), 0.0]
            record.samples = share * (len(record.samples) // 2)

    judged = outcome("celeron-conflicts", changed(measured, "celeron", conflict))
    assert (judged.holds, judged.measured) == (False, pytest.approx(0.15))


def test_fold_is_judged_to_80_percent_of_the_cache(measured: Measured) -> None:
    cells = colour_model.read(measured.records["celeron"])
    fold = colour_model.sweep(cells, "celeron", "fold")
    assert max(cell.share("L2 conflicts") or 0 for cell in fold.values()) > 0.1
    assert outcome("celeron-conflicts-fold", measured).holds


def test_the_spread_is_that_of_all_dimensions_within_the_cache(measured: Measured) -> None:
    cells = colour_model.read(measured.records["celeron"])
    within = [cell for cell in colour_model.sweep(cells, "celeron", "stock").values() if cell.fill <= 1]
    sigmas = [stdev(cell.speeds().values()) for cell in within]
    assert colour_model.pooled(within) == pytest.approx(fmean(sigma**2 for sigma in sigmas) ** 0.5)
    judged = outcome("celeron-spread", measured)
    # With colour all of the seeds planted here are alike.
    assert (judged.holds, judged.measured) == (True, pytest.approx(colour_model.pooled(within)))

    def spread(record: Record) -> None:
        if (record.variant, record.metric) == ("hop", "cycles"):
            record.samples = [sample * (1 + 0.2 * (seed % 2)) for seed, sample in enumerate(record.samples)]

    assert outcome("celeron-spread", changed(measured, "celeron", spread)).holds is False


def test_table_2_s_gains_lie_inside_or_so_much_outside(measured: Measured) -> None:
    judged = outcome("table2-gain", measured)
    assert judged.measured is not None
    assert (judged.measured > 1) == (judged.holds is False)
    assert "published" in judged.note


def test_few_seeds_judge_nothing_but_say_what_they_gave() -> None:
    few = Measured(records=sweeps(2))
    for target in PAPER.targets():
        if target.experiment in ("celeron", "pentium4"):
            judged = outcome(target.id, few)
            assert (judged.measured, judged.holds) == (None, None)
    note = outcome("celeron-colour", few).note
    assert note.startswith("the target is about 30 seeds, and here are 2 (from ")


def test_costs_are_judged_call_by_call(measured: Measured) -> None:
    assert outcome("paths-on", measured).measured == pytest.approx(1.04)
    assert outcome("paths-off", measured).measured == pytest.approx(1.001)
    assert outcome("thp-success", measured).measured == pytest.approx(0.5)


def test_costs_are_measured_kernel_by_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, list[str]]] = []
    setups: list[str] = []

    def instructions(built: str, *, setup: str, kernel_args: list[str]) -> dict[str, Cost]:
        asked.append((built, kernel_args))
        setups.append(setup)
        return {"fault-4k": Cost("fault-4k", 10, 10 * (1000 + len(asked)), 5)}

    def supply(built: str, seed: int, kernel_args: list[str]) -> Supply:
        return Supply(100, 90 - (built == "ours"), 50 + seed, 0.5, 1000)

    monkeypatch.setattr(qemu, "build", lambda fragments=(), say=None, base="": " ".join(fragments) or "ours")
    monkeypatch.setattr(kernel_cost, "measure", instructions)
    monkeypatch.setattr(huge_supply, "measure", supply)
    found = list(costs.measure(print))
    assert asked[0][0].split() == [*qemu.RECIPE.fragments, "x86-colour-unset"]
    assert [built for built, _ in asked[3:]] == ["ours"] * 9
    assert [words for _, words in asked[::3]] == [[], [], ["page_color=16,fold"], ["page_color=16,hop"]]
    assert setups[0] != setups[1] != setups[2] == setups[5]
    by = {(one.variant, one.metric, one.parameters["call"]): one for one in found}
    assert by["hop", "instructions", "fault-4k"].samples == [1010, 1011, 1012]
    assert by["stock", "huge share", "transparent huge pages"].samples == [0.9] * costs.SEEDS
    assert by["fold", "huge share", "hugetlb's"].rounds == list(range(1, costs.SEEDS + 1))
    judged = outcome("thp-success", Measured(records={"costs": found}))
    assert (judged.holds, judged.measured) == (True, pytest.approx(1))
    assert "90.0 % got with stock, 89.0 % with" in judged.note


def test_every_experiment_is_run_on_the_base_that_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[str] = []

    def build(fragments: Sequence[str] = (), say: object = None, base: str = "") -> None:
        built.append(base)
        raise OkosuError("nothing is built here")

    monkeypatch.setattr(qemu, "build", build)
    chosen = PAPER.on_base("7.3")
    for quick in (False, True):
        for experiment in chosen.experiments():
            assert isinstance(experiment, LabExperiment)
            with pytest.raises(OkosuError, match="nothing is built here"):
                list((experiment.thin if quick and experiment.thin else experiment.run)(print))
    assert built == ["7.3"] * 2 * len(PAPER.experiments())
    assert chosen.chosen == ("--base", "7.3")
    assert all("--base 7.3" in experiment.typed(quick=False) for experiment in chosen.experiments())  # type: ignore[union-attr]


def test_what_was_not_run_is_not_judged() -> None:
    for target in PAPER.targets():
        judged = outcome(target.id, Measured())
        assert (judged.measured, judged.holds) == (None, None)
        assert judged.note
