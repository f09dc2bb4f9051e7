# SPDX-License-Identifier: Apache-2.0
"""The series page-colour where the kernel checks itself: DEBUG_VM, page_owner, KASAN, lockdep: make test-lab-full."""

from __future__ import annotations

import os

import colour_guest
import pytest
import x86_guest
from colour_guest import COLOURS
from test_x86_page_colour_switch import LOADS, SLACK_PAGES

from okosu.lab import qemu
from okosu.lab.build import Built

pytestmark = pytest.mark.skipif(os.environ.get("OKOSU_LAB") != "full", reason="make test-lab-full runs it")

TIMEOUT_S = 900.0


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


MEMORY = """
cd /sys/devices/system/memory
blocks=$(grep -l Movable memory*/valid_zones)
[ -n "$blocks" ]
for turn in 1 2 3; do
    colour fold
    $pages 20000 compact 0 > /tmp/held &
    for valid in $blocks; do
        block=${valid%/valid_zones}
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
    # What came back has colours.
    frames = [page.before for page in colour_guest.pages(found["again"])]
    had = colour_guest.counts(frames, COLOURS)
    assert max(had) - min(had) <= 0.02 * len(frames), had


CONTIGUOUS = """
cd /sys/kernel/debug/cma
cd $(ls | head -n 1)
for turn in 1 2 3; do
    colour hop
    # Programs' pages are in the area first, and have to leave it.
    $stress 4 60 8000 $turn > /dev/null &
    sleep 1
    for size in 64 1024 4096; do echo $size > alloc; done
    wait
    echo 5184 > free
    off; echo 3 > /proc/sys/vm/drop_caches; sleep 1; echo "== $turn"; $free
done
"""


def test_contiguous_areas_are_found_and_given_back(built: Built) -> None:
    found = run(built, CONTIGUOUS, "cma=64M")
    turns = [colour_guest.memory(found[turn]) for turn in "123"]
    assert turns[2]["rest"] - turns[0]["rest"] <= SLACK_PAGES, turns
