# SPDX-License-Identifier: Apache-2.0
"""okosu try --service on a small service that misbehaves as it is told: what is measured, what is refused with which
words, and that nothing is left.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import warm_okosu
from measure_tool import PATIENCE
from preload_tool import build

from okosu.errors import OkosuError
from okosu.records.types import Arm, Options, Plan, Service
from okosu.trial import service as services
from okosu.trial.runs import Run
from okosu.trial.service import ServiceRunner

BASE = Arm("base", "base")
pytestmark = pytest.mark.unspaced
COPY = Arm("copy", "lever", {"copy": "auto"}, preload=True)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A copy for each test, whose processes are told by its path from those of tests that run beside it."""
    return Path(shutil.copy(build("service", "service.c"), tmp_path))


@pytest.fixture(autouse=True)
def emptied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder in which runs make theirs; nothing may be left there, whatever became of the run."""
    folder = tmp_path / "own"
    folder.mkdir()
    # The preload library's proof is written by processes that may have another user.
    folder.chmod(0o755)
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield folder
    assert [path.name for path in folder.iterdir() if path.suffix != ".lock"] == []


def run(
    small: Path, mode: str, arm: Arm = BASE, *, load: str = "ask {port} 3", timeout_s: float = 0, **how: object
) -> Run:
    """One run of the service; `how` are fields of Service, or of Options where Service has none of that name."""
    of_service = {name: how.pop(name) for name in list(how) if name in Service.__struct_fields__}
    driven = Service(**({"ready": ["tcp:{port}"], "load": f"{small} {load}"} | of_service))  # type: ignore[arg-type]
    options = Options(command=[str(small), mode, "{port}"], service=driven, **how)  # type: ignore[arg-type]
    return ServiceRunner(Plan(options=options)).run(arm, pad=0, sample=False, timeout_s=timeout_s)


def refused(small: Path, mode: str, **how: object) -> OkosuError:
    """The error of a base that cannot be measured; another arm's run says the same, and is no error."""
    with pytest.raises(OkosuError) as caught:
        run(small, mode, **how)  # type: ignore[arg-type]
    failed = run(small, mode, Arm("other", "user", env={"A": "1"}), **how)  # type: ignore[arg-type]
    assert failed.failed.split(":")[0].split(" (")[0] in str(caught.value)
    assert failed.value is None
    assert caught.value.fix
    return caught.value


@pytest.mark.ptrace
@pytest.mark.parametrize("mode", ["serves", "leaves"])
def test_the_load_is_timed_and_the_service_is_proved(small: Path, mode: str) -> None:
    """Whether the signal ends the service or its handler calls _exit."""
    done = run(small, mode, COPY)
    m = done.measurement
    assert (m.status, m.signal, m.timed_out, m.left, done.failed) == (0, None, False, 0, "")
    assert done.value == m.wall_ns / 1e9
    assert m.delay_ns is None
    copied = [line for line in m.preload if line.get("by") == "copy"]
    assert [line["bytes"] >= 8 * (4 << 20) for line in copied] == [True]
    assert m.exit.anon_kb >= 8 << 10
    assert "listening on" in done.stderr
    assert not run(small, mode).measurement.preload


def test_another_metric_is_the_services_own(small: Path) -> None:
    assert (run(small, "serves", metric="rss").value or 0) >= 8
    assert run(small, "serves", metric="regex", pattern=r"answers=(\d+)", better="higher").value == 1 / 3


def test_the_check_reads_the_loads_output(small: Path) -> None:
    assert run(small, "serves", check="grep -q answers=3").check_failed == ""
    assert "exited with 1" in run(small, "serves", check="grep -q answers=4").check_failed


def test_a_service_that_does_not_start(small: Path) -> None:
    error = refused(small, "dies-at-once")
    assert "ended before it was ready (exit status 3)" in error.what
    assert "no such configuration" in error.why


def test_a_service_that_is_never_ready(small: Path) -> None:
    error = refused(small, "never-ready", ready_s=0.2)
    assert "not ready within 0.2 s" in error.what
    assert "tcp:" in error.what
    # A busy machine may not have run the command in the first of these times.
    for seconds in (0.2, 2, 20, 200):
        error = refused(small, "never-ready", ready=["cmd:echo not yet; false"], ready_s=seconds)
        if "not yet" in error.what:
            break
    assert "not yet" in error.what


