# SPDX-License-Identifier: Apache-2.0
"""`okosu bench` as a user runs it, on fake programs: the table, the file, crashes, Ctrl-C, one measurement at a
time.
"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import bench_fake
import pytest
import warm_okosu

from okosu.records import files
from okosu.records.types import BenchFile


def environment(folder: Path, **more: str) -> dict[str, str]:
    own = {"OKOSU_NATIVE": str(folder), "XDG_STATE_HOME": str(folder / "state"), "TMPDIR": str(folder)}
    return {**os.environ, **own, **more}


def okosu(folder: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    return warm_okosu.okosu("bench", *words, env=environment(folder, **more))


def started(folder: Path, *words: str, **how: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "okosu", "bench", *words],
        env=environment(folder), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **how,
    )  # fmt: skip


def kept(folder: Path) -> BenchFile:
    found = list((folder / "state" / "okosu").glob("bench-*.json"))
    assert len(found) == 1
    return files.read_as(BenchFile, found[0])


def test_a_table_and_a_file(tmp_path: Path) -> None:
    bench_fake.program(tmp_path)
    done = okosu(tmp_path, "fake", "--rounds", "6", "--seed", "7")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert "ddot, throughput" in done.stdout
    assert "16 B and 2 flop per element" in done.stdout
    row = next(line for line in lines if line.lstrip().startswith("1024 L1"))
    # 1024 elements at 7.5 per cycle, each 16 B, at 3 GHz; the limit is 8 per cycle and the best peer has 6.
    assert row.split()[2:] == ["137", "7.48", "359", "94", "%", "openblas", "1.250", "(too", "few)"]
    assert "mkl: no such file. Fix: make peers" in done.stdout
    assert "a remark" in done.stdout
    assert "--rounds 7 is the fewest" in " ".join(done.stdout.split())
    assert "records: " in done.stderr
    held = kept(tmp_path)
    assert held.schema == "okosu.bench/1"
    assert held.finished
    assert len(held.records) == 12
    assert held.plan.seed == 7
    assert held.plan.benches["fake"]["header"]["cpu"] == 0
    assert held.plan.benches["fake"]["absent"][0]["variant"] == "mkl"
    assert [v["usable"] for v in held.plan.benches["fake"]["variants"]] == [True, False]
    assert held.machine["state_before"]
    assert held.machine["state_after"]
    assert {record.parameters["routine"] for record in held.records} == {"ddot", "limit-load2", "limit-fma"}


def test_json_on_stdout_and_the_table_on_stderr(tmp_path: Path) -> None:
    bench_fake.program(tmp_path)
    done = okosu(tmp_path, "fake", "--json", "-")
    content = json.loads(done.stdout)
    assert content["schema"] == "okosu.bench/1"
    assert "verdicts" not in content
    assert "openblas" in done.stderr
    assert "\r" not in done.stderr


def test_a_named_file(tmp_path: Path) -> None:
    bench_fake.program(tmp_path)
    done = okosu(tmp_path, "fake", "--json", str(tmp_path / "mine.json"))
    assert done.returncode == 0
    assert len(files.read(tmp_path / "mine.json").records) == 12
    assert not (tmp_path / "state").exists()


def test_all_runs_each_and_goes_on_after_one_that_fails(tmp_path: Path) -> None:
    bench_fake.program(tmp_path, name="a", after="os.abort()")
    bench_fake.program(tmp_path, name="b")
    done = okosu(tmp_path, "--json", str(tmp_path / "mine.json"))
    assert done.returncode == 1
    assert "okosu-bench-a was ended by SIGABRT; the 12 rows before are kept" in done.stderr
    held = files.read(tmp_path / "mine.json")
    assert not held.finished
    assert [record.parameters["bench"] for record in held.records] == ["a"] * 12 + ["b"] * 12
    assert [held.plan.benches[name]["finished"] for name in "ab"] == [False, True]
    assert done.stdout.count("ddot, throughput") == 2


def test_refused_arguments(tmp_path: Path) -> None:
    bench_fake.program(tmp_path, [], after="sys.stderr.write('okosu: --only: no\\n  fix: --list\\n'); sys.exit(2)")
    done = okosu(tmp_path, "fake", "--only", "x")
    assert done.returncode == 2
    assert "--only: no" in done.stderr
    assert "fix: --list" in done.stderr


@pytest.mark.parametrize("group", [False, True], ids=["this process alone", "the whole group, as a terminal does"])
def test_ctrl_c_keeps_what_was_measured(group: bool, tmp_path: Path) -> None:
    bench_fake.program(tmp_path, after=f"open({str(tmp_path / 'ready')!r}, 'w').close(); time.sleep(10_000)")
    running = started(tmp_path, "fake", start_new_session=True)
    while not (tmp_path / "ready").exists():
        assert running.poll() is None, running.stderr.read() if running.stderr else ""
        time.sleep(0.01)
    (os.killpg if group else os.kill)(running.pid, signal.SIGINT)
    out, err = running.communicate()
    assert running.returncode == 130, err
    assert "Traceback" not in err
    assert "interrupted" in err
    assert "openblas" in out
    held = kept(tmp_path)
    assert len(held.records) == 12
    assert not held.finished


def test_the_file_grows_while_it_runs(tmp_path: Path) -> None:
    # The last line comes while it is too early to write again, and none comes after it.
    line = json.dumps(bench_fake.row(point=3))
    # It waits for the end of the okosu that started it, which is killed below.
    waits = "started_by = os.getppid()\nwhile os.getppid() == started_by: time.sleep(0.05)"
    bench_fake.program(tmp_path, after=f"time.sleep(0.2); print({line!r}, flush=True)\n{waits}")
    running = started(tmp_path, "fake")
    try:
        found: list[Path] = []
        while not (found and len(files.read(found[0]).records) == 13):
            found = list((tmp_path / "state").glob("okosu/bench-*.json"))
            time.sleep(0.05)
    finally:
        running.kill()
        running.communicate()
    # The program is killed without notice, and everything up to the last write is in the file.
    assert len(files.read(found[0]).records) == 13


def test_one_measurement_at_a_time(tmp_path: Path) -> None:
    bench_fake.program(tmp_path)
    with os.fdopen(os.open(lock_of(tmp_path, os.geteuid()), os.O_CREAT | os.O_RDWR, 0o600)) as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        running = started(tmp_path, "fake")
        assert running.stderr is not None
        said = running.stderr.readline()
        assert f"another okosu is measuring on this machine (process {os.getpid()}: " in said
        assert running.poll() is None
    _, err = running.communicate()
    assert running.returncode == 0, err


def lock_of(folder: Path, user: int) -> Path:
    return folder / f"okosu-measuring-{user}.lock"


@pytest.mark.parametrize("kind", ["link", "hard link", "fifo"])
def test_the_lock_is_a_file_of_this_users(tmp_path: Path, kind: str) -> None:
    """What another has put in the place of the lock is neither followed nor created nor waited for."""
    bench_fake.program(tmp_path)
    (tmp_path / "victim").touch(0o644)
    if kind == "link":
        lock_of(tmp_path, os.geteuid()).symlink_to(tmp_path / "made")
    elif kind == "hard link":
        lock_of(tmp_path, os.geteuid()).hardlink_to(tmp_path / "victim")
    else:
        os.mkfifo(lock_of(tmp_path, os.geteuid()))
    done = okosu(tmp_path, "fake")
    assert done.returncode == 1
    assert "  fix: remove what is there, or name a folder of your own in TMPDIR" in done.stderr
    assert not (tmp_path / "made").exists()
    assert (tmp_path / "victim").stat().st_mode & 0o777 == 0o644


@pytest.mark.privileged
def test_who_cannot_hold_a_users_lock_and_who_is_waited_for(tmp_path: Path) -> None:
    """Another user can neither open this user's lock nor pretend to be a third; its own is waited for."""
    bench_fake.program(tmp_path)
    tmp_path.chmod(0o1777)
    assert okosu(tmp_path, "fake").returncode == 0
    assert lock_of(tmp_path, os.geteuid()).stat().st_mode & 0o777 == 0o600
    locks = [os.open(lock_of(tmp_path, user), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600) for user in (65533, 65534)]
    os.fchown(locks[1], 65534, 65534)
    for lock in locks:
        fcntl.flock(lock, fcntl.LOCK_EX)
    running = started(tmp_path, "fake")
    assert running.stderr is not None
    # The lock of 65533 is not that user's file.
    assert f"(process {os.getpid()} of nobody: " in running.stderr.readline()
    assert running.poll() is None
    os.close(locks[1])
    _, err = running.communicate()
    assert running.returncode == 0, err
    os.close(locks[0])
    opening = ["bash", "-c", 'exec 9<"$1"', "bash", lock_of(tmp_path, os.geteuid())]
    other = subprocess.run(opening, user=65534, capture_output=True, text=True, check=False)
    assert "Permission denied" in other.stderr


