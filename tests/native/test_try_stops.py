# SPDX-License-Identifier: Apache-2.0
"""okosu try ends by a signal: it says how to go on, and leaves no process and no file behind."""

from __future__ import annotations

import json
import os
import pty
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import warm_okosu
from measure_tool import all_gone, pids_in, until

DEAF = "trap '' INT TERM HUP; echo $$ >>'{pids}'; sleep 1000000 & echo $! >>'{pids}'; wait; wait"


def begun(tmp_path: Path, *options: str, script: str = DEAF, **how: object) -> tuple[subprocess.Popen[str], list[int]]:
    """A trial whose program has started two processes that heed no signal, and their numbers."""
    pids = tmp_path / "pids"
    argv = ["--levers", "none", "--arm", "a=A=1", "--json", str(tmp_path / "trial.json"), *options]
    trial = subprocess.Popen(
        [sys.executable, "-m", "okosu", "try", *argv, "--", "/bin/sh", "-c", script.format(pids=pids)],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        text=True,
        start_new_session=True,
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **how},  # type: ignore[call-overload]
    )
    return trial, pids_in(pids, 2)


def left_in(tmp_path: Path) -> list[str]:
    """What a trial has left in its folder for temporary files, apart from the lock of this user."""
    own = {"pids", "trial.json", "log"}
    return [path.name for path in tmp_path.iterdir() if path.name not in own and path.suffix != ".lock"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_every_signal_ends_the_program_and_names_the_way_on(tmp_path: Path, number: signal.Signals) -> None:
    trial, pids = begun(tmp_path)
    trial.send_signal(number)
    _, said = trial.communicate()
    assert trial.returncode == 128 + number, said
    assert f"okosu try --resume {shlex.quote(str(tmp_path / 'trial.json'))}" in said
    assert "Traceback" not in said
    assert all_gone(pids)
    assert not left_in(tmp_path)
    assert json.loads((tmp_path / "trial.json").read_text())["finished"] is False


def test_a_trial_that_is_killed_leaves_no_process_and_no_file(tmp_path: Path) -> None:
    trial, pids = begun(tmp_path)
    trial.kill()
    trial.communicate()
    assert all_gone(pids)
    assert not left_in(tmp_path)


def test_a_terminal_that_is_closed_ends_the_trial_and_its_records_are_kept(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    trial, pids = begun(tmp_path, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    os.close(ours)
    trial.send_signal(signal.SIGHUP)
    assert trial.wait() == 128 + signal.SIGHUP
    assert all_gone(pids)
    assert json.loads((tmp_path / "trial.json").read_text())["finished"] is False


def test_signals_that_the_caller_ignores_stay_ignored(tmp_path: Path) -> None:
    script = "[ -e '{pids}' ] || printf '1\\n2\\n' >'{pids}'; while [ ! -e '{pids}.go' ]; do sleep 0.05; done"
    pids = tmp_path / "pids"
    words = [sys.executable, "-m", "okosu", "try", "--levers", "none", "--max-rounds", "1", "--json", f"{tmp_path}/j"]
    command = ["sh", "-c", 'trap "" HUP; exec "$@"', "sh", *words, "--", "/bin/sh", "-c", script.format(pids=pids)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as trial:
        pids_in(pids, 2)
        trial.send_signal(signal.SIGHUP)
        time.sleep(0.1)
        assert trial.poll() is None
        (tmp_path / "pids.go").touch()
        _, said = trial.communicate()
    assert trial.returncode == 0, said


def test_what_prepare_started_is_concluded_when_the_trial_is_stopped(tmp_path: Path) -> None:
    log = tmp_path / "log"
    trial, _ = begun(tmp_path, "--prepare", f"sleep 1000000 & echo $! >'{log}'", "--conclude", f"kill $(cat '{log}')")
    started = int(log.read_text())
    assert Path(f"/proc/{started}").exists()
    trial.terminate()
    assert trial.wait() == 128 + signal.SIGTERM
    assert all_gone([started])


def test_a_prepare_command_that_hangs_is_ended_with_the_trial(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    hang = f"echo $$ >>'{pids}'; sleep 1000000 & echo $! >>'{pids}'; wait"
    trial, started = begun(tmp_path, "--prepare", hang, script="true")
    trial.send_signal(signal.SIGTERM)
    assert trial.wait() == 128 + signal.SIGTERM
    assert all_gone(started)


def test_a_prepare_command_does_not_outlive_an_okosu_that_is_killed(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    hang = f"trap 'echo asked >{tmp_path}/log; trap - TERM' TERM; echo $$ >>'{pids}'; "
    hang += f"sleep 1000000 & echo $! >>'{pids}'; wait; exec sleep 1000000"
    trial, started = begun(tmp_path, "--prepare", hang, script="true")
    trial.kill()
    trial.communicate()
    assert all_gone(started)
    assert (tmp_path / "log").read_text() == "asked\n", "it is asked to end before it is killed"
    assert not left_in(tmp_path)


def test_who_waits_for_another_trial_is_told_for_which_and_can_stop(tmp_path: Path) -> None:
    trial, _ = begun(tmp_path)
    argv = [sys.executable, "-m", "okosu", "try", "--json", str(tmp_path / "second.json"), "--", "/bin/true"]
    log = tmp_path / "log"
    with log.open("w") as said:
        second = subprocess.Popen(argv, env={**os.environ, "TMPDIR": str(tmp_path)}, stderr=said, stdout=said)
    assert until(lambda: "waiting for it to end" in log.read_text())
    assert f"process {trial.pid}" in log.read_text()
    assert "okosu try --levers none --arm a=A=1" in log.read_text()
    second.terminate()
    assert second.wait() == 128 + signal.SIGTERM
    assert "interrupted before anything was run" in log.read_text()
    assert not (tmp_path / "second.json").exists()
    # Mistakes are told at once, before the waiting.
    refused = warm_okosu.okosu("try", "--budget", "soon", "--", "true", env={**os.environ, "TMPDIR": str(tmp_path)})
    assert refused.returncode == 2
    trial.terminate()
    trial.communicate()
