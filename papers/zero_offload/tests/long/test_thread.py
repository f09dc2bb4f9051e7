# SPDX-License-Identifier: Apache-2.0
"""The series hugetlb-prezero as it is to be sent, on Linux 7.3, in an emulated machine: make test-lab-full."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from lab.kernel import series
from lab.kernel.build import Built
from lab.run import qemu
from lab.run.outcome import Outcome
from lab.tests.long import mm_selftests, x86_guest
from lab.tests.long.base import BASE
from papers.zero_offload.tests.long import prezero_guest
from papers.zero_offload.tests.long.other_prezero import starved_wait
from papers.zero_offload.tests.long.prezero_guest import BIG

pytestmark = [
    pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it"),
    pytest.mark.skipif(BASE != "7.3", reason="the series is another on this base"),
]

SELFTEST = "hugetlb_prezero"
# Lines that the tree's own test of the series prints for what it tried.
TRIED = 12
KUNIT_CASES = 10
NODE = "/sys/devices/system/node/node"
# The process that clears pages of the first node.
THREAD = "$(grep -l '^khugezerod/0$' /proc/[0-9]*/comm | cut -d/ -f3)"
# Print the time since the boot in hundredths of a second; wait until so many pages are clean; put a thread into a
# group, and print the microseconds that the group has used.
FUNCTIONS = """
    now() { t=$(cut -d' ' -f1 /proc/uptime | tr -d .); t=${t#0}; echo ${t#0}; }
    wait_zeroed() {
        n=0; until [ $(cat $P/zeroed_hugepages) = $1 ]; do sleep 0.1; n=$((n + 1)); [ $n -lt 300 ]; done; }
    charge() {
        mkdir -p /tmp/group; mount -t cgroup2 none /tmp/group; echo +cpu > /tmp/group/cgroup.subtree_control
        mkdir /tmp/group/pays; echo $1 > /tmp/group/pays/cgroup.procs; }
    used() { grep usage_usec /tmp/group/pays/cpu.stat | cut -d' ' -f2; }
"""
# What it takes at least to clear a page, in a machine that takes a nanosecond for an instruction and stores 8 bytes by
# one.
LEAST_US = (2 << 20) / 8 / 1000


@pytest.fixture(scope="module")
def built() -> Built:
    return x86_guest.kernel()


@pytest.fixture(scope="module")
def selftest() -> Path:
    return mm_selftests.program(SELFTEST, series.find("hugetlb-prezero", BASE))


def run(built: Built, script: str, *args: str, **machine: object) -> Outcome:
    """Run a script in a guest of one node, of which two runs are the same; the kernel must warn of nothing."""
    outcome = prezero_guest.run(built, FUNCTIONS + script, *args, **{"nodes": 1, "exact": True, **machine})  # type: ignore[arg-type]
    assert x86_guest.complaints(outcome.log) == []
    return outcome


@pytest.mark.parametrize("exact", [True, False])
def test_the_tree_s_own_test_finds_every_page_clean(built: Built, selftest: Path, exact: bool) -> None:
    outcome = qemu.run(
        built, [str(selftest)], cpus=2, nodes=2, exact=exact, timeout=prezero_guest.TIMEOUT_S, files=None
    )
    said = outcome.stdout.decode()
    assert outcome.status == 0, said
    assert x86_guest.complaints(outcome.log) == []
    lines = re.findall(r"^(not ok|ok) \d+ (.*)$", said, re.M)
    assert [how for how, _ in lines] == ["ok"] * TRIED, said
    assert not any("# SKIP" in what for _, what in lines), said
    # Each node's thread tried both ways of clearing, and every page that either cleared was looked through.
    assert len(re.findall(r"HugeTLB: node [01]: free pages are cleared (?:past|in) the caches", outcome.log)) >= 2


def test_the_kernel_s_own_tests_pass(built: Built) -> None:
    outcome = qemu.run(built, ["true"], kernel_args=(x86_guest.KUNIT,), timeout=prezero_guest.TIMEOUT_S, exact=True)
    assert "# hugetlb_zero: pass" in outcome.log
    assert f"# hugetlb_zero: pass:{KUNIT_CASES} fail:0 skip:0 total:{KUNIT_CASES}" in outcome.log
    assert x86_guest.complaints(outcome.log) == []


def test_nothing_is_cleared_before_somebody_asks(built: Built) -> None:
    outcome = run(
        built,
        """
        echo 8 > $P/nr_hugepages; sleep 1; grep -l khugezerod /proc/[0-9]*/comm || echo none
        cat $P/prezero_hugepages $P/prezero_cpu_percent $P/zeroed_hugepages
        $BIN/zero_wait touch; grep htlb_prezero /proc/vmstat""",
    )
    assert outcome.stdout.decode().split("\n") == [
        *("none", "0", "25", "0", "had", "htlb_prezero_hit 0", "htlb_prezero_miss 0", "")
    ]


def test_each_node_has_a_thread_and_keeps_as_many_pages_clean(built: Built) -> None:
    outcome = run(
        built,
        f"""
        echo 16 > $P/nr_hugepages; echo 100 > $P/prezero_cpu_percent; echo 3 > $P/prezero_hugepages
        wait_zeroed 6; cat {NODE}0/hugepages/hugepages-2048kB/zeroed_hugepages
        cat {NODE}1/hugepages/hugepages-2048kB/zeroed_hugepages
        echo 100 > $P/prezero_hugepages; wait_zeroed 16; echo 0 > $P/nr_hugepages; cat $P/zeroed_hugepages
        cat /proc/[0-9]*/comm | grep khugezerod | sort""",
        nodes=2,
        cpus=2,
    )
    assert outcome.stdout.decode().split() == ["3", "3", "0", "khugezerod/0", "khugezerod/1"]


@pytest.mark.parametrize("percent", [1, 4])
def test_the_thread_takes_no_more_of_a_cpu_than_it_may(built: Built, percent: int) -> None:
    # There are more pages than it can clear in that time.
    script = f"""
        echo 128 > $P/nr_hugepages; echo {percent} > $P/prezero_cpu_percent; echo 128 > $P/prezero_hugepages
        charge {THREAD}; at=$(now); had=$(used); sleep 2; echo took $(($(used) - had)) of $(($(now) - at))
        echo clean $(cat $P/zeroed_hugepages)"""
    words = run(built, script, cpus=2).stdout.decode().split()
    took, hundredths, clean = int(words[1]), int(words[3]), int(words[5])
    assert 0 < clean < 128
    # Beginning and end of the second are known to hundredths, and the timers of an exact guest are late by as much.
    assert 0 < took <= percent / 100 * (hundredths + 2) * 10_000


def test_a_control_group_is_charged_for_the_thread_that_is_put_into_it(built: Built) -> None:
    script = f"""
        echo 100 > $P/prezero_cpu_percent; echo 64 > $P/prezero_hugepages; thread={THREAD}
        charge $thread; cat /proc/$thread/cgroup; had=$(used)
        echo 64 > $P/nr_hugepages; wait_zeroed 64; echo charged $(($(used) - had))"""
    words = run(built, script, cpus=2).stdout.decode().split()
    assert words[0].endswith("/pays")
    assert int(words[2]) >= 64 * LEAST_US


def test_the_thread_stays_on_the_cpus_that_it_is_given(built: Built) -> None:
    # The CPU that the thread last ran on is the 39th field of its stat.
    script = f"""
        echo 100 > $P/prezero_cpu_percent; echo 8 > $P/prezero_hugepages; thread={THREAD}
        for cpu in 1 0 2 1; do
            taskset -pc $cpu $thread > /dev/null; echo 0 > $P/nr_hugepages; echo 8 > $P/nr_hugepages; wait_zeroed 8
            echo $cpu $(cut -d' ' -f39 /proc/$thread/stat)
        done"""
    assert run(built, script, cpus=3).stdout.decode().split() == [*"11002211"]


# busybox has no such command.
CHRT = Path("/usr/bin/chrt")
# What needs the only page of the pool while it is being cleared.
TAKERS = {
    "touch": "$BIN/zero_wait touch",
    "reserve": "$BIN/zero_wait reserve",
    "fallocate": "fallocate -l 2097152 /tmp/huge/file",
    "resize": "sh -c 'echo 0 > '$P/nr_hugepages",
}


# The thread has begun with the only page of the pool, and has not ended: with 1 % of the CPU's time it takes half a
# second for a page, most of which it sleeps.
BEGUN = f"""
    mkdir /tmp/huge; mount -t hugetlbfs none /tmp/huge
    echo 1 > $P/prezero_cpu_percent; echo 1 > $P/prezero_hugepages; thread={THREAD}
    taskset -pc 0 $thread > /dev/null; charge $thread; had=$(used)
    echo 1 > $P/nr_hugepages; until [ $(($(used) - had)) -gt 100 ]; do sleep 0.01; done
"""
# The CPU that the thread has to run on belongs to a task of real-time priority when it wakes.
STARVED = f"""
    echo -1 > /proc/sys/kernel/sched_rt_runtime_us
    taskset 1 {CHRT} -f 50 sh -c 'while :; do :; done' & hog=$!; sleep 0.05
"""


# A kernel that changes its clock while such a task runs hangs in the emulator, so it has to have done that before.
CLOCK = "until grep -qx tsc /sys/devices/system/clocksource/clocksource0/current_clocksource; do sleep 0.05; done"


@pytest.mark.parametrize("starved", [False, True])
@pytest.mark.parametrize("how", TAKERS)
def test_who_needs_a_page_that_is_being_cleared_has_it_at_once(built: Built, how: str, starved: bool) -> None:
    script = f"""
        {BEGUN} {STARVED if starved else ""}
        cat $P/zeroed_hugepages; from=$(now); taskset 2 {TAKERS[how]} > /dev/null; echo took $(($(now) - from))
        grep htlb_prezero /proc/vmstat; {"kill -9 $hog" if starved else ""}"""
    outcome = run(built, script, cpus=2, files=[CHRT])
    assert outcome.stdout.startswith(b"0\n")
    found = prezero_guest.stats(outcome)
    assert found["took"] <= 3
    assert (found["htlb_prezero_hit"], found["htlb_prezero_miss"]) == (0, int(how in ("touch", "fallocate")))


@pytest.mark.parametrize("how", TAKERS)
def test_who_needs_a_page_that_is_being_cleared_can_be_killed(built: Built, how: str) -> None:
    script = f"""
        taskset -pc 1 $$ > /dev/null; {CLOCK}; {BEGUN} {STARVED}
        cat $P/zeroed_hugepages; {TAKERS[how]} > /dev/null & needs=$!
        from=$(now); kill -9 $needs 2> /dev/null || true; wait $needs || true
        echo took $(($(now) - from)); kill -9 $hog"""
    outcome = run(built, script, cpus=2, files=[CHRT])
    assert outcome.stdout.startswith(b"0\n")
    assert prezero_guest.stats(outcome)["took"] <= 10


def test_a_number_of_more_pages_than_there_are_is_all_of_them(built: Built) -> None:
    # Three quarters of this number, or three times it, do not fit into 64 bits if they are reckoned badly.
    script = """
        echo 100 > $P/prezero_cpu_percent; echo 18446744073709551615 > $P/prezero_hugepages
        echo 8 > $P/nr_hugepages; wait_zeroed 8
        for time in 1 2 3 4; do $BIN/zero_wait touch; done
        n=0; until [ "$(cat $P/zeroed_hugepages)" -gt 6 ] || [ $n = 20 ]; do sleep 0.1; n=$((n + 1)); done
        echo clean $(cat $P/zeroed_hugepages)"""
    assert prezero_guest.stats(run(built, script))["clean"] > 6


def test_to_read_what_is_wanted_starts_no_thread(built: Built) -> None:
    script = "cat $P/*prezero* $P/zeroed_hugepages > /dev/null; grep -l khugezerod /proc/[0-9]*/comm || echo none"
    assert run(built, script).stdout == b"none\n"


# QEMU puts the initial files just below 2 GiB, so the third GiB is the first that is whole.
ONE_GIB = ("hugepagesz=1G", "hugepages=1")
ONE_GIB_ROOM = "3328M"


def test_a_large_page_is_clean_until_it_is_made_into_smaller_ones(built: Built) -> None:
    script = f"""
        echo 100 > {BIG}/prezero_cpu_percent; echo 1 > {BIG}/prezero_hugepages
        n=0; until [ "$(cat {BIG}/zeroed_hugepages)" = 1 ]; do sleep 0.1; n=$((n + 1)); [ $n -lt 300 ]; done
        echo 1 > {BIG}/demote; cat {BIG}/zeroed_hugepages $P/zeroed_hugepages $P/free_hugepages
        $BIN/zero_wait touch; grep htlb_prezero /proc/vmstat"""
    outcome = run(built, script, *ONE_GIB, memory=ONE_GIB_ROOM, cpus=2)
    assert outcome.stdout.decode().split() == [
        *("0", "0", "512", "had", "htlb_prezero_hit", "0", "htlb_prezero_miss", "1")
    ]


def test_the_only_large_page_is_had_at_once_though_its_thread_is_starved(built: Built) -> None:
    # It is had dirty, and the second is for clearing it. Who takes it would be killed after two, its thread's hog after
    # five.
    assert starved_wait(built, "prezero_hugepages") < 200


# What needs the only page of 1 GiB while it is being cleared, and what the pools hold then: pages of 1 GiB, free ones,
# clean ones; free pages of 2 MiB, clean ones.
LARGE_TAKERS = {
    "resize": (f"echo 0 > {BIG}/nr_hugepages", "0 0 0 0 0"),
    "demote": (f"echo 1 > {BIG}/demote", "0 0 0 512 0"),
    "fallocate": ("fallocate -l 1G /tmp/big/file", "1 0 0 0 0"),
}


def large_script(how: str) -> str:
    """Return what takes the only page of 1 GiB from the thread, which has cleared some of it and rests."""
    return f"""
        mkdir /tmp/big; mount -t hugetlbfs -o pagesize=1G none /tmp/big
        echo 1 > {BIG}/prezero_cpu_percent; echo 1 > {BIG}/prezero_hugepages
        thread={THREAD}; charge $thread; had=$(used); until [ $(($(used) - had)) -gt 100 ]; do sleep 0.01; done
        from=$(now); {LARGE_TAKERS[how][0]}; echo took $(($(now) - from))
        cd {BIG}; echo $(cat nr_hugepages free_hugepages zeroed_hugepages $P/free_hugepages $P/zeroed_hugepages)
        grep htlb_prezero /proc/vmstat; sleep 0.5; cat zeroed_hugepages"""


def large_outcome(outcome: Outcome, how: str) -> int:
    """Return the hundredths of a second that the page took, of a guest in which all was as it has to be."""
    lines = outcome.stdout.decode().splitlines()
    assert lines[1:] == [
        LARGE_TAKERS[how][1],
        "htlb_prezero_hit 0",
        f"htlb_prezero_miss {int(how == 'fallocate')}",
        "0",
    ]
    return prezero_guest.stats(outcome)["took"]


@pytest.mark.parametrize("how", LARGE_TAKERS)
def test_a_large_page_that_is_being_cleared_is_had_at_once(built: Built, how: str) -> None:
    took = large_outcome(run(built, large_script(how), *ONE_GIB, memory=ONE_GIB_ROOM, cpus=2), how)
    # Who writes all of the page's bytes takes as long as that.
    assert how == "fallocate" or took <= 3
