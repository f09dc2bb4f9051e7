# SPDX-License-Identifier: Apache-2.0
"""The scripts that have okosu and what it is compared with run as on another class of processors."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[1] / "bench"


@pytest.mark.parametrize("words", [["as_class.sh", "avx3", "true"], ["as_class.sh"], ["as_class.sh", "avx2"]])
def test_a_class_and_a_command_are_needed(words: list[str]) -> None:
    done = subprocess.run([BENCH / words[0], *words[1:]], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("okosu: ")
    assert "\n  fix: " in done.stderr


def test_peers_of_no_known_class_are_not_fetched(tmp_path: Path) -> None:
    words = [BENCH / "peers.sh", tmp_path / "peers", "avx3"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "okosu: no class of processors is called avx3\n  fix: avx2 or sse2\n"
    assert not (tmp_path / "peers").exists()
