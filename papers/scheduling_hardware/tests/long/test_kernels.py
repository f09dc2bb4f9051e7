# SPDX-License-Identifier: Apache-2.0
"""The kernels of threads on the machine and here: right everywhere, and faster on two PEs than on one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from okosu.records import summary
from papers.scheduling_hardware import kernels
from papers.scheduling_hardware.tests.long.shared import NEEDS

pytestmark = NEEDS


@pytest.mark.skipif(os.environ.get("OKOSU_LAB") != "full", reason="make test-lab-full runs it")
def test_two_pes_are_faster_than_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "kernels.json"
    assert kernels.main(["--pes", "1,2", "--isa", "mips1", "--json", str(path)]) == 0
    assert "barnes 128" in capsys.readouterr().out
    machine, linux = summary.read(path).sections
    assert len(machine.body) == 6
    assert all(float(row[4]) > 1.5 for row in machine.body)
    assert len(linux.body) == 6


def test_a_wrong_machine_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert kernels.main(["--pes", "65"]) == 1
    assert "1 to 64 PEs" in capsys.readouterr().err
    assert kernels.main(["--isa", "rv64"]) == 1
    assert "rv64" in capsys.readouterr().err
