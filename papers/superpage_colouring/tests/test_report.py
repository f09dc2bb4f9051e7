# SPDX-License-Identifier: Apache-2.0
"""The report of placed pages: a part for each figure and experiment, its numbers and prose from the records alone."""

from __future__ import annotations

import re
from pathlib import Path
from statistics import fmean

import pytest
from msgspec.structs import replace

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")
from test_report_page import HOSTILE, Page

from okosu.records.summary import slug
from okosu.records.types import Record, ReproduceFile
from okosu.report import page
from okosu.report.part import NARROW, Part
from papers import common
from papers.common import programs
from papers.common.base import Measured
from papers.common.conduct import Conduct
from papers.common.tests.pages import envelope
from papers.superpage_colouring import colour_model
from papers.superpage_colouring.report import charts, findings, parts, summary
from papers.superpage_colouring.tests.planted import everything, sweeps

PAPER = common.load()["superpage-colouring"]
DRAWN = [
    "Figures 8 and 9: Celeron, colour over stock",
    "Figure 10: Celeron, super and colour over stock",
    "Figure 11: Celeron, super and colour over super",
    "Pentium 4, colour over stock (not in the paper)",
    "Figure 12: Pentium 4, super and colour over stock",
    "Figure 13: Pentium 4, super and colour over super",
    "The whole range: celeron-900",
    "The whole range: pentium4-1600",
    "By ways to place pages: celeron-900",
    "By ways to place pages: pentium4-1600",
]
LISTED = [
    "By the cost of a page walk",
    "Where colouring loses: beyond the cache",
    "Sets that end beyond their huge page",
    "Fresh memory",
    "Rows a power of two apart",
    "Beside another program",
    "A machine whose L2 hashes its index",
    "All pages in one colour",
    "A workload like a kernel’s build",
    "What the kernel pays",
]


def concluded(records: dict[str, list[Record]]) -> ReproduceFile:
    """Return the file of a reproduction that gave these records."""
    held = envelope([record for each in records.values() for record in each])
    conduct = Conduct(PAPER, False, held, programs.Runner(None, None), print, lambda: None)  # type: ignore[arg-type]
    conduct.measured = Measured(records=records)
    conduct.conclude()
    return held


@pytest.fixture(scope="module")
def held() -> ReproduceFile:
    return concluded(everything())


def titled_parts(held: ReproduceFile) -> dict[str, Part]:
    return {part.title: part for part in parts.parts(held, "k")}


@pytest.fixture(scope="module")
def titled(held: ReproduceFile) -> dict[str, Part]:
    return titled_parts(held)


@pytest.fixture(scope="module")
def html(held: ReproduceFile) -> str:
    return page.render([(Path("spc.json"), held)])


def test_every_experiment_has_its_part(titled: dict[str, Part], html: str) -> None:
    assert list(titled) == ["Table 2: published, and here", *DRAWN, *LISTED]
    assert [title for title, part in titled.items() if part.draw] == DRAWN
    seen = Page(html)
    assert (seen.wrong, seen.open) == ([], [])
    charts = [chart for chart in re.findall(r"<svg.*?</svg>", html, re.DOTALL) if 'aria-label="' in chart]
    assert len(charts) == 2 * len(DRAWN)
    widths = {width: len(row) for part in titled.values() for row in part.body for width in [len(part.head)]}
    assert all(width == cells for width, cells in widths.items())


def test_another_paper_s_record_has_no_part_of_these(held: ReproduceFile) -> None:
    # Another paper's entries, with names that only look like ours: t2.compiler.
    compared = [replace(item, id="t2.compiler") for item in held.compared[:1]]
    assert parts.parts(replace(held, records=[], compared=compared), "k") == []


def test_table_2_stands_beside_ours(titled: dict[str, Part], held: ReproduceFile) -> None:
    row = next(row for row in titled["Table 2: published, and here"].body if row[0] == "85")
    compared = {item.id: item for item in held.compared}
    assert row[1:4] == ["342", "1614", "4.72"]
    assert row[4:6] == [f"{compared[f't2.85.{column}'].measured:.0f}" for column in ("stock", "colour")]


def test_the_paper_s_points_are_drawn_where_the_paper_has_them(html: str) -> None:
    assert html.count("○ the paper’s Table 2") == 2


def test_a_figure_says_its_most_and_its_least(titled: dict[str, Part], held: ReproduceFile) -> None:
    cells = colour_model.read(held.records)
    stock, both = (colour_model.sweep(cells, "pentium4", arm) for arm in ("stock", "thp+hop"))
    most = max(colour_model.gains(both, stock), key=lambda one: one.ratio)
    part = titled["Figure 12: Pentium 4, super and colour over stock"]
    assert f"The most is {most.ratio:.2f} times at dimension {most.dimension}" in part.about
    assert "fill the L2 at 181" in part.about
    assert len(part.body) == len(both)


def test_the_whole_range_has_its_own_machine_s_dimensions(titled: dict[str, Part]) -> None:
    """Both machines have the dimension 359 beyond the panels: they must not be mixed up."""
    rows = [int(row[0]) for row in titled["The whole range: celeron-900"].body]
    assert rows == list(range(219, 600, 20))
    assert [int(row[0]) for row in titled["The whole range: pentium4-1600"].body] == list(range(329, 1000, 30))


