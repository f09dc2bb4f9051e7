# SPDX-License-Identifier: Apache-2.0
"""What the first touch of a huge page costs the CPU that touches it, and giving it back, exactly: make test-lab."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from statistics import median

import pytest

from lab.kernel import series, source, tree
from lab.kernel.build import Built
from lab.run import qemu
from lab.tests.long import x86_guest
from lab.tests.long.base import BASE
from papers.zero_offload.tests.long.first_touch import (
    CLEAN,
    DIRTY,
    GIVEN_BACK,
    LINES,
    RANGES,
    SIZES,
    SMALL,
    UNTOUCHED,
    executed,
    faults,
    least,
    lines_lost,
    middle,
    show,
    show_lost,
    stored,
)

pytestmark = pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it")

# What a fault stores besides the page is less: more on 7.3, with the series or without.
BESIDE = {"6.12": 4096, "7.3": 4608}[BASE]
# The instructions of a fault on a clean page, at most, over those of one on a dirty page less the clearing. The
# clearing itself, by ranges, is some string instructions and some dozens around them; CLEARING is more than that.
MOST = 1.15
CLEARING = 200
ZERO_ON_FREE = Path(__file__).with_name("zero_on_free.patch")


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
    lost = lines_lost(built)
    show_lost(lost)
    # The clock's ticks and the fault itself take some; the clearing of a page, twice as large as the cache, takes most.
    assert median(lost[UNTOUCHED]) <= 0.01 * LINES
    assert median(lost[CLEAN]) <= 0.02 * LINES
    assert median(lost[DIRTY]) >= 0.5 * LINES
