# SPDX-License-Identifier: Apache-2.0
"""The end of okosu-measure: no process of the tree outlives it, however it ends. And the program okosu-warm."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import subprocess
import time
from pathlib import Path

import pytest
from measure_tool import Tools, all_gone, parse, pids_in, until

from okosu import native
from okosu.records.measurement import Measurement

MODES = [[], ["--threads"], ["--proof=sample"], ["--proof=none"]]


@pytest.mark.parametrize("options", MODES, ids=" ".join)
def test_timeout_kills_a_deaf_tree(tools: Tools, tmp_path: Path, options: list[str]) -> None:
    # The four processes start within milliseconds, but not on a machine under load.
    pids: list[int] = []
    for seconds in (0.3, 2, 20, 200):
        path = tmp_path / str(seconds)
        run = tools.subject_run("stubborn", 4, path, options=[*options, f"--timeout={seconds}"])
        assert (run.timed_out, run.status, run.signal) == (True, None, signal.SIGKILL)
        assert run.wall_ns >= seconds * 1e9
        pids = [int(line) for line in path.read_text().split()] if path.exists() else []
        if len(pids) == 4:
            break
    assert len(pids) == 4
    assert all_gone(pids)
    assert run.left == 3


def test_timeout_that_is_not_reached_changes_nothing(tools: Tools) -> None:
    run = tools.subject_run("end", 4, options=["--timeout=1e6"])
    assert (run.timed_out, run.status) == (False, 4)


@pytest.mark.parametrize("options", MODES, ids=" ".join)
def test_timeout_of_a_stopped_program(tools: Tools, options: list[str]) -> None:
    run = tools.run("sh", "-c", "kill -STOP $$", options=[*options, "--timeout=0.2"])
    assert (run.timed_out, run.signal) == (True, signal.SIGKILL)


def process_of_number(number: int) -> None:
    """Make a child with that number, which sleeps; it takes CAP_CHECKPOINT_RESTORE or root."""
    wanted = (ctypes.c_int * 1)(number)
    # struct clone_args: only exit_signal, set_tid and set_tid_size are set.
    words = [0, 0, 0, 0, signal.SIGCHLD, 0, 0, 0, ctypes.addressof(wanted), 1, 0]
    arguments = (ctypes.c_uint64 * len(words))(*words)
    made = ctypes.CDLL(None).syscall(435, arguments, ctypes.sizeof(arguments))
    if not made:
        os.execv("/bin/sleep", ["sleep", "1000000"])
    assert made == number


@pytest.mark.privileged
@pytest.mark.preloads
def test_a_number_that_another_process_has_meanwhile_is_not_killed(tools: Tools, tmp_path: Path) -> None:
    number_in, number_out = tmp_path / "in", tmp_path / "out"
    os.mkfifo(number_out)
    shim = Path(__file__).parent / "measure/renumbered.c"
    preload = tmp_path / "renumbered.so"
    subprocess.run(["cc", "-D_GNU_SOURCE", "-O1", "-shared", "-fPIC", shim, "-o", preload, "-ldl"], check=True)
    script = f"sleep 1000000 & echo $! >'{number_in}.new'; mv '{number_in}.new' '{number_in}'; wait; sleep 1000000"
    environment = {"LD_PRELOAD": str(preload), "NUMBER_IN": str(number_in), "NUMBER_OUT": str(number_out)}
    measure = subprocess.Popen(
        tools.command("sh", "-c", script, options=["--proof=none"]),
        stdout=subprocess.DEVNULL,
        env=os.environ | environment,
    )
    assert until(number_in.exists)
    measure.terminate()
    number = int(number_in.read_text())
    with number_out.open("rb"):
        # The kernel tells starts in clock ticks, and the two processes must not have the same.
        time.sleep(2 / os.sysconf("SC_CLK_TCK"))
        process_of_number(number)
    try:
        assert measure.wait() == 128 + signal.SIGTERM
        assert os.waitpid(number, os.WNOHANG) == (0, 0)
    finally:
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(number, signal.SIGKILL)
            os.waitpid(number, 0)


@pytest.mark.parametrize("options", MODES, ids=" ".join)
def test_daemons_are_killed_and_counted(tools: Tools, tmp_path: Path, options: list[str]) -> None:
    run = tools.subject_run("leaves-daemons", 3, tmp_path / "pids", options=options)
    pids = pids_in(tmp_path / "pids", 3)
    assert all_gone(pids)
    assert (run.status, run.left, run.timed_out) == (0, 3, False)
    if run.traced:
        # root, three that went between, three daemons
        assert (run.processes, run.forks) == (7, 6)


@pytest.mark.parametrize("options", MODES, ids=" ".join)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interruption_ends_the_tree(tools: Tools, tmp_path: Path, number: int, options: list[str]) -> None:
    command = tools.command(tools.subject, "stubborn", 3, tmp_path / "pids", options=options)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as measurer:
        pids = pids_in(tmp_path / "pids", 3)
        measurer.send_signal(number)
        out, err = measurer.communicate()
    assert (measurer.returncode, out, err) == (128 + number, b"", b"")
    # The processes are reaped, not only killed: none is left to wait for once okosu-measure has ended.
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_ignored_signals_stay_ignored(tools: Tools, tmp_path: Path) -> None:
    script = 'trap "" INT HUP; exec "$@"'
    command = ["sh", "-c", script, "sh", *tools.command("sh", "-c", f"echo $$ > '{tmp_path}/pids'; sleep 0.3")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as measurer:
        pids_in(tmp_path / "pids", 1)
        measurer.send_signal(signal.SIGINT)
        measurer.send_signal(signal.SIGHUP)
        out, _ = measurer.communicate()
    assert measurer.returncode == 0
    assert parse(out).status == 0


@pytest.mark.ptrace
@pytest.mark.parametrize("options", MODES[:3], ids=" ".join)
def test_killed_measurer_takes_its_tree_along(tools: Tools, tmp_path: Path, options: list[str]) -> None:
    command = tools.command(tools.subject, "stubborn", 4, tmp_path / "pids", options=options)
    with subprocess.Popen(command, stdout=subprocess.PIPE) as measurer:
        pids = pids_in(tmp_path / "pids", 4)
        measurer.kill()
        measurer.wait()
        assert all_gone(pids)


def test_killed_measurer_takes_an_untraced_program_along(tools: Tools, tmp_path: Path) -> None:
    command = tools.command(tools.subject, "stubborn", 1, tmp_path / "pids", options=["--proof=none"])
    with subprocess.Popen(command, stdout=subprocess.PIPE) as measurer:
        pids = pids_in(tmp_path / "pids", 1)
        measurer.kill()
        measurer.wait()
        assert all_gone(pids)


def warm(*arguments: str, limit: int | None = None) -> subprocess.CompletedProcess[str]:
    def lower() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    return subprocess.run(
        [native.find("okosu-warm"), *arguments], capture_output=True, text=True, check=False, preexec_fn=lower
    )


def test_warm_touches_what_it_is_told_to() -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    done = warm(str(96 << 20))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    after = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert after >= max(before, 96 << 10)


def test_warm_says_when_it_touches_less() -> None:
    done = warm(str(1 << 40), limit=64 << 20)
    assert (done.returncode, done.stdout) == (0, "")
    what, why, fix = done.stderr.splitlines()
    assert what.startswith("okosu: warmed ")
    assert what.endswith(f" of {1 << 20} MiB")
    assert why == "  why: Cannot allocate memory"
    assert fix.startswith("  fix: ")


@pytest.mark.parametrize("arguments", [[], ["-1"], ["1G"], ["x"], ["1", "2"], ["99999999999999999999999"]])
def test_warm_refuses_what_is_no_size(arguments: list[str]) -> None:
    done = warm(*arguments)
    assert (done.returncode, done.stdout) == (125, "")
    assert [line[:7] for line in done.stderr.splitlines()] == ["okosu: ", "  why: ", "  fix: "]


def asked_to_stop(tools: Tools, script: str, grace: float, ready: Path) -> Measurement:
    """Measure a script that writes the file `ready`, and ask it to stop then."""
    command = tools.command("sh", "-c", script, options=[f"--stop={signal.SIGTERM:d}", f"--grace={grace}"])
    with subprocess.Popen(command, stdout=subprocess.PIPE) as measurer:
        assert until(ready.exists)
        measurer.send_signal(signal.SIGUSR1)
        out, _ = measurer.communicate()
    assert measurer.returncode == 0
    return parse(out)


@pytest.mark.ptrace
def test_a_program_that_is_asked_to_stop_is_measured_to_its_end(tools: Tools, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    run = asked_to_stop(tools, f"touch '{ready}'; exec sleep 1000", 1000, ready)
    assert (run.signal, run.timed_out, run.left) == (signal.SIGTERM, False, 0)
    assert run.stop_ns is not None
    assert 0 < run.stop_ns < run.wall_ns
    assert run.exit.rss_kb > 0
    assert tools.run("true", options=["--stop=15"]).stop_ns is None


def test_a_program_that_does_not_stop_is_killed_after_its_grace(tools: Tools, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    run = asked_to_stop(tools, f"trap '' TERM; touch '{ready}'; sleep 1000", 0.1, ready)
    assert (run.signal, run.timed_out) == (signal.SIGKILL, True)
    assert run.stop_ns is not None
    assert run.stop_ns >= 10**8


def test_what_a_stopped_program_leaves_may_end_within_the_grace(tools: Tools, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    run = asked_to_stop(tools, f"sleep 0.2 & trap 'exit 0' TERM; touch '{ready}'; wait", 1000, ready)
    assert (run.status, run.left, run.timed_out) == (0, 0, False)
    # Under load the shell itself may take longer to end.
    for grace in (0.1, 2, 20, 200):
        ready.unlink()
        run = asked_to_stop(tools, f"sleep 1000 & touch '{ready}'; wait", grace, ready)
        if not run.timed_out:
            break
    assert (run.left, run.timed_out) == (1, False)
