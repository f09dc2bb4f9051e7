# SPDX-License-Identifier: Apache-2.0
"""Daemons that clear the kernel's huge pages, well and badly, and that are killed while they do: make test-lab."""

from __future__ import annotations

import os

import pytest

from lab.kernel.build import Built
from lab.tests.long import x86_guest
from papers.zero_offload.tests.long import prezero_guest
from papers.zero_offload.tests.long.prezero_guest import APART, DEBUG, SETTLE

pytestmark = pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it")

FULL = os.environ.get("OKOSU_LAB") == "full"
KILLS = 1000 if FULL else 20
POOL = 32
TIMEOUT = "hugetlb_zero.timeout_ms=100"


@pytest.fixture(scope="module")
def built() -> Built:
    return x86_guest.kernel()


def misbehave(built: Built, how: str, ways: tuple[str, ...] = ("touch", "fork", "touch")) -> dict[str, int]:
    """Let a daemon of this behaviour clear pages that zero_check uses, end it, and return the counters after that."""
    script = f"""
        $BIN/zero_daemon {how} > /dev/null & daemon=$!
        {APART} $BIN/zero_check user 6 {" ".join(ways)} > /dev/null
        kill -9 $daemon 2> /dev/null || true
        {SETTLE}"""
    found = prezero_guest.stats(prezero_guest.run(built, script, TIMEOUT, exact=True))
    # No page is lost, none was called clean that was not, and none was written to while it was free.
    assert found["free"] == POOL
    assert (found["caught_dirty"], found["caught_written"]) == (0, 0)
    return found


def test_one_that_is_late_has_its_pages_taken_away(built: Built) -> None:
    found = misbehave(built, "slow 250")
    assert found["timed_out"] == found["released"] > 0


def test_one_that_fails_leaves_pages_to_the_cpu(built: Built) -> None:
    found = misbehave(built, "wrong")
    assert found["failed"] > 0
    assert found["cleared"] == 0


def test_one_that_keeps_references_keeps_those_pages_from_everyone(built: Built) -> None:
    found = misbehave(built, "pinned")
    assert found["timed_out"] == found["released"] > 0
    assert found["cleared"] == 0


def test_one_that_writes_to_what_it_gave_back_writes_to_pages_of_its_own(built: Built) -> None:
    assert misbehave(built, "rogue")["cleared"] > 0


def test_one_that_breaks_the_rules_of_the_ring_is_served_no_more(built: Built) -> None:
    script = f"""
        echo 8 > $P/nr_hugepages; echo 8 > $P/zero_target; echo user > $P/zero_engine
        $BIN/zero_daemon broken > /dev/null || echo ended $?
        {SETTLE}"""
    found = prezero_guest.stats(prezero_guest.run(built, script, TIMEOUT, exact=True))
    assert (found["ended"], found["free"], found["cleared"]) == (3, 8, 0)


def test_one_that_maps_its_pages_as_if_it_reserved_them_waits_for_none(built: Built) -> None:
    # The pool's two pages are lent. A reservation of four would wait for them with the file locked, from which the
    # pool's thread has to take them; and with the usual limit of a second, it would for ten.
    script = f"""
        echo 2 > $P/nr_hugepages; echo 2 > $P/zero_target; echo user > $P/zero_engine
        $BIN/zero_daemon greedy > /tmp/said & daemon=$!
        n=0; until grep -q mapped /tmp/said; do sleep 0.1; n=$((n + 1)); [ $n -lt 200 ]; done; cat /tmp/said
        until [ "$(cat $P/zeroed_hugepages)" = 2 ]; do sleep 0.1; done
        kill -9 $daemon; {SETTLE}"""
    found = prezero_guest.stats(prezero_guest.run(built, script, exact=True))
    assert found["mapped"] < 100
    assert (found["free"], found["waited"], found["timed_out"]) == (2, 0, 0)


def test_who_reserves_while_pages_are_posted_leaves_no_reservation_behind(built: Built) -> None:
    # Two reserve and give back all the time, and one takes pages without a reservation, so that others are posted.
    script = f"""
        echo 4 > $P/nr_hugepages; echo 4 > $P/zero_target; echo user > $P/zero_engine
        $BIN/zero_daemon good > /dev/null &
        many() {{ for time in $(seq 100); do $BIN/zero_wait $1 > /dev/null; done; }}
        many reserve & one=$!; many reserve & two=$!; many touch & three=$!; wait $one $two $three
        {SETTLE}; echo reserved $(cat $P/resv_hugepages)"""
    found = prezero_guest.stats(prezero_guest.run(built, script, exact=True))
    assert (found["free"], found["reserved"], found["stuck"]) == (4, 0, 0)
    assert found["cleared"] > 20


def test_one_that_could_not_be_told_what_it_has_can_ask_again(built: Built) -> None:
    script = """
        $BIN/zero_daemon faulty > /tmp/said & daemon=$!
        n=0; until [ -s /tmp/said ]; do sleep 0.1; n=$((n + 1)); [ $n -lt 20 ]; done; cat /tmp/said
        echo 4 > $P/nr_hugepages; echo 4 > $P/zero_target; echo user > $P/zero_engine
        n=0; until grep '^cleared 4' $P/zero_stats; do sleep 0.1; n=$((n + 1)); [ $n -lt 50 ]; done
        kill -9 $daemon"""
    outcome = prezero_guest.run(built, script, nodes=1, exact=True)
    assert outcome.stdout == b"ready\ncleared 4\n"


def test_who_may_be_one(built: Built) -> None:
    script = """
        $BIN/zero_daemon good > /tmp/first & until [ -s /tmp/first ]; do sleep 0.1; done; cat /tmp/first
        $BIN/zero_daemon good 2>&1 || echo second $?
        chmod 666 /dev/hugetlb_zero; setpriv --reuid 1 --clear-groups --inh-caps=-all $BIN/zero_daemon good 2>&1 ||
            echo third $?"""
    said = prezero_guest.run(built, script).stdout.decode()
    assert "ready" in said
    assert "second 1" in said
    assert "Device or resource busy" in said
    assert "third 1" in said
    assert "Operation not permitted" in said


def test_a_daemon_killed_at_any_point_loses_no_page_and_leaks_nothing(built: Built) -> None:
    script = f"""
        $BIN/zero_kill {KILLS}; {SETTLE}"""
    outcome = prezero_guest.run(built, script, TIMEOUT)
    found = prezero_guest.stats(outcome)
    assert DEBUG in outcome.log
    assert found["killed"] >= KILLS
    assert found["midway"] >= KILLS // 2
    assert found["free"] == 24
    assert (found["caught_dirty"], found["caught_written"], found["stuck"]) == (0, 0, 0)
