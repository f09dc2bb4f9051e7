# SPDX-License-Identifier: Apache-2.0
"""The report of a benchmark: everything is there and escaped, whatever the file holds; and where its parts go."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import bench_fake
import msgspec
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")
from test_report_page import HOSTILE, Page

from okosu.records import files
from okosu.records.types import BenchFile
from okosu.report import bench, bench_charts, page
from okosu.report.bench_charts import Line


def render(envelope: BenchFile) -> str:
    return page.render([(Path("bench.json"), envelope)])


@pytest.fixture(scope="module")
def html() -> str:
    return render(bench_fake.envelope())


def test_everything_is_there(html: str) -> None:
    seen = Page(html)
    assert seen.wrong == []
    assert seen.open == []
    for text in (
        "ddot, throughput", "copy, hot", "okosu_copy_near", "Times as fast as the best peer", "Times as fast as glibc",
        "Elements a cycle", "Not here: mkl :", "make peers", "a remark", "It did not come to its end",
        "CPU 0 at 3.00 GHz", "this machine’s limit", "products; 16 B and 2 flop per element",
        "Cycles per item, lower is better",
    ):  # fmt: skip
        assert text in seen.text, text
    assert "NOT JUDGED" not in seen.text
    assert "Nothing was measured" not in seen.text


def test_names_values_and_caches_are_drawn(html: str) -> None:
    charts = re.findall(r"<svg.*?</svg>", html, re.DOTALL)
    assert len(charts) == 7
    assert all("L1" in chart and "L2" in chart for chart in charts[:6])
    words = [re.sub(r"<[^>]+>", " ", chart) for chart in charts]
    assert "a-peer-with-a-…ng-name" in words[0]
    assert "limit" in words[0]
    assert all(f"openblas-{i}" in words[0] for i in range(9))
    # A narrow chart names okosu's line, the limit and the highest of the others.
    assert sum(f"openblas-{i}" in words[1] for i in range(9)) == bench_charts.NAMED - 2
    assert "var(--arm)" in charts[0]
    assert "stroke-dasharray" in charts[0]
    assert "#0" not in "".join(re.findall(r"(?:stroke|fill): *(#0\w+)", html))


def test_the_same_file_gives_the_same_page(html: str) -> None:
    assert render(bench_fake.envelope()) == html


def test_a_table_holds_ratio_and_interval() -> None:
    found = bench.sections(bench_fake.envelope(), "s1")
    assert [one["name"] for one in found] == ["blas", "copy", "odd"]
    blas, copy, odd = found
    row = next(row for row in blas["groups"][0]["rows"] if row["n"] == "2K")
    # 2048 elements: 2048 / 7.5 + 8 cycles against 2048 / 6.2 + 9 of the best peer.
    assert float(row["ratio"]) == pytest.approx((2048 / 6.2 + 9) / (2048 / 7.5 + 8), rel=0.02)
    assert row["peer"] == "openblas-8"
    low, high = (float(re.sub(r"[^\d.]", "", end)) for end in row["interval"].split("–"))
    assert low < float(row["ratio"]) < high
    assert row["share"] == "92 %" or 88 <= int(row["share"].split()[0]) <= 96
    assert blas["too_few"] == 0
    assert copy["groups"][0]["entry"] == "okosu_copy_near"
    assert odd["unfinished"]
    assert [cell["variant"] for cell in odd["groups"][0]["plain"]] == ["a", "b"]
    assert blas["overview"][0][0] == "ddot, throughput"
    assert len(blas["overview"][0][1]) == len(bench.PLACES)


def test_hostile_names_are_escaped() -> None:
    envelope = bench_fake.envelope()
    for record in envelope.records:
        for key in ("routine", "mode", "place", "library", "config"):
            record.parameters[key] = HOSTILE
        record.variant = HOSTILE
    envelope.plan.benches["blas"]["notes"] = [HOSTILE]
    envelope.plan.benches["blas"]["absent"] = [{"variant": HOSTILE, "why": HOSTILE, "fix": HOSTILE}]
    text = render(envelope)
    assert "<script>alert" not in text
    assert "\x1b" not in text
    assert Page(text).wrong == []


def test_a_plan_that_was_altered_does_no_harm() -> None:
    envelope = bench_fake.envelope()
    odd = [record for record in envelope.records if record.parameters["bench"] == "odd"][:1]
    whole = envelope.plan.benches["odd"]
    envelope.records, envelope.plan.benches = [], {}
    wrong: list[Any] = [None, True, 7, "text", [], {}, [{}], [None], {"a": {}}]
    keys = ["header", "routines", "absent", "notes", "finished", "variants"]
    altered = [whole | {key: value} for key in keys for value in wrong] + wrong
    for i, about in enumerate(altered):
        envelope.plan.benches[f"b{i}"] = about
        envelope.records += [
            msgspec.structs.replace(one, parameters=one.parameters | {"bench": f"b{i}"}) for one in odd
        ]
    text = render(envelope)
    assert Page(text).wrong == []
    assert all(f">b{i}</h2>" in text for i in range(len(altered)))


def test_samples_that_are_zero_or_missing_are_drawn_as_nothing() -> None:
    envelope = bench_fake.envelope()
    for record in envelope.records:
        record.samples = [] if record.variant.startswith("openblas") else [0.0] * len(record.samples)
        record.rounds = record.rounds[: len(record.samples)]
    assert Page(render(envelope)).wrong == []
    envelope = bench_fake.envelope()
    for record in envelope.records:
        record.parameters["n"] = 0
    assert Page(render(envelope)).wrong == []


def test_beside_a_trial_the_list_of_files_says_what_each_is() -> None:
    trial = files.read(Path(__file__).parents[1] / "data" / "try-small.json")
    few = bench_fake.envelope()
    few.records = few.records[:1]
    text = Page(page.render([(Path("a.json"), few), (Path("b.json"), trial)])).text
    assert "okosu bench : 1 record" in text
    assert "okosu bench --seed 7" in text


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (1, 16, [1, 2, 4, 8, 16]), (3, 3, [3]), (5, 7, [5, 7]),
        (1, 1 << 24, [1, 16, 256, 4096, 65536, 1 << 20, 1 << 24]),
        (16, 1 << 26, [16, 256, 4096, 65536, 1 << 20, 1 << 24]),
    ],
)  # fmt: skip
def test_ticks_of_sizes(low: int, high: int, ticks: list[int]) -> None:
    assert bench_charts.size_ticks(low, high) == ticks


def test_texts_of_sizes() -> None:
    texts = [bench_charts.size_text(n) for n in (1, 1000, 1024, 2560, 1 << 20, 3 << 29)]
    assert texts == ["1", "1000", "1K", "2.5K", "1M", "1.5G"]


def test_the_legend_stands_where_the_lines_differ_most() -> None:
    lines = [
        Line("ours", "chosen", [1, 2, 4], [1.0, 1.0, 5.0]),
        Line("other", "peer", [1, 2, 4], [1.0, 8.0, 5.0]),
        Line("limit", "limit", [2, 4], [9.0, 9.0]),
    ]
    named, at = bench_charts.legend(lines, 9)
    assert at == 2
    assert [(line.name, value) for line, value in named] == [("limit", 9.0), ("other", 8.0), ("ours", 1.0)]
    named, _ = bench_charts.legend(lines, 2)
    assert [line.name for line, _ in named] == ["limit", "ours"]
