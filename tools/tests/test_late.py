# SPDX-License-Identifier: Apache-2.0
"""What .ci/run says of time: no long test is begun too late, and the files begin with another for each commit."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = ["tools/tests/test_readme.py", "tests/unit/test_options.py", "tests/long/test_clock_aarch64.py"]


def said(*words: str, **variables: str) -> list[str]:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *words]
    environment = os.environ | {"OKOSU_LAB": "1", **variables}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True).stdout.splitlines()


def test_no_long_test_is_begun_after_the_time_and_their_number_is_said() -> None:
    late = said("tests/long/test_clock_aarch64.py", "-rs", OKOSU_LAB_UNTIL=str(int(time.time())))
    number = sum("::" in line for line in said("--collect-only", "tests/long/test_clock_aarch64.py"))
    assert f"{number} long tests not begun: CI's time was nearly over (make test-lab begins them all)" in late
    assert f"{number} skipped" in late[-1]


def test_what_is_not_long_is_begun_however_late() -> None:
    assert "passed" in said("tests/unit/test_options.py", OKOSU_LAB_UNTIL="0")[-1]


@pytest.mark.parametrize("first", range(5))
def test_the_files_take_turns_in_being_first(first: int) -> None:
    lines = said("--collect-only", *FILES, OKOSU_LAB_FIRST=str(first))
    files = list(dict.fromkeys(line.partition("::")[0] for line in lines if "::" in line))
    assert files == [FILES[(first + at) % len(FILES)] for at in range(len(FILES))]
