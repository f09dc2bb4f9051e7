# SPDX-License-Identifier: Apache-2.0
"""What the tests of the native programs share: where they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from zerod_tool import mock_drivers

from okosu import native


@pytest.fixture(scope="session")
def launcher() -> Path:
    return native.find("okosu-run")


@pytest.fixture(scope="session")
def mocks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the drivers of okosu-zerod's engines that this machine has not."""
    return mock_drivers(tmp_path_factory.mktemp("mocks"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests of what is preloaded where its path has a space: LD_PRELOAD ends a name there."""
    if " " in str(Path(__file__).resolve()):
        skip = pytest.mark.skip(reason="LD_PRELOAD cannot name a library whose path has a space in it")
        for item in items:
            if Path(item.path).name.startswith("test_preload_"):
                item.add_marker(skip)
