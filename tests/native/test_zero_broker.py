# SPDX-License-Identifier: Apache-2.0
"""Programs that get their clean pages from okosu-zerod: stress, fork, users, and a daemon or a program that is
killed.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from effort import length
from zerod_tool import (
    CHECK,
    ROOT,
    SIZE,
    TAKE,
    UNIT,
    Client,
    Daemon,
    compiled,
    daemon_sources,
    huge_pages,
    serving,
    start,
    take,
    view,
    wait,
)

SANITIZERS = {"address": "-fsanitize=address,undefined", "thread": "-fsanitize=thread"}


def check(mode: str, daemon: Daemon, *more: str, program: Path = CHECK) -> subprocess.CompletedProcess[str]:
    # Before that, a pool takes the pages it needs from the kernel.
    wait(lambda: daemon.status()["clean"] >= 12)
    done = subprocess.run(
        ["setarch", "-R", program, mode, daemon.socket, *more], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.mark.parametrize("mode", ["edges", "fork"])
def test_a_pool_of_the_daemons_units(mode: str) -> None:
    with serving("--cap=64M") as daemon:
        assert f"ok: {mode}" in check(mode, daemon).stdout
        wait(lambda: daemon.status()["held"] == daemon.status()["dirty"] == 0)


@pytest.mark.long
@pytest.mark.parametrize("name", SANITIZERS)
def test_processes_and_threads_under(name: str, tmp_path: Path) -> None:
    """100,000 takes by all processes together in make test-lab-full. Each block is scanned completely."""
    takes = length(250, 250, 34000)
    program = compiled(tmp_path, "zerod", daemon_sources(tmp_path), SANITIZERS[name])
    client = compiled(tmp_path, "check", [ROOT / "tests/native/programs/zero_broker_check.c"], SANITIZERS[name])
    # An engine is named, because the search for OpenCL devices leaks memory in its loader.
    options = ("--cap=96M", "--low=96M", "--high=96M", "--client-cap=32M")
    with serving(*options, program=("setarch", "-R", program)) as daemon:
        wait(lambda: daemon.status()["clean"] == 48)
        words: list[str | Path] = ["setarch", "-R", client, "stress", daemon.socket, str(takes), "3"]
        running = [subprocess.Popen([*words, str(seed)], stdout=subprocess.PIPE, text=True) for seed in (1, 2, 3)]
        served = 0
        for process in running:
            said, _ = process.communicate()
            assert process.returncode == 0, said
            served += int(said.rsplit(", ", 1)[1].split()[0])
        # Together: on a busy machine the daemon, which has the lowest priority, may come too late for one of them.
        assert served > 0
        check("fork", daemon, program=client)
        wait(lambda: daemon.status()["held"] == daemon.status()["dirty"] == 0)
        assert daemon.status()["failures"] == 0


def test_clean_pages_survive_a_program() -> None:
    """Memory that one program wrote to is clean for the next one, without a new page from the kernel."""
    with serving("--cap=8M", "--low=8M", "--high=8M") as daemon:
        first = Client.greeted(daemon.socket)
        slots = {take(first) for _ in range(4)}
        assert slots == set(range(4))
        for slot in slots:
            view(first, slot).write(b"\xa5" * UNIT)
        first.close()
        wait(lambda: daemon.status()["clean"] == 4)
        assert daemon.status()["cleared_bytes"] == 4 * UNIT
        second = Client.greeted(daemon.socket)
        for _ in range(4):
            assert not view(second, take(second)).read(UNIT).strip(b"\0")
        assert second.ask(TAKE).status in (-errno.EAGAIN, -errno.EDQUOT)
        second.close()


def test_killed_clients_leave_nothing_behind() -> None:
    with serving("--cap=32M") as daemon:
        for _ in range(length(4, 4, 1000)):
            child = subprocess.Popen(
                [CHECK, "hold", daemon.socket], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            assert child.stdout
            assert child.stdout.readline() == "holding\n"
            child.kill()
            child.communicate()
        wait(lambda: daemon.status()["held"] == daemon.status()["dirty"] == 0)
        client = Client.greeted(daemon.socket)
        for _ in range(daemon.status()["clean"]):
            assert not view(client, take(client)).read(UNIT).strip(b"\0")
        client.close()


def test_the_daemon_killed_again_and_again() -> None:
    """The daemon is killed at any point: programs keep the blocks they hold, find the next daemon, and see only clean
    pages; and all memory of daemons and programs goes back to the kernel.
    """

    def shared() -> int:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith("Shmem:"))

    before = shared()
    kills = length(6, 12, 1000)
    with tempfile.TemporaryDirectory(prefix="zerod") as folder:
        path = f"{folder}/s"
        daemon = start(path, "--cap=64M")
        holders = [
            subprocess.Popen([CHECK, "hold", path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            for _ in range(2)
        ]
        for holder in holders:
            assert holder.stdout
            assert holder.stdout.readline() == "holding\n"
        for turn in range(kills):
            time.sleep(0.013 * (turn % 7))
            daemon.stop(signal.SIGKILL)
            daemon = start(path, "--cap=64M")
            client = Client(path)
            client.hello()
            slot = take(client)
            assert not view(client, slot).read(UNIT).strip(b"\0")
            view(client, slot).write(b"\xa5" * UNIT)
            client.close()
        for holder in holders:
            said, _ = holder.communicate("")
            assert holder.returncode == 0, said
            assert "what was held is as it was" in said
        daemon.stop()
    # If every killed daemon left its memory behind, the difference would exceed this bound; other processes may use
    # some, too.
    wait(lambda: shared() - before < kills * 16 << 20)


def test_a_program_without_a_daemon_it_can_trust(tmp_path: Path) -> None:
    done = subprocess.run([CHECK, "open", tmp_path / "none"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "No such file" in done.stdout
    server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with tempfile.TemporaryDirectory(prefix="zerod") as folder:
        server.bind(f"{folder}/s")
        server.listen()
        child = subprocess.Popen([CHECK, "open", f"{folder}/s"], stdout=subprocess.PIPE, text=True)
        peer, _ = server.accept()
        text = bytearray(peer.recv(SIZE))
        # A greeting is answered by no file.
        os.ftruncate(file := os.memfd_create("loose"), UNIT)
        text[12:24] = (4).to_bytes(4, "little") + UNIT.to_bytes(8, "little")
        socket.send_fds(peer, [bytes(text)], [file])
        said, _ = child.communicate()
        assert child.returncode == 2
        assert "Protocol error" in said
        # A unit's file that could be shortened, and a descriptor that is not a file: the program leaves.
        for bad in (file, server.fileno()):
            child = subprocess.Popen(
                [CHECK, "hold", f"{folder}/s"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            peer, _ = server.accept()
            text = bytearray(peer.recv(SIZE))
            text[12:24] = (4).to_bytes(4, "little") + UNIT.to_bytes(8, "little")
            peer.send(text)
            text = bytearray(peer.recv(SIZE))
            assert int.from_bytes(text[:4], "little") == TAKE
            socket.send_fds(peer, [bytes(text)], [bad])
            assert not peer.recv(SIZE)
            child.kill()
            child.communicate()
    server.close()


@pytest.mark.privileged
def test_no_page_goes_from_one_user_to_another() -> None:
    """The daemon runs as root; two users share its cap, and each has a file of its own."""
    with serving("--cap=8M", "--low=8M", "--high=8M", "--user-cap=4M", "--allow=65534", "--allow=65533") as daemon:
        Path(daemon.socket).parent.chmod(0o755)
        read, write = os.pipe()
        for user in (65534, 65533):
            child = os.fork()
            if not child:
                os.setresuid(user, user, user)
                client = Client.greeted(daemon.socket)
                slots = [take(client) for _ in range(2)]
                clean = all(not view(client, slot).read(UNIT).strip(b"\0") for slot in slots)
                for slot in slots:
                    view(client, slot).write(b"\xa5" * UNIT)
                files = sorted(os.fstat(file).st_ino for file in client.files.values())
                os.write(write, f"{clean} {files}\n".encode())
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
        told = os.read(read, 200).decode().splitlines()
        assert [line.split()[0] for line in told] == ["True", "True"]
        assert not set(json.loads(told[0].split(maxsplit=1)[1])) & set(json.loads(told[1].split(maxsplit=1)[1]))
        child = os.fork()
        if not child:
            os.setresuid(65532, 65532, 65532)
            os._exit(Client(daemon.socket).receive() is not None)
        assert os.waitpid(child, 0)[1] == 0


def test_the_rate_is_kept() -> None:
    """Eight units at 64 MiB/s take a quarter of a second; a loaded machine takes longer."""
    begun = time.monotonic()
    with serving("--cap=16M", "--low=16M", "--high=16M", "--rate=64M") as daemon:
        wait(lambda: daemon.status()["clean"] == 8)
        assert time.monotonic() - begun > 0.2


@pytest.mark.skipif(not Path("/proc/self/numa_maps").exists(), reason="a kernel without NUMA")
@pytest.mark.privileged
def test_memory_of_a_node() -> None:
    """The daemon's files come from the given node if it has memory."""
    for options, policy in (((), "default"), (("--node=0",), "prefer:0")):
        with serving("--cap=8M", *options) as daemon:
            wait(lambda: daemon.status()["clean"] > 0)
            maps = Path(f"/proc/{daemon.process.pid}/numa_maps").read_text().splitlines()
            assert {line.split()[1] for line in maps if "memfd:okosu-zerod" in line} == {policy}


def test_memory_beyond_keep_goes_back() -> None:
    with serving("--cap=16M", "--low=2M", "--high=4M", "--keep=4M") as daemon:
        client = Client.greeted(daemon.socket)
        held = {take(client) for _ in range(6)}
        assert len(held) == 6
        client.close()
        wait(lambda: daemon.status()["clean"] == 2 and not daemon.status()["dirty"])


@pytest.mark.privileged
def test_pages_of_the_kernels_pool_lowered_underneath() -> None:
    """Where huge pages run out, programs continue on other pages; and a killed daemon leaves no huge page in use."""
    with huge_pages(16) as lower:
        options = ("--backing=hugetlb", "--cap=64M", "--low=24M", "--high=24M")
        with tempfile.TemporaryDirectory(prefix="zerod") as folder:
            daemon = start(f"{folder}/s", *options)
            check("edges", daemon)
            lower()
            check("edges", daemon)
            daemon.stop(signal.SIGKILL)
