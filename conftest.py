# SPDX-License-Identifier: Apache-2.0
"""What holds for every test."""

from __future__ import annotations

import functools
import gc
import hashlib
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import made_once
import pytest
from effort import length
from hypothesis import settings

from okosu import native
from okosu.errors import OkosuError

# Set by .ci/run alone: the second since the epoch from which on no long test is begun, and the number of the file of
# tests that comes first.
UNTIL = float(os.environ.get("OKOSU_LAB_UNTIL", "inf"))
FIRST = int(os.environ.get("OKOSU_LAB_FIRST", "0"))
LATE = "not begun: CI's time was nearly over"

FATAL = (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM, signal.SIGPIPE, signal.SIGALRM, signal.SIGUSR1, signal.SIGUSR2)
"""Signals whose default action ends a program, and which whoever starts this run may have had ignored."""

# Of the tests that hypothesis draws the input for; some that start programs have fewer.
settings.register_profile("okosu", max_examples=length(30, 300, 3000), deadline=None)
settings.load_profile("okosu")


def pytest_configure(config: pytest.Config) -> None:
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
    made_once.share(worker=hasattr(config, "workerinput"))
    # The search for leaks stops the program's threads by ptrace; tools/checks/sanitize.sh says why the other is off.
    leaks = ":detect_leaks=0" if refuses_ptrace() else ""
    os.environ["ASAN_OPTIONS"] = f"detect_stack_use_after_return=0{leaks}"


@functools.cache
def refuses_ptrace() -> bool:
    """Say whether a program that is built cannot trace another one here: a container's seccomp filter, say."""
    try:
        words = [native.find("okosu-measure"), "--", "true"]
    except OkosuError:
        return False
    return '"traced": false' in subprocess.run(words, capture_output=True, text=True, check=False).stdout


@functools.cache
def no_preload_from() -> str | None:
    """Return a folder of libraries whose path LD_PRELOAD cannot hold, if there is one.

    The libraries are okosu's, and those that the tests build in the folder for temporary files. There okosu-run says
    why it loads none, and the tests of what it then says are run everywhere.
    """
    try:
        libraries = native.find("libokosu-preload.so")
    except OkosuError:
        libraries = Path(__file__)
    folders = [str(libraries.parent), tempfile.gettempdir()]
    return next((folder for folder in folders if " " in folder or ":" in folder), None)


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("long") and time.time() >= UNTIL:
        pytest.skip(LATE)
    if item.get_closest_marker("ptrace") and refuses_ptrace():
        pytest.skip("ptrace is refused here")
    if item.get_closest_marker("unspaced") and " " in tempfile.gettempdir() + str(Path(__file__)):
        pytest.skip("a makefile, #! line or word of a service's command cannot name a path with a space")
    if item.get_closest_marker("preloads") and (folder := no_preload_from()):
        pytest.skip(f"LD_PRELOAD cannot name a library in {folder}, which has a space or colon in its name")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests in folders called long, and leave what is so marked to `make test-lab`, which sets OKOSU_LAB."""
    for item in items:
        if Path(item.path).parent.name == "long":
            item.add_marker(pytest.mark.long)
        if item.get_closest_marker("alone") and "mark.alone" not in Path(item.path).read_text():
            raise pytest.UsageError(f"{item.nodeid}: tools/checks/test.sh finds the files of such tests by mark.alone")
        if "OKOSU_LAB" not in os.environ and item.get_closest_marker("long"):
            item.add_marker(pytest.mark.skip(reason="make test-lab runs it"))
    files = list(dict.fromkeys(item.path for item in items))
    place = {file: (number - FIRST) % len(files) for number, file in enumerate(files)}
    items.sort(key=lambda item: place[item.path])


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart() -> None:
    """Collect no garbage while tests are collected, which makes none: a third of that time is the collector's."""
    gc.disable()


def pytest_collection_finish() -> None:
    # What was loaded so far stays until the end, and is not looked through again.
    gc.freeze()
    gc.enable()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    late = sum(LATE in str(report.longrepr) for report in terminalreporter.stats.get("skipped", []))
    if late:
        terminalreporter.write_line(f"{late} long tests {LATE} (make test-lab begins them all)")


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
def compiled() -> Callable[..., Path]:
    """Return a function that compiles C text with cc and the flags given, once each, and returns the program."""

    def compile_c(source: str, *flags: str) -> Path:
        name = "program-" + hashlib.sha256("\0".join([source, *flags]).encode()).hexdigest()[:16]
        command = ["cc", "-O1", "-x", "c", "-", *flags, "-o"]
        return made_once.made(name, lambda out: subprocess.run([*command, out], input=source, text=True, check=True))

    return compile_c
