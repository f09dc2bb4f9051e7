# SPDX-License-Identifier: Apache-2.0
"""The series hugetlb-prezero in an emulated machine: every page that is handed out is scanned: make test-lab."""

from __future__ import annotations

import os

import pytest

from lab.kernel.build import Built
from lab.tests.long import x86_guest
from papers.zero_offload.tests.long import prezero_guest
from papers.zero_offload.tests.long.prezero_guest import APART, MOCK

pytestmark = pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it")

FULL = os.environ.get("OKOSU_LAB") == "full"
ROUNDS = 40 if FULL else 3
CHANNEL = "hugetlb_zero_mock.channels=2"
# This delay is long enough for the thread to be at work when a page is asked for.
SLOW = f"echo 3 > {MOCK}/delay_ms;"


@pytest.fixture(scope="module")
def built() -> Built:
    return x86_guest.kernel()


@pytest.mark.parametrize("engine", ["cpu", "cpu-nt", "dma", "user"])
def test_every_page_is_clean_however_it_is_handed_out(built: Built, engine: str) -> None:
    before = {"dma": SLOW, "user": "$BIN/zero_daemon good > /dev/null &"}.get(engine, "")
    outcome = prezero_guest.check(built, engine, ROUNDS, prezero_guest.WAYS, before, CHANNEL)
    assert prezero_guest.scans(outcome) == prezero_guest.expected(ROUNDS)
    found = prezero_guest.stats(outcome)
    assert (found["caught_dirty"], found["caught_written"], found["stuck"], found["failed"]) == (0, 0, 0, 0)
    assert (found["cleared"] > 0) == (found["served_clean"] > 0) == (engine != "cpu")


def test_a_controller_s_errors_are_pages_that_the_cpu_clears(built: Built) -> None:
    before = f"echo 2 > {MOCK}/error_every;"
    outcome = prezero_guest.check(built, "dma", ROUNDS, ("touch", "fork", "oom"), before, CHANNEL)
    found = prezero_guest.stats(outcome)
    assert found["failed"] > 0
    assert found["cleared"] > 0
    assert (found["caught_dirty"], found["caught_written"], found["stuck"]) == (0, 0, 0)


def test_a_controller_that_is_late_is_stopped(built: Built) -> None:
    before = f"echo 200 > {MOCK}/delay_ms; {APART}"
    ways = ("touch", "fork")
    outcome = prezero_guest.check(built, "dma", ROUNDS, ways, before, CHANNEL, "hugetlb_zero.timeout_ms=50", exact=True)
    found = prezero_guest.stats(outcome)
    assert found["timed_out"] == found["released"] > 0
    assert found["cleared"] == found["stuck"] == found["caught_dirty"] == found["caught_written"] == 0


def test_a_controller_that_writes_after_its_time_writes_to_nobody_s_page(built: Built) -> None:
    # The controller cannot be stopped, and copies 300 ms after it was given up. A write to a page that has been handed
    # out would be seen, because the program compares what it wrote, and in a free page because the kernel looks for its
    # pattern there.
    before = f"echo 300 > {MOCK}/delay_ms; echo 1 > {MOCK}/deaf; {APART}"
    ways = ("touch", "fork", "cow", "touch", "touch")
    outcome = prezero_guest.check(
        built, "dma", max(ROUNDS, 8), ways, before, CHANNEL, "hugetlb_zero.timeout_ms=50", exact=True
    )
    found = prezero_guest.stats(outcome)
    assert found["timed_out"] > 0
    assert found["timed_out"] == found["released"]
    assert found["cleared"] == found["caught_dirty"] == found["caught_written"] == 0


