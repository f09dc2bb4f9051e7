# SPDX-License-Identifier: Apache-2.0
"""Clients of okosu-zerod, message by message: correct clients, and clients that break the protocol."""

from __future__ import annotations

import contextlib
import errno
import os
import resource
import socket
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from zerod_tool import (
    CLEAR,
    GIVE,
    HELLO,
    SIZE,
    STATS,
    TAKE,
    UNIT,
    ZEROD,
    Client,
    Daemon,
    connected,
    serving,
    start,
    take,
    view,
    wait,
)


def test_a_holder_has_its_unit_cleared() -> None:
    with serving("--cap=8M") as daemon:
        client = Client.greeted(daemon.socket)
        slot = take(client)
        memory = view(client, slot)
        memory.write(b"\xa5" * UNIT)
        assert client.ask(CLEAR, slot, 3).status == 0
        assert memory[: 3 * 4096] == bytes(3 * 4096)
        assert memory[3 * 4096 :] == b"\xa5" * (UNIT - 3 * 4096)
        for pages in (0, UNIT // 4096 + 1, 2**64 - 1):
            assert client.ask(CLEAR, slot, pages).status == -errno.EINVAL
        # The client sends more than one request at a time, and gets an answer to each.
        client.send(CLEAR, slot, 512, tag=1)
        client.send(CLEAR, slot, 512, tag=2)
        client.send(GIVE, slot, tag=3)
        answers = {answer.tag: answer.status for answer in (client.receive() for _ in range(3)) if answer}
        assert answers[1] == 0
        assert answers[2] in (0, -errno.EBUSY)
        assert answers[3] in (0, -errno.EBUSY)
        client.close()


def test_only_its_own_slots_are_a_clients() -> None:
    with serving("--cap=8M") as daemon:
        one, other = Client.greeted(daemon.socket), Client.greeted(daemon.socket)
        slot = take(one)
        for bad in (slot, slot + 1, 4, 2**32 - 1):
            assert other.ask(GIVE, bad).status == other.ask(CLEAR, bad, 1).status == -errno.EINVAL
        assert one.give(slot) == 0
        assert one.ask(GIVE, slot).status == -errno.EINVAL
        one.close()
        other.close()


def test_a_client_has_no_file_but_those_of_its_slots() -> None:
    """A client gets a file with each slot, and cannot reach another client's by it."""
    with serving("--cap=8M", "--low=8M", "--high=8M") as daemon:
        one, other = Client(daemon.socket), Client(daemon.socket)
        for client in (one, other):
            client.hello()
            assert not client.files
        slots = [take(one), take(other), take(one), take(other)]
        assert sorted(slots) == [0, 1, 2, 3]
        for client in (one, other):
            assert all(os.fstat(file).st_size == UNIT for file in client.files.values())
        files = [os.fstat(file).st_ino for client in (one, other) for file in client.files.values()]
        assert len(set(files)) == 4
        one.close()
        other.close()


@pytest.mark.parametrize("leaves", [False, True])
@pytest.mark.parametrize("kept", ["mapped", "open", "open for reading"])
def test_nobody_gets_a_slot_that_somebody_has_kept(kept: str, leaves: bool) -> None:
    """A program that keeps what it gave back neither reads nor changes the memory of the next."""
    with serving("--cap=8M", "--low=8M", "--high=8M") as daemon:
        hostile, client = Client.greeted(daemon.socket), Client.greeted(daemon.socket)
        slot = take(hostile)
        memory = view(hostile, slot)
        memory.write(b"\xa5" * UNIT)
        file = os.open(f"/proc/self/fd/{hostile.files[slot]}", os.O_RDWR if kept == "open" else os.O_RDONLY)
        if kept == "mapped":
            os.close(file)
        else:
            memory.close()
        hostile.close() if leaves else hostile.give(slot)
        others = {take(client) for _ in range(3)}
        assert others == set(range(4)) - {slot}
        for _ in range(100):
            assert client.ask(TAKE).status == -errno.EAGAIN
        # Nor was it cleared under somebody who uses it.
        assert (memory[:] if kept == "mapped" else os.pread(file, UNIT, 0)) == b"\xa5" * UNIT
        memory.close() if kept == "mapped" else os.close(file)
        assert take(client) == slot
        assert not view(client, slot).read(UNIT).strip(b"\0")
        client.close()


@pytest.mark.privileged
def test_another_process_cannot_open_the_daemons_files() -> None:
    """The daemon and a process of the same user that is not root."""
    with tempfile.TemporaryDirectory(prefix="zerod") as folder:
        os.chown(folder, 65534, 65534)
        words = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all")
        daemon = start(f"{folder}/s", "--cap=8M", program=(*words, ZEROD))
        try:
            done = subprocess.run(
                [*words, "ls", f"/proc/{daemon.process.pid}/fd"], capture_output=True, text=True, check=False
            )
            assert done.returncode
            assert "Permission denied" in done.stderr
        finally:
            daemon.stop()


def test_more_units_than_descriptors() -> None:
    """The daemon raises its limit of descriptors, or says what to change."""
    with tempfile.TemporaryDirectory(prefix="zerod") as folder:
        for hard, message in ((4096, ""), (1024, "each unit is a file: a smaller --cap")):
            limits = ("prlimit", f"--nofile=256:{hard}")
            words = [*limits, ZEROD, f"--socket={folder}/s", "--engine=nt", "--cap=4G", "--low=2M", "--high=2M"]
            daemon = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            assert daemon.stdout
            assert bool(daemon.stdout.readline()) == (not message)
            daemon.terminate()
            assert message in daemon.communicate()[1]


def test_caps() -> None:
    with serving("--cap=8M", "--client-cap=4M", "--clients=3", "--low=8M", "--high=8M") as daemon:
        client = Client.greeted(daemon.socket)
        take(client), take(client)
        assert client.ask(TAKE).status == -errno.EDQUOT
        others = [Client(daemon.socket) for _ in range(2)]
        assert [other.hello().slot for other in others] == [4, 4]
        one_more = Client(daemon.socket)
        assert one_more.receive() is None
        for each in (client, *others, one_more):
            each.close()


MISBEHAVIOUR: dict[str, Callable[[Client], object]] = {
    "nothing but a byte": lambda c: c.socket.send(b"\1"),
    "a truncated message": lambda c: c.socket.send(bytes(SIZE - 1)),
    "a message that is too long": lambda c: c.socket.send(bytes(SIZE + 1)),
    "a huge message": lambda c: c.socket.send(bytes(100000)),
    "no kind": lambda c: c.send(0),
    "an unknown kind": lambda c: c.send(99),
    "a descriptor": lambda c: socket.send_fds(c.socket, [HELLO.to_bytes(4, "little") + bytes(SIZE - 4)], [0]),
    "253 descriptors": lambda c: socket.send_fds(c.socket, [bytes(SIZE)], [0] * 253),
    "a second greeting": lambda c: c.send(HELLO, value=2),
}


def descriptors(daemon: Daemon) -> list[int]:
    """The daemon is not dumpable, so that only root may look."""
    return [int(path.name) for path in Path(f"/proc/{daemon.process.pid}/fd").iterdir()]


@pytest.mark.privileged
@pytest.mark.parametrize("greeted", [False, True])
@pytest.mark.parametrize("name", MISBEHAVIOUR)
def test_who_misbehaves_is_let_go(name: str, greeted: bool) -> None:
    with serving("--cap=8M", "--low=8M", "--high=8M") as daemon:
        # From then on the daemon opens no more files.
        wait(lambda: daemon.status()["clean"] == 4)
        bystander = Client.greeted(daemon.socket)
        slot = take(bystander)
        bad = Client(daemon.socket)
        if greeted or name == "a second greeting":
            bad.hello()
            take(bad)
        assert bad.ask(STATS).status == 0
        before = descriptors(daemon)
        MISBEHAVIOUR[name](bad)
        while (answer := bad.receive()) is not None:
            assert answer.status == -errno.EPROTO
        assert bystander.give(slot) == 0
        # No descriptor that came with the message stays open: the process has one socket less.
        assert len(descriptors(daemon)) == len(before) - 1
        bystander.close()
        bad.close()


def test_before_a_greeting_there_is_nothing_but_the_status() -> None:
    with serving("--cap=8M") as daemon:
        assert Client(daemon.socket).ask(STATS).figure[4] == 4
        for kind in (TAKE, GIVE, CLEAR):
            client = Client(daemon.socket)
            client.send(kind)
            assert client.receive() is None
        for version in (0, 1, 3, 2**64 - 1):
            client = Client(daemon.socket)
            assert client.ask(HELLO, value=version).status == -errno.EPROTO
            assert client.receive() is None


def test_who_does_not_greet_is_disconnected() -> None:
    with serving("--cap=8M", "--greeting=1") as daemon:
        silent, asking = Client(daemon.socket), Client(daemon.socket)
        assert silent.receive() is None
        with contextlib.suppress(AssertionError, OSError):
            while asking.ask(STATS).status == 0:
                pass
        silent.close()
        asking.close()
    with serving("--cap=8M", "--greeting=3600000") as daemon:
        client = Client.greeted(daemon.socket)
        assert take(client) == 0
        client.close()


@pytest.mark.privileged
def test_one_user_does_not_keep_the_others_out() -> None:
    """Of two users that are let in, the first opens all connections and takes all memory that it can get."""
    options = ("--cap=12M", "--low=12M", "--high=12M", "--clients=9", "--allow=65534", "--allow=65533")
    with serving(*options) as daemon:
        Path(daemon.socket).parent.chmod(0o755)
        greedy = [connected(daemon, 65534) for _ in range(20)]
        served = []
        for client in greedy:
            with contextlib.suppress(AssertionError, OSError):
                client.hello()
                served.append(client)
        assert len(served) == 3
        held = [(client, take(client)) for client in (served[0], served[1])]
        for client in served:
            assert client.ask(TAKE).status == -errno.EDQUOT
        # It has its units cleared over and over, which is work that goes before that for new memory.
        for turn in range(40):
            for client, slot in held:
                client.send(CLEAR, slot, UNIT // 4096, tag=turn)
        other = connected(daemon, 65533)
        other.hello()
        assert {take(other) for _ in range(2)} == {0, 1}
        for client in (*greedy, other):
            client.close()


def test_a_client_that_does_not_listen() -> None:
    """A client that reads no answers is disconnected, and other clients do not wait for it."""
    with serving("--cap=8M") as daemon:
        deaf, other = Client.greeted(daemon.socket), Client.greeted(daemon.socket)
        deaf.socket.setblocking(False)
        sent = 0
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            while sent < 100000:
                with contextlib.suppress(BlockingIOError):
                    deaf.send(STATS)
                    sent += 1
        assert sent < 100000
        wait(lambda: other.ask(STATS).figure[5] == 1)
        deaf.close()
        other.close()


@pytest.mark.privileged
def test_no_descriptors_left() -> None:
    """A daemon that is out of descriptors turns new clients away, serves the others, and does not spin."""

    limit = resource.prlimit
    with serving("--cap=8M", "--clients=64") as daemon:
        first = Client.greeted(daemon.socket)
        open_now = max(descriptors(daemon)) + 1
        limit(daemon.process.pid, resource.RLIMIT_NOFILE, (open_now + 2, open_now + 2))
        crowd = [Client(daemon.socket) for _ in range(20)]
        served = 0
        for client in crowd:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                client.send(STATS)
                served += client.receive() is not None
        assert served < 20
        assert first.ask(STATS).status == 0
        for client in crowd:
            client.close()
        first.close()
