# SPDX-License-Identifier: Apache-2.0
"""okosu/clock.h against the kernel's clocks, a chain of multiplications and CPUID tables of known processors.

Chains last microseconds, so that the median of many is not affected by other processes.
"""

from __future__ import annotations

import errno
import functools
import itertools
import json
import math
import platform
import re
import subprocess
import time
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from effort import Idleness
from preload_tool import build

ROOT = Path(__file__).resolve().parents[2]
AGREE = 1e-3
"""OKOSU_CLOCK_AGREE of the header."""


@functools.cache
def program() -> Path:
    sources = [str(ROOT / "native" / "src" / "clock" / f"{name}.c") for name in ("chain", "frequency", "read")]
    include = tuple(f"-I{ROOT / 'native' / folder}" for folder in ("include", "src", ""))
    return build("clock-tool", "-O2", *include, "clock_tool.c", *sources)


def run(*words: str) -> dict[str, Any]:
    done = subprocess.run([program(), *words], capture_output=True, text=True, check=True)
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def test_the_clock_is_what_its_parts_say() -> None:
    said = run("about")
    stated = {"hypervisor": said["hypervisor"], "cpuid": said["cpuid"], "cntfrq": said["cpuid"]}
    expected = stated.get(said["source"], said["calibrated"])
    assert said["hz"] == pytest.approx(expected, rel=1e-4)
    assert 1e6 < said["hz"] < 1e10
    # Two serialising reads cost more than nothing on a counter of 1 GHz, and less than a microsecond.
    assert said["overhead"] < said["hz"] * 1e-6
    assert said["granularity"] > 0
    assert said["overhead"] % said["granularity"] == 0
    assert said["windows"] == 20
    assert (said["check"] == 0) == (said["declared"] == 1 and said["monotone"] == 1 and said["deviation"] <= AGREE)


def test_the_granularity_is_what_all_times_are_multiples_of() -> None:
    """Within one CPU: a thread that is moved meets another counter, which may be out of phase."""
    times = [ticks for pair in run("chains")["pairs"] for ticks in pair]
    granularity = run("about")["granularity"]
    within = [ticks for ticks in times if ticks % granularity == 0]
    assert len(within) >= 0.9 * len(times)
    assert math.gcd(*within) == granularity


def test_stated_frequencies_agree_with_the_calibration() -> None:
    said = run("about")
    for source in ("hypervisor", "cpuid"):
        if said[source]:
            assert said[source] == pytest.approx(said["calibrated"], rel=AGREE), source


def test_the_calibration_agrees_with_the_kernels_own() -> None:
    """loops_per_jiffy is the counter's frequency where the kernel uses the counter for delays."""
    found = re.search(r"^bogomips\s*: ([\d.]+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    if platform.machine() != "x86_64" or not found:
        pytest.skip("only x86-64 tells its counter's frequency so")
    assert run("about")["calibrated"] / 1e6 == pytest.approx(float(found[1]) / 2, rel=1e-3)


def test_ten_milliseconds_are_ten_milliseconds() -> None:
    ratios = []
    for _ in range(3):
        said = run("against-kernel")
        ratios.append(said["ours"] / said["kernel"])
    assert median(ratios) == pytest.approx(1, rel=2e-3)


@pytest.mark.alone
def test_a_multiplication_takes_a_whole_number_of_additions() -> None:
    """A busy sibling of this hyperthread slows additions most: the ratio was 3.003 alone, and 2.79 beside a busy
    sibling. On a Zen 1 whose siblings are another machine's it was 3.28 for a second at a time.
    """
    latency = 0.0
    with Idleness() as idle:
        for _ in range(60):
            # The core's frequency varies, so each chain is compared with its neighbours in time.
            pairs = itertools.pairwise(run("chains")["pairs"])
            now = median(2 * multiply / (before + after) for (before, multiply), (after, _) in pairs)
            if now == pytest.approx(round(now), rel=0.01):
                latency = now
                break
            latency = max(latency, now)
            time.sleep(0.25)
    if idle.share < 0.5 and latency / round(latency) <= 0.95:
        pytest.skip("no CPU idled: other work slowed the additions")
    assert 2 <= round(latency) <= 5
    assert -0.05 < latency / round(latency) - 1 < 0.01


def test_cycles_per_tick_is_the_chain_by_its_time() -> None:
    said = run("chains")
    cycles = median(rate * (before + after) / 2 for before, rate, after in said["rates"])
    assert cycles == pytest.approx(said["chain"], rel=0.1)
    # Cycles per tick lie between an eighth and what a counter of 10 MHz beside a core of 6 GHz gives.
    assert 0.125 < median(rate for _, rate, _ in said["rates"]) < 600


@pytest.mark.alone
def test_an_empty_region_takes_nothing() -> None:
    # A processor that changes its speed between the calibration and the reads makes all of them longer or shorter; no
    # process in which it does not is still wrong.
    for _ in range(50):
        said = run("empty")
        assert said["backwards"] == 0
        # The overhead is the median of empty reads, so half of them may be one step of the counter longer.
        if median(said["empty"]) <= said["granularity"] and sorted(said["empty"])[250] == 0:
            return
        time.sleep(0.1)
    pytest.fail(f"in no process an empty region took nothing: the last took {median(said['empty'])} ticks")


def test_reads_are_monotone_across_cpus() -> None:
    if not run("about")["declared"]:
        pytest.skip("this counter is not declared to be one clock")
    said = run("monotone")
    assert said["reads"] == 50 * said["moves"] >= 10_000
    assert said["backwards"] == 0


def test_arguments_out_of_range() -> None:
    assert run("bad-arguments") == dict.fromkeys(("short", "long", "nan", "one", "many"), -errno.EINVAL)


@pytest.mark.parametrize(
    ("leaf15", "mhz", "hz"),
    [
        ((2, 168, 38400000, 0), 0, 3225.6e6),  # Tiger Lake and its kin: a crystal of 38.4 MHz is stated
        ((3, 205, 25000000, 0), 0, 25e6 * 205 / 3),  # a part with a crystal of 25 MHz
        ((2, 216, 0, 0), 2600, 2600e6),  # Skylake states no crystal: the base frequency of leaf 16h
        ((2, 216, 0, 0), 0, 0),
        ((0, 216, 24000000, 0), 0, 0),  # no ratio
        ((2, 0, 24000000, 0), 2600, 2600e6),
        ((0, 0, 0, 0), 0x12340000 + 3000, 3000e6),  # the upper half of leaf 16h is reserved
        ((0, 0, 0, 0), 0, 0),  # AMD
        ((1, 4000000000, 4000000000, 0), 0, 1.6e19),  # no overflow
    ],
)
def test_cpuid_leaves_15_and_16(leaf15: tuple[int, ...], mhz: int, hz: float) -> None:
    assert run("leaf15", *map(str, leaf15), str(mhz))["hz"] == pytest.approx(hz, rel=1e-9)


@pytest.mark.parametrize(
    ("highest", "name", "khz", "hz"),
    [
        ("0x40000010", "VMwareVMware", 2599998, 2599998e3),
        ("0x40000010", "KVMKVMKVM", 2596122, 2596122e3),
        ("0x40000001", "KVMKVMKVM", 2596122, 0),  # the leaf is not there
        ("0x4000000c", "Microsoft Hv", 7, 0),
        ("0x40000082", "Microsoft Hv", 7, 0),  # there, and something else
        ("0x40000010", "KVMKVMKVM", 0, 0),
    ],
)
def test_the_hypervisors_leaf(highest: str, name: str, khz: int, hz: float) -> None:
    assert run("hypervisor", highest, name, str(khz))["hz"] == hz
