# SPDX-License-Identifier: Apache-2.0
"""The routines of AVX-512 on any machine: in a guest whose processor Bochs emulates (its times mean nothing)."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import pytest

from lab.tests.long import bochs_guest, x86_guest

BUILD = Path(os.environ.get("OKOSU_NATIVE") or Path(__file__).resolve().parents[4] / "build")
PROGRAMS = {
    "copy-check": BUILD / "native/src/check/copy-check",
    "zero-check": BUILD / "native/src/check/zero-check",
    "vec-check": BUILD / "papers/hpc_programming/tests/vec-check",
    "vec-dispatch": BUILD / "papers/hpc_programming/tests/vec-dispatch",
}
COMMANDS = {
    "processor": "cat /proc/cpuinfo",
    "copy-choice": "copy-check --show",
    "zero-choice": "zero-check --show",
    "copy": "OKOSU_CHECK_STEP=40 copy-check; echo status $?",
    "zero": "OKOSU_CHECK_STEP=40 zero-check; echo status $?",
    "vec": "vec-check --quick --only avx512; echo status $?",
    "vec-choice": "vec-dispatch chosen; vec-dispatch; echo status $?",
}

pytestmark = [
    pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it"),
    pytest.mark.skipif(platform.machine() != "x86_64", reason="routines of x86-64"),
]


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The lines that each command printed."""
    built = x86_guest.kernel()
    assert not bochs_guest.missing()
    answers = bochs_guest.run(built, tmp_path_factory.mktemp("bochs"), PROGRAMS, COMMANDS)
    return {name: text.splitlines() for name, text in answers.items()}


def test_the_processor_has_what_the_routines_need(said: dict[str, list[str]]) -> None:
    flags = next(line for line in said["processor"] if line.startswith("flags")).split()
    assert {"avx512f", "avx512vl", "avx512bw", "avx512dq"} <= set(flags)


@pytest.mark.parametrize("area", ["copy", "zero"])
def test_copies_and_sets(said: dict[str, list[str]], area: str) -> None:
    """A fortieth of the cases of each variant and of the public functions, which are those of Intel's cores."""
    assert said[area][-1] == "status 0", said[area]
    names = {
        "copy": ("okosu_copy", "okosu_copy_near", "okosu_copy_far"),
        "zero": ("okosu_set", "okosu_set_near", "okosu_zero"),
    }
    assert {f"ok: {name}" for name in ("avx512", "avx512-intel", "nt-avx512", *names[area])} <= set(said[area])
    for use in ("any", "near"):
        first = next(line for line in said[f"{area}-choice"] if line.startswith(f"{use} "))
        assert first.split()[2] == "avx512-intel"


def test_vectors(said: dict[str, list[str]]) -> None:
    """The sizes of `make test`; and the public functions, which are AVX-512's entries, beside every other variant."""
    assert said["vec"] == ["avx512: ok", "status 0"]
    assert said["vec-choice"] == ["avx512", "ok", "status 0"]
