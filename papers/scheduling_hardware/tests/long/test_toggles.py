# SPDX-License-Identifier: Apache-2.0
"""Toggles of operations, simulated: the numbers are those of the committed record."""

from __future__ import annotations

import os

import pytest

from okosu.records import summary
from papers.scheduling_hardware import toggles
from papers.scheduling_hardware.machine import Machine
from papers.scheduling_hardware.tests.long.shared import NEEDS
from papers.scheduling_hardware.tests.test_toggles import RECORD

pytestmark = [
    *NEEDS,
    pytest.mark.skipif(os.environ.get("OKOSU_LAB") != "full", reason="make test-lab-full runs it"),
]


def test_toggles_are_those_of_the_record() -> None:
    found = list(toggles.measure(Machine(pes=1, threads=16, watches=4)))
    here = toggles.section(found, "mips1").body
    assert here == [row for row in summary.read(RECORD).sections[0].body if row[1] == "1"]
    # Signals are counted that registers are not, and each back end's own parts at work.
    assert all(one.signals > one.all > 0 for one in found)
    assert all(one.registers["SSH-m and its bus"] > 0 for one in found if one.backend == "ssh")
