# SPDX-License-Identifier: Apache-2.0
"""The parsers: what they read, and that no text makes them raise."""

from __future__ import annotations

import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from okosu.machine import parse

ANY = st.text() | st.text(alphabet=string.digits + "-,: \n[]kKMG%abcdef.xX+_", max_size=200)


@pytest.mark.parametrize(
    "function",
    [
        parse.number,
        parse.count,
        parse.real,
        parse.size,
        parse.cpulist,
        parse.chosen,
        parse.fields,
        parse.kib,
        parse.pressure,
        parse.buddyinfo,
        parse.cgroups,
        parse.steal,
    ],
)
def test_no_text_raises(function: object) -> None:
    @given(ANY)
    @example("9" * 5000)
    @example("0-99999999999")
    @example("cpu " + "9" * 400)
    @example("some avg10=nan avg60=inf avg300=0 total=" + "9" * 30)
    @example("Node 0, zone Normal " + "9" * 5000)
    def check(text: str) -> None:
        function(text)  # type: ignore[operator]

    check()


@given(st.sets(st.integers(0, parse.MOST_CPUS - 1), max_size=40))
def test_a_cpulist_reads_back(numbers: set[int]) -> None:
    assert parse.cpulist(parse.show_cpulist(sorted(numbers))) == sorted(numbers)


@given(st.sets(st.integers(0, 200)))
def test_a_shown_cpulist_is_the_shortest(numbers: set[int]) -> None:
    text = parse.show_cpulist(sorted(numbers))
    starts = sum(n - 1 not in numbers for n in numbers)
    assert len([part for part in text.split(",") if part]) == starts


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("0-3,8\n", [0, 1, 2, 3, 8]),
        ("", []),
        ("\n", []),
        ("5", [5]),
        ("3-1", []),
        ("0-1,x,4", [0, 1, 4]),
        ("0-16384", []),
        ("16383", [16383]),
        ("１-２", []),
    ],
)
def test_cpulist(text: str, numbers: list[int]) -> None:
    assert parse.cpulist(text) == numbers


@pytest.mark.parametrize(
    ("text", "bytes_"),
    [("48K", 49152), ("32768K\n", 32 << 20), ("2M", 2 << 20), ("1G", 1 << 30), ("64", 64), ("K", 0), ("-4K", 0)],
)
def test_size(text: str, bytes_: int) -> None:
    assert parse.size(text) == bytes_


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("always [madvise] never\n", "madvise"),
        ("[always] madvise never", "always"),
        ("always defer defer+madvise [madvise] never", "madvise"),
        ("never\n", "never"),
        ("", ""),
        ("two words", ""),
    ],
)
def test_chosen(text: str, choice: str) -> None:
    assert parse.chosen(text) == choice


def test_fields_end_with_the_first_cpu() -> None:
    text = "processor\t: 0\nmodel name\t: A: B\n\nprocessor\t: 1\nmodel name\t: C\nlast\t: x\n"
    assert parse.fields(text) == {"processor": "0", "model name": "A: B"}


def test_pressure() -> None:
    text = (
        "some avg10=1.91 avg60=0.48 avg300=0.14 total=1489602\nfull avg10=1.73 avg60=0.45 avg300=0.13 total=1436962\n"
    )
    assert parse.pressure(text) == {"some": (1.91, 1489602), "full": (1.73, 1436962)}


def test_buddyinfo() -> None:
    text = "Node 0, zone      DMA      0      1 \nNode 12, zone   Normal    92     83\n"
    assert parse.buddyinfo(text) == {"0 DMA": [0, 1], "12 Normal": [92, 83]}


def test_cgroups() -> None:
    assert parse.cgroups("4:cpu,cpuacct:/a:b\n0::/c\n") == {"cpu": "/a:b", "cpuacct": "/a:b", "": "/c"}


def test_steal_is_the_eighth_column_of_all_cpus() -> None:
    assert parse.steal("cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 1 1 1 1 1 1 1 1 1\n") == 8
    assert parse.steal("cpu 1 2 3\n") is None


@given(st.integers(-(1 << 70), 1 << 70))
def test_numbers_fit_what_a_record_can_hold(value: int) -> None:
    read = parse.number(str(value))
    assert read == (value if abs(value) < 1 << 63 else None)
