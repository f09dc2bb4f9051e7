# SPDX-License-Identifier: Apache-2.0
"""The machines as folders or tar files, written once per session because a large server has thousands of files."""

from __future__ import annotations

from pathlib import Path

import built_machines as built
import pytest


@pytest.fixture(scope="session")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Where each machine lies, by name. Do not write there."""
    folder = tmp_path_factory.mktemp("machines")
    return {name: built.place(name, folder / name) for name in built.NAMES}