def test_a_page_withheld_is_neither_promised_nor_freed(built: Built) -> None:
    script = f"""
        echo 10000 > {MOCK}/delay_ms; echo 1 > {MOCK}/deaf
        echo 8 > $P/nr_hugepages; echo 8 > $P/zero_target; echo dma > $P/zero_engine
        until grep -q '^stuck 1' $P/zero_stats; do sleep 0.05; done
        echo cpu > $P/zero_engine
        echo 0 > $P/nr_hugepages; cat $P/nr_hugepages
        until grep -q '^released 1' $P/zero_stats; do sleep 0.5; done
        echo 0 > $P/nr_hugepages; cat $P/nr_hugepages"""
    outcome = prezero_guest.run(built, script, CHANNEL, "hugetlb_zero.timeout_ms=50")
    assert outcome.stdout.split() == [b"1", b"0"]


def test_a_page_that_one_engine_keeps_keeps_no_other_from_its_work(built: Built) -> None:
    script = f"""
        echo 10000 > {MOCK}/delay_ms; echo 1 > {MOCK}/deaf
        echo 8 > $P/nr_hugepages; echo 8 > $P/zero_target; echo dma > $P/zero_engine
        until grep -q '^stuck 1' $P/zero_stats; do sleep 0.05; done
        echo cpu-nt > $P/zero_engine
        n=0; until [ "$(cat $P/zeroed_hugepages)" = 7 ]; do sleep 0.1; n=$((n + 1)); [ $n -lt 50 ]; done
        grep '^stuck' $P/zero_stats"""
    outcome = prezero_guest.run(built, script, CHANNEL, "hugetlb_zero.timeout_ms=50", exact=True)
    assert prezero_guest.stats(outcome) == {"stuck": 1}


def test_the_thread_is_no_idle_one_while_its_page_is_waited_for(built: Built) -> None:
    # The policy is the 41st field of its stat: 0 that of any task, 5 SCHED_IDLE. The pool's only page takes 500 ms.
    script = f"""
        mkdir /tmp/huge; mount -t hugetlbfs none /tmp/huge
        echo 1 > $P/nr_hugepages; echo 1 > $P/zero_target; echo 500 > {MOCK}/delay_ms; echo dma > $P/zero_engine
        thread=$(grep -l '^hzero/2048kB' /proc/[0-9]*/comm | cut -d/ -f3)
        policy() {{ cut -d' ' -f41 /proc/$thread/stat; }}
        until grep -q '^running 1' $P/zero_stats; do sleep 0.02; done; policy
        fallocate -l 2097152 /tmp/huge/file & for now in 1 2 3; do sleep 0.05; policy; done
        wait $!; sleep 0.1; policy; grep '^waited' $P/zero_stats"""
    outcome = prezero_guest.run(built, script, CHANNEL, exact=True)
    assert outcome.stdout.split() == [b"5", b"0", b"0", b"0", b"5", b"waited", b"1"]


# What waits for a page in work, by name: who clears it and never ends, and the command.
WAITS = {
    "touch": ("dma", "$BIN/zero_wait touch"),
    "touch what is lent": ("user", "$BIN/zero_wait touch"),
    "fallocate": ("dma", "fallocate -l 2097152 /tmp/huge/file"),
    "resize": ("dma", "sh -c 'echo 0 > '$P/nr_hugepages"),
    "reserve": ("user", "$BIN/zero_wait reserve"),
    "mount": ("user", "mount -t hugetlbfs -o min_size=2M none /tmp/huge"),
}
# What takes a lock and waits, by name (zero_lock): who clears the page and never ends.
LOCKS = {"fallocate": "dma", "map": "user", "segment": "user", "resize": "dma", "copy": "dma", "touch": "dma"}


