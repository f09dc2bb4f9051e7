# SPDX-License-Identifier: Apache-2.0
"""Long checks of okosu's copies: more than 2^31 bytes, and emulated CPUs that lack instructions."""

from __future__ import annotations

import os
import platform

import pytest

from tests.long.routines import BUILT, NOT_SUPPORTED, Emulated, check_large

PROGRAM = BUILT / "native/src/check/copy-check"

pytestmark = pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it")


def test_more_than_31_bits() -> None:
    check_large(PROGRAM)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="its CPUs are x86-64's")
@pytest.mark.parametrize(
    ("cpu", "first", "lacks"),
    [
        ("qemu64", "sse2", {"avx2", "avx512", "nt-avx2", "nt-avx512"}),
        ("Haswell", "avx2", {"avx512", "nt-avx512"}),
        ("EPYC-Rome,-avx2", "sse2", {"avx2", "avx512", "nt-avx2", "nt-avx512"}),
    ],
)
def test_other_cpus(cpu: str, first: str, lacks: set[str]) -> None:
    """The entries, too, must not execute an instruction that the CPU lacks."""
    there = Emulated(PROGRAM, cpu)
    assert there.skipped() == lacks
    for variables, state in (({}, "state 0\n"), ({"OKOSU_COPY": "avx512"}, NOT_SUPPORTED)):
        said = there.shown(**variables)
        assert said.split()[2] == first
        assert state in said
