# SPDX-License-Identifier: Apache-2.0
"""Running a benchmark: its output is kept however it ends, and every way to end has its own error."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import bench_fake
import pytest

from okosu import native
from okosu.bench import drive
from okosu.bench.rows import Result
from okosu.errors import OkosuError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("OKOSU_NATIVE", str(tmp_path))
    native.find.cache_clear()
    yield tmp_path
    native.find.cache_clear()


def failed(name: str = "fake") -> drive.BenchError:
    with pytest.raises(drive.BenchError) as caught:
        drive.run(name)
    assert not caught.value.result.finished
    return caught.value


def test_a_whole_run(folder: Path) -> None:
    bench_fake.program(folder)
    seen: list[int] = []
    result = drive.run("fake", [], lambda so_far: seen.append(len(so_far.rows)))
    assert result.finished
    assert len(result.rows) == 12
    assert seen == sorted(seen)
    assert seen[-1] == 12
    assert len(seen) == len(bench_fake.run())


def test_a_listing_needs_no_header(folder: Path) -> None:
    bench_fake.program(folder)
    listed = drive.run("fake", ["--list"])
    assert [variant.usable for variant in listed.variants] == [True, False]
    assert listed.header is None


def test_programs_are_found_by_one_rule(folder: Path) -> None:
    bench_fake.program(folder)
    bench_fake.program(folder, name="other")
    (folder / "okosu-bench-data").write_text("not a program")
    (folder / "okosu-bench-fake.p").mkdir()
    assert native.benches() == ["fake", "other"]
    assert drive.command("other", ["--x"]) == [str(folder / "okosu-bench-other"), "--x"]
    inner = folder / "native" / "bench"
    inner.mkdir(parents=True)
    bench_fake.program(inner)
    native.find.cache_clear()
    assert native.benches() == ["fake"]
    assert drive.command("fake") == [str(inner / "okosu-bench-fake")]


def test_a_missing_program_is_named(folder: Path) -> None:
    with pytest.raises(OkosuError, match="okosu-bench-nosuch not found") as caught:
        drive.run("nosuch")
    assert caught.value.status == 125


def test_a_crash_keeps_what_was_measured(folder: Path) -> None:
    bench_fake.program(folder, after='sys.stdout.write(\'{"type": "ro\'); sys.stdout.flush(); os.abort()')
    error = failed()
    assert "SIGABRT" in error.what
    assert "12 rows before are kept" in error.what
    assert error.status == 1
    assert len(error.result.rows) == 12


def test_an_unknown_signal_has_its_number(folder: Path) -> None:
    bench_fake.program(folder, [], after="os.kill(os.getpid(), signal.SIGRTMIN + 3)")
    assert f"signal {signal.SIGRTMIN + 3}" in failed().what
    assert "nothing was measured" in failed().what


def test_its_own_words_are_passed_on(folder: Path) -> None:
    said = "\\rfake: point 3\\r\\033[Kokosu: no memory\\n  why: it is full\\n  fix: buy some\\n"
    bench_fake.program(folder, after=f'sys.stderr.write("{said}"); sys.exit(1)')
    error = failed()
    assert (error.what, error.why, error.fix, error.status) == ("bench fake: no memory", "it is full", "buy some", 1)


def test_refused_arguments_are_a_usage_error(folder: Path) -> None:
    bench_fake.program(folder, [], after="sys.stderr.write('okosu: --only: no\\n'); sys.exit(2)")
    error = failed()
    assert error.status == 2
    assert "--help" in error.fix


def test_an_exit_without_words_is_told(folder: Path) -> None:
    bench_fake.program(folder, after="sys.stderr.write('eh?'); sys.exit(9)")
    error = failed()
    assert "exit status 9" in error.what
    assert error.why == "eh?"


@pytest.mark.parametrize(
    ("after", "said"),
    [
        ("sys.stdout.write('hello\\n')", "line 16"),
        ("sys.stdout.write('{')", "line 16"),
        ('sys.stdout.write(\'{"type": "header"}\\n\')', "line 16"),
    ],
)
def test_wrong_output_is_refused_and_the_rest_kept(folder: Path, after: str, said: str) -> None:
    bench_fake.program(folder, after=after)
    error = failed()
    assert said in error.what
    assert len(error.result.rows) == 12
    assert error.fix


def test_a_program_with_wrong_output_is_not_left_running(folder: Path) -> None:
    marker = folder / "pid"
    bench_fake.program(
        folder, after=f"open({str(marker)!r}, 'w').write(str(os.getpid())); print('no', flush=True); time.sleep(10_000)"
    )
    failed()
    with pytest.raises(ProcessLookupError):
        os.kill(int(marker.read_text()), 0)


def test_silence_is_no_result(folder: Path) -> None:
    bench_fake.program(folder, [])
    assert "printed nothing" in failed().why


def test_an_order_that_makes_no_sense_is_refused(folder: Path) -> None:
    bench_fake.program(folder, [bench_fake.row()])
    assert "no header" in failed().why
    bench_fake.program(folder, [bench_fake.HEADER, bench_fake.HEADER])
    assert "second header" in failed().why


def interrupted(folder: Path, after: str) -> Result:
    """Send SIGINT to this process alone once rows have come; return the result."""
    bench_fake.program(folder, after=after)
    seen: list[Result] = []
    sent = threading.Event()

    def progress(result: Result) -> None:
        seen.append(result)
        if len(result.rows) == 3 and not sent.is_set():
            sent.set()
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        drive.run("fake", [], progress)
    return seen[-1]


def test_an_interrupt_ends_the_program_and_loses_no_line(folder: Path) -> None:
    before = signal.getsignal(signal.SIGINT)
    # If the SIGINT were not passed on, the program would run until the test's time-out.
    result = interrupted(folder, "time.sleep(10_000)")
    assert len(result.rows) == 12
    assert not result.finished
    assert signal.getsignal(signal.SIGINT) is before


def test_the_driver_stays_off_the_measured_cpu_while_it_runs(folder: Path) -> None:
    mine = os.sched_getaffinity(0)
    cpu = max(mine)
    bench_fake.program(folder, [bench_fake.HEADER | {"cpu": cpu}, bench_fake.row()])
    seen: list[set[int]] = []
    drive.run("fake", [], lambda _: seen.append(os.sched_getaffinity(0)))
    assert seen[-1] == (mine - {cpu} or mine)
    assert os.sched_getaffinity(0) == mine


def test_peers_are_told_to_use_one_thread_unless_the_user_said_otherwise(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    shown = "os.environ['OMP_NUM_THREADS'] + os.environ['MKL_NUM_THREADS']"
    after = f"import json; print(json.dumps({{'type': 'note', 'text': {shown}}}))"
    bench_fake.program(folder, [bench_fake.HEADER], after=after)
    assert drive.run("fake").notes == ["31"]
