# SPDX-License-Identifier: Apache-2.0
"""Long checks of okosu's copies and memsets: more than 2^31 bytes, and emulated CPUs that lack instructions."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from pathlib import Path

import pytest

CHECKS = Path(os.environ.get("OKOSU_NATIVE") or Path(__file__).resolve().parents[2] / "build") / "native/src/check"
NOT_SUPPORTED = "state -95"
# Whether QEMU's CPUs have the features of these variants depends on QEMU's version.
UNCERTAIN = {"clzero", "rep-stosb"}

BOTH = {("Haswell", "sse2"), ("Haswell", "avx2")}
"""The emulated CPUs and vectors that have fast string instructions beside them."""

pytestmark = [
    pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it"),
    pytest.mark.parametrize("area", ["copy", "zero"]),
]


def test_more_than_31_bits(area: str) -> None:
    """Every variant with 4 GiB of memory; a second or two for each."""
    done = subprocess.run([CHECKS / f"{area}-check", "--large"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("ok: ") >= 3
    assert "WRONG" not in done.stdout


@pytest.mark.skipif(platform.machine() != "x86_64", reason="its CPUs are x86-64's")
@pytest.mark.parametrize(
    ("cpu", "first", "lacks"),
    [
        ("qemu64", "sse2", {"avx2", "avx512", "avx2-intel", "avx512-intel", "nt-avx2", "nt-avx512"}),
        ("Nehalem", "sse2", {"avx2", "avx512", "avx2-intel", "avx512-intel", "nt-avx2", "nt-avx512"}),
        ("Haswell", "avx2-intel", {"avx512", "avx512-intel", "nt-avx512"}),
        ("Haswell,-erms", "avx2-intel", {"avx512", "avx512-intel", "nt-avx512"}),
        ("EPYC-Rome,-avx2", "sse2", {"avx2", "avx512", "avx2-intel", "avx512-intel", "nt-avx2", "nt-avx512"}),
    ],
)
def test_other_cpus(area: str, cpu: str, first: str, lacks: set[str]) -> None:
    """Neither a variant nor an entry executes an instruction that the CPU lacks, which would end the program."""
    emulator = shutil.which("qemu-x86_64-static") or shutil.which("qemu-x86_64")
    if not emulator:
        pytest.skip("no qemu-x86_64-static here (tools/setup/lab-deps.sh installs it)")

    def said(*words: str, **variables: str) -> str:
        command = [emulator, "-cpu", cpu, CHECKS / f"{area}-check", *words]
        env = {"PATH": os.environ["PATH"], **variables}
        return subprocess.run(command, capture_output=True, text=True, check=True, env=env).stdout

    skipped = {line.split()[1].rstrip(":") for line in said().splitlines() if line.startswith("skipped")}
    lately = {row for row in skipped if row.startswith("lately-")}
    of_area = {"avx512-once"} if area == "zero" else {f"{row}-intel" for row in lacks if row.startswith("nt-")}
    assert skipped - UNCERTAIN - lately == lacks | of_area
    if area == "copy":
        # These need fast string instructions, too.
        assert lately == {f"lately-{isa}" for isa in ("sse2", "avx2", "avx512") if (cpu, isa) not in BOTH}
    automatic = said("--show")
    assert "state 0\n" in automatic
    if area == "copy" and cpu.startswith(("Nehalem", "Haswell")):
        assert automatic.count(f" {2**64 - 1} libc\n") == 3, (
            "Intel's cores without AVX-512 leave what is large to the C library"
        )
    else:
        assert (" rep-" in automatic) == (cpu == "Haswell"), (
            "a string instruction is chosen only where it is fast (ERMS)"
        )
    forced = said("--show", **{f"OKOSU_{area.upper()}": "avx512"})
    assert NOT_SUPPORTED in forced
    assert "lacks what it needs" in forced
    assert automatic.split()[2] == forced.split()[2] == first
