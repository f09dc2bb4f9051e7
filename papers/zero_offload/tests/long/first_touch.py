# SPDX-License-Identifier: Apache-2.0
"""First touches of huge pages in a machine with the model: what the kernel did in each, and what the caches lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from lab.kernel.build import Built
from lab.model import model_plugin, plugin_counts
from lab.model.plugin_counts import Counts
from lab.run import guest, qemu
from lab.run.outcome import Outcome
from lab.tests.long.base import BASE

MACHINE = "celeron-900"
CLEAN, DIRTY, GIVEN_BACK = 1, 2, 3
# A machine whose second-level cache of 1 MiB holds the working set of zero_neighbour twice, and half of a huge page.
NEIGHBOUR, UNTOUCHED, LINES = "zen5-9950x", 3, (512 << 10) // 64
# What clears ahead, and the kernel's arguments. On 7.3 faults clear by ranges in any case, and the kernel has to be
# told that the model's addresses are those of four levels of page tables.
ENGINE, RANGES = {"6.12": ("cpu-nt", ("folio_zero.ranges=1",)), "7.3": ("thread", ("no5lvl",))}[BASE]


@dataclass(frozen=True)
class Size:
    """A size of pages: the guest program, how many pages the pool has, how often each is touched, and the guest."""

    program: str
    page: int
    pages: int
    times: int
    memory: str = qemu.MEMORY
    kernel_args: tuple[str, ...] = ()

    @property
    def touches(self) -> int:
        return self.pages * self.times


# The model knows no guest of 3.5 GiB or more, in which the third GiB is the only one that is whole.
SIZES = {
    "2 MiB": Size("zero_fault", 2 << 20, 64, 1),
    "1 GiB": Size("zero_gigantic", 1 << 30, 1, 4, "3328M", ("hugepagesz=1G", "hugepages=1")),
}
SMALL = SIZES["2 MiB"]


def faults(
    built: Built, size: Size = SMALL, engine: str = ENGINE, kernel_args: Sequence[str] = RANGES
) -> dict[int, list[Counts]]:
    """Return what the kernel did in each marked touch and end of a mapping, by label; `engine` is zero_fault's word."""
    command = [str(guest.build() / size.program), engine, str(size.pages), str(size.times)]
    args = (*kernel_args, *size.kernel_args)
    outcome = qemu.run(built, command, kernel_args=args, model=MACHINE, timeout=3600.0, memory=size.memory)
    clean, dirty = (0 if engine == "none" else size.touches), (0 if engine in ("none", "free") else size.touches)
    _served(outcome, engine, clean, dirty)
    found: dict[int, list[Counts]] = {CLEAN: [], DIRTY: [], GIVEN_BACK: []}
    for region in plugin_counts.inside(model_plugin.regions(outcome.files[model_plugin.COUNTS])):
        found[region.label].append(region.kernel)
    touched = [0 if engine == "none" else size.touches, 0 if engine == "free" else size.touches]
    assert [len(counts) for counts in found.values()] == [*touched, sum(touched)]
    return found


def lines_lost(built: Built, engine: str = ENGINE, kernel_args: Sequence[str] = RANGES) -> dict[int, list[int]]:
    """Return how many of a neighbour's lines the second-level cache no longer had after each first touch, by label."""
    pages = 16
    command = [str(guest.build() / "zero_neighbour"), engine, str(pages)]
    outcome = qemu.run(built, command, kernel_args=kernel_args, model=NEIGHBOUR, timeout=3600.0)
    _served(outcome, engine, pages, pages)
    lost: dict[int, list[int]] = {CLEAN: [], DIRTY: [], UNTOUCHED: []}
    for region in plugin_counts.inside(model_plugin.regions(outcome.files[model_plugin.COUNTS])):
        lost[region.label].append(region.user.misses(2))
        assert region.user.loads >= LINES
    assert [len(each) for each in lost.values()] == [pages, pages, 2 * pages]
    return lost


def _served(outcome: Outcome, engine: str, clean: int, dirty: int) -> None:
    """Assert that the guest ended well and that the kernel counted so many pages of each kind, if it counts them."""
    assert outcome.status == 0, outcome.console
    counted = (0, 0) if ":" in engine else (clean, dirty)
    assert outcome.stdout.split() == "clean {} dirty {}".format(*counted).encode().split()


def stored(counts: Counts) -> int:
    return counts.store_bytes


def executed(counts: Counts) -> int:
    return counts.instructions


def middle(counts: list[Counts], of: Callable[[Counts], int]) -> float:
    return median(map(of, counts))


def least(counts: list[Counts], of: Callable[[Counts], int]) -> int:
    """Return the smallest count: the clearing takes so long that the clock ticks in most of the faults."""
    return min(map(of, counts))


def show(what: str, counts: list[Counts]) -> None:
    print(f"{what}: {least(counts, executed):,} instructions, {least(counts, stored):,} bytes stored")


def show_lost(lost: dict[int, list[int]]) -> None:
    for what, label in (("clean", CLEAN), ("cleared by the fault", DIRTY), ("no touch", UNTOUCHED)):
        each = lost[label]
        print(f"{what}: of {LINES:,} lines {median(each):,.0f} ({min(each)} to {max(each)}) are lost")
