# SPDX-License-Identifier: Apache-2.0
"""okosu-run on real processes: it becomes the program, and explains why it cannot start one."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ENV_BYTES = "import os; print(sum(len(k) + len(v) + 2 for k, v in os.environb.items()))"


def run(launcher: Path, *words: str | bytes | Path, **more: object) -> subprocess.CompletedProcess[str]:
    more.setdefault("timeout", 60)
    return subprocess.run([launcher, *words], capture_output=True, text=True, **more)  # type: ignore[call-overload,no-any-return]


def three_parts(stderr: str) -> tuple[str, str, str]:
    """What, why and fix of the only message on stderr."""
    what, why, fix = stderr.rstrip("\n").split("\n")
    assert what.startswith("okosu: ")
    assert why.startswith("  why: ")
    assert fix.startswith("  fix: ")
    return what[7:], why[7:], fix[7:]


@pytest.mark.parametrize("status", [0, 1, 42, 124, 125, 126, 127, 255])
def test_the_status_is_the_programs(launcher: Path, status: int) -> None:
    done = run(launcher, "--", "sh", "-c", f"exit {status}")
    assert (done.returncode, done.stdout, done.stderr) == (status, "", "")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGSEGV, signal.SIGKILL])
def test_a_signal_ends_the_process_itself(launcher: Path, number: signal.Signals) -> None:
    assert run(launcher, "--retain", "--", "sh", "-c", f"kill -{int(number)} $$").returncode == -number


def test_the_process_stays_the_same(launcher: Path) -> None:
    process = subprocess.Popen([launcher, "--retain", "sh", "-c", "echo $$"], stdout=subprocess.PIPE, text=True)
    out, _ = process.communicate()
    assert int(out) == process.pid


def test_stdin_is_passed_through(launcher: Path) -> None:
    text = "".join(f"{i}\n" for i in range(100_000))
    assert run(launcher, "--retain", "--", "cat", input=text).stdout == text


def test_no_descriptor_is_left_open(launcher: Path) -> None:
    done = run(launcher, "--retain", "--numa=local", "--pin", "--", "ls", "/proc/self/fd")
    # The fourth descriptor is ls's own, open on the folder that it lists.
    assert done.stdout.split() == ["0", "1", "2", "3"]


def test_not_found(launcher: Path) -> None:
    done = run(launcher, "--", "no-such-program-anywhere")
    assert done.returncode == 127
    assert three_parts(done.stderr)[:2] == ("no-such-program-anywhere not found", "no folder of PATH has it")
    assert run(launcher, "--", "/no/such/program").returncode == 127
    assert run(launcher, "--", "").returncode == 127


def test_not_executable(launcher: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("#!/bin/sh\n")
    done = run(launcher, "--", plain)
    assert done.returncode == 126
    assert three_parts(done.stderr) == (
        f"{plain} cannot be executed",
        "its permissions do not allow it",
        f"chmod +x {plain}",
    )
    assert run(launcher, "--", tmp_path).returncode == 126
    # A file without execute permission is passed over for one that has it, as execvp does.
    (tmp_path / "true").write_text("")
    assert run(launcher, "true", env={"PATH": f"{tmp_path}:/usr/bin:/bin"}).returncode == 0
    assert run(launcher, "plain", env={"PATH": f"{tmp_path}:/usr/bin:/bin"}).returncode == 126


def test_a_folder_of_path_that_may_not_be_entered(launcher: Path, tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)
    done = run(launcher, "no-such-program-anywhere", env={"PATH": f"{closed}:/usr/bin:/bin"})
    assert done.returncode == 127


@pytest.mark.parametrize("lever", ["", "--retain"])
def test_script_without_interpreter(launcher: Path, tmp_path: Path, lever: str) -> None:
    script = tmp_path / "script"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    done = run(launcher, *filter(None, [lever]), "--", script)
    assert done.returncode == 126
    assert "interpreter" in three_parts(done.stderr)[1]


@pytest.mark.parametrize("lever", ["", "--retain"])
def test_script_without_first_line(launcher: Path, tmp_path: Path, lever: str) -> None:
    script = tmp_path / "script"
    script.write_text('echo "$0 $1 $2"\nexit 7\n')
    script.chmod(0o755)
    done = run(launcher, *filter(None, [lever]), "--", script, "a b", "c")
    assert (done.returncode, done.stdout, done.stderr) == (7, f"{script} a b c\n", "")


@pytest.mark.parametrize("content", [b"", b"\0\1\2\3", b"\x7fELF", b"\x7fELF\2\1\1" + bytes(200)])
def test_no_program_at_all(launcher: Path, tmp_path: Path, content: bytes) -> None:
    junk = tmp_path / "junk"
    junk.write_bytes(content)
    junk.chmod(0o755)
    for lever in ([], ["--pin"]):
        done = run(launcher, *lever, "--", junk)
        assert done.returncode == 126
        assert "cannot be executed: Exec format error" in done.stderr


def test_thousands_of_variables(launcher: Path) -> None:
    environment = {f"VARIABLE_{i}": f"value {i}" for i in range(5000)} | {"PATH": os.environ["PATH"]}
    show = "import json, os; print(json.dumps(dict(os.environ)))"
    done = run(launcher, "--retain", "--env=MORE=1", "--", sys.executable, "-c", show, env=environment)
    expected = environment | {"MORE": "1"}
    seen = json.loads(done.stdout)
    assert seen["GLIBC_TUNABLES"].startswith("glibc.malloc.mmap_threshold=33554432:")
    assert seen.pop("OKOSU_TUNABLES") == seen.pop("GLIBC_TUNABLES")
    # In the C locale Python adds LC_CTYPE itself.
    added = {"LC_CTYPE", "LD_PRELOAD", "OKOSU_RETAIN", "OKOSU_ROOT_PID"}
    assert {name: value for name, value in seen.items() if name not in added} == expected


def test_very_long_arguments(launcher: Path) -> None:
    room = os.sysconf("SC_ARG_MAX") - 40_000 - sum(len(k) + len(v) + 10 for k, v in os.environb.items())
    words = ["x" * 1000] * (room // (1000 + 1 + 8))
    done = run(launcher, "--retain", "--", "sh", "-c", 'echo $# "${#1}"', "sh", *words)
    assert (done.stdout, done.stderr) == (f"{len(words)} 1000\n", "")


def test_more_than_the_kernel_takes(launcher: Path) -> None:
    # The launcher itself still starts; only with the padding is the environment too large for the program.
    inherited = sum(len(k) + len(v) + 2 for k, v in os.environb.items())
    words = ["x" * 1000] * ((os.sysconf("SC_ARG_MAX") - 40_000 - inherited - 8 * len(os.environ)) // 1009)
    done = run(launcher, f"--pad-env={inherited + 100_000}", "--", "true", *words)
    assert done.returncode == 126
    assert "Argument list too long" in three_parts(done.stderr)[0]


@pytest.mark.parametrize("extra", [0, 11, 12, 100, 4000, 100_000])
def test_padding_is_exact(launcher: Path, extra: int) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": "/", "LC_CTYPE": "C.UTF-8"}
    levers = ["--retain", "--env=A=b"]
    python = ["--", sys.executable, "-c", ENV_BYTES]
    bare = int(run(launcher, *levers, *python, env=environment).stdout)
    padded = run(launcher, *levers, f"--pad-env={bare + extra}", *python, env=environment)
    assert int(padded.stdout) == bare + extra
    # A padding set by an outer okosu-run is not added to an inner one.
    outer = [f"--pad-env={bare + 7000}", "--", str(launcher)]
    assert (
        int(run(launcher, *outer, *levers, f"--pad-env={bare + extra}", *python, env=environment).stdout)
        == bare + extra
    )


@pytest.mark.parametrize("short", [0, 5, 200_000_000])
def test_padding_that_does_not_fit(launcher: Path, short: int) -> None:
    environment = {"PATH": os.environ["PATH"], "LC_CTYPE": "C.UTF-8"}
    bare = run(launcher, "--", sys.executable, "-c", ENV_BYTES, env=environment)
    wanted = short if short != 5 else int(bare.stdout) + 5
    done = run(launcher, f"--pad-env={wanted}", "--", sys.executable, "-c", ENV_BYTES, env=environment)
    assert (done.returncode, done.stdout, done.stderr) == (0, bare.stdout, "")
    told = run(launcher, "--verbose", f"--pad-env={wanted}", "--", "true", env=environment)
    assert f"not padded to {wanted} bytes" in told.stderr


def test_delay_spins(launcher: Path) -> None:
    before = time.monotonic()
    used = os.times()
    assert run(launcher, "--delay=0.2", "--", "true").returncode == 0
    after = os.times()
    assert time.monotonic() - before >= 0.2
    # The program must use CPU time, because a sleep would use none; a busy machine may give it only part of the time.
    assert after.children_user + after.children_system > used.children_user + used.children_system


def test_help_names_every_option_and_value(launcher: Path) -> None:
    text = run(launcher, "--help").stdout
    described = json.loads(run(launcher, "--describe").stdout)["levers"]
    assert text.index("okosu-run --superpage=thp -- ./app") < text.index("usage:")
    for lever in described:
        assert f"--{lever['name']}[=VALUE]" in text
        assert all(value["value"] in text for value in lever["values"])
    for option in re.findall(r"--([a-z-]+)", text):
        # Every option named by the help exists: none is answered with "there is no ...".
        assert "there is no option" not in run(launcher, f"--{option}", "--help").stderr


def test_version(launcher: Path) -> None:
    from okosu import __version__

    assert run(launcher, "--version").stdout == f"okosu-run {__version__}\n"


def test_full_output_is_an_error(launcher: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([launcher, "--help"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 125
    assert "stdout cannot be written" in done.stderr


@pytest.mark.preloads
def test_a_child_that_musl_loads_runs_without_the_library(launcher: Path, tmp_path: Path) -> None:
    if not shutil.which("musl-gcc"):
        pytest.skip("no musl-gcc here (Debian's musl-tools)")
    source, child, proof = tmp_path / "child.c", tmp_path / "child", tmp_path / "proof"
    source.write_text('#include <stdio.h>\nint main(void) { return puts("child") < 0; }\n')
    subprocess.run(["musl-gcc", "-o", child, source], check=True)
    levers = ["--superpage=thp", "--copy", f"--proof={proof}", "--strict"]
    done = run(launcher, *levers, "--", "sh", "-c", '"$0"; echo $?', child)
    assert (done.stdout, done.stderr) == ("child\n0\n", "")
    assert {json.loads(line)["comm"] for line in proof.read_text().splitlines()} == {"sh"}
