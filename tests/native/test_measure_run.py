# SPDX-License-Identifier: Apache-2.0
"""okosu-measure: statuses, streams, what the program can notice of it, its errors, its clock."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from measure_tool import Tools, parse, until

MODES = [[], ["--threads"], ["--proof=sample"], ["--proof=none"]]


@pytest.mark.ptrace
@pytest.mark.parametrize("options", MODES, ids=" ".join)
@pytest.mark.parametrize("status", [0, 1, 125, 126, 127, 255])
def test_status_is_the_programs_own(tools: Tools, status: int, options: list[str]) -> None:
    run = tools.subject_run("end", status, options=options)
    assert (run.status, run.signal, run.timed_out) == (status, None, False)
    assert run.traced == ("--proof=none" not in options)
    assert run.processes == 1


@pytest.mark.parametrize("options", MODES, ids=" ".join)
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT, signal.SIGTERM, signal.SIGALRM])
def test_signal_is_the_programs_own(tools: Tools, number: int, options: list[str]) -> None:
    run = tools.subject_run("signal", int(number), options=options)
    assert (run.status, run.signal) == (None, number)
    if run.traced:
        # A fatal signal, even SIGKILL, still lets the memory be read at the end.
        assert run.exit.rss_kb > 0


@pytest.mark.parametrize("options", MODES, ids=" ".join)
@pytest.mark.parametrize("behaviour", ["stops", "signals"])
def test_signals_and_stops_are_as_untraced(tools: Tools, behaviour: str, options: list[str]) -> None:
    assert subprocess.run([tools.subject, behaviour], check=False, start_new_session=True).returncode == 0
    assert tools.subject_run(behaviour, options=options).status == 0


@pytest.mark.parametrize("options", MODES, ids=" ".join)
def test_program_sees_what_it_would_see_without(tools: Tools, tmp_path: Path, options: list[str]) -> None:
    script = "grep -E '^(Sig[^Q]|Shd|Threads|THP|Cpus|Mems|NoNewPrivs)' /proc/self/status; env; ls /proc/self/fd; umask"
    out = tmp_path / "out"
    direct = subprocess.run(["sh", "-c", script], stdin=subprocess.DEVNULL, capture_output=True, check=True)
    tools.run("sh", "-c", script, options=[*options, f"--stdout={out}"])
    assert out.read_bytes() == direct.stdout


def test_program_leads_a_session(tools: Tools, tmp_path: Path) -> None:
    out = tmp_path / "out"
    tools.run("cat", "/proc/self/stat", options=[f"--stdout={out}"])
    pid, _, _, _, group, session = out.read_text().split()[:6]
    assert pid == group == session


def test_standard_input_is_empty_by_default(tools: Tools, tmp_path: Path) -> None:
    out = tmp_path / "out"
    tools.run("wc", "-c", options=[f"--stdout={out}"], input=b"not for the program")
    assert out.read_text().split() == ["0"]


@pytest.mark.parametrize("how", ["name", "/dev/fd/", "/proc/self/fd/"])
def test_streams_go_where_they_are_sent(tools: Tools, tmp_path: Path, how: str) -> None:
    data = os.urandom(200_000)
    source = tmp_path / "in"
    source.write_bytes(data)
    with source.open("rb") as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        # No rest of an earlier, longer output may remain, and the input is read from its start.
        out.write(b"x" * 300_000)
        err.write(b"x" * 100)
        out.flush()
        err.flush()
        given.read(1000)
        if how == "name":
            where = [str(source), str(tmp_path / "out"), str(tmp_path / "err")]
            (tmp_path / "out").write_bytes(b"x" * 300_000)
        else:
            where = [f"{how}{file.fileno()}" for file in (given, out, err)]
        options = [f"--{name}={path}" for name, path in zip(("stdin", "stdout", "stderr"), where, strict=True)]
        script = "cat; echo said >&2; ls /proc/self/fd >&2"
        descriptors = [] if how == "name" else [given.fileno(), out.fileno(), err.fileno()]
        for _ in range(2):
            assert tools.run("sh", "-c", script, options=options, pass_fds=descriptors).status == 0
        if how == "name":
            output, errors = (tmp_path / "out").read_bytes(), (tmp_path / "err").read_text()
        else:
            output, errors = os.pread(out.fileno(), 1 << 20, 0), os.pread(err.fileno(), 1 << 20, 0).decode()
    assert output == data
    # ls has open its streams and the folder it reads; the lent descriptors are not inherited.
    said, *inherited = errors.split()
    assert said == "said"
    assert {"0", "1", "2"} < set(inherited)
    assert len(inherited) == 4


def test_standard_error_is_inherited_and_output_kept_from_the_result(tools: Tools) -> None:
    done = subprocess.run(tools.command("sh", "-c", "echo data; echo prose >&2"), capture_output=True, check=True)
    assert done.stderr == b"prose\n"
    assert parse(done.stdout).status == 0


@pytest.mark.parametrize("options", MODES, ids=" ".join)
def test_exec_failure_is_told_from_the_programs_exit(tools: Tools, tmp_path: Path, options: list[str]) -> None:
    (tmp_path / "text").write_text("not a program")
    (tmp_path / "lost").write_text("#!/no/such/interpreter\n")
    (tmp_path / "lost").chmod(0o755)
    missing = ["no-such-program", tmp_path / "none", tmp_path / "lost"]
    refused = [tmp_path / "text", tmp_path]
    for program, status in [*((path, 127) for path in missing), *((path, 126) for path in refused)]:
        done = subprocess.run(tools.command(program, options=options), capture_output=True, text=True, check=False)
        assert done.returncode == status, program
        assert done.stdout == ""
        lines = done.stderr.splitlines()
        assert [line[:7] for line in lines] == ["okosu: ", "  why: ", "  fix: "]
        assert str(program) in lines[0]


def test_a_folder_of_path_that_may_not_be_entered_holds_no_program(tools: Tools, tmp_path: Path) -> None:
    (closed := tmp_path / "closed").mkdir(mode=0)
    if os.access(closed, os.X_OK):
        pytest.skip("this user may enter every folder")
    (tmp_path / "text").write_text("not a program")
    env = os.environ | {"PATH": f"{closed}:{tmp_path}:{os.environ['PATH']}"}
    for program, status in (("no-such-program", 127), ("text", 126), ("true", 0)):
        assert subprocess.run(tools.command(program), capture_output=True, check=False, env=env).returncode == status


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ([], "nothing to measure"),
        (["--"], "nothing to measure"),
        (["--timeout=0", "--", "true"], "--timeout=0"),
        (["--timeout=-1", "--", "true"], "--timeout=-1"),
        (["--timeout=nan", "--", "true"], "--timeout=nan"),
        (["--timeout=1s", "--", "true"], "--timeout=1s"),
        (["--proof=all", "--", "true"], "--proof=all"),
        (["--frobnicate", "--", "true"], "--frobnicate"),
        (["--threads=2", "--", "true"], "--threads takes no value"),
        (["--stdin"], "--stdin"),
        (["--stdin=/no/such/file", "--", "true"], "/no/such/file"),
        (["--stdout=/no/such/folder/file", "--", "true"], "/no/such/folder/file"),
        (["--stdout=/dev/fd/77", "--", "true"], "/dev/fd/77"),
    ],
)
def test_bad_usage(tools: Tools, arguments: list[str], named: str) -> None:
    done = subprocess.run([tools.measure, *arguments], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (125, "")
    lines = done.stderr.splitlines()
    assert [line[:7] for line in lines] == ["okosu: ", "  why: ", "  fix: "]
    assert named in lines[0]


def test_unwritable_result_is_an_error(tools: Tools) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(tools.command("true"), stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 125
    assert b"not written" in done.stderr


def test_help_and_version(tools: Tools) -> None:
    for option in ("--help", "--version"):
        done = subprocess.run([tools.measure, option], capture_output=True, text=True, check=True)
        assert "okosu-measure" in done.stdout
        assert done.stderr == ""


@pytest.mark.parametrize("options", [[], ["--numa"], ["--threads", "--numa"], ["--proof=none"]], ids=" ".join)
def test_clock_holds_the_program_and_not_the_stop(tools: Tools, tmp_path: Path, options: list[str]) -> None:
    out = tmp_path / "out"
    before = time.monotonic_ns()
    run = tools.subject_run("clock", 64, 50, options=[*options, f"--stdout={out}"])
    observed = time.monotonic_ns() - before
    assert int(out.read_text()) < run.wall_ns
    assert run.wall_ns + run.stopped_ns < observed
    assert (run.stopped_ns > 0) == run.traced
    assert run.user_ns + run.sys_ns > 0


@pytest.mark.ptrace
def test_reading_the_proof_is_not_timed(tools: Tools) -> None:
    # 20 000 mappings take tens of milliseconds to read, far longer than okosu-measure takes to start and end.
    before = time.monotonic_ns()
    long = tools.subject_run("fragments", 20_000, options=["--numa"])
    observed = time.monotonic_ns() - before
    assert long.wall_ns + long.stopped_ns < observed
    # Any of the short ones may have lost its CPU meanwhile.
    assert long.stopped_ns > min(tools.subject_run("fragments", 20).stopped_ns for _ in range(5))


def test_usage_counts_children_that_were_waited_for(tools: Tools) -> None:
    alone = tools.subject_run("hold", 1, "small")
    tree = tools.subject_run("forks", 16, 4)
    assert tree.minflt - alone.minflt >= 4 * 15 * 256
    assert tree.maxrss_kb >= 16 * 1024


@pytest.mark.ptrace
def test_time_in_the_run_queue_is_told(tools: Tools) -> None:
    """A loop beside another one on one CPU waits half of its time; without a look at its end nothing is known."""
    cpu = min(os.sched_getaffinity(0))
    hog = subprocess.Popen(["taskset", "-c", str(cpu), "sh", "-c", "while :; do :; done"])
    try:
        loop = ["taskset", "-c", str(cpu), "sh", "-c", "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done"]
        # The other loop must have begun, and a hypervisor may take the CPU from both for a while.
        assert until(lambda: Path(f"/proc/{hog.pid}/schedstat").read_text().split()[0] > "0")
        for _ in range(10):
            run = tools.run(*loop)
            if run.delay_ns and 0.2 * run.wall_ns < run.delay_ns:
                break
        unread = tools.run("true", options=["--proof=none"])
    finally:
        hog.kill()
        hog.wait()
    assert run.delay_ns is not None
    assert run.migrations is not None
    assert 0.2 * run.wall_ns < run.delay_ns < run.wall_ns
    assert run.delay_ns + run.user_ns + run.sys_ns <= 1.1 * run.wall_ns
    assert (unread.delay_ns, unread.migrations) == (None, None)
