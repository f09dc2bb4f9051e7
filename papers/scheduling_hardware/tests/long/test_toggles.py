# SPDX-License-Identifier: Apache-2.0
"""Toggles of operations, simulated: the numbers are those of the committed record."""

from __future__ import annotations

import os

import pytest

from okosu.records import summary
from papers.scheduling_hardware import toggles
from papers.scheduling_hardware.machine import ISAS, Machine
from papers.scheduling_hardware.tests.long.shared import NEEDS
from papers.scheduling_hardware.tests.test_toggles import RECORD

pytestmark = [
    *NEEDS,
    pytest.mark.skipif(os.environ.get("OKOSU_LAB") != "full", reason="make test-lab-full runs it"),
]


@pytest.mark.parametrize("isa", ISAS)
def test_toggles_are_those_of_the_record(isa: str) -> None:
    found = list(toggles.measure(Machine(pes=1, threads=16, watches=4, isa=isa)))
    here = toggles.section(found, isa)
    (there,) = (table for table in summary.read(RECORD).sections if table.id == here.id)
    assert here.body == [row for row in there.body if row[1] == "1"]
    # Signals are counted that registers are not, and each back end's own parts at work.
    assert all(one.signals > one.all > 0 for one in found)
    assert all(one.registers["SSH-m and its bus"] > 0 for one in found if one.backend == "ssh")
