# SPDX-License-Identifier: Apache-2.0
"""The survey on the real kernel: one configuration is built (minutes, once), and its log read as it was written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from okosu.records.types import Record
from papers.simd_kernel.compare import table1
from papers.simd_kernel.run import survey

ROOT = Path(__file__).resolve().parents[4]
pytestmark = pytest.mark.skipif(os.environ.get("OKOSU_LAB") != "full", reason="make test-lab-full runs it")


@pytest.fixture(scope="module")
def surveyed() -> list[Record]:
    done = subprocess.run([ROOT / "tools/setup/lab-deps.sh"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return list(survey.survey(survey.find(["gcc-12-O2"])))


def test_the_kernels_files_of_table_1_are_compiled(surveyed: list[Record]) -> None:
    """Otherwise a file without loops would mean nothing. A second survey reads the same log from the cache."""
    assert (table1.count(surveyed, "gcc-12-O2", "objects") or 0) > 500
    assert list(survey.survey(survey.find(["gcc-12-O2"]))) == surveyed


def test_the_loop_of_the_paper_that_any_gcc_vectorises_is_found(surveyed: list[Record]) -> None:
    """Table 1's first row: slip_user.c clears an array whose length is a constant."""
    loops = table1.loops(surveyed, "gcc-12-O2")
    [found] = [one for one in loops if one.parameters["file"] == table1.TABLE1["slip_user"]]
    assert found.parameters["what"] == "clear"
    assert found.parameters["function"] == "set_up_tty"
    assert found.samples == [16.0]


def test_every_loop_names_a_file_of_the_kernel_and_its_text(surveyed: list[Record]) -> None:
    for one in table1.loops(surveyed, "gcc-12-O2"):
        assert not str(one.parameters["file"]).startswith("/")
        assert one.parameters["text"], one.parameters


def test_the_command_prints_the_tables() -> None:
    words = [sys.executable, "-m", "okosu", "lab", "survey", "gcc-12-O2", "--loops"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "arch/um/drivers/slip_user.c" in done.stdout
    assert "control flow in loop" in done.stdout
