# SPDX-License-Identifier: Apache-2.0
"""What holds for every test."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest


def pytest_configure() -> None:
    """Let SIGINT mean what it means to a program on a terminal.

    A shell starts what it runs in the background with SIGINT ignored; children would inherit that, and the tests that
    interrupt them would wait for ever.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the tests in folders called long to `make test-lab`, which sets OKOSU_LAB: they need what it installs."""
    if "OKOSU_LAB" not in os.environ:
        skip = pytest.mark.skip(reason="make test-lab runs it")
        for item in items:
            if Path(item.path).parent.name == "long":
                item.add_marker(skip)


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
