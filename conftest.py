# SPDX-License-Identifier: Apache-2.0
"""What holds for every test."""

from __future__ import annotations

import functools
import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from okosu import native
from okosu.errors import OkosuError

FATAL = (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM, signal.SIGPIPE, signal.SIGALRM, signal.SIGUSR1, signal.SIGUSR2)
"""Signals whose default action ends a program, and which whoever starts this run may have had ignored."""


def pytest_configure() -> None:
    """Start every program of the tests with the dispositions that a login shell gives it.

    nohup ignores SIGHUP, and a shell ignores SIGINT and SIGQUIT for what it runs in the background. An ignored signal
    stays ignored across exec, so programs that the tests interrupt would run on for ever. A signal that is caught is
    reset by exec, so what is ignored here is caught from now on: this run itself still survives it.
    """
    for number in FATAL:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


@functools.cache
def refuses_ptrace() -> bool:
    """Say whether a program that is built cannot trace another one here: a container's seccomp filter, say."""
    try:
        words = [native.find("okosu-measure"), "--", "true"]
    except OkosuError:
        return False
    return '"traced": false' in subprocess.run(words, capture_output=True, text=True, check=False).stdout


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("ptrace") and refuses_ptrace():
        pytest.skip("ptrace is refused here")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests in folders called long, and leave what is so marked to `make test-lab`, which sets OKOSU_LAB."""
    for item in items:
        if Path(item.path).parent.name == "long":
            item.add_marker(pytest.mark.long)
        if "OKOSU_LAB" not in os.environ and item.get_closest_marker("long"):
            item.add_marker(pytest.mark.skip(reason="make test-lab runs it"))


@pytest.fixture(scope="session", autouse=True)
def temporary() -> Iterator[None]:
    """Give each worker a temporary folder of its own, and with it a lock of its own on measuring.

    Every user may enter it: some tests, as root, start a program as another.
    """
    if "PYTEST_XDIST_WORKER" in os.environ:
        with tempfile.TemporaryDirectory(prefix="okosu-test-") as folder, pytest.MonkeyPatch.context() as patch:
            Path(folder).chmod(0o755)
            patch.setenv("TMPDIR", folder)
            patch.setattr(tempfile, "tempdir", None)
            yield
    else:
        yield


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