def test_progress_on_a_terminal_only(tmp_path: Path) -> None:
    bench_fake.program(tmp_path)
    master, slave = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "okosu", "bench", "fake"],
        env=environment(tmp_path), stdout=subprocess.PIPE, stderr=slave, check=False,
    )  # fmt: skip
    os.close(slave)
    said = os.read(master, 65536).decode()
    os.close(master)
    assert done.returncode == 0
    assert "fake: 12 rows" in said
    assert b"rows in" not in done.stdout


def test_list_and_dry_run_measure_nothing(tmp_path: Path) -> None:
    bench_fake.program(tmp_path, after="os.abort()")
    done = okosu(tmp_path, "--list")
    assert done.returncode == 0
    assert "ddot" in done.stdout
    assert [line.split()[:2] for line in done.stdout.splitlines() if "bits" in line] == [
        ["avx2", "yes"],
        ["avx512", "no"],
    ]
    done = okosu(tmp_path, "fake", "--dry-run", "--only", "ddot", "--cpu", "1", "--seed", "5")
    assert done.returncode == 0
    assert f"{tmp_path}/okosu-bench-fake --rounds 15 --cpu 1 --only ddot --seed 5" in done.stdout
    assert str(lock_of(tmp_path, os.geteuid())) in done.stdout
    assert not (tmp_path / "state").exists()


