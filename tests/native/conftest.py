# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests of the native programs: where the programs are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from measure_tool import Tools, build_tools
from zerod_tool import mock_drivers

from okosu import native


@pytest.fixture(scope="session")
def launcher() -> Path:
    return native.find("okosu-run")


@pytest.fixture(scope="session")
def tools() -> Iterator[Tools]:
    """okosu-measure and the programs that it is tried on."""
    with build_tools() as built:
        yield built


@pytest.fixture(scope="session")
def mocks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with mock drivers for the engines of okosu-zerod whose hardware this machine lacks."""
    return mock_drivers(tmp_path_factory.mktemp("mocks"))
