# SPDX-License-Identifier: Apache-2.0
"""The report of what a guest measured: a line for each routine, a table for each kind of records, nothing hostile."""

from __future__ import annotations

import itertools
import re

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")
from test_report_page import HOSTILE, Page

from okosu.records.types import Record
from papers.common.tests.pages import envelope, render
from papers.simd_kernel.report import parts
from papers.simd_kernel.run import break_even, histogram
from papers.simd_kernel.run.break_even import BreakEven, Cost
from papers.simd_kernel.run.histogram import Caller, Site, Size
from papers.simd_kernel.tests.planted import SIZES, figure6_records, profiled, surveyed


def timed_copies() -> list[Record]:
    costs = tuple(Cost("avx2", size, 10, 20, 300) for size in (64, 4096))
    return list(break_even.records(BreakEven(costs, {"avx2": 1024, "movsb": None}, None), "6.12"))


def counted_copies() -> list[Record]:
    classes = tuple(7 if k == 9 else 0 for k in range(21))
    site = Site(Caller(0x60001234, "copy", 7, 3584, classes), "copy_page_to_iter", 16, "lib/iov_iter.c:5")
    sizes = [Size("copy", 512, 7), Size("set", 64, 2)]
    return list(histogram.records("pipe-512", [site.caller], [site], sizes, "linux 6.12"))


@pytest.fixture(scope="module")
def html() -> str:
    return render([*figure6_records(), *profiled(), *surveyed(), *timed_copies(), *counted_copies()])


def test_an_emulated_machine_s_break_even_is_said_to_be_unmeasured() -> None:
    unmeasured = BreakEven((), {}, "not measured under TCG")
    seen = Page(render([*figure6_records(), *break_even.records(unmeasured, "6.12")]))
    assert "Break-even in a real kernel" in seen.text
    assert "not measured under TCG" in seen.text
    assert "Cost of a copy" not in seen.text


def test_everything_is_there(html: str) -> None:
    seen = Page(html)
    assert (seen.wrong, seen.open) == ([], [])
    for text in (
        "um-copy: memcpy, figure6", "ticks of the time stamp counter: medians of 12 boots", "as a table, 125 rows",
        "Workloads", "Vectorised loops by file", "lib/bitmap.c", "wins at no size", "Cost of a copy",
        "copy_page_to_iter", "Hot sizes", "pipe-512",
    ):  # fmt: skip
        assert text in seen.text, text


def test_figure_6_names_every_routine_and_draws_each(html: str) -> None:
    charts = [chart for chart in re.findall(r"<svg.*?</svg>", html, re.DOTALL) if "against bytes" in chart]
    # memcpy in figure6, wide and narrow; at boot only two sizes were timed.
    assert len(charts) == 2
    for chart in charts:
        for name in ("orig", "movsq", "movsb", "paper", "avx2"):
            assert f">{name}<" in chart
        assert ">512<" in chart or ">1024<" in chart


def test_names_at_the_lines_ends_do_not_meet(html: str) -> None:
    from papers.simd_kernel.report import charts

    for ends in ({"a": 1.0, "b": 1.01, "c": 1.02}, {"a": 99.0, "b": 99.5, "c": 100.0}, {"a": 5.0}):
        places = sorted(y for _, y in charts._apart(ends, 100.0))
        assert all(b - a >= 4 for a, b in itertools.pairwise(places))
        assert places[-1] <= 100


def test_what_a_guest_timed_is_not_taken_for_this_machines_library(html: str) -> None:
    assert "what okosu chooses" not in html


def test_workloads_are_in_seconds_with_quartiles() -> None:
    [part] = [one for one in parts.parts(envelope(profiled()), "k") if one.title == "Workloads"]
    row = next(row for row in part.body if row[:2] == ["all", "orig"])
    assert row[2].startswith("4.44 (")
    assert part.head == ["workload", "routine", "memcpy", "kernel", "wall"]
    assert len(part.body) == 12


def test_copies_are_listed_by_caller_and_by_size() -> None:
    assert {record.metric: record.samples for record in counted_copies()} == {
        "class": [7.0],
        "size": [2.0],
        "site": [3584.0],
    }
    callers, sizes = parts.parts(envelope(counted_copies()), "k")
    assert callers.body[0][2:4] == ["copy_page_to_iter", "7"]
    assert [row[1:4] for row in sizes.body] == [["copy", "512", "7"], ["set", "64", "2"]]


def test_nothing_is_shown_of_this_machines_own_records() -> None:
    records = figure6_records()
    for record in records:
        record.platform = "native"
    assert parts.parts(envelope(records), "k") == []


@pytest.mark.parametrize("text", HOSTILE if isinstance(HOSTILE, list | tuple) else [HOSTILE])
def test_names_are_escaped(text: str) -> None:
    records = [*surveyed(), *profiled(), *figure6_records()]
    for record in records:
        record.variant = f"{text}{record.variant}"
        if "file" in record.parameters:
            record.parameters["file"] = text
    seen = Page(render(records))
    assert (seen.wrong, seen.open) == ([], [])


def test_one_size_and_one_boot_are_enough() -> None:
    records = [record for record in figure6_records() if record.parameters["n"] == SIZES[0]]
    for record in records:
        record.samples, record.rounds = record.samples[:1], record.rounds[:1]
    assert parts.parts(envelope(records), "k")[0].draw is None
