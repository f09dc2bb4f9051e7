# SPDX-License-Identifier: Apache-2.0
"""A core that is not ours on the scheduling hardware, where it can be had: its threads do what they should."""

from __future__ import annotations

import os
import shutil
import subprocess
import warnings
from pathlib import Path

import pytest

from okosu.errors import OkosuError
from papers.scheduling_hardware import ROOM, cross_compile, foreign_core, planting
from papers.scheduling_hardware.tests.long.shared import NEEDS

COMPILER = cross_compile.COMPILERS["rv32"]
pytestmark = [
    *NEEDS,
    pytest.mark.skipif(
        not shutil.which(COMPILER), reason=f"{COMPILER} is not installed (Debian: gcc-riscv64-unknown-elf)"
    ),
]
SAID = "".join(f"thread {n} is joined\n" for n in range(6))
ADAPTER = "rtl/foreign/pcpi_ssh.sv"
BUGS = [
    planting.Bug("a command is over before SSH-s says so", ADAPTER, "cop2_valid_o && «cop2_rsp_i.done → 1'b1»"),
    planting.Bug("what is read reaches no register", ADAPTER, "pcpi_ready_o && «funct3 == Get → 1'b0»"),
    planting.Bug("a command is taken for an operand", ADAPTER, "if («number[4] → 1'b0») begin"),
    planting.Bug("a command has another's number", ADAPTER, "cop2_req_o.index = {1'b0, «number[3:0] → 4'd10»};"),
    planting.Bug("settings are operands", ADAPTER, "Set: cop2_req_o.kind = «Cop2Control → Cop2Operand»;"),
    planting.Bug("reads are nobody's instructions", ADAPTER, "Get: ours &= «rs1 == '0 → 1'b0» && number != RegSwap;"),
]


@pytest.fixture(scope="module")
def core() -> Path:
    try:
        return foreign_core.core()
    except OkosuError as error:
        # pytest tells no reason of a skipped test in its short form, but warnings it does.
        warnings.warn(f"PicoRV32 is not simulated: {error.what}: {error.why}", stacklevel=1)
        pytest.skip(f"{error.what}: {error.why}")


def test_threads_are_created_yield_lock_meet_and_are_joined(core: Path) -> None:
    done = foreign_core.run(foreign_core.build(core))
    assert (done.stdout, done.returncode) == (SAID, 0), done.stderr


@pytest.mark.parametrize("name", foreign_core.NOBODYS)
def test_a_core_stops_at_an_instruction_that_is_nobodys(core: Path, name: str) -> None:
    done = foreign_core.run(foreign_core.build(core), foreign_core.NOBODYS[name])
    assert (done.stdout, done.returncode) == ("", foreign_core.STOPPED), done.stderr


@pytest.mark.parametrize("name", foreign_core.NOWHERE)
def test_an_access_to_what_is_not_there_is_named(core: Path, name: str) -> None:
    done = foreign_core.run(foreign_core.build(core), foreign_core.NOWHERE[name])
    assert done.returncode not in (0, foreign_core.STOPPED)
    assert "ForeignCoreAccessesWhatIsThere" in done.stdout + done.stderr


@pytest.fixture(scope="module")
def planted(core: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    room = planting.copy(tmp_path_factory.mktemp("planted") / "room")
    planting.plant_all(room, BUGS)
    return foreign_core.build(core, room=room)


@pytest.mark.parametrize("number", range(len(BUGS) + 1), ids=["none", *(bug.says for bug in BUGS)])
def test_what_is_wrong_in_the_adapter_is_found(planted: Path, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(planting.VARIABLE, str(number))
    done = foreign_core.run(planted)
    assert ((done.stdout, done.returncode) == (SAID, 0)) == (number == 0)


def test_what_lint_passes_over_is_not_ours(core: Path) -> None:
    """Every warning of our own files is an error, also those that only this machine has."""
    words = ["verilator", "--lint-only", "-Wall", "--top-module", "picorv32_machine"]
    done = subprocess.run(
        [*words, *map(str, foreign_core.sources()), str(core)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOM,
        env=dict(os.environ),
    )
    assert done.returncode == 0, done.stderr
