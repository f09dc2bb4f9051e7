# SPDX-License-Identifier: Apache-2.0
"""The lines of the benchmarks: correct ones come through unchanged, and any other ends in a three-part error."""

from __future__ import annotations

import contextlib
import json
import math
from typing import Any

import bench_fake
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from okosu.bench import rows
from okosu.bench.rows import Header, Result, Row
from okosu.errors import OkosuError
from okosu.records.types import Record

finite = st.floats(0, 1e300)
counts = st.integers(0, 2**53)
texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)


@st.composite
def made(draw: st.DrawFn) -> dict[str, Any]:
    samples = draw(st.lists(finite, max_size=5))
    numbers = draw(st.lists(counts, min_size=len(samples), max_size=len(samples), unique=True))
    loads = draw(st.just([]) | st.lists(finite, min_size=len(samples), max_size=len(samples)))
    return {
        "type": "row",
        **{key: draw(texts) for key in ("routine", "variant", "library", "config", "place", "mode")},
        **{key: draw(counts) for key in ("n", "footprint", "items", "dropped", "shared", "point")},
        **{key: draw(finite) for key in ("bytes_per_item", "flops_per_item")},
        "kind": draw(st.sampled_from(["okosu", "peer", "limit", "paper"])),
        "unit": draw(st.sampled_from(["cycles", "ns", "ticks"])),
        "align": draw(st.lists(st.integers(0, 4096), max_size=3)),
        "samples": samples,
        "rounds": numbers,
        "loads": loads,
        "extra": draw(st.dictionaries(texts, values, max_size=3)),
    }


def refused(text: bytes) -> str:
    with pytest.raises(OkosuError) as caught:
        rows.decode(text, "okosu-bench-x", 3)
    error = caught.value
    assert "okosu-bench-x: line 3" in error.what
    assert error.why
    assert error.fix
    assert error.status == 1
    return error.why


@given(made())
def test_a_row_comes_through_and_back_from_its_record(line: dict[str, Any]) -> None:
    row = rows.decode(json.dumps(line).encode(), "p", 1)
    assert isinstance(row, Row)
    assert msgspec.to_builtins(row) == line
    result = Result("fake", rows=[row])
    records = rows.records(result, "somewhere")
    stored = msgspec.json.decode(msgspec.json.encode(records), type=list[Record])
    assert rows.from_records(stored) == {"fake": [row]}


@given(st.binary(max_size=80))
def test_no_bytes_end_in_a_traceback(data: bytes) -> None:
    with contextlib.suppress(OkosuError):
        rows.decode(data, "p", 1)


@given(st.data(), st.sampled_from([bench_fake.HEADER, bench_fake.row(), bench_fake.ABSENT, bench_fake.NOTE]))
def test_altered_lines_are_refused_or_still_of_their_types(data: st.DataObject, line: dict[str, Any]) -> None:
    changed = dict(line)
    key = data.draw(st.sampled_from(sorted(changed)))
    changed[key] = data.draw(values)
    try:
        found = rows.decode(json.dumps(changed).encode(), "p", 1)
    except OkosuError:
        return
    again = rows.decode(msgspec.json.encode(found), "p", 1)
    assert again == found
    if isinstance(found, Row):
        assert len(found.rounds) == len(found.samples) == len(set(found.rounds))
        assert all(math.isfinite(sample) and sample >= 0 for sample in found.samples)


@given(st.integers(0, 3000))
def test_every_cut_of_a_line_is_refused(length: int) -> None:
    text = json.dumps(bench_fake.row()).encode()
    refused(text[: length % len(text)])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"samples": [1.0, None]}, "samples[1]"),
        ({"samples": [1.0, -1.0], "rounds": [0, 1]}, "samples[1]"),
        ({"samples": [1.0], "rounds": []}, "1 samples and 0 rounds"),
        ({"samples": [1.0, 2.0], "rounds": [4, 4]}, "twice"),
        ({"kind": "friend"}, "friend"),
        ({"unit": "s"}, "$.unit"),
        ({"n": 1.5}, "$.n"),
        ({"n": -1}, "$.n"),
        ({"routine": ""}, "$.routine"),
        ({"kernal": "ddot"}, "kernal"),
        ({"type": "raw"}, "raw"),
        ({"align": "0 0"}, "$.align"),
    ],
)
def test_what_is_wrong_is_named(change: dict[str, Any], said: str) -> None:
    assert said in refused(json.dumps(bench_fake.row() | change).encode())


@pytest.mark.parametrize("key", ["routine", "variant", "kind", "n", "samples", "rounds", "unit", "items", "type"])
def test_what_is_missing_is_named(key: str) -> None:
    line = bench_fake.row()
    del line[key]
    assert key in refused(json.dumps(line).encode())


@pytest.mark.parametrize("text", [b"", b"hello", b"[1]", b"null", b'{"type": "row"', b"\xff\xfe{}", b"[" * 100_000])
def test_what_is_no_line_at_all(text: bytes) -> None:
    refused(text)


def test_numbers_beyond_a_double_are_refused() -> None:
    text = json.dumps(bench_fake.row()).replace('"bytes_per_item": 16', '"bytes_per_item": 1e999')
    refused(text.encode())


def line(content: dict[str, Any]) -> rows.Line:
    return rows.decode(json.dumps(content).encode(), "p", 1)


def test_a_header_comes_first_and_once_and_in_this_version() -> None:
    with pytest.raises(ValueError, match="no header"):
        Result("fake").add(line(bench_fake.row()))
    result = Result("fake")
    result.add(line(bench_fake.HEADER))
    with pytest.raises(ValueError, match="second header"):
        result.add(line(bench_fake.HEADER))
    with pytest.raises(ValueError, match="version 1"):
        Result("fake").add(line(bench_fake.HEADER | {"version": 1}))


def test_each_kind_of_line_has_its_place() -> None:
    result = Result("fake")
    for content in [*bench_fake.LIST, *bench_fake.run()]:
        result.add(line(content))
    assert isinstance(result.header, Header)
    assert result.header.core_hz == 3e9
    assert (len(result.rows), len(result.routines), len(result.variants)) == (12, 1, 2)
    assert [one.variant for one in result.absent] == ["mkl"]
    assert result.notes == ["a remark"]


def test_records_that_are_no_rows_are_left_out() -> None:
    good = rows.records(Result("fake", rows=[line(bench_fake.row())]))[0]  # type: ignore[list-item]
    for change in ({"bench": "fake"}, {"routine": "k"}):
        other = msgspec.structs.replace(good, parameters=change)
        assert rows.from_records([other]) == {}
    for key, value in (("n", "many"), ("align", "left"), ("extra", "{"), ("kind", "friend"), ("n", 1.5)):
        broken = msgspec.structs.replace(good, parameters=good.parameters | {key: value})
        assert rows.from_records([broken, good]) == rows.from_records([good])
    assert rows.from_records([msgspec.structs.replace(good, stage="rounds")]) == {}
