# SPDX-License-Identifier: Apache-2.0
"""The engine dsa on a mock of libaccel-config: the tests of the product's engines, and what is its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import test_zerod_engines as engines
from zerod_tool import run

ENGINE = "dsa"


def test_every_byte_is_cleared_in_pieces(mocks: Path) -> None:
    done = engines.once(ENGINE, mocks, "--chunk=4M", MOCK_DSA_MOST="100000")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) | {"engine": ENGINE, "not_zero": 0} == json.loads(done.stdout)


def test_it_is_taken_before_the_others_and_not_named_where_it_is_absent(mocks: Path) -> None:
    assert json.loads(run("--once", "--cap=4M", "--high=4M", mocks=mocks).stdout)["engine"] == ENGINE
    done = run("--once", "--cap=4M", "--high=4M", mocks=mocks, MOCK_DSA="none")
    assert json.loads(done.stdout)["engine"] == "cuda"
    assert ENGINE not in done.stderr
    done = run(f"--engine={ENGINE}", "--once")
    assert done.returncode == 1
    assert "libaccel-config.so.1" in done.stderr


@pytest.mark.parametrize(
    ("trouble", "told"),
    [("none", "no work queue"), ("leaves-byte", "it left"), ("never", "timed out"), ("fails", "failed to clear")],
)
def test_it_is_dropped_where_it_fails_its_proof(trouble: str, told: str, mocks: Path) -> None:
    done = engines.once(ENGINE, mocks, f"--timeout={300 if trouble == 'never' else 60000}", MOCK_DSA=trouble)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"the engine {ENGINE} does not serve" in done.stderr
    assert told in done.stderr


def test_pages_that_it_does_not_find_are_brought(mocks: Path) -> None:
    done = engines.once(ENGINE, mocks, MOCK_DSA="faults")
    assert done.returncode == 0
    assert json.loads(done.stdout)["not_zero"] == 0


@pytest.mark.parametrize("check", engines.OF_EVERY_ENGINE, ids=lambda check: str(check.__name__).removeprefix("test_"))
def test_it_serves_as_the_products_engines_do(check: engines.Check, mocks: Path, tmp_path: Path) -> None:
    check(ENGINE, mocks, tmp_path)


def test_it_is_dropped_where_it_fails_later(mocks: Path, tmp_path: Path) -> None:
    engines.test_an_engine_that_fails_later_is_dropped(ENGINE, "fails", mocks, tmp_path)
