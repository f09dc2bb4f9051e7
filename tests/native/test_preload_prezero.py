# SPDX-License-Identifier: Apache-2.0
"""libokosu-prezero.so under a program that checks what malloc, mmap and fork must keep, and under real programs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILT = Path(os.environ.get("OKOSU_NATIVE", ROOT / "build"))
LIBRARY = BUILT / "native/preload/libokosu-prezero.so"
TRIES = 8
"""The thread that clears has the lowest priority: on a busy machine it may get no processor for a while."""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("prezero") / "check"
    source = ROOT / "tests/native/programs/prezero_check.c"
    words = ["cc", "-std=gnu17", "-D_GNU_SOURCE", "-O1", "-w", "-o", made, source, "-lpthread"]
    subprocess.run(words, check=True, capture_output=True)
    return made


def run(*command: str | Path, preload: bool = True) -> str:
    env = os.environ | ({"LD_PRELOAD": str(LIBRARY)} if preload else {})
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_what_malloc_mmap_and_fork_keep_is_kept(program: Path) -> None:
    """And blocks come without a fault; libc's own never do."""
    assert run(program, preload=False) == "blocks 0\n"
    assert any(int(run(program).split()[1]) > 0 for _ in range(TRIES))


def test_programs_print_what_they_print_without_it() -> None:
    script = "import zlib\nb = bytes(range(256)) * 30000\nfor i in range(9): c = bytearray(b) + b\nprint(zlib.crc32(c))"
    assert run(sys.executable, "-c", script) == run(sys.executable, "-c", script, preload=False)
    churn = BUILT / "examples/churn"
    assert run(churn, "20") == run(churn, "20", preload=False)


def test_no_address_space_no_pool(program: Path) -> None:
    """Under a limit on address space that leaves no room, the next allocator serves."""
    limited = f"ulimit -v 400000; exec {BUILT / 'examples/churn'} 5"
    assert run("sh", "-c", limited) == run("sh", "-c", limited, preload=False)
