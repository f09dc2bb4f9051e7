# SPDX-License-Identifier: Apache-2.0
"""The kernel that the tests of the platform x86 boot: one for all of them, with what its building and booting need."""

from __future__ import annotations

import subprocess
from pathlib import Path

from okosu.lab import qemu
from okosu.lab.build import Built

_TOOLS = Path(__file__).resolve().parents[2] / "tools"

# The kernel's own tests run at a boot that is told so.
KUNIT = "kunit.enable=1"


def kernel() -> Built:
    """Return the kernel with the series and the kernel's own tests, built where the cache has none."""
    done = subprocess.run([_TOOLS / "lab-deps.sh"], capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stderr
    return qemu.build()
