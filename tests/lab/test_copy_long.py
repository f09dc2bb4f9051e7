# SPDX-License-Identifier: Apache-2.0
"""okosu's copies where it takes long: more than 2^31 bytes, and CPUs that lack instructions, emulated."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("OKOSU_NATIVE") or Path(__file__).resolve().parents[2] / "build")
PROGRAM = FOLDER / "native/src/copy/copy-check"

pytestmark = pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it")


def test_more_than_31_bits() -> None:
    """4 GiB of memory; a second or two for each variant."""
    done = subprocess.run([PROGRAM, "--large"], capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("ok: ") >= 3
    assert "WRONG" not in done.stdout


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
    """An instruction that such a CPU lacks would end the program: the entries must not meet one either."""
    emulator = shutil.which("qemu-x86_64-static") or shutil.which("qemu-x86_64")
    assert emulator, "apt-get install qemu-user-static"
    command = [emulator, "-cpu", cpu, str(PROGRAM)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    skipped = {line.split()[1].rstrip(":") for line in done.stdout.splitlines() if line.startswith("skipped")}
    assert skipped == lacks
    for variables, state in (({}, "0"), ({"OKOSU_COPY": "avx512"}, "-95")):
        env = {"PATH": os.environ["PATH"], **variables}
        shown = subprocess.run([*command, "--show"], capture_output=True, text=True, check=True, timeout=60, env=env)
        assert shown.stdout.split()[2] == first
        assert f"state {state}\n" in shown.stdout
