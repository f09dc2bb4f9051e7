# SPDX-License-Identifier: Apache-2.0
"""The series hugetlb-prezero and memory: pages that break, large ones, thin maps, what the thread may take, and who may
see what its owner left in a page."""

from __future__ import annotations

import os

import pytest

from lab.kernel.build import Built
from lab.run import qemu
from lab.run.outcome import Outcome
from lab.tests.long import x86_guest
from lab.tests.long.base import BASE
from papers.zero_offload.tests.long import prezero_guest
from papers.zero_offload.tests.long.prezero_guest import BIG, CHANNEL, MOCK, PLAIN, SERVED, SETTLE

pytestmark = pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it")
# These tests have a kernel of their own, to which broken memory can be reported, and which can free most struct pages
# of a huge page.
full = pytest.mark.skipif(os.environ.get("OKOSU_LAB") != "full", reason="make test-lab-full runs it")

engines = pytest.mark.skipif(BASE != "6.12", reason="the series has no engines on this base")

# The engine that is slow enough to be caught at work, and the script that makes it so. The thread of 7.3 rests for most
# of half a second while it clears a page, and its control group says that it has begun.
_SLOW = {
    "6.12": ("dma", f"echo 300 > {MOCK}/delay_ms;", ""),
    "7.3": (
        "thread",
        """
        echo 1 > $P/prezero_cpu_percent; echo 1 > $P/prezero_hugepages;
        mkdir /tmp/group; mount -t cgroup2 none /tmp/group
        echo +cpu > /tmp/group/cgroup.subtree_control; mkdir /tmp/group/pays
        grep -l '^khugezerod/0$' /proc/[0-9]*/comm | cut -d/ -f3 > /tmp/group/pays/cgroup.procs;""",
        "/tmp/group/pays/cpu.stat",
    ),
}[BASE]
# What a page is when its memory breaks: how many pages the pool loses by it, how many are left in it, and how many are
# clean right after it, where the page was free.
STATES: dict[str, tuple[int, int, int | None]] = {
    "clean": (1, 7, 7),
    "reserved": (0, 8, 7),
    "failing": (1, 7, 7),
    "zeroing": (1, 0, 0),
    "mapped": (1, 7, None),
    "copied": (1, 7, None),
    "soft": (1, 7, None),
}
# Those that were tried with the series as it is on 6.12.
TRIED = {"6.12": ("clean", "zeroing", "mapped", "soft")}.get(BASE, tuple(STATES))
# On 7.3 it is the debugging kernel, whose KASAN takes an eighth.
ROOM = "768M"
# Debian's 6.12.117 without any series does not free such pages well: with hugetlb_free_vmemmap=on and DEBUG_VM,
# "echo 8 > nr_hugepages; echo 2 > nr_hugepages" gives BUG: Bad page state, 60 times.
KEEPING = tuple(way for way in prezero_guest.WAYS if way != "resize" or BASE != "6.12")


@pytest.fixture(scope="module")
def built() -> Built:
    return x86_guest.kernel()


@pytest.fixture(scope="module")
def breaking() -> Built:
    if BASE != "6.12":
        return x86_guest.debug_kernel()
    x86_guest.kernel()
    return qemu.build(fragments=(*qemu.RECIPE.fragments, "x86-hwpoison"))


def quiet(outcome: Outcome) -> Outcome:
    """Return the outcome of a guest whose kernel had nothing to say against itself."""
    assert x86_guest.complaints(outcome.log) == []
    return outcome


@full
@pytest.mark.parametrize("state", TRIED)
def test_a_page_that_breaks_is_lost_and_handed_to_nobody(breaking: Built, state: str) -> None:
    engine, before, used = _SLOW if state == "zeroing" else (PLAIN, "", "")
    script = f"""
        mount -t debugfs none /sys/kernel/debug 2> /dev/null || true
        {before} $BIN/zero_poison {engine} {state} {used}; {SETTLE}"""
    outcome = quiet(prezero_guest.run(breaking, script, CHANNEL, nodes=1, exact=True, memory=ROOM))
    found = prezero_guest.stats(outcome)
    lost, left, clean = STATES[state]
    assert (found["lost"], found["scanned"], found["free"]) == (lost, left, left)
    assert found.get("begun", 0) == (state == "zeroing")
    if BASE == "7.3":
        assert found.get("clean") == clean
    else:
        assert (found["caught_dirty"], found["caught_written"], found["stuck"]) == (0, 0, 0)


@engines
@full
@pytest.mark.parametrize("how", ["pin", "broken"])
def test_who_needs_a_lock_of_one_that_waits_can_be_killed(breaking: Built, how: str) -> None:
    script = f"mount -t debugfs none /sys/kernel/debug 2> /dev/null || true; {prezero_guest.locked('dma', how)}"
    outcome = prezero_guest.run(breaking, script, *prezero_guest.LATE, nodes=1, exact=True, memory=ROOM)
    assert prezero_guest.killed_at_once(quiet(outcome))


@full
@pytest.mark.parametrize("engine", [PLAIN, "user"] if BASE == "6.12" else [PLAIN])
def test_pages_without_most_of_their_struct_pages_are_cleared_as_others(breaking: Built, engine: str) -> None:
    # The struct pages of the tail are mapped read-only: a write to one would be an oops.
    before = "cat /proc/sys/vm/hugetlb_optimize_vmemmap;"
    before += "$BIN/zero_daemon good > /dev/null &" if engine == "user" else ""
    on = "hugetlb_free_vmemmap=on"
    outcome = prezero_guest.check(breaking, engine, 2, KEEPING, before, on, exact=True, memory=ROOM)
    assert quiet(outcome).stdout.startswith(b"1\n")
    expected = prezero_guest.expected(2)
    assert prezero_guest.scans(outcome) == {way: expected[way] for way in KEEPING}
    assert prezero_guest.stats(outcome)[SERVED] > 0


