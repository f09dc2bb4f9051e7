# SPDX-License-Identifier: Apache-2.0
"""okosu-zerod on the kernel's own device: it clears through the ring, and may be killed at any point: make test-lab."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lab.kernel.build import Built
from lab.tests.long import x86_guest
from papers.zero_offload.tests.long import prezero_guest
from papers.zero_offload.tests.long.prezero_guest import SETTLE

pytestmark = pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it")

FULL = os.environ.get("OKOSU_LAB") == "full"
ROUNDS = 20 if FULL else 2
KILLS = 1000 if FULL else 20
POOL, KILL_POOL = 32, 24
BUILD = Path(os.environ.get("OKOSU_NATIVE") or Path(__file__).resolve().parents[4] / "build")
PROGRAM = "native/zerod/okosu-zerod-guest"
RING = "--ring=8 --engine=nt"


@pytest.fixture(scope="module")
def built() -> Built:
    return x86_guest.kernel()


@pytest.fixture(scope="module")
def zerod() -> Path:
    """Return the daemon that needs no library, built from the build tree."""
    if not (BUILD / "build.ninja").exists():
        pytest.skip("needs the build tree")
    ninja = Path(sys.executable).parent / "ninja"
    done = subprocess.run([ninja, "-C", BUILD, PROGRAM], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return BUILD / PROGRAM


def test_it_clears_what_is_handed_out_and_ends_when_told(built: Built, zerod: Path) -> None:
    # Pages that the daemon has at its end count as failed; by then it must have none.
    script = f"""
        {zerod} {RING} > /tmp/said & daemon=$!
        until [ -s /tmp/said ]; do sleep 0.1; done; cat /tmp/said
        $BIN/zero_check user {ROUNDS} {" ".join(prezero_guest.WAYS)}
        {SETTLE}; kill $daemon; wait $daemon; echo ended $?; echo free $(cat $P/free_hugepages)"""
    outcome = prezero_guest.run(built, script, files=[zerod], exact=True)
    said = json.loads(outcome.stdout.splitlines()[0])
    assert (said["engine"], said["ring"]) == ("nt", 8)
    assert prezero_guest.scans(outcome) == prezero_guest.expected(ROUNDS)
    found = prezero_guest.stats(outcome)
    assert (found["ended"], found["free"], found["failed"], found["timed_out"]) == (0, POOL, 0, 0)
    assert (found["caught_dirty"], found["caught_written"]) == (0, 0)
    assert found["cleared"] > 0
    assert found["served_clean"] > 0


def test_it_may_be_killed_at_any_point(built: Built, zerod: Path) -> None:
    # Every page handed out after each end is scanned, and compared with what was written to it.
    script = f"$BIN/zero_kill {KILLS} {zerod} {RING}; {SETTLE}"
    outcome = prezero_guest.run(built, script, files=[zerod], exact=True, timeout=3600.0)
    found = prezero_guest.stats(outcome)
    assert found["killed"] >= KILLS
    assert found["midway"] >= KILLS // 2
    assert (found["free"], found["stuck"]) == (KILL_POOL, 0)
    assert (found["caught_dirty"], found["caught_written"]) == (0, 0)
    assert found["cleared"] > KILLS
