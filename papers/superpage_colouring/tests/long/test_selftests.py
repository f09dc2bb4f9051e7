# SPDX-License-Identifier: Apache-2.0
"""The tree's own tests of memory management with the series page-colour: make test-lab-full."""

from __future__ import annotations

import os

import pytest

from lab.run import qemu
from lab.tests.long import mm_selftests, x86_guest
from papers.superpage_colouring.tests.long import colour_guest

pytestmark = pytest.mark.skipif(os.environ.get("OKOSU_LAB") != "full", reason="make test-lab-full runs it")

PASSED = "0"
# With fewer passes the tests would not really have been run.
AT_LEAST = 20


@pytest.fixture(scope="module")
def stock() -> dict[str, str]:
    x86_guest.kernel()
    others = [name for name in qemu.RECIPE.series if name != "page-colour"]
    found = mm_selftests.run(mm_selftests.kernel(others), mm_selftests.build())
    assert list(found.values()).count(PASSED) >= AT_LEAST, found
    return found


@pytest.mark.parametrize("mode", ["off", "hop", "fold"])
def test_what_passes_on_the_kernel_as_it_is_passes(stock: dict[str, str], mode: str) -> None:
    args = () if mode == "off" else (f"page_color={colour_guest.COLOURS},{mode}",)
    passing = [call for call, status in stock.items() if status == PASSED]
    found = mm_selftests.run(mm_selftests.kernel(qemu.RECIPE.series), mm_selftests.build(), passing, args)
    assert {call: status for call, status in found.items() if status != PASSED} == {}
