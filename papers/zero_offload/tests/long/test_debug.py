# SPDX-License-Identifier: Apache-2.0
"""The series hugetlb-prezero where the kernel checks itself (DEBUG_VM, page_owner, KASAN, lockdep): test-lab-full."""

from __future__ import annotations

import os

import pytest

from lab.kernel.build import Built
from lab.run import qemu
from lab.tests.long import x86_guest
from lab.tests.long.base import BASE
from papers.zero_offload.tests.long import prezero_guest, test_kernel, test_thread
from papers.zero_offload.tests.long.prezero_guest import CHANNEL, ENGINES, SERVED

pytestmark = pytest.mark.skipif(os.environ.get("OKOSU_LAB") != "full", reason="make test-lab-full runs it")

TIMEOUT_S = 1800.0
ROUNDS = 2
SUITE = {"6.12": "folio_zero", "7.3": "hugetlb_zero"}[BASE]


@pytest.fixture(scope="module")
def built() -> Built:
    return x86_guest.debug_kernel()


@pytest.mark.parametrize("name", ENGINES)
def test_the_kernel_does_not_complain(built: Built, name: str) -> None:
    engine, before = ENGINES[name]
    args = (CHANNEL, *x86_guest.DEBUG_ARGUMENTS)
    machine = {"memory": "1G", "timeout": TIMEOUT_S, "exact": True}
    outcome = prezero_guest.check(built, engine, ROUNDS, prezero_guest.WAYS, before, *args, **machine)
    assert x86_guest.complaints(outcome.log) == []
    assert prezero_guest.scans(outcome) == prezero_guest.expected(ROUNDS)
    # The thread that rests may never come to the end of a page before somebody takes it.
    assert prezero_guest.stats(outcome)[SERVED] > 0 or name == "resting thread"


def test_the_series_own_tests_do_nothing_forbidden(built: Built) -> None:
    outcome = qemu.run(built, ["true"], kernel_args=(x86_guest.KUNIT,), timeout=TIMEOUT_S, memory="768M", exact=True)
    assert f"# {SUITE}: pass" in outcome.log
    assert x86_guest.complaints(outcome.log) == []


@pytest.mark.skipif(BASE != "6.12", reason="nothing waits on this base")
@pytest.mark.parametrize("how", test_kernel.LOCKS)
def test_who_waits_gives_up_and_takes_locks_in_order(built: Built, how: str) -> None:
    script, args = prezero_guest.locked(test_kernel.LOCKS[how], how), (*prezero_guest.LATE, *x86_guest.DEBUG_ARGUMENTS)
    outcome = prezero_guest.run(built, script, *args, nodes=1, exact=True, memory="1G", timeout=TIMEOUT_S)
    assert x86_guest.complaints(outcome.log) == []
    assert prezero_guest.killed_at_once(outcome)


@pytest.mark.skipif(BASE != "7.3", reason="the series is another on this base")
@pytest.mark.parametrize("how", test_thread.LARGE_TAKERS)
def test_who_takes_a_large_page_from_the_thread_does_nothing_forbidden(built: Built, how: str) -> None:
    # Of the whole GiBs the one above 4 GiB is free: KASAN needs an eighth of all memory.
    args = (*test_thread.ONE_GIB, *x86_guest.DEBUG_ARGUMENTS)
    machine = {"memory": "6G", "cpus": 2, "timeout": TIMEOUT_S}
    outcome = test_thread.run(built, test_thread.large_script(how), *args, **machine)
    test_thread.large_outcome(outcome, how)
