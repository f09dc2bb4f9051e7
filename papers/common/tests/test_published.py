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
    """The paper agrees with itself to the digits that it prints; an entry for which this fails would have to be marked
    disputed."""
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
            # This holds before anything was measured, too.
            assert not paper.sides(target, Measured()).sides, target.id
            continue
        named = r"elements|bytes|flops|limit:[\w-]+(,[\w-]+)*|(peer|variant):[\w*-]+(,[\w*-]+)*"
        assert re.fullmatch(named, target.against), target.id
        assert (target.unit == "times") == target.against.startswith(("peer:", "variant:")), target.id
