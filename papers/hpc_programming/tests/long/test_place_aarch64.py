# SPDX-License-Identifier: Apache-2.0
"""okosu/place.h on AArch64 under qemu-user: make test-lab."""

from __future__ import annotations

import errno
import json
import os
import platform
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from papers.hpc_programming.tests import place_tool

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="an AArch64 machine runs the tests themselves")
COMPILER, EMULATOR = "aarch64-linux-gnu-gcc", "qemu-aarch64-static"


def test_threads_can_be_pinned_and_memory_that_cannot_be_bound_is_an_error(tmp_path: Path) -> None:
    if not (shutil.which(COMPILER) and shutil.which(EMULATOR)):
        pytest.skip("needs what tools/checks/aarch64.sh installs")
    tool = tmp_path / "place"
    command = [COMPILER, "-static", "-O2", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter"]
    subprocess.run([*command, "-o", tool, *place_tool.WORDS], check=True)

    def run(*words: str) -> dict[str, Any]:
        done = subprocess.run([EMULATOR, tool, *words], capture_output=True, text=True, check=True)
        said: dict[str, Any] = json.loads(done.stdout)
        return said

    cpu = str(min(os.sched_getaffinity(0)))
    said = run("pin", cpu)
    assert (said["rc"], said["pinned"], said["after"]) == (0, cpu, said["before"])
    said = run("alloc", "0", "0", "100000", "1")
    # QEMU 7.2 does not implement mbind; later versions do.
    assert said["rc"] in (0, -errno.ENOSYS)
    assert (said["reason"] == "") == (said["rc"] == 0)
