# SPDX-License-Identifier: Apache-2.0
"""okosu-zerod for tests: built with sanitizers, started, and spoken to message by message."""

from __future__ import annotations

import array
import contextlib
import errno
import json
import mmap
import os
import re
import signal
import socket
import struct
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILT = Path(os.environ.get("OKOSU_NATIVE", ROOT / "build"))
ZEROD = BUILT / "native/zerod/okosu-zerod"
CHECK = BUILT / "native/zerod/zero-broker-check"
SOURCES = ROOT / "native/zerod"
UNIT = 2 << 20
HELLO, TAKE, GIVE, CLEAR, STATS = range(1, 6)
_WIRE = struct.Struct("=IIiIQ8Q")
SIZE = _WIRE.size


def compiled(folder: Path, name: str, sources: Sequence[Path], *flags: str, pool: bool = True) -> Path:
    """Compile a program from parts of native/zerod/ or of a client; with `pool` the library's pool is compiled in,
    too.
    """
    include = (f"-I{ROOT / 'native/include'}", f"-I{ROOT / 'native/src'}", f"-I{SOURCES}", f"-I{SOURCES}/engines")
    base = [ROOT / "native/src/base" / file for file in ("json.c", "line.c", "message.c", "option.c")]
    parts = sorted((ROOT / "native/src/pool").glob("*.c")) if pool else []
    words = ["cc", "-std=gnu17", "-D_GNU_SOURCE", '-DOKOSU_VERSION="test"', "-O1", "-g", *flags, *include]
    library = BUILT / "native/lib/libokosu.a"
    files = [*sources, *base, *parts]
    done = subprocess.run(
        [*words, "-o", folder / name, *files, library, "-lm", "-lpthread", "-ldl"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder / name


def daemon_sources(folder: Path) -> list[Path]:
    """All sources of the daemon, with this build's generated table of engines."""
    table = BUILT / "native/zerod/engines/table_all.c"
    rows = re.findall(r"&zerod_engine_(\w+)", table.read_text())
    folders = (SOURCES / "engines", ROOT / "papers/zero_offload/engines")
    engines = [folder / f"{name}.c" for name in rows for folder in folders if (folder / f"{name}.c").exists()]
    parts = sorted(file for file in SOURCES.glob("*.c") if not file.name.endswith("_fuzz.c"))
    return [*parts, SOURCES / "engines/cuda_driver.c", *dict.fromkeys(engines), table]


@dataclass
class Daemon:
    """A running daemon; `stop` ends it."""

    process: subprocess.Popen[str]
    socket: str
    ready: dict[str, str | int]

    def stop(self, how: signal.Signals = signal.SIGTERM) -> str:
        """End it, and return what it wrote to stderr."""
        self.process.send_signal(how)
        _, said = self.process.communicate()
        return said

    def status(self) -> dict[str, int]:
        done = subprocess.run(
            [ZEROD, "--status", f"--socket={self.socket}"], capture_output=True, text=True, check=True
        )
        status: dict[str, int] = json.loads(done.stdout)
        return status


def start(
    path: str, *options: str, program: Sequence[str | Path] = (ZEROD,), env: dict[str, str] | None = None
) -> Daemon:
    """Start a daemon, ready to serve `path`; its engine is nt unless another is given, because the search for one takes
    long.
    """
    if not any(option.startswith("--engine=") for option in options):
        options = ("--engine=nt", *options)
    process = subprocess.Popen(
        [*program, f"--socket={path}", *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env
    )
    assert process.stdout
    line = process.stdout.readline()
    if not line:
        raise AssertionError(process.communicate()[1])
    return Daemon(process, path, json.loads(line))


@contextlib.contextmanager
def serving(
    *options: str, program: Sequence[str | Path] = (ZEROD,), env: dict[str, str] | None = None
) -> Iterator[Daemon]:
    """A daemon with its own socket while the context lasts; it must end without an error."""
    # The path of a socket must be short.
    with tempfile.TemporaryDirectory(prefix="zerod") as folder:
        daemon = start(f"{folder}/s", *options, program=program, env=env)
        try:
            yield daemon
            said = daemon.stop()
            assert daemon.process.returncode == 0, said
            assert "Sanitizer" not in said, said
            assert not Path(daemon.socket).exists()
        finally:
            daemon.process.kill()
            daemon.process.wait()


@dataclass
class Answer:
    kind: int
    tag: int
    status: int
    slot: int
    value: int
    figure: tuple[int, ...]


class Client:
    """One connection, one message at a time."""

    def __init__(self, path: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(600)
        self.socket.connect(path)
        self.files: dict[int, int] = {}

    @classmethod
    def greeted(cls, path: str) -> Client:
        """One that has said HELLO."""
        client = cls(path)
        client.hello()
        return client

    def send(self, kind: int, slot: int = 0, value: int = 0, tag: int = 7) -> None:
        self.socket.send(_WIRE.pack(kind, tag, 0, slot, value, *[0] * 8))

    def receive(self) -> Answer | None:
        """The next answer, None where the daemon closed the connection."""
        try:
            text, rights, _, _ = self.socket.recvmsg(SIZE + 1, socket.CMSG_SPACE(4))
        except ConnectionResetError:
            return None
        if not text:
            return None
        kind, tag, status, slot, value, *figure = _WIRE.unpack(text)
        assert len(rights) == (kind == TAKE and not status)
        for level, what, data in rights:
            assert (level, what) == (socket.SOL_SOCKET, socket.SCM_RIGHTS)
            self.files[slot] = array.array("i", data)[0]
        if kind == CLEAR and status == -errno.ETIMEDOUT:
            os.close(self.files.pop(slot))
        return Answer(kind, tag, status, slot, value, tuple(figure))

    def ask(self, kind: int, slot: int = 0, value: int = 0, tag: int = 7) -> Answer:
        self.send(kind, slot, value, tag)
        answer = self.receive()
        assert answer
        assert (answer.kind, answer.tag) == (kind, tag)
        return answer

    def hello(self) -> Answer:
        answer = self.ask(HELLO, value=2)
        assert answer.status == 0
        return answer

    def give(self, slot: int) -> int:
        """Close the slot's file and give the slot back; its views are the caller's to close. The status."""
        os.close(self.files.pop(slot))
        return self.ask(GIVE, slot).status

    def close(self) -> None:
        for file in self.files.values():
            os.close(file)
        self.socket.close()


def connected(daemon: Daemon, user: int) -> Client:
    """A client of that user, connected and not greeted; the calling process stays root."""
    os.seteuid(user)
    try:
        client = Client(daemon.socket)
    finally:
        os.seteuid(0)
    return client


def run(*argv: str, mocks: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the daemon's program to its end, with only the given variables; `mocks` is a folder of mock drivers."""
    env = {"LD_LIBRARY_PATH": str(mocks), **variables} if mocks else variables
    return subprocess.run([ZEROD, *argv], capture_output=True, text=True, check=False, env=env)


PROGRAMS = ROOT / "tests/native/programs"


def mock_drivers(folder: Path, mocks: dict[str, Path] | None = None) -> Path:
    """Build drivers for hardware that the machine lacks, each library from its source; return their folder."""
    include = (f"-I{SOURCES}", f"-I{SOURCES}/engines", f"-I{ROOT / 'papers/zero_offload/engines'}", f"-I{PROGRAMS}")
    for library, source in {"libcuda.so.1": PROGRAMS / "mock_cuda.c", **(mocks or {})}.items():
        # The mock's threads outlive its dlclose.
        flags = ("-std=gnu17", "-D_GNU_SOURCE", "-O1", "-shared", "-fPIC", "-Wl,-z,nodelete", *include)
        subprocess.run(["cc", *flags, "-o", folder / library, source, "-lpthread"], check=True)
    return folder


@contextlib.contextmanager
def huge_pages(more: int) -> Iterator[Callable[[], None]]:
    """Add `more` huge pages to the kernel's pool; the yielded function takes the free ones away again.

    Skips where they cannot be had, or other free ones exist. Afterwards it checks that none has been lost.
    """
    number = Path("/proc/sys/vm/nr_hugepages")
    before, was = number.read_text(), _free_huge_pages()
    if was:
        pytest.skip("some are free, which are not this test's to take away")
    try:
        number.write_text(str(int(before) + more))
    except OSError:
        pytest.skip("the number of huge pages cannot be changed here")

    def lower() -> None:
        number.write_text(before)

    try:
        if _free_huge_pages() < more:
            pytest.skip(f"there are not {more} huge pages to be had")
        yield lower
        number.write_text(str(int(before) + more))
        assert _free_huge_pages() == more
    finally:
        number.write_text(before)


def _free_huge_pages() -> int:
    lines = Path("/proc/meminfo").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("HugePages_Free:"))


def wait(true: Callable[[], bool]) -> None:
    """Wait until the condition is true; the test's time-out ends a wait in vain, and its stack dump shows the
    caller.
    """
    while not true():
        time.sleep(0.002)


def take(client: Client) -> int:
    """Take a clean slot, waiting until there is one."""
    answer = client.ask(TAKE)
    while answer.status == -errno.EAGAIN:
        time.sleep(0.002)
        answer = client.ask(TAKE)
    assert answer.status == 0
    return answer.slot


def view(client: Client, slot: int) -> mmap.mmap:
    return mmap.mmap(client.files[slot], UNIT)
