# SPDX-License-Identifier: Apache-2.0
"""okosu-zerod's command line, the name of its socket, and clearing by the engines that work on any machine."""

from __future__ import annotations

import json
import re
import shutil
import signal
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest
from zerod_tool import CLEAR, SOURCES, UNIT, ZEROD, Client, run, serving, start, take, view, wait

needs_pocl = pytest.mark.skipif(
    not any(Path("/etc/OpenCL/vendors").glob("pocl*.icd")) or '"opencl"' not in run("--list").stdout,
    reason="PoCL, or the header with which the engine is built, is not installed: make deps",
)


@pytest.mark.parametrize("argument", ["--help", "--version", "--list"])
def test_what_it_says_of_itself(argument: str) -> None:
    done = run(argument)
    assert done.returncode == 0
    assert done.stdout
    assert not done.stderr


def test_every_option_is_in_the_help() -> None:
    told = run("--help").stdout
    names = re.findall(r'^    \{"([a-z-]+)", ', (SOURCES / "options.c").read_text(), re.M)
    assert len(names) > 15
    for name in names:
        assert f"\n  --{name}" in told


WRONG = {
    "--sokcet=/tmp/x": "did you mean --socket?",
    "socket": "there is no option socket",
    "--cap": "--cap needs a value",
    "--once=1": "--once takes no value",
    "--cap=1M": "out of range",
    "--cap=": "a number of bytes",
    "--cap=-1": "a number of bytes",
    "--cap=99999999999999999999": "a number of bytes",
    "--cap=17179869184G": "a number of bytes",
    "--cap=2MM": "a number of bytes",
    "--clients=0": "out of range",
    "--clients=1K": "it is a number",
    "--ring=65": "out of range",
    "--backing=tmpfs": "thp or hugetlb",
    "--unit=3M": "power of two",
    "--unit=1G": "not above the cap",
    "--chunk=1M": "out of range",
    "--low=300M": "out of order",
    "--high=1G": "out of order",
    "--keep=2M": "out of order",
    "--user-cap=1M": "out of range",
    "--user-clients=0": "out of range",
    "--greeting=0": "out of range",
    "--low=0": "out of order",
    "--allow=4294967295": "no such user",
    "--allow=root": "a number",
    "--engine=": "empty",
    "": "there is no option",
}


@pytest.mark.parametrize("argument", WRONG)
def test_wrong_usage(argument: str) -> None:
    done = run("--socket=/nonexistent/s", argument)
    assert done.returncode == 2
    assert not done.stdout
    assert done.stderr.startswith("okosu: ")
    assert WRONG[argument] in done.stderr


FAILURES = {
    ("--engine=gpu", "--once"): "there is no engine gpu",
    ("--engine=cdua", "--once"): "did you mean --engine=cuda?",
    ("--socket=/nonexistent/s",): "No such file",
    ("--socket=" + "/x" * 80,): "too long",
    ("--status", "--socket=/nonexistent/s"): "okosu-zerod --socket=PATH &",
    ("--node=1000", "--engine=nt", "--socket=/tmp/none/s"): "a --node that there is",
    ("--engine=cuda", "--once"): "libcuda.so.1",
}


@pytest.mark.parametrize("argv", FAILURES)
def test_failures_say_what_why_and_how(argv: tuple[str, ...]) -> None:
    if any("cuda" in word for word in argv) and shutil.which("nvidia-smi"):
        pytest.skip("there is an NVIDIA driver here")
    done = run(*argv)
    assert done.returncode == 1
    assert not done.stdout
    assert done.stderr.startswith("okosu: ")
    assert FAILURES[argv] in done.stderr


def test_nowhere_to_serve() -> None:
    done = run()
    assert done.returncode == 2
    assert "XDG_RUNTIME_DIR is not set" in done.stderr


def test_the_usual_socket() -> None:
    with tempfile.TemporaryDirectory(prefix="zerod") as folder:
        env = {"XDG_RUNTIME_DIR": folder}
        process = subprocess.Popen([ZEROD, "--cap=2M"], stdout=subprocess.PIPE, text=True, env=env)
        assert process.stdout
        ready = json.loads(process.stdout.readline())
        assert ready["socket"] == f"{folder}/okosu-zerod"
        assert ready["engine"] in [json.loads(line)["engine"] for line in run("--list").stdout.splitlines()]
        assert run("--status", XDG_RUNTIME_DIR=folder).returncode == 0
        process.terminate()
        assert process.wait() == 0


def test_the_socket_and_the_lock(tmp_path: Path) -> None:
    """One daemon per path, also after a daemon that was killed; and an ordinary file is not mistaken for a socket."""
    with tempfile.TemporaryDirectory(prefix="zerod") as folder:
        path = f"{folder}/s"
        start(path, "--cap=8M").stop(signal.SIGKILL)
        assert Path(path).exists()
        daemon = start(path, "--cap=8M")
        assert Path(path).stat().st_mode & 0o777 == 0o600
        second = subprocess.run([ZEROD, f"--socket={path}"], capture_output=True, text=True, check=False)
        assert second.returncode == 1
        assert "another okosu-zerod serves it" in second.stderr
        daemon.stop()
        assert not Path(path).exists()
        Path(path).write_text("mine")
        third = subprocess.run([ZEROD, f"--socket={path}"], capture_output=True, text=True, check=False)
        assert third.returncode == 1
        assert Path(path).read_text() == "mine"


