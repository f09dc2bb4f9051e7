# SPDX-License-Identifier: Apache-2.0
"""okosu-zerod's engines for hardware that this machine lacks, on a mock of CUDA's driver that can be told to fail."""

from __future__ import annotations

import contextlib
import errno
import json
import mmap
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from zerod_tool import CLEAR, TAKE, UNIT, Client, Daemon, connected, run, serving, take, view

MOCKED = ["cuda"]
Check = Callable[[str, Path, Path], None]
"""A test of a served engine, for engines that are a paper's."""


def once(engine: str, mocks: Path, *more: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return run("--once", f"--engine={engine}", "--cap=16M", "--high=16M", *more, mocks=mocks, **variables)


@pytest.mark.parametrize("engine", MOCKED)
def test_a_mocked_engine_clears_every_byte(engine: str, mocks: Path) -> None:
    done = once(engine, mocks, "--chunk=4M")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) | {"engine": engine, "not_zero": 0} == json.loads(done.stdout)


def test_the_best_engine_that_proves_itself_is_taken(mocks: Path) -> None:
    listed = {row["engine"]: row for row in map(json.loads, run("--list", mocks=mocks).stdout.splitlines())}
    names = list(listed)
    assert names[-1] == "nt"
    assert listed["cuda"]["device"] == "Mock GPU 0"
    assert json.loads(run("--once", "--cap=4M", "--high=4M", mocks=mocks).stdout)["engine"] == "cuda"
    done = run("--once", "--cap=4M", "--high=4M", mocks=mocks, MOCK_CUDA="leaves-byte")
    assert json.loads(done.stdout)["engine"] == "nt"
    # The daemon reports hardware that misbehaves, but not hardware that is absent.
    assert "the engine cuda does not serve" in done.stderr
    assert "it left 1 of 2093056 bytes" in done.stderr
    assert "opencl" not in done.stderr


DROPPED = {
    ("cuda", "no-device"): "CUDA_ERROR_NO_DEVICE",
    ("cuda", "leaves-byte"): "it left 1 of",
    ("cuda", "never"): "timed out",
    ("cuda", "dies"): "failed to clear",
    ("cuda", "register-fails=1"): "cannot be pinned",
}


@pytest.mark.parametrize(("engine", "trouble"), DROPPED)
def test_an_engine_that_fails_its_proof_is_dropped(engine: str, trouble: str, mocks: Path) -> None:
    done = once(engine, mocks, f"--timeout={300 if trouble == 'never' else 60000}", MOCK_CUDA=trouble)
    assert done.returncode == 1
    assert not done.stdout
    assert f"the engine {engine} does not serve" in done.stderr
    assert DROPPED[engine, trouble] in done.stderr


def pinnings(log: Path) -> list[list[str]]:
    """Which memory was pinned and unpinned: how, where, how much. The first two entries belong to the engine's
    proof.
    """
    return [line.split() for line in log.read_text().splitlines()][2:]


def test_pinning_in_chunks_and_back(mocks: Path, tmp_path: Path) -> None:
    """All memory is pinned, one chunk at a time; on a failure the pinned chunks are unpinned, the last one first."""
    log = tmp_path / "log"
    assert once("cuda", mocks, "--chunk=4M", MOCK_CUDA_LOG=str(log)).returncode == 0
    pinned = pinnings(log)
    assert [line[0] for line in pinned] == ["register"] * 4 + ["unregister"] * 4
    assert {line[2] for line in pinned} == {str(4 << 20)}
    starts = [int(line[1], 16) for line in pinned]
    assert starts[:4] == [starts[0] + (i << 22) for i in range(4)]
    assert starts[4:] == starts[3::-1]
    log.unlink()
    done = once("cuda", mocks, "--chunk=4M", MOCK_CUDA_LOG=str(log), MOCK_CUDA="register-fails=4")
    assert done.returncode == 1
    assert "memory was not cleared" in done.stderr
    pinned = pinnings(log)
    assert [line[0] for line in pinned] == ["register"] * 2 + ["unregister"] * 2
    assert pinned[2][1] == pinned[1][1]
    assert pinned[3][1] == pinned[0][1]


@pytest.mark.privileged
def test_what_is_pinned_leaves_the_other_users_their_share(mocks: Path, tmp_path: Path) -> None:
    options = ("--engine=cuda", "--cap=8M", "--low=4M", "--high=4M", "--allow=65534")
    with serving(*options, env={"LD_LIBRARY_PATH": str(mocks)}) as daemon:
        assert daemon.status()["clean"] == 2
        Path(daemon.socket).parent.chmod(0o755)
        other = connected(daemon, 65534)
        other.hello()
        assert {take(other) for _ in range(2)} == {0, 1}
        other.close()


class Troubled:
    """A daemon on a mocked engine that begins to fail, and recovers, when the test says so."""

    def __init__(self, engine: str, mocks: Path, folder: Path, timeout: int = 60000) -> None:
        self.file = folder / "trouble"
        self.file.write_text("")
        env = {"LD_LIBRARY_PATH": str(mocks), "MOCK_CUDA": str(self.file), "MOCK_DSA": str(self.file)}
        self.serving = serving(
            f"--engine={engine}", "--cap=8M", f"--timeout={timeout}", "--low=8M", "--high=8M", env=env
        )

    def __enter__(self) -> tuple[Daemon, Client]:
        self.daemon = self.serving.__enter__()
        self.client = Client(self.daemon.socket)
        self.client.hello()
        return self.daemon, self.client

    def __exit__(self, *error: object) -> None:
        if self.client.socket.fileno() >= 0:
            self.client.close()
        self.serving.__exit__(None, None, None)


