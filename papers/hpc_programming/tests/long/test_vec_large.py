# SPDX-License-Identifier: Apache-2.0
"""Vector routines on arrays of more than 2^32 bytes, and on processors that lack the newer instructions."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess

import pytest

from papers.hpc_programming.tests.vec_tool import BUILD

PROGRAMS = BUILD / "papers/hpc_programming/tests"

needs_emulator = pytest.mark.skipif(
    platform.machine() != "x86_64" or shutil.which("qemu-x86_64-static") is None,
    reason="its CPUs are x86-64's, and qemu-x86_64-static emulates them (tools/setup/lab-deps.sh installs it)",
)
pytestmark = pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it")


def test_more_elements_than_31_bits_of_bytes() -> None:
    """Each variant of each routine; a second or two for each, in 2 MiB of memory."""
    done = subprocess.run([PROGRAMS / "vec-check", "--large"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = dict(line.split(": ") for line in done.stdout.splitlines())
    assert said["ref"] == "ok"
    assert set(said.values()) <= {"ok", "not on this CPU"}
    command = [PROGRAMS / "vec-check", "--large", "--broken", "short-index"]
    broken = subprocess.run(command, capture_output=True, text=True, check=False)
    assert broken.returncode == 1
    assert "short-index sum" in broken.stderr


@needs_emulator
@pytest.mark.parametrize(
    ("cpu", "chosen"), [("Nehalem", "sse3"), ("qemu64,-pni", "sse2"), ("Haswell,-erms", "avx2"), ("max", "avx2")]
)
def test_older_processors(cpu: str, chosen: str) -> None:
    """An emulated processor gets only variants that it can run, whatever OKOSU_VEC names; forcing another is
    -ENOTSUP.
    """
    program = PROGRAMS / "vec-dispatch"
    command = ["qemu-x86_64-static", "-cpu", cpu, program]
    for wanted in ("", "avx512"):
        env = {"PATH": os.environ["PATH"], "OKOSU_VEC": wanted}
        done = subprocess.run([*command, "chosen"], env=env, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == chosen
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "ok\n"), done.stderr


@needs_emulator
@pytest.mark.parametrize(
    ("cpu", "options", "has"),
    [
        ("Nehalem", [], {"sse3", "sse2", "ref"}),
        # QEMU 7.2's vmaskmovps, vmaskmovpd and vpmaskmov read all 32 bytes, and fault for those that the mask leaves
        # out. (A real CPU checks the guard pages of AVX2 in tests/native/test_vec.py.)
        ("Haswell,-erms", ["--readable"], {"avx2", "sse3", "sse2", "ref"}),
    ],
)
def test_every_size_and_address_on_older_processors(cpu: str, options: list[str], has: set[str]) -> None:
    """All of vec-check, 3 minutes and more."""
    command = ["qemu-x86_64-static", "-cpu", cpu, PROGRAMS / "vec-check", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = dict(line.split(": ") for line in done.stdout.splitlines())
    assert {name for name, what in said.items() if what == "ok"} == has
    assert {said[name] for name in {"avx2", "avx512"} - has} == {"not on this CPU"}
