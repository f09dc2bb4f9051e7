# SPDX-License-Identifier: Apache-2.0
"""okosu-measure --files and the names of threads: what the processes had mapped, and how their threads were called."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from measure_tool import Tools, parse, seen

MODES = [[], ["--threads"], ["--proof=sample"]]
FILES = "--files"


def files_of(folder: Path, names: list[bytes]) -> list[bytes]:
    paths = [os.fsencode(folder) + b"/" + name for name in names]
    for path in paths:
        Path(os.fsdecode(path)).write_bytes(b"x")
    return paths


@pytest.mark.ptrace
@pytest.mark.parametrize("options", MODES, ids=" ".join)
def test_files_of_any_name(tools: Tools, tmp_path: Path, options: list[str]) -> None:
    names = {
        b"plain": "plain",
        b" two  blanks ": " two  blanks ",
        b"new\nline": "new\\012line",
        b"[heap]": "[heap]",
        b'"\\\x01': '"\\\x01',
        "起こす".encode(): "起こす",
        b"\xff": "\ufffd",
        b"a.gone": "a.gone (deleted)",
        b"not (deleted)": "not (deleted)",
    }
    paths = files_of(tmp_path, list(names))
    run = tools.run(tools.subject, "map", *map(os.fsdecode, paths + paths[:1]), options=[*options, FILES])
    assert run.status == 0
    assert [file for file in run.files if file.startswith(f"{tmp_path}/")] == sorted(
        (f"{tmp_path}/{shown}" for shown in names.values()), key=run.files.index
    )
    assert len(set(run.files)) == len(run.files)
    assert str(tools.subject) in run.files
    assert any(Path(file).name.startswith("libc") for file in run.files)
    assert all(file.startswith("/") for file in run.files)
    assert not run.names_cut


TAKES_MEMORY = """
import ctypes, threading
met, libc = threading.Barrier(3), ctypes.CDLL(None)
def take():
    for _ in range(256):
        libc.memset(libc.malloc(8192), 1, 8192)
    met.wait()
libc.malloc.restype = ctypes.c_void_p
libc.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
threads = [threading.Thread(target=take) for _ in range(3)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
"""


@pytest.mark.ptrace
@pytest.mark.parametrize("options", MODES, ids=" ".join)
def test_heaps_of_arenas_are_counted(tools: Tools, options: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GLIBC_TUNABLES", raising=False)
    found = {}
    for most, heaps in (("8", 3), ("2", 1), ("1", 0)):
        monkeypatch.setenv("MALLOC_ARENA_MAX", most)
        run = tools.run(Path(sys.executable), "-S", "-c", TAKES_MEMORY, options=[*options, FILES])
        assert run.status == 0
        assert run.heaps == heaps
        found[heaps] = run.heaps_kb
    # Each thread takes 2 MiB; the one arena of the second run and libc's first share them.
    assert 6 << 10 <= found[3] < 8 << 10
    assert 1 << 10 <= found[1] <= 7 << 10
    assert found[0] == 0


@pytest.mark.ptrace
def test_files_are_read_only_when_asked(tools: Tools) -> None:
    run = tools.subject_run("end", 0)
    assert (run.files, run.thread_names, run.names_cut) == ([], [], False)
    assert (run.heaps, run.heaps_kb) == (0, 0)


@pytest.mark.ptrace
@pytest.mark.parametrize("options", MODES, ids=" ".join)
def test_files_of_the_whole_tree_but_not_of_what_ran_before(tools: Tools, tmp_path: Path, options: list[str]) -> None:
    one, two = map(os.fsdecode, files_of(tmp_path, [b"one", b"two"]))
    shell = os.path.realpath("/bin/sh")
    run = tools.run(
        "sh", "-c", '"$0" map "$1"; "$0" map "$2"; true', tools.subject, one, two, options=[*options, FILES]
    )
    assert {one, two, str(tools.subject), shell} <= set(run.files)
    run = tools.run("sh", "-c", 'exec "$0" map "$1"', tools.subject, one, options=[*options, FILES])
    assert {one, str(tools.subject)} <= set(run.files)
    assert shell not in run.files


@pytest.mark.ptrace
def test_samples_see_what_was_unmapped(tools: Tools, tmp_path: Path) -> None:
    (file,) = map(os.fsdecode, files_of(tmp_path, [b"brief"]))
    sampled = seen(
        lambda patience: tools.subject_run("map-briefly", file, patience, options=["--proof=sample", FILES]),
        lambda run: file in run.files,
    )
    assert file in sampled.files
    assert file not in tools.subject_run("map-briefly", file, 1, options=[FILES]).files


@pytest.mark.ptrace
def test_names_are_bounded(tools: Tools) -> None:
    run = tools.subject_run("map-many", 4200, options=[FILES])
    assert run.status == 0
    assert len(run.files) == 4096
    assert run.names_cut


@pytest.mark.ptrace
def test_samples_alone_tell_the_files(tools: Tools) -> None:
    command = tools.command(tools.subject, "free", 1, 100, options=["--proof=sample", FILES])
    run = seen(
        lambda patience: parse(
            subprocess.run([tools.deny, *command[:-1], str(patience)], capture_output=True, check=True).stdout
        ),
        lambda run: str(tools.subject) in run.files,
    )
    assert not run.traced
    assert str(tools.subject) in run.files


@pytest.mark.ptrace
@pytest.mark.parametrize("options", [[], ["--proof=sample"]], ids=" ".join)
def test_names_of_threads(tools: Tools, options: list[str]) -> None:
    names = ["GC Thread#0", "C2 CompilerThre", "a) b\n", "GC Thread#0"]
    run = tools.subject_run("named-threads", *names, options=[*options, "--threads"])
    assert (run.status, run.threads) == (0, 4)
    assert sorted(run.thread_names) == sorted({*names, "subject"})
    assert tools.subject_run("named-threads", *names, options=options).thread_names == []