@pytest.mark.parametrize("how", WAITS)
def test_who_waits_for_a_page_can_be_killed(built: Built, how: str) -> None:
    # The engine has ten seconds, and the waiting would last as long; uptime tells hundredths of a second.
    engine, command = WAITS[how]
    script = f"""
        now() {{ t=$(cut -d' ' -f1 /proc/uptime | tr -d .); t=${{t#0}}; echo ${{t#0}}; }}
        mkdir /tmp/huge; mount -t hugetlbfs none /tmp/huge; echo 60000 > {MOCK}/delay_ms
        $BIN/zero_daemon slow 60000 > /dev/null &
        echo 1 > $P/nr_hugepages; echo 1 > $P/zero_target; echo {engine} > $P/zero_engine
        until grep -q '^running 1' $P/zero_stats; do sleep 0.02; done
        {command} & waiting=$!
        until grep -q '^waited 1' $P/zero_stats; do sleep 0.02; done
        from=$(now); kill -9 $waiting; wait $waiting || echo died $?; echo took $(($(now) - from))
        grep -e '^running' -e '^timed_out' $P/zero_stats; cat $P/nr_hugepages"""
    outcome = prezero_guest.run(built, script, CHANNEL, "hugetlb_zero.timeout_ms=10000", nodes=1, exact=True)
    found = prezero_guest.stats(outcome)
    assert found["died"] == 128 + 9
    assert found["took"] <= 10
    # The page is still in work, and in the pool.
    assert (found["running"], found["timed_out"]) == (1, 0)
    assert outcome.stdout.endswith(b"\n1\n")


def test_who_needs_the_mutex_of_a_fault_that_waits_can_be_killed(built: Built) -> None:
    # A machine of two CPUs has 16 mutexes for faults: some of the 60 have that of the first, and many share one.
    script = f"""
        now() {{ t=$(cut -d' ' -f1 /proc/uptime | tr -d .); t=${{t#0}}; echo ${{t#0}}; }}
        echo 60000 > {MOCK}/delay_ms; echo 1 > $P/nr_hugepages; echo 1 > $P/zero_target; echo dma > $P/zero_engine
        until grep -q '^running 1' $P/zero_stats; do sleep 0.02; done
        $BIN/zero_wait touch & first=$!; others=
        until grep -q '^waited 1' $P/zero_stats; do sleep 0.02; done
        for one in $(seq 60); do $BIN/zero_wait touch & others="$others $!"; done
        until grep -q '^waited 61' $P/zero_stats; do sleep 0.02; done
        most=0; for one in $others; do
            from=$(now); kill -9 $one; code=0; wait $one || code=$?; took=$(($(now) - from))
            [ $code = 137 ]; [ $took -le $most ] || most=$took
        done; echo took $most
        kill -9 $first; wait $first || echo died $?; grep -e '^running' -e '^timed_out' $P/zero_stats"""
    outcome = prezero_guest.run(built, script, CHANNEL, "hugetlb_zero.timeout_ms=10000", nodes=1, exact=True)
    found = prezero_guest.stats(outcome)
    assert found["took"] <= 10
    assert (found["died"], found["running"], found["timed_out"]) == (128 + 9, 1, 0)


@pytest.mark.parametrize("how", LOCKS)
def test_who_needs_a_lock_of_one_that_waits_can_be_killed(built: Built, how: str) -> None:
    outcome = prezero_guest.run(built, prezero_guest.locked(LOCKS[how], how), *prezero_guest.LATE, nodes=1, exact=True)
    assert prezero_guest.killed_at_once(outcome)


def test_a_copy_whose_page_is_in_work_before_it_is_taken_again_is_made_later(built: Built) -> None:
    # The pool's only page goes back to it between two steps of UFFDIO_COPY, and the engine may be the first to have it:
    # at one copy of ten, in a guest whose CPUs run side by side.
    script = f"""
        echo 1 > $P/nr_hugepages; echo 1 > $P/zero_target; echo 1 > {MOCK}/delay_ms; echo dma > $P/zero_engine
        $BIN/zero_copy 1 {100 * ROUNDS}; {prezero_guest.SETTLE}"""
    found = prezero_guest.stats(prezero_guest.run(built, script, CHANNEL, nodes=1))
    assert (found["copied"], found["free"]) == (100 * ROUNDS, 1)
    assert (found["caught_dirty"], found["caught_written"], found["stuck"]) == (0, 0, 0)
    assert found["waited"] > 0


