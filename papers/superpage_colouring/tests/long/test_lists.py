# SPDX-License-Identifier: Apache-2.0
"""The series page-colour: no page waits in the per-CPU lists for requests that come no more: make test-lab."""

from __future__ import annotations

import os
import re

import pytest

from lab.kernel.build import Built
from lab.tests.long import x86_guest
from papers.superpage_colouring.tests.long import colour_guest
from papers.superpage_colouring.tests.long.colour_guest import SYSFS

pytestmark = pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it")

# A program that ends leaves its pages in the lists; writing a file fills them with pages of any colour.
FILLED = f"""
lists() {{ echo "== $1 lists"; cat /proc/zoneinfo; echo "== $1 held"; cat {SYSFS}/held; }}
$pages 2048 none 0 > /dev/null
colour hop; lists on
dd if=/dev/zero of=/filler bs=1M count=8 2> /dev/null; $pages 64 none 0 > /dev/null; lists file
"""


@pytest.fixture(scope="module")
def filled() -> dict[str, list[str]]:
    built: Built = x86_guest.kernel()
    return colour_guest.sections(colour_guest.run(built, FILLED))


@pytest.mark.parametrize("when", ["on", "file"])
def test_the_pages_in_the_per_cpu_lists_can_be_had_by_colour(filled: dict[str, list[str]], when: str) -> None:
    listed = sum(int(count) for count in re.findall(r"^ +count: +(\d+)$", "\n".join(filled[f"{when} lists"]), re.M))
    held = sum(int(count) for count in filled[f"{when} held"][0].split())
    # Pages that are not movable have lists of their own, from which an empty slot is filled.
    assert listed >= 512
    assert held >= 0.4 * listed, (held, listed)
