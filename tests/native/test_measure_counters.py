# SPDX-License-Identifier: Apache-2.0
"""okosu-measure --counters: what perf_event_open gives is printed and scaled, and what it refuses is told."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from measure_tool import SOURCES, parse

from okosu import native
from okosu.records.measurement import Measurement


def counted(*options: str, **variables: str) -> Measurement:
    argv = [str(native.find("okosu-measure")), "--counters", *options, "--", "/bin/true"]
    done = subprocess.run(argv, capture_output=True, check=False, env=os.environ | variables)
    assert done.returncode == 0, done.stderr.decode()
    return parse(done.stdout)


@pytest.mark.preloads
def test_counters_are_read_and_those_that_took_turns_are_scaled(tmp_path: Path) -> None:
    fake = tmp_path / "fake.so"
    source = SOURCES / "fake_perf.c"
    subprocess.run(["cc", "-D_GNU_SOURCE", "-O1", "-shared", "-fPIC", source, "-o", fake, "-ldl"], check=True)
    run = counted(LD_PRELOAD=str(fake))
    assert run.counters == {"cycles": 1000, "instructions": 2000, "dtlb_misses": 60}
    assert run.why_uncounted == "the processor shows none, as in many virtual machines"


def test_counters_are_there_or_the_reason_why_not() -> None:
    run = counted("--proof=none")
    assert run.status == 0
    assert run.counters or run.why_uncounted
    assert run.counters.keys() <= {"cycles", "instructions", "dtlb_misses", "itlb_misses"}


def test_without_the_option_nothing_is_counted() -> None:
    argv = [str(native.find("okosu-measure")), "--", "/bin/true"]
    run = parse(subprocess.run(argv, capture_output=True, check=True).stdout)
    assert (run.counters, run.why_uncounted) == ({}, "")
