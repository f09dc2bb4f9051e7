# SPDX-License-Identifier: Apache-2.0
"""The tree's own tests of huge pages where free ones are cleared ahead: make test-lab-full."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lab.run import qemu
from lab.tests.long import mm_selftests, x86_guest
from papers.zero_offload.tests.long import prezero_guest
from papers.zero_offload.tests.long.prezero_guest import DEBUG, POOL

pytestmark = pytest.mark.skipif(os.environ.get("OKOSU_LAB") != "full", reason="make test-lab-full runs it")

PASSED = "0"
# With fewer passes the tests would not really have been run.
AT_LEAST = 7


@pytest.fixture(scope="module")
def programs() -> Path:
    x86_guest.kernel()
    return mm_selftests.build()


@pytest.fixture(scope="module")
def passing(programs: Path) -> list[str]:
    stock = mm_selftests.run(mm_selftests.kernel(()), programs, mm_selftests.HUGETLB)
    found = [call for call, status in stock.items() if status == PASSED]
    assert len(found) >= AT_LEAST, stock
    return found


def test_what_passes_on_the_kernel_as_it_is_passes(passing: list[str], programs: Path) -> None:
    before = f"""
    P={POOL}; {prezero_guest.ahead(mm_selftests.PAGES)}
    until [ $(cat $P/zeroed_hugepages) -ge {mm_selftests.PAGES // 2} ]; do sleep 0.1; done
    """
    found = mm_selftests.run(mm_selftests.kernel(qemu.RECIPE.series), programs, passing, (DEBUG,), before)
    assert {call: status for call, status in found.items() if status != PASSED} == {}