def soiled(client: Client) -> tuple[int, mmap.mmap]:
    """A unit that the client holds, filled with 0xa5."""
    slot = take(client)
    memory = view(client, slot)
    memory[:] = b"\xa5" * UNIT
    return slot, memory


@contextlib.contextmanager
def late(engine: str, mocks: Path, folder: Path) -> Iterator[tuple[Troubled, int, mmap.mmap]]:
    """A daemon whose engine has just been given up because it did not end, and the unit that it was to clear.

    On a busy machine an engine that is well may also be given up in the first of these times.
    """
    for timeout in (300, 3000, 30000, 300000):
        troubled = Troubled(engine, mocks, folder, timeout)
        with contextlib.ExitStack() as held:
            try:
                daemon, client = held.enter_context(troubled)
            except AssertionError as error:
                if "timed out" not in str(error):
                    raise
                continue
            slot, memory = soiled(client)
            if daemon.status()["failures"]:
                continue
            troubled.file.write_text("never")
            assert client.ask(CLEAR, slot, 512).status == -errno.ETIMEDOUT
            yield troubled, slot, memory
            return
    raise AssertionError("the engine is given up each time")


def clears(client: Client, slot: int, memory: mmap.mmap) -> bool:
    """Say whether the daemon clears a whole unit when asked to."""
    return client.ask(CLEAR, slot, 512).status == 0 and not memory[:].strip(b"\0")


def until(daemon: Daemon, **figures: int) -> None:
    while daemon.status() | figures != daemon.status():
        time.sleep(0.005)


@pytest.mark.parametrize("engine", MOCKED)
def test_a_mocked_engine_serves_programs(engine: str, mocks: Path, tmp_path: Path) -> None:
    with Troubled(engine, mocks, tmp_path) as (daemon, client):
        assert daemon.ready["engine"] == engine
        held = [soiled(client) for _ in range(4)]
        for slot, memory in held:
            assert client.ask(CLEAR, slot, 300).status == 0
            assert not memory[: 300 * 4096].strip(b"\0")
            assert memory[300 * 4096 :] == b"\xa5" * (212 * 4096)
        assert daemon.status()["failures"] == 0


@pytest.mark.parametrize(("engine", "trouble"), [("cuda", "leaves-byte"), ("cuda", "dies")])
def test_an_engine_that_fails_later_is_dropped(engine: str, trouble: str, mocks: Path, tmp_path: Path) -> None:
    """Units that the engine did not clear, or only reported as cleared, are cleared by a CPU: no client sees a dirty
    page.
    """
    troubled = Troubled(engine, mocks, tmp_path)
    with troubled as (daemon, client):
        slot, memory = soiled(client)
        troubled.file.write_text(trouble)
        assert clears(client, slot, memory)
        assert daemon.status()["failures"] == 1
        assert clears(client, *soiled(client))
        assert daemon.status()["failures"] == 1


@pytest.mark.parametrize("engine", MOCKED)
def test_a_late_engine_writes_to_nobodys_memory(engine: str, mocks: Path, tmp_path: Path) -> None:
    """A clearing that was given up may still end later: its memory is set apart until then."""
    with late(engine, mocks, tmp_path) as (troubled, slot, memory):
        daemon, client = troubled.daemon, troubled.client
        memory.close()
        others = dict(soiled(client) for _ in range(3))
        assert slot not in others
        assert client.ask(TAKE).status == -errno.EAGAIN
        assert daemon.status()["busy"] == 1
        for other, seen in others.items():
            assert client.ask(CLEAR, other, 1).status == 0
            seen[:4096] = b"\xa5" * 4096
        troubled.file.write_text("")
        until(daemon, busy=0, clean=1, dirty=0)
        for seen in others.values():
            assert seen[:] == b"\xa5" * UNIT
        again, memory = soiled(client)
        assert again == slot


@pytest.mark.parametrize("engine", MOCKED)
def test_the_end_does_not_wait_for_a_late_engine(engine: str, mocks: Path, tmp_path: Path) -> None:
    with late(engine, mocks, tmp_path):
        pass


@pytest.mark.parametrize("engine", ["nt", *MOCKED])
def test_holes_that_a_client_makes_are_no_harm(engine: str, mocks: Path, tmp_path: Path) -> None:
    with Troubled(engine, mocks, tmp_path) as (daemon, client):
        held = [soiled(client) for _ in range(2)]
        for slot, _ in held:
            file = f"/proc/{os.getpid()}/fd/{client.files[slot]}"
            subprocess.run(["fallocate", "--punch-hole", "--offset=0", f"--length={UNIT}", file], check=True)
        for slot, memory in held:
            memory[:] = b"\xa5" * UNIT
            assert clears(client, slot, memory)
            memory.close()
        client.close()
        until(daemon, dirty=0, clean=4)


OF_EVERY_ENGINE: list[Check] = [
    test_a_mocked_engine_serves_programs,
    test_a_late_engine_writes_to_nobodys_memory,
    test_the_end_does_not_wait_for_a_late_engine,
    test_holes_that_a_client_makes_are_no_harm,
]
"""Those of these tests that a paper's engine has to pass too."""
