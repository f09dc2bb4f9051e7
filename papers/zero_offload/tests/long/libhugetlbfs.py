# SPDX-License-Identifier: Apache-2.0
"""libhugetlbfs's own tests: a checkout of it that has been built, run in a guest by its own tests/run_tests.py."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from lab.kernel.build import Built
from lab.run import qemu
from lab.tests.long import x86_guest

# The variable names a checkout, because no package of Debian's has the tests.
VARIABLE = "OKOSU_LIBHUGETLBFS"
TIMEOUT_S = 7200.0
# Huge pages in the pool before the first test.
PAGES = 128

# The verdict that is recorded for a test that does not come to its end.
ENDED = "no verdict"
_TEST = re.compile(r"(.+ \(\d+[KMG]: (?:32|64)\)):\t(.*)")
_VERDICT = re.compile(r"PASS|FAIL|Bad configuration|SKIPPED")

_SCRIPT = f"""
cd "$0/tests" || exit
for file in enabled defrag; do echo madvise > /sys/kernel/mm/transparent_hugepage/$file; done
mkdir /tmp/huge; mount -t hugetlbfs hugetlbfs /tmp/huge
echo {PAGES} > /proc/sys/vm/nr_hugepages
eval "$1"
/usr/bin/python3 run_tests.py 2>&1
"""


def verdicts(said: str) -> list[tuple[str, str]]:
    """Return (test as it was called, first words of its verdict) in the order in which run_tests.py said them."""
    found: list[tuple[str, str]] = []
    for line in said.splitlines():
        if test := _TEST.fullmatch(line):
            found.append((test[1], ENDED))
        verdict = _VERDICT.match(test[2] if test else line)
        if verdict and found:
            found[-1] = (found[-1][0], verdict[0])
    return found


def run(built: Built, folder: Path, kernel_args: Sequence[str] = (), before: str = ":") -> list[tuple[str, str]]:
    """Return the verdicts of the built checkout `folder` in one boot, in which the script `before` is run first."""
    assert (folder / "tests/obj64").is_dir(), f"{VARIABLE}={folder} has no tests/obj64: it has not been built"
    command = ["bash", "-c", _SCRIPT, str(folder), before]
    outcome = qemu.run(built, command, kernel_args=kernel_args, memory="1G", cpus=2, timeout=TIMEOUT_S)
    assert outcome.status == 0, outcome.console[-3000:]
    assert x86_guest.complaints(outcome.log) == []
    return verdicts(outcome.stdout.decode())