def test_a_profile_is_written_after_a_whole_run(tmp_path: Path) -> None:
    costs = {"hot": {"avx2": 10.0, "rep-movsb": 20.0}, "cold": {"avx2": 30.0, "rep-movsb": 15.0}}
    lines = [
        bench_fake.row("copy", variant, mode=mode, cost=cost, n=4096)
        for mode, variants in costs.items()
        for variant, cost in variants.items()
    ]
    bench_fake.program(tmp_path, [bench_fake.HEADER, *lines], name="copy")
    where = tmp_path / "copy.profile"
    done = okosu(tmp_path, "copy", "--profile", str(where))
    assert done.returncode == 0, done.stderr
    assert where.read_text().splitlines()[-5:] == ["max avx2", "[near]", "max avx2", "[far]", "max rep-movsb"]
    assert "OKOSU_COPY_PROFILE" in done.stderr
    asked = ("copy", "--peers", str(tmp_path), "--dry-run")
    assert f"--peers {tmp_path}" in okosu(tmp_path, *asked).stdout
    assert "--peers" not in okosu(tmp_path, *asked, "--profile").stdout, "a profile names no peer"
    assert okosu(tmp_path, "copy", "--smoke", "--profile", str(where)).returncode == 2
    bench_fake.program(tmp_path, [bench_fake.HEADER, *lines], name="copy", after="os.abort()")
    where.unlink()
    assert okosu(tmp_path, "copy", "--profile", str(where)).returncode == 1
    assert not where.exists()


def test_a_profile_without_a_file_is_kept_for_the_lever(tmp_path: Path) -> None:
    lines = [bench_fake.row("copy", "avx2", mode=mode, n=4096) for mode in ("hot", "cold")]
    bench_fake.program(tmp_path, [{**bench_fake.HEADER, "model": "Maker-1-2-3"}, *lines], name="copy")
    done = okosu(tmp_path, "copy", "--profile")
    assert done.returncode == 0, done.stderr
    [kept] = tmp_path.rglob("okosu/profiles/copy-Maker-1-2-3")
    assert "max avx2" in kept.read_text()
    assert "--copy=profile" in done.stderr


def test_no_program_at_all_is_told(tmp_path: Path) -> None:
    code = """
import okosu.native as native
native.PACKAGE = native.Path("/nowhere/okosu")
native.sysconfig.get_path = lambda *_: "/nowhere"
native.benches()
"""
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(tmp_path), capture_output=True, text=True, check=False
    )
    assert "okosu-bench-NAME not found" in done.stderr
