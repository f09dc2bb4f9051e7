# SPDX-License-Identifier: Apache-2.0
"""The report of the simulated machine: a part for each experiment, its numbers and prose from the records alone."""

from __future__ import annotations

import itertools
import re

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")
from test_report_page import HOSTILE, Page

from okosu.records.types import Record
from okosu.report.part import NARROW, Part
from papers.common.tests.pages import envelope, render
from papers.scheduling_hardware import thread_model
from papers.scheduling_hardware.report import charts
from papers.scheduling_hardware.report import parts as report_parts
from papers.scheduling_hardware.report.charts import Axis, Line
from papers.scheduling_hardware.tests.planted import CREATE, everything

TITLES = [
    "Where the cycles go", "Which grain pays", "Into how many threads", "What it is spent on", "What a call costs",
    "Policies", "One lock for all", "1 to 64 PEs",
]  # fmt: skip


@pytest.fixture(scope="module")
def records() -> list[Record]:
    return [record for each in everything().values() for record in each]


@pytest.fixture(scope="module")
def parts(records: list[Record]) -> dict[str, Part]:
    return {part.title: part for part in report_parts.parts(envelope(records), "k")}


@pytest.fixture(scope="module")
def html(records: list[Record]) -> str:
    return render(records)


def test_every_experiment_has_its_part(parts: dict[str, Part], html: str) -> None:
    assert list(parts) == TITLES
    seen = Page(html)
    assert (seen.wrong, seen.open) == ([], [])
    drawn = [title for title, part in parts.items() if part.draw]
    assert len(drawn) == 6
    charts = [chart for chart in re.findall(r"<svg.*?</svg>", html, re.DOTALL) if 'aria-label="' in chart]
    assert len(charts) == 2 * len(drawn)


def test_lines_are_named_and_said_in_words(html: str) -> None:
    for text in (
        "times as fast as sequential against cycles per thread: software",
        "efficiency against PEs: grain, fifo",
    ):
        assert html.count(text) == 2
    for name in ("ssh banked", "ssh mem", "software", "mutex", "creations", "grain, tree"):
        assert f">{name}<" in html, name


def test_figure_6_adds_up(parts: dict[str, Part], records: list[Record]) -> None:
    part = parts["Where the cycles go"]
    total = sum(float(row[1].replace("\N{NARROW NO-BREAK SPACE}", "").replace(",", "")) for row in part.body)
    sixth = [record for record in records if record.parameters["of"] == "figure6"]
    [software] = [one for one in thread_model.read(sixth) if one.variant == "software"]
    assert total == pytest.approx(software.pes * software.parallel, rel=1e-3)
    assert f"SSH’s creations are {100 * CREATE['ssh soft'] / CREATE['software']:.0f} %" in part.about


def test_the_prose_has_the_numbers_of_its_records(parts: dict[str, Part]) -> None:
    assert "SSH is best with 8 threads" in parts["Into how many threads"].about
    assert re.search(
        r"It pays with software from 5\d\d cycles; ssh soft from 1\d\d cycles", parts["Which grain pays"].about
    )
    assert "feeds 13 PEs at most" in parts["1 to 64 PEs"].about
    assert "of 1.33" in parts["1 to 64 PEs"].body[-1][7]
    assert [row[0] for row in parts["1 to 64 PEs"].body] == ["1", "2", "4", "8", "16", "32", "64"]


def test_calls_stand_by_variant_with_least_and_most(parts: dict[str, Part]) -> None:
    part = parts["What a call costs"]
    row = next(row for row in part.body if row[0] == "create")
    assert row[part.head.index("ssh banked")] == "16–18"
    assert row[part.head.index("software")] == "320–360"


def test_locks_are_per_taking(parts: dict[str, Part]) -> None:
    assert parts["One lock for all"].body[-1][2:] == ["50.0 (612)", "200.0 (38)", "100.0 (153)"]


def test_part_of_the_records_is_enough() -> None:
    for name, held in everything().items():
        assert report_parts.parts(envelope(held), "k"), name
        assert report_parts.parts(envelope(held[:1]), "k") is not None


USED = {
    "pes": "scaling", "task": "scaling", "threads": "figure8", "sample": "figure7", "lock": "locks", "per_pe": "locks",
    "taken": "locks", "of": "locks", "policy": "policies", "least": "primitives",
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("bad", [HOSTILE, -1.0, 0.0, 1e300])
def test_altered_records_are_drawn_or_left_out(bad: str | float) -> None:
    for name, experiment in USED.items():
        held = everything()[experiment]
        assert any(name in record.parameters for record in held)
        for record in held:
            if name in record.parameters:
                record.parameters[name] = bad
        seen = Page(render(held))
        assert (seen.wrong, seen.open) == ([], [])


def test_names_at_the_lines_ends_do_not_meet() -> None:
    for ends in ({"a": 0.5, "b": 0.51, "c": 0.52}, {"a": 0.99, "b": 0.995, "c": 1.0}, {"a": 0.2}):
        places = sorted(y for _, y in charts.apart(ends, 0.04))
        assert all(b - a >= 0.039 for a, b in itertools.pairwise(places))
        assert places[-1] <= 1


def test_a_chart_of_one_point_is_drawn() -> None:
    line = {"one": Line([(8.0, 3.0)], "arm")}
    assert "<svg" in charts.lines(line, Axis("x", log=True), Axis("y", mark=1.0), "n", NARROW)
