# SPDX-License-Identifier: Apache-2.0
"""libokosu as on processors without AVX-512, and without AVX: its routines and what chooses them, by the same tests."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[4]
TESTS = ("test_copy.py", "test_zero.py", "test_choice.py", "test_preload_copy.py", "test_memory_peers.py")


@pytest.mark.lab
@pytest.mark.skipif(platform.machine() != "x86_64", reason="classes of x86-64")
@pytest.mark.parametrize("name", ["avx2", "sse2"])
def test_the_routines_of_a_class_pass_their_tests(name: str) -> None:
    tests = [*(f"tests/native/{test}" for test in TESTS), "papers/hpc_programming/tests"]
    command = ["papers/hpc_programming/bench/as_class.sh", name, sys.executable, "-m", "pytest", "-q"]
    # The long tests of this folder would build the classes again.
    environment = {key: value for key, value in os.environ.items() if key != "OKOSU_LAB"}
    done = subprocess.run([*command, *tests], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
