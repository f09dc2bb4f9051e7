# SPDX-License-Identifier: Apache-2.0
"""What the first touch of a huge page costs the CPU that touches it, and giving it back, exactly: make test-lab."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

import pytest

from lab.kernel import series, source, tree
from lab.kernel.build import Built
from lab.model import model_plugin, plugin_counts
from lab.model.plugin_counts import Counts
from lab.run import guest, qemu
from lab.tests.long import x86_guest
from lab.tests.long.base import BASE

pytestmark = pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it")

MACHINE = "celeron-900"
CLEAN, DIRTY, GIVEN_BACK = 1, 2, 3
# A machine whose second-level cache of 1 MiB holds the working set of zero_neighbour twice, and half of a huge page.
NEIGHBOUR, UNTOUCHED, LINES = "zen5-9950x", 3, (512 << 10) // 64
# What clears ahead, and the kernel's arguments. On 7.3 faults clear by ranges in any case, and the kernel has to be
# told that the model's addresses are those of four levels of page tables.
ENGINE, RANGES = {"6.12": ("cpu-nt", ("folio_zero.ranges=1",)), "7.3": ("thread", ("no5lvl",))}[BASE]
# What a fault stores besides the page is less: more on 7.3, with the series or without.
BESIDE = {"6.12": 4096, "7.3": 4608}[BASE]
# The instructions of a fault on a clean page, at most, over those of one on a dirty page less the clearing. The
# clearing itself, by ranges, is some string instructions and some dozens around them; CLEARING is more than that.
MOST = 1.15
CLEARING = 200
ZERO_ON_FREE = Path(__file__).with_name("zero_on_free.patch")


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


@pytest.fixture(scope="module")
def built() -> Built:
    return x86_guest.kernel()


@pytest.fixture(scope="module")
def at_free() -> Built:
    """Return the kernel in which who frees a huge page clears it, if told so at boot."""
    x86_guest.kernel()
    ours = series.find("hugetlb-prezero", BASE)
    more = replace(ours, patches=(*ours.patches, ZERO_ON_FREE))
    return qemu.build(series=(), source=tree.patched(source.find(base=BASE), [more]), base=BASE)


def faults(
    built: Built, size: Size = SMALL, engine: str = ENGINE, kernel_args: Sequence[str] = RANGES
) -> dict[int, list[Counts]]:
    """Return what the kernel did in each marked touch and end of a mapping, by label."""
    command = [str(guest.build() / size.program), engine, str(size.pages), str(size.times)]
    args = (*kernel_args, *size.kernel_args)
    outcome = qemu.run(built, command, kernel_args=args, model=MACHINE, timeout=3600.0, memory=size.memory)
    assert outcome.status == 0, outcome.console
    clean, dirty = (0 if engine == "none" else size.touches), (0 if engine in ("none", "free") else size.touches)
    assert outcome.stdout.split() == f"clean {clean} dirty {dirty}".encode().split()
    found: dict[int, list[Counts]] = {CLEAN: [], DIRTY: [], GIVEN_BACK: []}
    for region in plugin_counts.inside(model_plugin.regions(outcome.files[model_plugin.COUNTS])):
        found[region.label].append(region.kernel)
    touched = [0 if engine == "none" else size.touches, 0 if engine == "free" else size.touches]
    assert [len(counts) for counts in found.values()] == [*touched, sum(touched)]
    return found


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


@pytest.mark.parametrize("name", SIZES if BASE == "7.3" else ("2 MiB",))
def test_a_fault_on_a_clean_page_stores_nothing_of_it_and_does_little_else(built: Built, name: str) -> None:
    size = SIZES[name]
    found = faults(built, size)
    clean, dirty = middle(found[CLEAN], stored), least(found[DIRTY], stored)
    # A fault on a clean page stores some KiB in all, once the page table (4 KiB itself) is there, which it is not where
    # each touch is the first of a mapping. A fault on a dirty page stores the whole huge page, and as much as the other
    # beside it.
    assert clean < (BESIDE if size.pages > 1 else 2 * 4096)
    assert max(map(stored, found[CLEAN])) < 2 * 4096
    assert clean <= dirty - size.page
    does, did = middle(found[CLEAN], executed), least(found[DIRTY], executed)
    # While 1 GiB is cleared the clock ticks so often that nothing can be said of the fault's own instructions.
    assert size is not SMALL or does <= MOST * (did - CLEARING)
    for what, label in (("clean", CLEAN), ("dirty", DIRTY), ("given back", GIVEN_BACK)):
        show(f"{name}, {what}", found[label])


@pytest.mark.skipif(BASE != "6.12", reason="clearing page by page is no choice on this base")
def test_clearing_by_ranges_is_what_the_fault_is_compared_with(built: Built) -> None:
    by_page = faults(built, kernel_args=())[DIRTY]
    by_range = faults(built)[DIRTY]
    assert least(by_range, executed) < least(by_page, executed) / 10
    assert least(by_range, stored) >= SMALL.page


def test_pages_that_init_on_free_cleared_are_cleared_by_the_fault_again(built: Built) -> None:
    # It clears what comes back to the page allocator, and the pages of a pool do not.
    found = faults(built, engine="none", kernel_args=(*RANGES, "init_on_free=1"))
    assert least(found[DIRTY], stored) >= SMALL.page
    show("init_on_free=1, first touch", found[DIRTY])
    show("init_on_free=1, given back", found[GIVEN_BACK])


@pytest.mark.skipif(BASE != "7.3", reason="what is compared with is for the other base")
def test_who_frees_a_page_pays_for_it_where_pages_are_cleared_then(built: Built, at_free: Built) -> None:
    ahead, neither = faults(built), faults(built, engine="none")
    found = faults(at_free, engine="free", kernel_args=(*RANGES, "hugetlb_zero_on_free"))
    # The fault is as cheap as the one on a page that the thread has cleared.
    assert middle(found[CLEAN], stored) < BESIDE
    assert middle(found[CLEAN], executed) <= 1.02 * middle(ahead[CLEAN], executed)
    # The page's bytes are stored when it is given back, and by who gives it back. With the thread that costs what it
    # does where nothing is cleared ahead: the end of a mapping, with its page table.
    assert least(found[GIVEN_BACK], stored) >= SMALL.page + least(neither[GIVEN_BACK], stored)
    for of in (stored, executed):
        assert middle(ahead[GIVEN_BACK], of) <= 1.02 * middle(neither[GIVEN_BACK], of)
    for what, label in (("first touch", CLEAN), ("given back", GIVEN_BACK)):
        show(f"zero on free, {what}", found[label])
        show(f"thread, {what}", ahead[label])
    show("neither, first touch", neither[DIRTY])
    show("neither, given back", neither[GIVEN_BACK])


def test_a_first_touch_leaves_the_lines_of_others_where_they_were(built: Built) -> None:
    pages = 16
    command = [str(guest.build() / "zero_neighbour"), ENGINE, str(pages)]
    outcome = qemu.run(built, command, kernel_args=RANGES, model=NEIGHBOUR, timeout=3600.0)
    assert outcome.status == 0, outcome.console
    assert outcome.stdout.split() == f"clean {pages} dirty {pages}".encode().split()
    lost: dict[int, list[int]] = {CLEAN: [], DIRTY: [], UNTOUCHED: []}
    for region in plugin_counts.inside(model_plugin.regions(outcome.files[model_plugin.COUNTS])):
        lost[region.label].append(region.user.misses(2))
        assert region.user.loads >= LINES
    assert [len(each) for each in lost.values()] == [pages, pages, 2 * pages]
    for what, label in (("clean", CLEAN), ("cleared by the fault", DIRTY), ("no touch", UNTOUCHED)):
        print(
            f"{what}: of {LINES:,} lines {median(lost[label]):,.0f} ({min(lost[label])} to {max(lost[label])}) are lost"
        )
    # The clock's ticks and the fault itself take some; the clearing of a page, twice as large as the cache, takes most.
    assert median(lost[UNTOUCHED]) <= 0.01 * LINES
    assert median(lost[CLEAN]) <= 0.02 * LINES
    assert median(lost[DIRTY]) >= 0.5 * LINES
