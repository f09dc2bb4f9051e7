# SPDX-License-Identifier: Apache-2.0
"""okosu-zerod's command line, the name of its socket, and clearing by the engines that work on any machine."""

from __future__ import annotations

import json
import re
import shutil
import signal
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
    ("--engine=cuda-mailbox", "--once"): "libcuda.so.1",
    ("--engine=dsa", "--once"): "libaccel-config.so.1",
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
        assert process.wait(60) == 0


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
        client.close()
        wait(lambda: daemon.status()["clean"] == 4)
        assert daemon.status()["failures"] == 0
