# SPDX-License-Identifier: Apache-2.0
"""The native part on AArch64: all of it is cross-compiled, and its unit tests run under qemu-user (make test-lab)."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("BUILD") or ROOT / "build-aarch64")
QEMU = ("qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu")

pytestmark = [
    pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it"),
    pytest.mark.skipif(platform.machine() != "x86_64", reason="the cross compiler is looked for on x86-64 only"),
]


@pytest.fixture(scope="module")
def built() -> Path:
    """Build the native part and run `meson test`; return the build tree."""
    done = subprocess.run([ROOT / "tools/checks/aarch64.sh"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    # meson prints one line for each test; a skipped test would be hidden by a zero exit status.
    lines = [line for line in done.stdout.splitlines() if " okosu:" in line]
    assert lines
    assert all(" OK " in line for line in lines), done.stdout
    for area in ("copy", "vec", "zero"):
        assert any(f"okosu:{area}-" in line for line in lines), done.stdout
    return BUILD


def test_the_binaries_are_for_aarch64(built: Path) -> None:
    for name in ("native/lib/libokosu.so", "native/launch/okosu-run", "native/measure/okosu-measure"):
        header = (built / name).read_bytes()[:20]
        assert header[:4] == b"\x7fELF"
        assert int.from_bytes(header[18:20], "little") == 183  # EM_AARCH64


def emulated(program: Path, *words: str, cpu: str) -> str:
    """Return what a program for AArch64 prints on a processor of QEMU's."""
    done = subprocess.run(
        [*QEMU, program, *words], env=os.environ | {"QEMU_CPU": cpu}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


# Processors, by the variant that is chosen there: vectors of SVE of 512 and of 256 bits, and those for which there are
# no routines, of 128 bits, or no SVE.
PROCESSORS = {
    "sve512": ("max,sve-default-vector-length=64",),
    "sve256": ("max,sve-default-vector-length=32",),
    "neon": ("max,sve-default-vector-length=16", "max,sve=off"),
}
ON = [(variant, cpu) for variant, cpus in PROCESSORS.items() for cpu in cpus]


@pytest.mark.parametrize(("variant", "cpu"), [(variant, cpus[-1]) for variant, cpus in PROCESSORS.items()])
def test_every_size_and_address(built: Path, variant: str, cpu: str) -> None:
    """All of vec-check, of which `meson test` runs only a part: 30 s each."""
    verdicts = {"neon": "ok", "ref": "ok", "sve256": "not on this CPU", "sve512": "not on this CPU", variant: "ok"}
    lines = emulated(built / "papers/hpc_programming/tests/vec-check", cpu=cpu).splitlines()
    assert dict(line.split(": ") for line in lines) == verdicts


@pytest.mark.parametrize(("variant", "cpu"), ON)
def test_the_widest_vectors_are_chosen(built: Path, variant: str, cpu: str) -> None:
    assert emulated(built / "papers/hpc_programming/tests/vec-dispatch", "chosen", cpu=cpu) == f"{variant}\n"


@pytest.mark.parametrize("area", ["copy", "zero"])
@pytest.mark.parametrize(("variant", "cpu"), ON)
def test_copies_and_sets(built: Path, variant: str, cpu: str, area: str) -> None:
    lines = emulated(built / f"native/src/check/{area}-check", cpu=cpu).splitlines()
    assert f"ok: {variant}" in lines
    lacking = {"sve256", "sve512"} - {variant}
    assert {line.split(": ")[1] for line in lines if line.startswith("skipped: sve")} == lacking


@pytest.fixture(scope="module")
def changed_length(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("sve") / "sve_length"
    words = ["-static", "-O2", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}/native/include"]
    words += [f"-I{ROOT}/papers/hpc_programming/vec", str(ROOT / "tests/native/programs/sve_length.c")]
    words += [str(built / "native/lib/libokosu.a"), "-lm", "-lpthread", "-o", str(program)]
    subprocess.run(["aarch64-linux-gnu-gcc", *words], check=True)
    return program


@pytest.mark.parametrize(
    ("variant", "bytes_"), [("sve256", 16), ("sve256", 64), ("sve256", 128), ("sve512", 16), ("sve512", 32)]
)
def test_a_thread_may_change_the_length_of_its_vectors(changed_length: Path, variant: str, bytes_: int) -> None:
    # One row of each area.
    assert emulated(changed_length, str(bytes_), cpu=PROCESSORS[variant][0]) == "3\n"


# These tests check the machine, not the program: its bogomips, and how long its instructions take.
NOT_EMULATED = (
    "test_the_calibration_agrees_with_the_kernels_own",
    "test_a_multiplication_takes_a_whole_number_of_additions",
)


def test_clock_and_the_list_of_places(built: Path, tmp_path: Path) -> None:
    """The tests of these two areas; the `cc` that they call compiles for AArch64."""
    compiler = tmp_path / "cc"
    compiler.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{Path(__file__).with_name("aarch64_cc.py")}" "$@"\n')
    compiler.chmod(0o755)
    files = ["tests/native/test_clock.py", "papers/hpc_programming/tests/test_place_list.py"]
    left_out = [f"--deselect={file}::{test}" for test in NOT_EMULATED for file in files]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *files, *left_out],
        env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None
    assert int(passed[1]) >= 40
