# SPDX-License-Identifier: Apache-2.0
"""A simulator as a child process: its output streams as they come, a time limit, and an end that kills its session."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from okosu.errors import LAUNCHER_FAILED, OkosuError

_BLOCK = 65536
# The process ends with this one, also by SIGKILL; and its crash leaves no core file.
_BOUND = ("setpriv", "--pdeathsig", "KILL", "--", "prlimit", "--core=0")
# How long a process may take to end after SIGKILL: it only has to be scheduled once more.
_GONE_WITHIN_S = 10.0

OnData = Callable[[str, bytes], None]


@dataclass(frozen=True)
class Ended:
    """How the process ended: its status as subprocess has it (None where the time was over), and after how long."""

    returncode: int | None
    seconds: float


def run(
    command: Callable[[Mapping[str, int]], Sequence[str]],
    streams: Sequence[str],
    on_data: OnData,
    *,
    cwd: Path,
    env: Mapping[str, str],
    timeout: float,
) -> Ended:
    """Run the argv that `command` gives for {stream: file descriptor} until it ends or `timeout` seconds are over.

    The stream "log" is the process's own stdout and stderr. However this returns or raises, no process of the session
    that it started is left; if this process is killed, the session's leader is killed with it.
    """
    pipes = {name: os.pipe() for name in streams}
    started = time.monotonic()
    try:
        writing = {name: ends[1] for name, ends in pipes.items()}
        child = subprocess.Popen(
            [*_BOUND, *command(writing)],
            stdin=subprocess.DEVNULL,
            stdout=writing["log"],
            stderr=writing["log"],
            pass_fds=tuple(writing.values()),
            cwd=cwd,
            env=dict(env),
            start_new_session=True,
        )
        for end in writing.values():
            os.close(end)
        pipes = {name: (ends[0], -1) for name, ends in pipes.items()}
        try:
            over = _follow(child, {ends[0]: name for name, ends in pipes.items()}, on_data, started + timeout)
        finally:
            end_session(child)
        return Ended(None if over else child.returncode, time.monotonic() - started)
    finally:
        for ends in pipes.values():
            for end in ends:
                if end >= 0:
                    os.close(end)


def _follow(child: subprocess.Popen[bytes], names: dict[int, str], on_data: OnData, deadline: float) -> bool:
    """Hand the streams' data to `on_data` until the process has ended; true if the deadline came first."""
    ended = os.pidfd_open(child.pid)
    try:
        with selectors.DefaultSelector() as selector:
            selector.register(ended, selectors.EVENT_READ)
            for end in names:
                os.set_blocking(end, False)
                selector.register(end, selectors.EVENT_READ)
            while child.poll() is None:
                if (left := deadline - time.monotonic()) <= 0:
                    return True
                for key, _ in selector.select(left):
                    if key.fd != ended and not _drain(key.fd, names[key.fd], on_data, once=True):
                        selector.unregister(key.fd)
        for end, name in names.items():
            _drain(end, name, on_data)
        return False
    finally:
        os.close(ended)


def _drain(end: int, name: str, on_data: OnData, once: bool = False) -> bool:
    """Hand the data that can be read to `on_data`; false at the end of the stream."""
    while True:
        try:
            block = os.read(end, _BLOCK)
        except BlockingIOError:
            return True
        if not block:
            return False
        on_data(name, block)
        if once:
            return True


def end_session(child: subprocess.Popen[bytes]) -> None:
    """Kill the process and every process of its session, and wait until they are gone; OkosuError if one stays."""
    deadline = time.monotonic() + _GONE_WITHIN_S
    if child.poll() is None:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
    while left := session(child.pid):
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        if time.monotonic() > deadline:
            raise OkosuError(
                f"processes of the guest are still there: {', '.join(map(str, left))}",
                f"they did not end within {_GONE_WITHIN_S:.0f} s of SIGKILL",
                f"kill -9 {' '.join(map(str, left))}",
                LAUNCHER_FAILED,
            )
        time.sleep(0.01)


def session(leader: int) -> list[int]:
    """Return the processes of the session that the process `leader` began, without zombies."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == leader and fields[0] not in "ZX":
            found.append(int(folder.name))
    return found
