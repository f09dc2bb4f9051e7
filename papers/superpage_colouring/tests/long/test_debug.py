# SPDX-License-Identifier: Apache-2.0
"""The series page-colour where the kernel checks itself: DEBUG_VM, page_owner, KASAN, lockdep: make test-lab-full."""

from __future__ import annotations

import os

import pytest

from lab.kernel.build import Built
from lab.run import qemu
from lab.tests.long import x86_guest
from papers.superpage_colouring.tests.long import colour_guest
from papers.superpage_colouring.tests.long.colour_guest import COLOURS
from papers.superpage_colouring.tests.long.test_switch import LOADS, SLACK_PAGES

pytestmark = pytest.mark.skipif(os.environ.get("OKOSU_LAB") != "full", reason="make test-lab-full runs it")

TIMEOUT_S = 1800.0


@pytest.fixture(scope="module")
def built() -> Built:
    return x86_guest.debug_kernel()


def run(built: Built, script: str, *arguments: str, **machine: object) -> dict[str, list[str]]:
    """Run the script on two CPUs, and return what it printed; the kernel must not have complained."""
    given = {"cpus": 2, "memory": "768M", "timeout": TIMEOUT_S, **machine}
    outcome = colour_guest.run(built, script, kernel_args=(*x86_guest.DEBUG_ARGUMENTS, *arguments), **given)
    assert x86_guest.complaints(outcome.log) == []
    return colour_guest.sections(outcome)


@pytest.mark.parametrize("load", LOADS)
def test_the_kernel_does_not_complain(built: Built, load: str) -> None:
    run(built, f"turn=1; echo '== load'; {LOADS[load]}; off")


def test_the_series_own_tests_do_nothing_forbidden(built: Built) -> None:
    outcome = qemu.run(built, ["true"], kernel_args=(x86_guest.KUNIT,), timeout=TIMEOUT_S, memory="768M")
    assert "# page_color: pass" in outcome.log
    assert x86_guest.complaints(outcome.log) == []


# `usable NUMBER BLOCK...`: takes the first NUMBER memory blocks offline that can be. Some hold what the boot reserved,
# in zone Movable too, so each is tried, before colouring is on.
BLOCKS = """
cd /sys/devices/system/memory
usable() {
    left=$1; blocks=; shift
    for block; do
        if [ $left -gt 0 ] && echo offline > $block/state; then blocks="$blocks $block"; left=$((left - 1)); fi
    done
    [ -n "$blocks" ]
}
each() { for block in $blocks; do echo $1 > $block/state; done; }
"""

MEMORY = f"""
{BLOCKS}
usable 9 $(grep -l Movable memory*/valid_zones | sed 's,/.*,,')
each online_movable
for turn in 1 2 3; do
    colour fold
    $pages 20000 compact 0 > /tmp/held &
    for block in $blocks; do
        echo offline > $block/state
        [ $(cat $block/state) = offline ]
        $stress 2 40 200 $turn > /dev/null
        echo online_movable > $block/state
    done
    wait
    $pages 4000 none 0 > /tmp/again
    off; echo 3 > /proc/sys/vm/drop_caches; sleep 1; echo "== $turn"; $free
done
echo "== again"; cat /tmp/again
"""


def test_memory_is_taken_out_and_put_back_without_losing_a_page(built: Built) -> None:
    found = run(built, MEMORY, "movablecore=384M", memory="1G")
    turns = [colour_guest.memory(found[turn]) for turn in "123"]
    assert turns[2]["managed"] == turns[0]["managed"]
    assert turns[2]["rest"] - turns[0]["rest"] <= SLACK_PAGES, turns
    # Memory that is online again has colours.
    frames = [page.before for page in colour_guest.pages(found["again"])]
    had = colour_guest.counts(frames, COLOURS)
    assert max(had) - min(had) <= 0.02 * len(frames), had


# The zone Movable consists of two blocks that were taken offline and put online again.
EMPTIED = f"""
{BLOCKS}
usable 2 memory5 memory4 memory3 memory2
present() {{ echo "== $1"; sed -n '/zone *Movable/,/present/s/ *present *//p' /proc/zoneinfo; }}
hits() {{ echo "== hits $1"; sed -n 's/page_color_hit //p' /proc/vmstat; }}
echo "== blocks"; for block in $blocks; do echo $((0x$(cat $block/phys_index))); done
echo "== size"; echo $((0x$(cat block_size_bytes) / 4096))
colour fold
each online_movable; present filled
each offline; present emptied
each online_movable; present refilled
hits before; echo "== pages"; $pages 4000 none 0; hits after
"""


def test_a_zone_that_was_emptied_and_refilled_has_colours(built: Built) -> None:
    found = run(built, EMPTIED, memory="1G")
    blocks, size = {int(block) for block in found["blocks"]}, int(found["size"][0])
    assert [found[when] for when in ("filled", "emptied", "refilled")] == [
        [str(len(blocks) * size)],
        ["0"],
        found["filled"],
    ]
    pages = colour_guest.pages(found["pages"])
    assert {page.before // size for page in pages} <= blocks
    assert colour_guest.agreement(pages, colour_guest.fold) >= 0.98
    # The counters count pages from the CPU's slots and pages that fill them, not those from its plain list.
    hits = [int(found[f"hits {when}"][0]) for when in ("before", "after")]
    assert hits[1] - hits[0] >= 0.98 * len(pages)


CONTIGUOUS = """
cd /sys/kernel/debug/cma
cd $(ls | head -n 1)
for turn in 1 2 3; do
    colour hop
    # Programs' pages are in the area first, and have to leave it.
    $stress 4 12 2000 $turn > /dev/null &
    sleep 1
    for size in 64 256 1024; do echo $size > alloc; done
    wait
    echo 1344 > free
    off; echo 3 > /proc/sys/vm/drop_caches; sleep 1; echo "== $turn"; $free
done
"""


def test_contiguous_areas_are_found_and_given_back(built: Built) -> None:
    found = run(built, CONTIGUOUS, "cma=64M")
    turns = [colour_guest.memory(found[turn]) for turn in "123"]
    assert turns[2]["rest"] - turns[0]["rest"] <= SLACK_PAGES, turns
