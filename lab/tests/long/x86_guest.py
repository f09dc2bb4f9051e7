# SPDX-License-Identifier: Apache-2.0
"""The kernel that the tests of the platform x86 boot: one for all of them, with what its building and booting need."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from lab import qemu
from lab.build import Built

_TOOLS = Path(__file__).resolve().parents[3] / "tools"

# The kernel's own tests run at a boot that is told so.
KUNIT = "kunit.enable=1"
# What no kernel should say. QEMU's nodes lie in one package, which every kernel warns of.
_COMPLAINTS = re.compile(
    r"WARNING(?!.* topology_sane).*|BUG: .*|kernel BUG .*|Oops.*|general protection.*|Bad page .*|KASAN: .*|KCSAN: .*"
    r"|.*list_(?:add|del) corruption.*|.*detected stalls.*|.*blocked for more than .*"
)

# What the debugging kernel looks for when it is told so. An emulator that is slow is no stall; what hangs ends at the
# test's time-out.
DEBUG_ARGUMENTS = (
    *("page_owner=on", "page_poison=1", "debug_pagealloc=on", "debug_guardpage_minorder=1"),
    "rcupdate.rcu_cpu_stall_timeout=300",
)


def debug_kernel() -> Built:
    """Return the kernel that checks itself: DEBUG_VM, page_owner, KASAN, lockdep."""
    kernel()
    return qemu.build(fragments=(*qemu.RECIPE.fragments, "x86-debug"))


def complaints(log: str) -> list[str]:
    """Return what a kernel's log says is wrong with it; lockdep's words begin with WARNING or BUG."""
    return _COMPLAINTS.findall(log)


def kernel() -> Built:
    """Return the kernel with the series and the kernel's own tests, built where the cache has none."""
    done = subprocess.run([_TOOLS / "lab-deps.sh"], capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stderr
    return qemu.build()
