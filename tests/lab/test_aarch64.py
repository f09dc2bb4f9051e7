# SPDX-License-Identifier: Apache-2.0
"""The native part on AArch64: cross-compiled whole, its unit tests run under qemu-user (make test-lab)."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("BUILD") or ROOT / "build-aarch64")
QEMU = ("qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu")

pytestmark = [
    pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it"),
    pytest.mark.skipif(platform.machine() != "x86_64", reason="the cross compiler is looked for on x86-64 only"),
]


@pytest.fixture(scope="module")
def built() -> Path:
    """Build and run what `meson test` knows; return the build tree."""
    done = subprocess.run([ROOT / "tools/aarch64.sh"], capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    # meson prints one line for each test; none may have been skipped.
    lines = [line for line in done.stdout.splitlines() if " okosu:" in line]
    assert lines
    assert all(" OK " in line for line in lines), done.stdout
    for area in ("vec", "zero"):
        assert any(f"okosu:{area}-" in line for line in lines), done.stdout
    return BUILD


def test_the_binaries_are_for_aarch64(built: Path) -> None:
    for name in ("native/lib/libokosu.so", "native/launch/okosu-run", "native/measure/okosu-measure"):
        header = (built / name).read_bytes()[:20]
        assert header[:4] == b"\x7fELF"
        assert int.from_bytes(header[18:20], "little") == 183  # EM_AARCH64


def test_every_size_and_address_of_neon(built: Path) -> None:
    """The whole of vec-check, of which `meson test` runs a part: 30 s."""
    done = subprocess.run(
        [*QEMU, built / "native/src/vec/vec-check"], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "neon: ok\nref: ok\n"


def test_neon_is_chosen(built: Path) -> None:
    done = subprocess.run(
        [*QEMU, built / "native/src/vec/vec-dispatch", "chosen"], capture_output=True, text=True, check=True
    )
    assert done.stdout == "neon\n"
