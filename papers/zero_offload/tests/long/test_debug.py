# SPDX-License-Identifier: Apache-2.0
"""The series hugetlb-prezero where the kernel checks itself (DEBUG_VM, page_owner, KASAN, lockdep): test-lab-full."""

from __future__ import annotations

import os

import pytest

from lab.kernel.build import Built
from lab.run import qemu
from lab.tests.long import x86_guest
from papers.zero_offload.tests.long import prezero_guest
from papers.zero_offload.tests.long.prezero_guest import MOCK

pytestmark = pytest.mark.skipif(os.environ.get("OKOSU_LAB") != "full", reason="make test-lab-full runs it")

TIMEOUT_S = 1800.0
ROUNDS = 2
CHANNEL = "hugetlb_zero_mock.channels=2"
# The engines in the order of how long they wait: a thread, a slow controller, a daemon.
BEFORE = {
    "cpu-nt": "",
    "dma": f"echo 3 > {MOCK}/delay_ms; echo 5 > {MOCK}/error_every;",
    "user": "$BIN/zero_daemon good > /dev/null &",
}


@pytest.fixture(scope="module")
def built() -> Built:
    return x86_guest.debug_kernel()


@pytest.mark.parametrize("engine", BEFORE)
def test_the_kernel_does_not_complain(built: Built, engine: str) -> None:
    args = (CHANNEL, *x86_guest.DEBUG_ARGUMENTS)
    machine = {"memory": "1G", "timeout": TIMEOUT_S, "exact": True}
    outcome = prezero_guest.check(built, engine, ROUNDS, prezero_guest.WAYS, BEFORE[engine], *args, **machine)
    assert x86_guest.complaints(outcome.log) == []
    assert prezero_guest.scans(outcome) == prezero_guest.expected(ROUNDS)
    assert prezero_guest.stats(outcome)["cleared"] > 0


def test_the_series_own_tests_do_nothing_forbidden(built: Built) -> None:
    outcome = qemu.run(built, ["true"], kernel_args=(x86_guest.KUNIT,), timeout=TIMEOUT_S, memory="768M", exact=True)
    assert "# folio_zero: pass" in outcome.log
    assert x86_guest.complaints(outcome.log) == []
