# SPDX-License-Identifier: Apache-2.0
"""How many huge pages a kernel still finds when its memory has aged: guest/place_age.c and colour_huge.c."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from lab.kernel.build import Built
from lab.run import guest, qemu
from okosu.errors import LAUNCHER_FAILED, OkosuError

MEMORY = "256M"
# Huge pages asked for, in % of free memory: so many that compaction is needed, and does not find all.
PERCENT = 90
TIMEOUT_S = 600.0

# Below 512 MiB the kernel switches transparent huge pages off by itself.
_SCRIPT = """
for file in enabled defrag; do echo madvise > /sys/kernel/mm/transparent_hugepage/$file || exit 1; done
{ %s; } || exit 1
mkfifo /tmp/ready || exit 1
"$0" aged "$2" > /tmp/ready &
read said < /tmp/ready
"$1" "$3"
"""


@dataclass(frozen=True)
class Supply:
    """What was found: transparent huge pages and hugetlb's, of as many asked for of each.

    `unusable` is the share of free memory, before, in blocks of less than 2 MiB; `free` the pages of 4 KiB free then.
    """

    asked: int
    huge: int
    hugetlb: int
    unusable: float
    free: int

    @property
    def share(self) -> float:
        """Return the share of transparent huge pages that there were."""
        return self.huge / self.asked

    @property
    def order_9(self) -> float:
        """Return the share of hugetlb's, which is the allocator's success for blocks of 2 MiB."""
        return self.hugetlb / self.asked


def measure(
    built: Built, seed: int, *, setup: str = "true", kernel_args: Sequence[str] = (), percent: int = PERCENT
) -> Supply:
    """Return what one boot of `built` finds in memory aged by `seed`, after the shell command `setup`.

    In an exact machine. OkosuError (125) where a program fails.
    """
    files = {f"/{name}": guest.program(name) for name in ("place_age", "colour_huge")}
    command = ["sh", "-c", _SCRIPT % setup, *files, str(seed), str(percent)]
    outcome = qemu.run(
        built, command, exact=True, memory=MEMORY, kernel_args=kernel_args, files=files, timeout=TIMEOUT_S
    )
    if outcome.status:
        raise OkosuError(
            f"colour_huge ended with {outcome.status}", outcome.console[-600:], "the reason above", LAUNCHER_FAILED
        )
    return Supply(**json.loads(outcome.stdout))
