# SPDX-License-Identifier: Apache-2.0
"""okosu's memsets where it takes long: more than 2^31 bytes, and CPUs that lack instructions, emulated."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build/native/src/zero/zero-check"

pytestmark = pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it")


def test_more_than_31_bits() -> None:
    done = subprocess.run([PROGRAM, "--large"], capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("ok: ") >= 3
    assert "WRONG" not in done.stdout


@pytest.mark.skipif(platform.machine() != "x86_64", reason="its CPUs are x86-64's")
@pytest.mark.parametrize(
    ("cpu", "first", "lacks"),
    [
        ("qemu64", "sse2", {"rep-stosb", "avx2", "avx512", "nt-avx2", "nt-avx512", "clzero"}),
        ("Haswell", "avx2", {"avx512", "nt-avx512", "clzero"}),
        ("EPYC-Rome,-avx2", "sse2", {"avx2", "avx512", "nt-avx2", "nt-avx512", "rep-stosb"}),
    ],
)
def test_other_cpus(cpu: str, first: str, lacks: set[str]) -> None:
    """An instruction that such a CPU lacks would end the program: the entries must not meet one either."""
    emulator = shutil.which("qemu-x86_64-static") or shutil.which("qemu-x86_64")
    assert emulator, "apt-get install qemu-user-static"
    command = [emulator, "-cpu", cpu, str(PROGRAM)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    skipped = {line.split()[1].rstrip(":") for line in done.stdout.splitlines() if line.startswith("skipped")}
    assert skipped - {"clzero", "rep-stosb"} == lacks - {"clzero", "rep-stosb"}
    shown = subprocess.run([*command, "--show"], capture_output=True, text=True, check=True, timeout=60).stdout
    assert shown.split()[2] == first
    env = os.environ | {"OKOSU_ZERO": "avx512"}
    shown = subprocess.run([*command, "--show"], capture_output=True, text=True, check=True, timeout=60, env=env).stdout
    assert "state -95" in shown
    assert "lacks what it needs" in shown