def test_a_target_of_more_pages_than_there_are_is_all_of_them(built: Built) -> None:
    # Three times this number is two, in 32 bits: so few were to be left before any were cleared again.
    script = """
        echo 8 > $P/nr_hugepages; echo 1431655766 > $P/zero_target; echo cpu-nt > $P/zero_engine
        until [ "$(cat $P/zeroed_hugepages)" = 8 ]; do sleep 0.1; done
        for time in 1 2 3 4; do $BIN/zero_wait touch; done
        n=0; until [ "$(cat $P/zeroed_hugepages)" -gt 6 ] || [ $n = 20 ]; do sleep 0.1; n=$((n + 1)); done
        echo clean $(cat $P/zeroed_hugepages)"""
    assert prezero_guest.stats(prezero_guest.run(built, script, nodes=1, exact=True))["clean"] > 6


def test_to_read_what_clears_pages_wakes_no_device(built: Built) -> None:
    script = f"""
        cat $P/zero_engine; cat $P/zero_engine; echo before $(cat {MOCK}/opened)
        echo dma > $P/zero_engine; cat $P/zero_engine; echo after $(cat {MOCK}/opened)"""
    outcome = prezero_guest.run(built, script, CHANNEL)
    names = outcome.stdout.decode().splitlines()
    assert (names[0], names[1], names[3]) == (*["[cpu] cpu-nt dma user"] * 2, "cpu cpu-nt [dma] user")
    found = prezero_guest.stats(outcome)
    assert found["before"] == 0
    assert found["after"] > 0


def test_an_engine_that_the_machine_lacks_cannot_be_chosen(built: Built) -> None:
    script = "cat $P/zero_engine; ! echo dma | cat > $P/zero_engine; cat $P/zero_engine"
    outcome = prezero_guest.run(built, script)
    assert outcome.stdout.decode().splitlines() == ["[cpu] cpu-nt dma user"] * 2


def test_clean_pages_survive_neither_a_demotion_nor_its_end(built: Built) -> None:
    # One page of 1 GiB, cleared and marked clean, becomes 512 pages that are not marked clean.
    big = "/sys/kernel/mm/hugepages/hugepages-1048576kB"
    script = f"""
        echo 1 > {big}/zero_target; echo cpu-nt > {big}/zero_engine
        until [ "$(cat {big}/zeroed_hugepages)" = 1 ]; do sleep 0.1; done
        echo 1 > {big}/demote; cat {big}/zeroed_hugepages $P/zeroed_hugepages $P/free_hugepages
        echo cpu-nt > $P/zero_engine; $BIN/zero_check cpu-nt 1 touch"""
    args = ("hugepagesz=1G", "hugepages=1")
    outcome = prezero_guest.run(built, script, *args, memory="2560M", nodes=1)
    assert outcome.stdout.split()[:3] == [b"0", b"0", b"512"]
    assert prezero_guest.scans(outcome) == {"touch": (8, 8)}


def test_target_rate_and_engine_are_what_was_written(built: Built) -> None:
    node = "/sys/devices/system/node/node1/hugepages/hugepages-2048kB"
    script = f"""
        cat $P/zero_engine; echo 16 > $P/nr_hugepages
        echo 3 > {node}/zero_target; cat $P/zero_target; echo cpu-nt > $P/zero_engine
        until [ "$(cat {node}/zeroed_hugepages)" = 3 ]; do sleep 0.05; done
        sleep 0.2; cat $P/zeroed_hugepages; echo 77 > $P/zero_rate; cat $P/zero_rate
        echo 1 > $P/zero_cpus; cat $P/zero_cpus
        ! echo nothing > $P/zero_engine 2> /dev/null; ! echo 9-7 > $P/zero_cpus 2> /dev/null"""
    said = prezero_guest.run(built, script).stdout.decode().splitlines()
    assert said[0].split()[0] == "[cpu]"
    assert said[1:] == ["0 3", "3", "77", "1"]
