# SPDX-License-Identifier: Apache-2.0
"""What a run's output is worth: the number in it, what is compared of it, what okosu-measure is asked."""

from __future__ import annotations

import math

import pytest

from okosu.records.types import Arm, Options, Plan
from okosu.trial.runs import ProcessRunner, extract, masked


@pytest.mark.parametrize(
    ("better", "outputs", "wanted"),
    [
        ("lower", [b"t=3 t=4"], 4.0),
        ("higher", [b"t=4"], 0.25),
        ("lower", [b"none", b"t=7"], 7.0),
        ("lower", [b"t=0"], None),
        ("lower", [b"t=1" + b"0" * 400], None),
        ("lower", [b""], None),
    ],
)
def test_the_number_is_the_last_of_the_first_output_that_has_one(
    better: str, outputs: list[bytes], wanted: float | None
) -> None:
    assert extract(r"t=(\d+)", better, *outputs) == wanted


def test_what_is_no_number_is_none() -> None:
    assert extract(r"t=(\S+)", "lower", b"t=nan") is None
    assert extract(r"t=(\S+)", "lower", b"t=inf") is None
    assert math.isclose(extract(r"t=(\S+)", "lower", b"t=2e-3") or 0, 0.002)


def test_two_outputs_are_equal_once_the_number_and_its_alignment_are_left_out() -> None:
    pattern = r"took\s+([\d.]+) ms"
    assert masked(pattern, b"a\ntook   9.5 ms\nb") == masked(pattern, b"a\ntook 112.25 ms\nb")
    assert masked(pattern, b"took 1 ms, took 2 ms") == masked(pattern, b"took 3 ms, took 40 ms")
    assert masked(pattern, b"took 1 ms") != masked(pattern, b"took 1 ms, took 2 ms")
    assert masked(pattern, b"took 1 ms x") != masked(pattern, b"took 1 ms y")
    assert masked(r"(?:took (\d+))?", b"abc") == b"abc"


@pytest.mark.parametrize(
    ("asked", "digest", "kept"),
    [
        ({}, True, False),
        ({"output": "null"}, False, False),
        ({"output": "file"}, False, True),
        ({"check": "true"}, True, True),
        ({"metric": "regex", "pattern": "(x)"}, True, True),
        ({"metric": "regex", "pattern": "(x)", "output": "null"}, False, False),
    ],
)
def test_the_output_is_kept_only_where_somebody_reads_it(asked: dict[str, str], digest: bool, kept: bool) -> None:
    runner = ProcessRunner(Plan(options=Options(command=["app"], **asked)))  # type: ignore[arg-type]
    argv = runner.command(Arm("base", "base"), 0, False, 0, "", "ERR", "PROOF")
    assert ("--digest" in argv, runner.keeps_output) == (digest, kept)
    # The process number of okosu is of no use in a command line that is shown.
    assert not any(word.startswith("--parent") for word in argv)
