# SPDX-License-Identifier: Apache-2.0
"""What the tests of this paper share."""

from __future__ import annotations

from pathlib import Path

import pytest
from zerod_tool import mock_drivers

MOCK_DSA = Path(__file__).with_name("mock_accel_config.c")


@pytest.fixture(scope="session")
def mocks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the drivers of okosu-zerod's engines that this machine has not."""
    return mock_drivers(tmp_path_factory.mktemp("mocks"), {"libaccel-config.so.1": MOCK_DSA})
