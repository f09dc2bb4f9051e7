# SPDX-License-Identifier: Apache-2.0
"""Vector routines: each variant against integers and plain loops, the planted bugs, and which variant is chosen."""

from __future__ import annotations

import pytest
import vec_tool

BROKEN = {
    "drops-tail": "dsum n=9 ",
    "reads-on": "fault at",
    "reads-before": "fault at",
    "writes-on": "after the array changed",
    "depends-on-address": "sdot",
    "fuses-all-but-last": "daxpy",
    "adds-masked": "ddot",
    "overflows": "dnrm2",
    "skips-zero": "sscal",
    "from-the-near-end": "ddot_strided",
    "at-once": "saxpy_strided",
}


def test_every_variant() -> None:
    """Sizes 0 to 512 at each pair of addresses in a line, guard pages, special values, strides."""
    done = vec_tool.run("vec-check")
    assert done.returncode == 0, done.stderr
    lines = dict(line.split(": ") for line in done.stdout.splitlines())
    assert {name for name, said in lines.items() if said == "ok"} == {v.name for v in vec_tool.variants()}
    assert set(lines.values()) <= {"ok", "not on this CPU"}


@pytest.mark.parametrize("row", BROKEN)
def test_planted_bugs_are_found(row: str) -> None:
    done = vec_tool.run("vec-check", "--quick", "--broken", row)
    assert done.returncode == 1
    assert done.stderr.startswith(f"vec_check: {row} ")
    assert BROKEN[row] in done.stderr


def test_a_row_that_is_not_there() -> None:
    assert vec_tool.run("vec-check", "--only", "nonesuch").returncode == 2


def test_choice_and_forcing() -> None:
    """First calls by many threads, forcing, names and CPUs that are not there, forcing while others call."""
    done = vec_tool.run("vec-dispatch")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "ok\n"


def test_the_environment_names_the_variant() -> None:
    names = [v.name for v in vec_tool.variants()]
    assert names[-1] == "ref"
    assert vec_tool.run("vec-dispatch", "chosen").stdout.strip() == names[0]
    for name in names:
        assert vec_tool.run("vec-dispatch", "chosen", env={"OKOSU_VEC": name}).stdout.strip() == name
    for name in ("", "nonesuch", "REF", "ref "):
        assert vec_tool.run("vec-dispatch", "chosen", env={"OKOSU_VEC": name}).stdout.strip() == names[0]