def test_arms_stand_beside_each_other(titled: dict[str, Part]) -> None:
    body = [row for row in titled["By ways to place pages: celeron-900"].body if row[0] == "85"]
    assert [row[1] for row in body] == [
        "stock", "stock, shuffled at boot", "colour (fold)", "colour", "super", "super (hugetlb)", "super + colour",
    ]  # fmt: skip
    assert [row[-1] for row in body] == ["30", "3", "30", "30", "30", "3", "30"]


def test_the_spread_of_an_arm_is_that_of_its_seeds(titled: dict[str, Part], held: ReproduceFile) -> None:
    cells = colour_model.read(held.records)
    speeds = colour_model.sweep(cells, "celeron", "stock")[85].speeds().values()
    row = next(r for r in titled["By ways to place pages: celeron-900"].body if r[:2] == ["85", "stock"])
    assert row[2] == f"{fmean(speeds):.0f}"
    assert row[4] == f"{min(speeds):.0f}"


def test_a_longer_walk_costs_small_pages_more(titled: dict[str, Part]) -> None:
    gains = [float(row[1]) for row in titled["By the cost of a page walk"].body]
    assert gains == sorted(gains)
    assert gains[0] < gains[-1]


def test_other_programs_and_hashes_are_told_apart(titled: dict[str, Part]) -> None:
    beside = [row[0] for row in titled["Beside another program"].body]
    assert "celeron-900, 61, beside another, apart" in beside
    hashed = {row[1] for row in titled["A machine whose L2 hashes its index"].body}
    assert hashed == {"stock", "colour", "colour, known", "colour (fold), known"}
    assert {row[1] for row in titled["All pages in one colour"].body} == {"all in one colour"}
    assert titled["A workload like a kernel’s build"].body[0][0] == "celeron-900, 20 units"


def test_costs_are_beside_those_of_the_kernel_without(titled: dict[str, Part]) -> None:
    row = titled["What the kernel pays"].body[0]
    assert row[0] == "fault-4k: instructions"
    assert row[2].endswith("(+0.10 %)")
    assert row[3].endswith("(+4.00 %)")


@pytest.mark.long
def test_part_of_the_records_is_enough() -> None:
    for name, held in everything().items():
        assert parts.parts(concluded({name: held}), "k") or name in ("wide", "colours", "baselines"), name
        assert parts.parts(envelope(held[:1]), "k") is not None
    one = concluded(sweeps(1))
    assert "of 1 seed " in {part.title: part for part in parts.parts(one, "k")}[DRAWN[0]].about


USED_BY = {"colours": "colours", "pitch": "strides", "call": "costs"}
USED = (
    "of",
    "machine",
    "state",
    "dimension",
    "bytes",
    "accesses",
    "hertz",
    "cache",
    "walk",
    "colours",
    "pitch",
    "call",
)


@pytest.mark.long
@pytest.mark.parametrize("bad", [HOSTILE, -1.0, 0.0, 1e300, 0.5])
def test_altered_records_are_drawn_or_left_out(bad: str | float) -> None:
    for name in USED:
        chosen = everything()[USED_BY[name]] if name in USED_BY else sweeps(1)["celeron"]
        held = [record for record in chosen if name in record.parameters]
        assert held, name
        for record in held:
            record.parameters[name] = bad
        seen = Page(page.render([(Path("lab.json"), envelope(held))]))
        assert (seen.wrong, seen.open) == ([], [])


def test_the_sentences_have_the_numbers_of_the_records(held: ReproduceFile) -> None:
    text = findings.markdown(held)
    # The lines are wrapped for the README.
    said = text.replace("\n  ", " ")
    cells = colour_model.read(held.records)
    for of, name in (("celeron", "Celeron"), ("pentium4", "Pentium 4")):
        stock, colour = (colour_model.sweep(cells, of, arm) for arm in ("stock", "hop"))
        gains = colour_model.gains(colour, stock)
        best = max((one for one in gains if colour[one.dimension].fill <= 1), key=lambda one: one.ratio)
        assert f"**{name}, the most within the cache:** colour {best.ratio:.2f} times" in said
        least = min((one for one in gains if 1 < colour[one.dimension].fill <= 1.8), key=lambda one: one.ratio)
        assert f"**{name}, beyond the cache colouring loses:** down to {least.ratio:.2f} times" in said
    assert "the paper 4.72) at 85" in said
    assert "**Row 47 is not reproduced:** 1.04" in said
    titles = [title for title in titled_parts(held) if f"\n\n{title}. " in text]
    assert titles == ["Table 2: published, and here", "By the cost of a page walk", "What the kernel pays"]
    assert max(len(line) for line in text.splitlines() if not line.startswith("|")) <= 100


def test_without_records_nothing_is_said() -> None:
    assert findings.markdown(concluded({})) == "\n"


@pytest.mark.long
def test_a_summary_keeps_the_findings_and_every_table(held: ReproduceFile) -> None:
    kept = {one.id: one for one in summary.sections(held)}
    assert kept["findings"].about + "\n" == findings.markdown(held)
    for part in parts.parts(held, "k"):
        assert kept[slug(part.title)].body == part.body
    assert summary.sections(concluded({})) == []


def test_a_panel_of_one_dimension_is_drawn() -> None:
    gains = [colour_model.Gain(85, 4.0, 3.0, 5.0)]
    panel = charts.Panel({"a over b": (gains, "arm")}, {"a": charts.Line([(85.0, 0.0)], "arm")}, 90.5)
    assert "from 4.00 at dimension 85" in charts.panel(panel, "n", NARROW)
