# SPDX-License-Identifier: Apache-2.0
"""The engine cuda-mailbox on a mock of CUDA's driver: the tests of the product's engines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import test_zerod_engines as engines
from zerod_tool import run

ENGINE = "cuda-mailbox"


def test_every_byte_is_cleared(mocks: Path) -> None:
    engines.test_a_mocked_engine_clears_every_byte(ENGINE, mocks)


def test_it_is_used_only_where_it_is_named(mocks: Path) -> None:
    listed = {row["engine"]: row for row in map(json.loads, run("--list", mocks=mocks).stdout.splitlines())}
    assert listed[ENGINE]["device"] == "Mock GPU 0"
    assert json.loads(run("--once", "--cap=4M", "--high=4M", mocks=mocks, MOCK_DSA="none").stdout)["engine"] == "cuda"


@pytest.mark.parametrize(
    ("trouble", "told"),
    [
        ("no-device", "CUDA_ERROR_NO_DEVICE"),
        ("leaves-byte", "it left 1 of"),
        ("never", "timed out"),
        ("dies", "failed to clear"),
    ],
)
def test_it_is_dropped_where_it_fails_its_proof(trouble: str, told: str, mocks: Path) -> None:
    done = engines.once(ENGINE, mocks, f"--timeout={300 if trouble == 'never' else 60000}", MOCK_CUDA=trouble)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"the engine {ENGINE} does not serve" in done.stderr
    assert told in done.stderr


@pytest.mark.parametrize("check", engines.OF_EVERY_ENGINE, ids=lambda check: str(check.__name__).removeprefix("test_"))
def test_it_serves_as_the_products_engines_do(check: engines.Check, mocks: Path, tmp_path: Path) -> None:
    check(ENGINE, mocks, tmp_path)


def test_it_is_dropped_where_it_fails_later(mocks: Path, tmp_path: Path) -> None:
    engines.test_an_engine_that_fails_later_is_dropped(ENGINE, "dies", mocks, tmp_path)