def test_less_than_a_millisecond_is_a_time_too(small: Path) -> None:
    """That little may be left of --ready-timeout when its command is asked for the last time."""
    assert "the load did not end within 1e-05 s" in refused(small, "silent", timeout_s=1e-5).what


def test_a_service_that_dies_under_load(small: Path) -> None:
    assert "ended under its load (killed by SIGABRT)" in refused(small, "dies-under-load").what


def test_a_service_that_dies_while_the_load_waits(small: Path) -> None:
    error = refused(small, "dies-under-load", load="ask {port} 1 || sleep 1000")
    assert "ended under its load" in error.what


def test_a_service_that_ignores_its_signal(small: Path) -> None:
    error = refused(small, "stubborn", grace_s=0.1)
    assert "did not stop within 0.1 s of SIGTERM" in error.what


def test_a_service_that_leaves_a_process(small: Path) -> None:
    # On a busy machine the service itself may take longer to stop than the first of these times.
    for seconds in (0.1, 2, 20, 200):
        error = refused(small, "leaves-child", grace_s=seconds)
        if "did not stop" not in error.what:
            break
    assert "without a process of its own, which had to be killed" in error.what


def test_a_service_that_goes_into_the_background(small: Path) -> None:
    with pytest.raises(OkosuError) as caught:
        run(small, "daemon")
    other = run(small, "daemon", Arm("other", "user", env={"A": "1"}))
    # Chance says whether it is seen before the load begins or under it, and it need not be the same in both runs.
    for what in (caught.value.what, other.failed):
        assert "went into the background" in what
    assert other.value is None
    assert "foreground" in caught.value.fix


def test_a_load_that_fails(small: Path) -> None:
    error = refused(small, "serves", load="ask {port} 1; echo out of luck >&2; exit 4")
    assert "the load failed (exit status 4): out of luck" in error.what


def test_a_load_that_does_not_end(small: Path) -> None:
    assert "the load did not end within 0" in refused(small, "silent", timeout_s=0.2).what


def test_a_port_that_is_taken(small: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OkosuError) as caught:
            run(small, "serves", ready=[f"tcp:{port}"])
    assert f"tcp:{port} is answered already" in caught.value.what
    assert "{port}" in caught.value.fix


def test_ready_by_log_command_and_socket_in_their_order(small: Path) -> None:
    ready = ["log:listening on \\d+", f"cmd:{small} ask {{port}} 1", "cmd:echo x >>{tmp}/asked; test -s {tmp}/asked"]
    assert run(small, "serves", ready=ready).failed == ""
    script = "import socket,sys;s=socket.socket(1);s.bind(sys.argv[1]);s.listen();s.accept();s.accept()"
    service = Service(ready=["unix:{tmp}/s"], load="true")
    options = Options(command=[sys.executable, "-c", script, "{tmp}/s"], service=service)
    plan = Plan(options=options)
    assert "under its load" not in ServiceRunner(plan).run(COPY, pad=0, sample=False, timeout_s=0).failed


def test_a_service_is_stopped_by_a_command(small: Path) -> None:
    stop = "kill $(cat {tmp}/pid)"
    command = ["/bin/sh", "-c", f"echo $$ >{{tmp}}/pid; exec {small} leaves {{port}}"]
    service = Service(ready=["tcp:{port}"], load=f"{small} ask {{port}}", stop=stop)
    plan = Plan(options=Options(command=command, service=service))
    assert ServiceRunner(plan).run(BASE, pad=0, sample=False, timeout_s=0).measurement.status == 0
    assert "command that stops it failed (exit status 5): no" in refused(small, "leaves", stop="echo no; exit 5").what
    assert "did not stop within 0.1 s of true" in refused(small, "leaves", stop="true", grace_s=0.1).what


def test_each_run_has_a_port_and_a_folder_of_its_own(small: Path, tmp_path: Path) -> None:
    said = tmp_path / "said"
    for _ in range(2):
        run(
            small, "serves", load=f"ask {{port}}; echo {{port}} ${{port}} {{tmp}} {{other}} >>{said}",
            prepare="touch {tmp}/made", conclude="test -e {tmp}/made",
        )  # fmt: skip
    (port, folder, rest), (port2, folder2, _) = (line.split() for line in said.read_text().splitlines())
    assert port != port2
    assert folder != folder2
    assert rest == "{other}"
    assert not Path(folder).exists()


def test_a_free_port_is_below_those_of_clients() -> None:
    low = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    port = services.free_port()
    assert 1024 <= port < low
    with socket.create_server(("127.0.0.1", port)):
        pass


