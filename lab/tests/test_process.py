# SPDX-License-Identifier: Apache-2.0
"""A simulator as a child process: streams byte for byte, the time limit, and that no process survives its end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from processes import lives

from lab.run import process

STREAMS = ("data", "log")


def run(script: str, tmp_path: Path, timeout: float = 3000.0, on_data: Callable[[str, bytes], None] | None = None):  # type: ignore[no-untyped-def]
    heard = {name: bytearray() for name in STREAMS}

    def take(stream: str, data: bytes) -> None:
        heard[stream] += data
        if on_data:
            on_data(stream, data)

    ended = process.run(
        lambda fds: ["bash", "-c", script.replace("DATA", str(fds["data"]))],
        STREAMS,
        take,
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"]},
        timeout=timeout,
    )
    return ended, {name: bytes(data) for name, data in heard.items()}


def wait_for(condition: Callable[[], bool]) -> None:
    while not condition():
        time.sleep(0.01)


def test_streams_come_apart_and_whole(tmp_path: Path) -> None:
    data = "{ head -c 3000000 /dev/zero | tr '\\0' '\\377'; printf '\\r\\n\\0end'; } >&DATA"
    script = f"echo out; echo err >&2; {data}; exit 7"
    ended, heard = run(script, tmp_path)
    assert ended.returncode == 7
    assert sorted(heard["log"].split()) == [b"err", b"out"]
    assert heard["data"] == b"\xff" * 3_000_000 + b"\r\n\0end"


def test_a_signal_is_told_from_a_status(tmp_path: Path) -> None:
    ended, _ = run("kill -SEGV $$", tmp_path)
    assert ended.returncode == -signal.SIGSEGV


def test_over_time_the_whole_tree_ends(tmp_path: Path) -> None:
    # The second generation ignores the terminal's signals; the third holds the streams open.
    script = "(trap '' INT TERM HUP; sleep 10000 & echo $!; echo $BASHPID; wait) & wait"
    # A busy machine may not start both in the first of these times.
    for seconds in (3, 30, 300):
        ended, heard = run(script, tmp_path, timeout=seconds)
        assert ended.returncode is None
        pids = [int(word) for word in heard["log"].split()]
        if len(pids) == 2:
            break
    assert len(pids) == 2
    assert not any(lives(pid) for pid in pids)


def test_what_outlives_the_leader_is_ended_too(tmp_path: Path) -> None:
    ended, heard = run("sleep 10000 & echo $!", tmp_path)
    assert ended.returncode == 0
    assert ended.seconds < 10000
    assert not lives(int(heard["log"]))


def test_an_exception_from_the_reader_ends_the_tree(tmp_path: Path) -> None:
    pids = []

    def stop(stream: str, data: bytes) -> None:
        pids.extend(int(word) for word in data.split())
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run("echo $$; sleep 10000", tmp_path, on_data=stop)
    assert not lives(pids[0])


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    before = os.listdir("/proc/self/fd")  # noqa: PTH208
    run("true", tmp_path)
    with pytest.raises(FileNotFoundError):
        run("true", tmp_path / "nowhere")
    assert os.listdir("/proc/self/fd") == before  # noqa: PTH208


KILLED = """
import os, sys
from pathlib import Path
from lab.run import process
process.run(lambda fds: ["bash", "-c", "echo $$; exec sleep 10000"], ("log",),
            lambda stream, data: print(data.decode(), flush=True),
            cwd=Path("/"), env={"PATH": os.environ["PATH"]}, timeout=600)
"""


def test_the_leader_ends_when_we_are_killed() -> None:
    us = subprocess.Popen([sys.executable, "-c", KILLED], stdout=subprocess.PIPE, text=True)
    assert us.stdout is not None
    pid = int(us.stdout.readline())
    assert lives(pid)
    us.kill()
    us.communicate()
    wait_for(lambda: not lives(pid))
