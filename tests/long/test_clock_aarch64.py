# SPDX-License-Identifier: Apache-2.0
"""The area clock on AArch64 under qemu-user, whose counter is the host's time (make test-lab)."""

from __future__ import annotations

import functools
import json
import os
import platform
import shutil
import subprocess
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "tests" / "native" / "programs"
SOURCES = ROOT / "native" / "src"

pytestmark = [
    pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it"),
    pytest.mark.skipif(platform.machine() != "x86_64", reason="an AArch64 machine runs the tests themselves"),
]


@pytest.fixture(scope="module", autouse=True)
def tools() -> None:
    """The tools are looked for when the tests run, not at collection: test_aarch64.py installs missing ones."""
    if not (shutil.which("aarch64-linux-gnu-gcc") and shutil.which("qemu-aarch64-static")):
        pytest.skip("needs what tools/checks/aarch64.sh installs")


@functools.cache
def program(tool: str) -> Path:
    out = Path(tempfile.mkdtemp(prefix="okosu-aarch64-")) / tool
    files = [path for area in ("base", "clock") for path in (SOURCES / area).glob("*.c")]
    include = tuple(f"-I{ROOT / 'native' / folder}" for folder in ("include", "src", ""))
    command = ["aarch64-linux-gnu-gcc", "-static", "-O2", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", *include]
    command += ["-Wno-unused-parameter", "-o", str(out), str(PROGRAMS / f"{tool}.c"), *map(str, files), "-lpthread"]
    subprocess.run(command, check=True)
    return out


def run(tool: str, *words: str) -> dict[str, Any]:
    command = ["qemu-aarch64-static", program(tool), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def test_the_stated_frequency_agrees_with_the_calibration() -> None:
    said = run("clock_tool", "about")
    assert said["source"] == "cntfrq"
    assert said["hz"] == said["cpuid"] == pytest.approx(said["calibrated"], rel=1e-3)
    assert (said["declared"], said["monotone"]) == (1, 1)


@pytest.mark.alone
def test_the_counter_counts_time() -> None:
    assert run("clock_tool", "monotone")["backwards"] == 0
    said = run("clock_tool", "against-kernel")
    assert said["ours"] == pytest.approx(said["kernel"], rel=1e-2)
    said = run("clock_tool", "empty")
    assert median(said["empty"]) <= said["granularity"]


@pytest.mark.alone
def test_a_chain_takes_time_in_proportion() -> None:
    """How long an emulated addition takes is unknown, but a chain's time must be proportional to its length."""
    said = run("clock_tool", "chains")
    additions = median(rate * (before + after) / 2 for before, rate, after in said["rates"])
    assert additions == pytest.approx(said["chain"], rel=0.3)