def test_a_folder_that_a_shell_would_take_apart_is_refused(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = tmp_path / "a b"
    odd.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(odd))
    with pytest.raises(OkosuError, match="unusual characters"):
        run(small, "serves")
    assert not list(odd.iterdir())


def argv(small: Path, tmp_path: Path, mode: str = "serves") -> list[str]:
    return [
        "--service", f"{small} {mode} {{port}}", "--load", f"{small} ask {{port}} 3", "--levers", "copy",
        "--max-rounds", "2", "--budget", "2h", "--no-warm", "--seed", "1", "--json", str(tmp_path / "trial.json"),
    ]  # fmt: skip


def test_a_whole_trial_and_its_resumption(small: Path, tmp_path: Path) -> None:
    done = warm_okosu.okosu("try", *argv(small, tmp_path))
    assert done.returncode == 0, done.stderr
    envelope = json.loads((tmp_path / "trial.json").read_text())
    (copy,) = [v for v in envelope["verdicts"] if v["arm"] == "copy"]
    assert (copy["applied"], copy["rounds"]) == (True, 2)
    envelope["finished"] = False
    envelope["plan"]["options"]["max_rounds"] = 3
    (tmp_path / "trial.json").write_text(json.dumps(envelope))
    done = warm_okosu.okosu("try", "--resume", str(tmp_path / "trial.json"))
    assert done.returncode == 0, done.stderr
    envelope = json.loads((tmp_path / "trial.json").read_text())
    assert [v["rounds"] for v in envelope["verdicts"] if v["arm"] == "copy"] == [3]


def test_a_base_that_fails_ends_the_trial_with_its_log(small: Path, tmp_path: Path) -> None:
    done = warm_okosu.okosu("try", *argv(small, tmp_path, "dies-at-once"))
    assert done.returncode == 1
    assert "no such configuration" in done.stderr
    assert "fix:" in done.stderr


def test_a_dry_run_shows_all_of_it_and_starts_nothing(small: Path, tmp_path: Path) -> None:
    done = warm_okosu.okosu("try", "--dry-run", "--prepare", f"touch {tmp_path}/ran", *argv(small, tmp_path))
    assert done.returncode == 0, done.stderr
    for text in ("prepare: touch", "ready, at most 60 s: tcp:{port}", "ask {port} 3", "stop: SIGTERM", "--copy=auto"):
        assert text in done.stdout
    assert not (tmp_path / "ran").exists()


@pytest.fixture
def trial(small: Path, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A trial whose load waits for ever."""
    made = subprocess.Popen(
        [sys.executable, "-m", "okosu", "try", *argv(small, tmp_path, "silent")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    until = time.monotonic() + PATIENCE
    while not any("ask" in words for words in processes(small).values()):
        assert made.poll() is None, made.communicate()
        assert time.monotonic() < until
        time.sleep(0.02)
    yield made
    made.kill()
    made.communicate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_trial_leaves_no_service(small: Path, trial: subprocess.Popen[str], number: int) -> None:
    """Ctrl-C reaches every process of the terminal, SIGTERM okosu alone."""
    if number == signal.SIGINT:
        os.killpg(trial.pid, number)
    else:
        trial.send_signal(number)
    said = trial.communicate()[1]
    assert trial.returncode == 128 + number, said
    assert not processes(small)


def test_a_killed_trial_leaves_no_service_and_the_next_one_removes_its_folder(
    small: Path, trial: subprocess.Popen[str], emptied: Path
) -> None:
    trial.kill()
    trial.communicate()
    until = time.monotonic() + PATIENCE
    while processes(small):
        assert time.monotonic() < until
        time.sleep(0.02)
    (left,) = emptied.glob(f"{services.FOLDER}*")
    # okosu-measure, which has the folder's log open, ends after the service.
    while left.exists():
        assert time.monotonic() < until
        services._sweep.cache_clear()
        run(small, "serves")


def test_a_folder_of_another_user_is_not_looked_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "okosu-service-theirs"
    folder.mkdir()
    os.mkfifo(folder / "log")
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    services._sweep.__wrapped__(tmp_path)
    assert folder.exists()


def processes(program: Path) -> dict[int, list[str]]:
    """The arguments of the live processes of the program, by number."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_text().split("\0")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if words[0] == str(program):
            found[int(path.parent.name)] = words
    return found
