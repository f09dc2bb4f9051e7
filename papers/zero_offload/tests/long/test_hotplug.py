# SPDX-License-Identifier: Apache-2.0
"""Clearing ahead on Linux 7.3 where memory and CPUs come and go, in a kernel that checks itself: make test-lab-full."""

from __future__ import annotations

import os

import pytest

from lab.kernel.build import Built
from lab.run.outcome import Outcome
from lab.tests.long import x86_guest
from lab.tests.long.base import BASE
from papers.zero_offload.tests.long import prezero_guest
from papers.zero_offload.tests.long.prezero_guest import SETTLE
from papers.zero_offload.tests.long.test_thread import FUNCTIONS, THREAD

pytestmark = [
    pytest.mark.skipif(os.environ.get("OKOSU_LAB") != "full", reason="make test-lab-full runs it"),
    pytest.mark.skipif(BASE != "7.3", reason="the series is another on this base"),
]

MEMORY = "/sys/devices/system/memory"
# A block of memory is 128 MiB, and all but the last 32 MiB of the zone that consists of blocks are in the pool.
POOL = 176


@pytest.fixture(scope="module")
def built() -> Built:
    return x86_guest.debug_kernel()


def run(built: Built, script: str, *args: str, **machine: object) -> Outcome:
    """Run a script in a guest whose kernel must have nothing to say against itself."""
    given = {"nodes": 1, "memory": "1G", **machine}
    outcome = prezero_guest.run(built, FUNCTIONS + script, *args, *x86_guest.DEBUG_ARGUMENTS, **given)  # type: ignore[arg-type]
    assert x86_guest.complaints(outcome.log) == []
    return outcome


def test_memory_goes_with_the_clean_pages_on_it_and_with_the_one_in_work(built: Built) -> None:
    # Each time a block goes and comes back: once with all pages clean, and four times while the thread, which rests
    # for most of the time that it takes for a page, is at work on those of the zone one after the other.
    script = f"""
        for block in $(grep -l Movable {MEMORY}/memory*/valid_zones | sed 's,/valid_zones,,'); do
            echo offline > $block/state && break; done
        echo online_movable > $block/state
        turn() {{
            had=$(cat $P/nr_hugepages); echo offline > $block/state; cat $block/state
            left=$(cat $P/nr_hugepages); echo left $left lost $((had - left)) clean $(cat $P/zeroed_hugepages)
            echo online_movable > $block/state; echo {POOL} > $P/nr_hugepages; }}
        echo {POOL} > $P/nr_hugepages; echo 100 > $P/prezero_cpu_percent; echo {POOL} > $P/prezero_hugepages
        wait_zeroed {POOL}; turn; wait_zeroed {POOL}; echo 4 > $P/prezero_cpu_percent
        for time in 1 2 3 4; do echo 0 > $P/nr_hugepages; echo {POOL} > $P/nr_hugepages; sleep 0.3; turn; done
        echo 100 > $P/prezero_cpu_percent; $BIN/zero_check thread 2 touch cow resize oom; {SETTLE}"""
    outcome = run(built, script, "movablecore=384M", cpus=2)
    lines = [line.split() for line in outcome.stdout.decode().splitlines()]
    assert [words for words in lines if len(words) == 1] == [["offline"]] * 5
    turns = [(int(words[1]), int(words[3]), int(words[5])) for words in lines if words[0] == "left"]
    assert len(turns) == 5
    assert all(left + lost == POOL and lost > 0 for left, lost, _ in turns)
    assert turns[0][2] == turns[0][0]
    assert all(clean < left for left, _, clean in turns[1:])
    expected = prezero_guest.expected(2)
    assert prezero_guest.scans(outcome) == {way: expected[way] for way in ("touch", "cow", "resize", "oom")}


def test_the_thread_goes_on_when_its_cpu_goes(built: Built) -> None:
    # The CPU that the thread last ran on is the 39th field of its stat. It may use one, which goes while the thread is
    # at work and again while it waits.
    script = f"""
        echo 4 > $P/prezero_cpu_percent; echo 32 > $P/prezero_hugepages; thread={THREAD}
        taskset -pc 1 $thread > /dev/null; echo 32 > $P/nr_hugepages
        until [ $(cat $P/zeroed_hugepages) -gt 0 ]; do sleep 0.02; done; cut -d' ' -f39 /proc/$thread/stat
        echo 0 > /sys/devices/system/cpu/cpu1/online; cat $P/zeroed_hugepages
        echo 100 > $P/prezero_cpu_percent; wait_zeroed 32; cut -d' ' -f39 /proc/$thread/stat
        echo 1 > /sys/devices/system/cpu/cpu1/online; taskset -pc 1 $thread > /dev/null
        echo 0 > /sys/devices/system/cpu/cpu1/online
        echo 0 > $P/nr_hugepages; echo 32 > $P/nr_hugepages; wait_zeroed 32; {SETTLE}"""
    words = run(built, script, cpus=2).stdout.decode().split()
    assert (words[0], words[2]) == ("1", "0")
    assert 0 < int(words[1]) < 32


def test_memory_that_is_added_is_in_the_pool_and_clean_until_it_goes(built: Built) -> None:
    # The kernel is told of half of the memory at its start, and of a further block when it runs.
    block = f"{MEMORY}/memory4/state"
    script = f"""
        echo 8 > $P/nr_hugepages; echo 100 > $P/prezero_cpu_percent; echo 1000 > $P/prezero_hugepages; wait_zeroed 8
        echo 0x20000000 > {MEMORY}/probe
        for time in 1 2; do
            echo online_movable > {block}; echo 40 > $P/nr_hugepages; wait_zeroed 40
            echo offline > {block}; cat {block} $P/nr_hugepages $P/zeroed_hugepages
        done; $BIN/zero_wait touch; grep htlb_prezero /proc/vmstat"""
    outcome = run(built, script, "memmap=exactmap", "memmap=640K@0", "memmap=511M@1M")
    words = outcome.stdout.decode().split()
    assert words[6:] == ["had", "htlb_prezero_hit", "1", "htlb_prezero_miss", "0"]
    for state, left, clean in (words[:3], words[3:6]):
        assert state == "offline"
        assert int(left) < 40
        assert clean == left
