# SPDX-License-Identifier: Apache-2.0
"""okosu-measure --digest: what the program writes is read through a pipe, digested as XXH64, and copied."""

from __future__ import annotations

import random
import shlex
import signal
import subprocess
from pathlib import Path

import pytest
from measure_tool import Tools, all_gone, pids_in, until

MODES = [[], ["--proof=none"]]
P1, P2, P3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P4, P5, WORD = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5, (1 << 64) - 1


def rotated(x: int, by: int) -> int:
    return (x << by | x >> (64 - by)) & WORD


def mixed(lane: int, word: int) -> int:
    return rotated((lane + word * P2) & WORD, 31) * P1 & WORD


def xxh64(data: bytes) -> str:
    """XXH64 with seed 0, from its specification."""
    words = [int.from_bytes(data[i : i + 8], "little") for i in range(0, len(data) - 7, 8)]
    stripes = len(data) // 32
    total = P5
    if stripes:
        lanes = [(P1 + P2) & WORD, P2, 0, -P1 & WORD]
        for i in range(stripes * 4):
            lanes[i % 4] = mixed(lanes[i % 4], words[i])
        total = sum(rotated(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18), strict=True)) & WORD
        for lane in lanes:
            total = ((total ^ mixed(0, lane)) * P1 + P4) & WORD
    total += len(data)
    for word in words[stripes * 4 :]:
        total = (rotated((total ^ mixed(0, word)) & WORD, 27) * P1 + P4) & WORD
    rest = data[len(words) * 8 :]
    if len(rest) >= 4:
        total = (rotated(total ^ int.from_bytes(rest[:4], "little") * P1 & WORD, 23) * P2 + P3) & WORD
        rest = rest[4:]
    for byte in rest:
        total = rotated(total ^ byte * P5 & WORD, 11) * P1 & WORD
    total = (total ^ total >> 33) * P2 & WORD
    total = (total ^ total >> 29) * P3 & WORD
    return f"{total ^ total >> 32:016x}"


def test_the_reference_is_xxh64() -> None:
    assert xxh64(b"") == "ef46db3751d8e999"
    assert xxh64(b"abc") == "44bc2cf5ad770999"
    assert xxh64(b"Nobody inspects the spammish repetition") == "fbcea83c8a378bf1"


@pytest.mark.parametrize("size", [0, 1, 3, 4, 7, 8, 31, 32, 33, 65536, 300_001])
def test_the_digest_is_that_of_what_was_written_in_whatever_pieces(tools: Tools, tmp_path: Path, size: int) -> None:
    data = random.Random(size).randbytes(size)
    (tmp_path / "data").write_bytes(data)
    for block in (7 if size < 1000 else 999, 1 << 20):
        run = tools.run("dd", f"if={tmp_path}/data", f"bs={block}", "status=none", options=["--digest"])
        assert (run.out_bytes, run.out_digest) == (size, xxh64(data))


def test_without_the_option_nothing_is_digested(tools: Tools) -> None:
    run = tools.run("echo", "hello")
    assert (run.out_bytes, run.out_digest) == (0, "")


@pytest.mark.parametrize("options", MODES, ids=" ".join)
def test_the_output_is_a_pipe_and_its_copy_is_whole(tools: Tools, tmp_path: Path, options: list[str]) -> None:
    out = tmp_path / "out"
    out.write_text("an earlier, longer output")
    # The program's own children write too, and one of them after the program has ended: that is no part of the run.
    script = "test -p /dev/fd/1 || exit 9; head -c 3000000 /dev/zero; (sleep 1000; echo late) & echo end"
    run = tools.run("sh", "-c", script, options=[*options, "--digest", f"--stdout={out}"])
    assert (run.status, run.left > 0) == (0, True)
    assert out.read_bytes() == bytes(3_000_000) + b"end\n"
    assert (run.out_bytes, run.out_digest) == (3_000_004, xxh64(out.read_bytes()))


def test_a_copy_that_cannot_be_kept_is_an_error(tools: Tools) -> None:
    done = subprocess.run(tools.command("echo", "x", options=["--digest", "--stdout=/dev/full"]), capture_output=True)
    assert (done.returncode, done.stdout) == (125, b"")
    assert b"was not kept" in done.stderr


@pytest.mark.parametrize("options", MODES, ids=" ".join)
def test_a_program_that_writes_for_ever_ends_by_the_timeout_or_a_signal(tools: Tools, options: list[str]) -> None:
    run = tools.run("yes", options=[*options, "--digest", "--timeout=0.2"])
    assert run.timed_out
    with subprocess.Popen(tools.command("yes", options=[*options, "--digest"]), stdout=subprocess.PIPE) as measurer:
        # It has made its own arrangements for signals when it starts the program.
        assert until(lambda: Path(f"/proc/{measurer.pid}/task/{measurer.pid}/children").read_text() != "")
        measurer.terminate()
        assert measurer.communicate()[0] == b""
    assert measurer.returncode == 128 + signal.SIGTERM


def test_a_program_may_close_its_output_and_go_on(tools: Tools) -> None:
    run = tools.run("sh", "-c", "echo a; exec >&-; sleep 0.1; exit 4", options=["--digest"])
    assert (run.status, run.out_bytes) == (4, 2)


def measured_by_a_caller(tools: Tools, tmp_path: Path, *options: str, ignored: str = "") -> tuple[int, list[int]]:
    """Kill the shell that called okosu-measure, and return the process of the measurer and those of its program."""
    inner = shlex.join(tools.command(tools.subject, "stubborn", 3, tmp_path / "pids", options=options))
    script = f"trap '' {ignored or 'USR1'}; {inner.replace('--parent=CALLER', '--parent=$$')} & echo $!; wait"
    with subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE, text=True) as caller:
        assert caller.stdout
        measurer = int(caller.stdout.readline())
        pids = pids_in(tmp_path / "pids", 3)
        caller.kill()
    return measurer, pids


@pytest.mark.parametrize("options", MODES, ids=" ".join)
def test_the_end_of_its_caller_ends_the_measurer_and_the_whole_tree(
    tools: Tools, tmp_path: Path, options: list[str]
) -> None:
    measurer, pids = measured_by_a_caller(tools, tmp_path, "--parent=CALLER", *options, ignored="TERM")
    assert all_gone([measurer, *pids])


def test_a_caller_that_has_ended_before_starts_nothing(tools: Tools, tmp_path: Path) -> None:
    command = tools.command("touch", tmp_path / "made", options=["--parent=1"])
    done = subprocess.run(command, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (128 + signal.SIGTERM, b"")
    assert not (tmp_path / "made").exists()


def test_a_machine_without_room_for_another_process_is_told_of(tools: Tools) -> None:
    # A descriptor for each of the three streams and none for the pipe.
    command = tools.command("true", options=["--digest"])
    done = subprocess.run(["sh", "-c", 'ulimit -n 6; exec "$@"', "sh", *command], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (125, b"")
    assert [line[:7] for line in done.stderr.decode().splitlines()] == ["okosu: ", "  why: ", "  fix: "]
