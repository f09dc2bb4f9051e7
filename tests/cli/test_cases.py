# SPDX-License-Identifier: Apache-2.0
"""Cases of the command line, each one line of cases.txt."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

CASES = [
    line
    for line in (Path(__file__).parent / "cases.txt").read_text().splitlines()
    if line.strip() and not line.startswith("#")
]


@pytest.mark.parametrize("case", CASES)
def test_case(case: str, tmp_path: Path) -> None:
    words, *wanted = case.split(" | ")
    argv = [w.replace("{tmp}", str(tmp_path)) for w in shlex.split(words.replace("\\", "\\\\"))]
    done = subprocess.run([sys.executable, "-m", "okosu", *argv], capture_output=True, text=True, check=False)
    assert wanted, "a case expects something"
    for want in wanted:
        kind, _, text = want.strip().partition(" ")
        shown = f"{done.stdout}\n--- stderr\n{done.stderr}"
        if kind == "EXIT":
            assert done.returncode == int(text), shown
        else:
            assert text in {"OUT": done.stdout, "ERR": done.stderr}[kind], shown
    assert "Traceback" not in done.stderr
