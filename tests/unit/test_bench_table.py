# SPDX-License-Identifier: Apache-2.0
"""The tables of `okosu bench`: each kind of block, and numbers that fit their columns."""

from __future__ import annotations

import json
from typing import Any

import bench_fake
import pytest
from hypothesis import given
from hypothesis import strategies as st

from okosu.bench import rows
from okosu.bench.rows import Result
from okosu.cli import _bench_table


def table(*lines: dict[str, Any], **header: Any) -> list[str]:
    result = Result("fake")
    for line in [*bench_fake.LIST, bench_fake.HEADER | header, *lines]:
        result.add(rows.decode(json.dumps(line).encode(), "p", 1))
    shown = _bench_table.render(result).splitlines()
    assert max(map(len, shown)) <= 80
    return shown


def cells(lines: list[str], start: str) -> list[list[str]]:
    """The rows of the block whose title begins with `start`, without its heading."""
    at = next(i for i, line in enumerate(lines) if line.startswith(start))
    end = next((i for i in range(at, len(lines)) if not lines[i]), len(lines))
    return [line.split() for line in lines[at + 2 : end]]


def test_a_point_of_each_size_in_rising_order() -> None:
    sizes = [(4096, 2), (64, 3)]
    lines = table(*(bench_fake.row(n=n, items=n, point=p, samples=[n / 8.0]) for n, p in sizes for _ in [0]), *(
        bench_fake.row(variant="p", kind="peer", n=n, items=n, point=p, samples=[n / 4.0]) for n, p in sizes
    ))  # fmt: skip
    assert cells(lines, "ddot, throughput") == [
        ["64", "L1", "8", "8", "384", "–", "p", "2.000", "(too", "few)"],
        ["4096", "L1", "512", "8", "384", "–", "p", "2.000", "(too", "few)"],
    ]


def test_an_interval_where_the_rounds_suffice() -> None:
    peer = bench_fake.row(variant="p", kind="peer", samples=[150.0 + i for i in range(6)])
    found = cells(table(bench_fake.row(samples=[100.0] * 6), peer), "ddot")
    assert found[0][-2:] == ["1.525", "1.50–1.55"]


def test_the_entry_that_is_told_has_a_block_of_its_own() -> None:
    made = [
        bench_fake.row("copy", variant, kind, mode="cold", align=[8, 24], cost=cost)
        for variant, kind, cost in (
            ("okosu_copy", "okosu", 100.0), ("okosu_copy_far", "okosu", 50.0), ("glibc", "peer", 100.0),
        )
    ]  # fmt: skip
    lines = table(*made)
    assert cells(lines, "copy, cold, +8 +24  ")[0][7] == "1.000"
    assert cells(lines, "copy, cold, +8 +24, by okosu_copy_far")[0][7] == "2.000"


def test_what_is_not_compared_is_listed_by_variant() -> None:
    made = [
        bench_fake.row("tick", v, cost=c, bytes_per_item=0, flops_per_item=0, items=10, unit="ns", samples=[c, 2 * c])
        for v, c in (("a", 100.0), ("a-variant-with-a-very-long-name", 3e7))
    ]
    assert cells(table(*made), "tick") == [
        ["a", "1024", "150", "15", "125", "–", "175", "ns"],
        ["a-variant-with-a-ver…", "1024", "45M", "4.5M", "37.5M", "–", "52.5M", "ns"],
    ]


def test_what_was_left_out_is_counted() -> None:
    said = " ".join(" ".join(table(bench_fake.row(dropped=2, shared=3))).split())
    assert "2 of 8 batches are left out" in said
    assert "3 of 8 batches never had the core" in said


def test_nothing_measured() -> None:
    assert _bench_table.render(Result("fake")) == "fake: nothing was measured\n"
    assert "a smoke test" in " ".join(table(smoke=True))


@given(st.floats(1e-9, 9e13))
def test_numbers_fit_and_are_right(value: float) -> None:
    text = _bench_table._short(value)
    assert len(text) <= 7
    scale = {"G": 1e9, "M": 1e6, "k": 1e3}.get(text[-1], 1.0)
    number = float(text.rstrip("GMk")) * scale
    assert number == pytest.approx(value, rel=0.06 if value < 0.001 else 0.006, abs=0.0006 if value >= 0.001 else 0)


@pytest.mark.parametrize(
    ("value", "text"), [(None, "–"), (0.0, "0"), (7.0, "7"), (9999.4, "9999"), (10000.0, "10k"), (1.5e6, "1.5M")]
)
def test_short_numbers(value: float | None, text: str) -> None:
    assert _bench_table._short(value) == text
