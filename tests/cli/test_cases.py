# SPDX-License-Identifier: Apache-2.0
"""Cases of the command line, each one line of a cases.txt; the lab and the papers have some of their own."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from warm_okosu import okosu

ROOT = Path(__file__).resolve().parents[2]
CASES = [
    line
    for path in (
        Path(__file__).with_name("cases.txt"),
        *ROOT.glob("lab/tests/cases.txt"),
        *ROOT.glob("papers/*/tests/cases.txt"),
    )
    for line in path.read_text().splitlines()
    if line.strip() and not line.startswith("#")
]


@pytest.mark.parametrize("case", CASES)
def test_case(case: str, tmp_path: Path) -> None:
    words, *wanted = case.split(" | ")
    argv = [w.replace("{tmp}", str(tmp_path)) for w in shlex.split(words.replace("\\", "\\\\"))]
    done = okosu(*argv)
    assert wanted, "a case expects something"
    for want in wanted:
        kind, _, text = want.strip().partition(" ")
        shown = f"{done.stdout}\n--- stderr\n{done.stderr}"
        if kind == "EXIT":
            assert done.returncode == int(text), shown
        else:
            assert text in {"OUT": done.stdout, "ERR": done.stderr}[kind], shown
    assert "Traceback" not in done.stderr


def test_a_full_disk_below_the_output_is_said_in_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([sys.executable, "-m", "okosu", "doctor"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (1, "okosu: the output could not be written: No space left on device\n")