# Its owner replaces the socket by a link to another file at the worst moment: right after bind().
SWAP = """
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
int bind(int fd, const struct sockaddr *address, socklen_t size)
{
    const char *path = ((const struct sockaddr_un *)address)->sun_path;
    int rc = ((int (*)(int, const struct sockaddr *, socklen_t))dlsym(RTLD_NEXT, "bind"))(fd, address, size);

    if (unlink(path) || symlink(getenv("SWAP_TO"), path))
        abort();
    return rc;
}
"""


@pytest.mark.preloads
@pytest.mark.parametrize("options", [(), ("--allow=65534",)])
def test_a_link_in_the_sockets_place_is_not_followed(options: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "swap.c").write_text(SWAP)
    command = ["cc", "-D_GNU_SOURCE", "-shared", "-fPIC", tmp_path / "swap.c", "-o", tmp_path / "swap.so"]
    subprocess.run(command, check=True)
    victim = tmp_path / "victim"
    victim.touch()
    victim.chmod(0o640)
    with tempfile.TemporaryDirectory(prefix="zerod") as folder:
        env = {"LD_PRELOAD": f"{tmp_path}/swap.so", "SWAP_TO": str(victim)}
        start(f"{folder}/s", "--cap=8M", *options, env=env).stop()
    assert victim.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(("options", "mode"), [((), 0o600), (("--allow=65534",), 0o666)])
def test_who_may_connect(options: tuple[str, ...], mode: int) -> None:
    with serving("--cap=8M", *options, program=("sh", "-c", 'umask 0027; exec "$0" "$@"', ZEROD)) as daemon:
        assert Path(daemon.socket).stat().st_mode & 0o777 == mode


def activated(listener: socket.socket, *options: str) -> subprocess.Popen[str]:
    """A daemon to which `listener` is passed as systemd passes a socket."""
    passing = f'LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" "$@" 3<&{listener.fileno()}'
    return subprocess.Popen(
        ["bash", "-c", passing, ZEROD, "--engine=nt", "--cap=8M", *options],
        pass_fds=(listener.fileno(),),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_socket_that_was_passed() -> None:
    """Its owner keeps it: a client waits while there is no daemon, and no daemon removes the name."""
    with tempfile.TemporaryDirectory(prefix="zerod") as folder:
        path = f"{folder}/s"
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listener.bind(path)
        listener.listen()
        for _ in range(2):
            client = Client(path)
            daemon = activated(listener)
            assert daemon.stdout
            assert json.loads(daemon.stdout.readline())["socket"] == path
            client.hello()
            client.close()
            daemon.terminate()
            assert daemon.wait() == 0
        listener.close()
        assert Path(path).is_socket()


def test_a_passed_socket_of_another_kind() -> None:
    for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
        # The second is of the right kind, and nobody can connect to it.
        daemon = activated(socket.socket(socket.AF_UNIX, kind))
        _, said = daemon.communicate()
        assert daemon.returncode == 1
        assert "ListenSequentialPacket=" in said


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")
def test_the_units_of_systemd(tmp_path: Path) -> None:
    for name in ("okosu-zerod.socket", "okosu-zerod.service"):
        unit = (SOURCES / name).read_text()
        (tmp_path / name).write_text(unit.replace("/usr/bin/okosu-zerod", f'"{ZEROD}"'))
    command = ["systemd-analyze", "verify", tmp_path / "okosu-zerod.socket", tmp_path / "okosu-zerod.service"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(Path("/dev/hugetlb_zero").exists(), reason="this kernel has the device")
def test_no_ring_in_this_kernel() -> None:
    done = run("--ring=8")
    assert done.returncode == 1
    assert "hugetlb-prezero" in done.stderr


@pytest.mark.parametrize("high", ["2M", "4M", "30M"])
def test_nt_clears_every_byte(high: str) -> None:
    done = run("--once", "--engine=nt", "--cap=32M", f"--high={high}", "--low=2M")
    assert done.returncode == 0
    said = json.loads(done.stdout)
    assert said["bytes"] == int(high[:-1]) << 20
    assert said["not_zero"] == 0


@needs_pocl
def test_opencl_clears_every_byte(tmp_path: Path) -> None:
    done = run("--once", "--engine=opencl", "--cap=16M", "--high=16M", "--chunk=4M", HOME=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["not_zero"] == 0


@needs_pocl
def test_opencl_on_the_cpu_is_only_taken_by_name(tmp_path: Path) -> None:
    # Without a home directory PoCL keeps its cache in /tmp/pocl, and finds no device if another user owns that.
    listed = [json.loads(line) for line in run("--list", HOME=str(tmp_path)).stdout.splitlines()]
    row = next(row for row in listed if row["engine"] == "opencl")
    assert row["serves"], row["why"]
    assert json.loads(run("--once", "--cap=4M", "--high=4M", HOME=str(tmp_path)).stdout)["engine"] != "opencl"


@needs_pocl
def test_opencl_serves_programs() -> None:
    with serving("--engine=opencl", "--cap=8M", "--chunk=4M") as daemon:
        assert daemon.status()["clean"] == 4
        client = Client(daemon.socket)
        client.hello()
        for _ in range(4):
            slot = take(client)
            memory = view(client, slot)
            memory.write(b"\xa5" * UNIT)
            assert client.ask(CLEAR, slot, 300).status == 0
            assert not memory[: 300 * 4096].strip(b"\0")
            assert memory[300 * 4096 :] == b"\xa5" * (212 * 4096)
            memory.close()
        client.close()
        wait(lambda: daemon.status()["clean"] == 4)
        assert daemon.status()["failures"] == 0