@engines
def test_an_engine_has_as_much_more_time_as_a_page_is_larger(built: Built) -> None:
    # The controller waits before each of the 512 parts, 5 to 10 s in all; the limit is 1 s for 2 MiB and 16 s for 1
    # GiB.
    script = f"""
        [ "$(cat {BIG}/free_hugepages)" = 1 ]
        echo 5 > {MOCK}/delay_ms; echo 1 > {BIG}/zero_target; begun=$(cut -d. -f1 /proc/uptime)
        echo dma > {BIG}/zero_engine; until [ "$(cat {BIG}/zeroed_hugepages)" = 1 ]; do sleep 0.1; done
        echo seconds $(($(cut -d. -f1 /proc/uptime) - begun)); grep timed_out {BIG}/zero_stats
        echo 1500 > {MOCK}/delay_ms; echo 1 > $P/nr_hugepages; echo 1 > $P/zero_target; echo dma > $P/zero_engine
        until ! grep -q '^timed_out 0' $P/zero_stats; do sleep 0.1; done; grep '^cleared' $P/zero_stats"""
    # QEMU puts the initial files just below 2 GiB, so the third GiB is the first that is whole.
    args = (CHANNEL, "hugepagesz=1G", "hugepages=1")
    outcome = prezero_guest.run(built, script, *args, memory="3328M", nodes=1, exact=True)
    found = prezero_guest.stats(outcome)
    assert found["seconds"] >= 2
    assert (found["timed_out"], found["cleared"]) == (0, 0)


@engines
def test_a_large_page_has_more_parts_than_a_channel_has_room_for(built: Built) -> None:
    script = f"""
        echo 100 > {MOCK}/room; echo 1 > {BIG}/zero_target; echo dma > {BIG}/zero_engine
        until grep -q '^cleared 1' {BIG}/zero_stats || ! grep -q '^failed 0' {BIG}/zero_stats; do sleep 0.1; done
        cat {BIG}/zero_stats"""
    args = (CHANNEL, "hugepagesz=1G", "hugepages=1")
    found = prezero_guest.stats(prezero_guest.run(built, script, *args, memory="3328M", nodes=1, exact=True))
    assert (found["cleared"], found["failed"], found["timed_out"]) == (1, 0, 0)


@engines
def test_the_rate_bounds_what_is_cleared_in_a_second(built: Built) -> None:
    # 20 MiB in a second are ten pages; without a limit all 32 are cleared.
    script = f"""
        cleared() {{ grep '^cleared' $P/zero_stats; }}
        echo 32 > $P/nr_hugepages; echo 20 > $P/zero_rate; echo 32 > $P/zero_target
        echo cpu-nt > $P/zero_engine; sleep 1; cleared
        echo 0 > $P/zero_rate; sleep 1; cleared; {SETTLE}"""
    outcome = prezero_guest.run(built, script, nodes=1, exact=True)
    first, second = [int(line.split()[1]) for line in outcome.stdout.decode().splitlines()[:2]]
    assert 8 <= first <= 12
    assert second == prezero_guest.stats(outcome)["free"] == 32


@engines
def test_the_thread_stays_on_its_cpus(built: Built) -> None:
    # The CPU that the thread last ran on is the 39th field of its stat. In each round it may use one CPU, on which it
    # clears pages.
    script = """
        echo 8 > $P/zero_target; echo cpu-nt > $P/zero_engine
        thread=$(grep -l '^hzero/2048kB' /proc/[0-9]*/comm | cut -d/ -f3)
        for cpu in 1 0 2 1; do
            echo $cpu > $P/zero_cpus; before=$(grep '^cleared' $P/zero_stats | cut -d' ' -f2)
            echo 0 > $P/nr_hugepages; echo 8 > $P/nr_hugepages
            until [ "$(cat $P/zeroed_hugepages)" = 8 ]; do
                sleep 0.01; echo ran $cpu $(cut -d' ' -f39 /proc/$thread/stat); done
            echo ran $cpu $(cut -d' ' -f39 /proc/$thread/stat)
            after=$(grep '^cleared' $P/zero_stats | cut -d' ' -f2)
            echo round $cpu $((after - before)) $(grep Cpus_allowed_list /proc/$thread/status | cut -f2)
        done"""
    outcome = prezero_guest.run(built, script, cpus=3, nodes=1, exact=True)
    said = [line.split() for line in outcome.stdout.decode().splitlines()]
    assert [words[1:] for words in said if words[0] == "round"] == [[cpu, "8", cpu] for cpu in "1021"]
    ran = [words[1:] for words in said if words[0] == "ran"]
    assert {cpu for cpu, _ in ran} == {"0", "1", "2"}
    assert all(cpu == on for cpu, on in ran)


@engines
@full
def test_nobody_is_a_daemon_where_the_kernel_is_locked_down(breaking: Built) -> None:
    script = """
        $BIN/zero_daemon good > /tmp/first & daemon=$!; until [ -s /tmp/first ]; do sleep 0.1; done; cat /tmp/first
        kill -9 $daemon; wait $daemon || true
        mount -t securityfs none /sys/kernel/security
        echo integrity > /sys/kernel/security/lockdown; cat /sys/kernel/security/lockdown
        $BIN/zero_daemon good 2>&1 || echo locked down $?"""
    said = prezero_guest.run(breaking, script, exact=True).stdout.decode()
    assert said.startswith("ready\n")
    assert "[integrity]" in said
    assert "Operation not permitted" in said
    assert said.endswith("locked down 1\n")
