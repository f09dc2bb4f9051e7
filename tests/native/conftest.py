# SPDX-License-Identifier: Apache-2.0
"""What the tests of the native programs share: where they are, and a C compiler for their subjects."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from zerod_tool import mock_drivers

from okosu import native


@pytest.fixture(scope="session")
def launcher() -> Path:
    return native.find("okosu-run")


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Return a function that compiles C text with cc and the flags given, once each, and returns the program."""
    folder = tmp_path_factory.mktemp("compiled")
    known: dict[tuple[str, ...], Path] = {}

    def compile_c(source: str, *flags: str) -> Path:
        key = (source, *flags)
        if key not in known:
            program = folder / f"program{len(known)}"
            command = ["cc", "-O1", "-x", "c", "-", "-o", str(program), *flags]
            subprocess.run(command, input=source, text=True, check=True)
            known[key] = program
        return known[key]

    return compile_c


@pytest.fixture(scope="session")
def mocks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the drivers of okosu-zerod's engines that this machine has not."""
    return mock_drivers(tmp_path_factory.mktemp("mocks"))
