# SPDX-License-Identifier: Apache-2.0
"""The kernels that the tests of the platform x86 boot, and what no log of theirs may say."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from lab.kernel.build import Built
from lab.run import qemu
from lab.tests.long.base import BASE

_TOOLS = Path(__file__).resolve().parents[3] / "tools"

# With this word the kernel runs its own tests at boot.
KUNIT = "kunit.enable=1"
# What no kernel may say. QEMU puts all NUMA nodes into one package; every kernel warns of that, which is let pass.
_COMPLAINTS = re.compile(
    r"WARNING(?!.* topology_sane).*|BUG: .*|kernel BUG .*|Oops.*|general protection.*|Bad page .*|KASAN: .*|KCSAN: .*"
    r"|.*list_(?:add|del) corruption.*|.*detected stalls.*|.*blocked for more than .*"
)

# Checks of the debugging kernel that are switched on at boot. The stall detector gets more time, because the emulator
# is slow; a guest that hangs ends by the test's time-out.
DEBUG_ARGUMENTS = (
    *("page_owner=on", "page_poison=1", "debug_pagealloc=on", "debug_guardpage_minorder=1"),
    "rcupdate.rcu_cpu_stall_timeout=300",
)


def debug_kernel() -> Built:
    """Return the kernel that checks itself: DEBUG_VM, page_owner, KASAN, lockdep."""
    kernel()
    return qemu.build(fragments=(*qemu.RECIPE.fragments, "x86-debug"), base=BASE)


def complaints(log: str) -> list[str]:
    """Return what a kernel's log says is wrong with it; lockdep's words begin with WARNING or BUG."""
    return _COMPLAINTS.findall(log)


def kernel() -> Built:
    """Return the kernel with the series and the kernel's own tests, built where the cache has none."""
    done = subprocess.run([_TOOLS / "setup/lab-deps.sh"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return qemu.build(base=BASE)
