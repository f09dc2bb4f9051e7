# SPDX-License-Identifier: Apache-2.0
"""What the page allocator's customers cost in a guest's kernel, in instructions: a page fault, a fork, an exec.

Counted by the memory-hierarchy model (a string instruction with a REP is one instruction) in an exact machine, so that
two runs give the same numbers and a difference between two kernels is theirs.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from lab.kernel.build import Built
from lab.model import model_plugin, plugin_counts
from lab.run import guest, qemu
from okosu.errors import LAUNCHER_FAILED, OkosuError

# Instructions do not depend on the model's caches, and the smallest machine is the fastest to simulate.
MACHINE = "celeron-900"
MEMORY = "256M"
TIMEOUT_S = 600.0


@dataclass(frozen=True)
class Work:
    """One measurement of guest/colour_cost.c: what an operation of each kind is, its head says."""

    name: str
    kind: str
    pages: int
    repetitions: int

    def words(self, processes: int) -> str:
        """Return the program's arguments."""
        return f"{self.kind} {self.pages} {self.repetitions} {processes}"


# The first is served by the CPU's own list (3,000 pages in a zone of 240 MiB), the second is not. Twenty programs are
# begun in less than a tick of the timer, and by whether one falls among them they take 373,000 or 392,000 instructions
# each, of one kernel; of 400, a tick more or less is a quarter of a percent at most.
WORKS = (
    Work("fault-4k", "fault", 1024, 16),
    Work("fault-4k-refill", "fault", 16384, 2),
    Work("map", "map", 16384, 2),
    Work("fork", "fork", 256, 20),
    Work("cow", "cow", 256, 20),
    Work("exec", "exec", 1, 400),
)
BEGINNINGS = (0, 7, 20)
"""How many programs run before something is counted. What the CPU's lists have then decides how often they are filled
and emptied meanwhile: with that, or with a few bytes of code, an exec takes up to 0.5 % more. So what a kernel pays is
the mean over these beginnings."""
_KINDS = ("fault", "map", "fork", "cow", "exec")


@dataclass(frozen=True)
class Cost:
    """What `ops` operations took: instructions of the kernel and of the program, each CPU's added up."""

    name: str
    ops: int
    kernel: int
    user: int

    @property
    def each(self) -> float:
        """Return the kernel's instructions for one operation."""
        return self.kernel / self.ops


def measure(
    built: Built,
    *,
    setup: str = "true",
    kernel_args: Sequence[str] = (),
    cpus: int = 1,
    works: Sequence[Work] = WORKS,
    memory: str = MEMORY,
) -> dict[str, Cost]:
    """Return {name of the work: cost} from one boot of `built`, in which the shell command `setup` ran first.

    With several `cpus`, one process on each does the same at once. OkosuError (125) where a program fails.
    """
    files = {"/colour_cost": guest.program("colour_cost")}
    # The first work runs once before, uncounted, so that the program's file and the allocator's lists are warm for all.
    runs = "; ".join(f'"$0" {work.words(cpus)} || exit 1' for work in (works[0], *works))
    outcome = qemu.run(
        built,
        ["sh", "-c", f"{{ {setup}; }} && {{ {runs}; }}", *files],
        kernel_args=kernel_args,
        model=MACHINE,
        cpus=cpus,
        memory=memory,
        files=files,
        timeout=TIMEOUT_S,
    )
    if outcome.status:
        raise OkosuError(
            f"colour_cost ended with {outcome.status}", outcome.console[-600:], "the reason above", LAUNCHER_FAILED
        )
    operations = [json.loads(line)["ops"] for line in outcome.stdout.splitlines()[-len(works) :]]
    regions = plugin_counts.inside(model_plugin.regions(outcome.files[model_plugin.COUNTS]))
    sizes = [cpus * (work.repetitions if work.kind == "fault" and cpus == 1 else 1) for work in works]
    found, at = {}, sizes[0]
    for work, ops, size in zip(works, operations, sizes, strict=True):
        own, at = regions[at : at + size], at + size
        assert [region.label for region in own] == [_KINDS.index(work.kind) + 1] * size, work
        kernel = sum(region.kernel.instructions for region in own)
        found[work.name] = Cost(work.name, ops, kernel, sum(region.user.instructions for region in own))
    return found


def from_each_beginning(built: Built, kernel_args: Sequence[str] = ()) -> dict[str, list[float]]:
    """Return {name of the work: the kernel's instructions for one operation, from each of BEGINNINGS}."""
    found = [
        measure(built, setup=f"i=0; while [ $i -lt {count} ]; do (:); i=$((i + 1)); done", kernel_args=kernel_args)
        for count in BEGINNINGS
    ]
    return {name: [one[name].each for one in found] for name in found[0]}
