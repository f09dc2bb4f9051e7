# SPDX-License-Identifier: Apache-2.0
"""What tests compile is shared by the processes of one run of the tests, and by no other run."""

from __future__ import annotations

import os

import made_once
import pytest


def test_a_run_that_a_test_starts_has_a_folder_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw0")
    monkeypatch.setenv(made_once.VARIABLE, "/of/another/run")
    made_once.share(worker=True)
    assert os.environ[made_once.VARIABLE] == "/of/another/run"
    made_once.share(worker=False)
    assert os.environ[made_once.VARIABLE] != "/of/another/run"
