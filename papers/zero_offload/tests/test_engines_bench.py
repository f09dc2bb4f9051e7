# SPDX-License-Identifier: Apache-2.0
"""The benchmark of engines that clear: a row of each, the daemon's on mocks of their drivers, none of a wrong one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest
from zerod_tool import ROOT, run

from okosu import native

UNIT = 2 << 20
POOLS = ["nt", "memset", "kernel"]
DEVICES = ["dsa", "cuda-mailbox", "cuda"]


def smoke(mocks: Path, *argv: str, **variables: str) -> dict[str, list[dict[str, Any]]]:
    """Return the lines that it prints, by type."""
    program = native.find("okosu-bench-zero-engines")
    env = os.environ | {"LD_LIBRARY_PATH": str(mocks)} | variables
    done = subprocess.run([program, "--smoke", *argv], capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stderr
    lines: dict[str, list[dict[str, Any]]] = {}
    for line in map(json.loads, done.stdout.splitlines()):
        lines.setdefault(line["type"], []).append(line)
    return lines


def test_every_engine_has_its_rows(mocks: Path) -> None:
    lines = smoke(mocks, "--variant", ",".join([*POOLS, *DEVICES]))
    assert "absent" not in lines
    by_routine: dict[str, list[str]] = {}
    for row in lines["row"]:
        by_routine.setdefault(row["routine"], []).append(row["variant"])
        assert row["n"] == UNIT
        assert row["rounds"] == [0, 1]
        assert row["extra"]["scanned"] > len(row["samples"])
    # Only a CPU clears in the thread that asks.
    assert by_routine == {
        **{routine: [*POOLS, *DEVICES] for routine in ("post", "complete", "processor")},
        "clear": POOLS,
    }
    named = {row["variant"]: row["config"] for row in lines["row"]}
    assert named["cuda"] == named["cuda-mailbox"] == "Mock GPU 0"
    [note] = lines["note"]
    assert all(f"{name} " in note["text"] for name in [*POOLS, *DEVICES])
    # No page is clean sooner than it was asked for.
    ns = {(row["routine"], row["variant"]): row["samples"] for row in lines["row"]}
    hz = lines["header"][0]["tick_hz"] * lines["header"][0]["cycles_per_tick"]
    for name in [*POOLS, *DEVICES]:
        for post, complete in zip(ns["post", name], ns["complete", name], strict=True):
            assert complete > post / hz * 1e9


LATER_THREAD = """
#define _GNU_SOURCE
#include <sys/resource.h>
/* The time of all threads is read first, and that of the calling one a millisecond later than the time before. */
int getrusage(int who, struct rusage *use)
{
    static long calls;

    *use = (struct rusage){.ru_utime = {.tv_sec = 1000}};
    if (who == RUSAGE_THREAD)
        use->ru_utime = (struct timeval){.tv_usec = ++calls * 1000};
    return 0;
}
"""


def test_two_readings_of_the_time_never_make_a_cost_negative(mocks: Path, tmp_path: Path) -> None:
    """Found on a GPU, which clears a gigabyte for a microsecond of processor time: less than the readings differ by."""
    (tmp_path / "later.c").write_text(LATER_THREAD)
    words = ["cc", "-shared", "-fPIC", "-o", tmp_path / "later.so", tmp_path / "later.c"]
    subprocess.run(words, check=True)
    lines = smoke(mocks, "--variant", "nt,cuda", LD_PRELOAD=str(tmp_path / "later.so"))
    spent = {row["variant"]: row["samples"] for row in lines["row"] if row["routine"] == "processor"}
    assert set(spent) == {"nt", "cuda"}
    assert all(sample >= 0 for samples in spent.values() for sample in samples)


WRONG = {
    ("cuda", "leaves-byte"): "it left 1 of",
    # Only the benchmark's own scan of the block can notice this.
    ("cuda", "leaves-byte-of-unit"): "a byte of 2097152 was left",
    ("cuda-mailbox", "leaves-byte-of-unit"): "a byte of 2097152 was left",
    # The first two blocks are the engine's proof.
    ("cuda", "register-fails=3"): "2097152 bytes cannot be pinned for it",
    ("cuda-mailbox", "no-device"): "CUDA_ERROR_NO_DEVICE",
}


@pytest.mark.parametrize(("engine", "trouble"), WRONG)
def test_an_engine_that_is_wrong_has_no_row(engine: str, trouble: str, mocks: Path) -> None:
    lines = smoke(mocks, "--variant", f"nt,{engine}", MOCK_CUDA=trouble)
    assert {row["variant"] for row in lines["row"]} == {"nt"}
    [absent] = lines["absent"]
    assert absent["variant"] == engine
    assert WRONG[engine, trouble] in absent["why"]
    assert all(engine not in note["text"] for note in lines["note"])


@pytest.mark.long
def test_blocks_of_another_size(mocks: Path) -> None:
    lines = smoke(mocks, "--variant", "nt,cuda", "--sizes", "3000000,8388608", "--only", "complete,processor")
    assert {(row["variant"], row["n"]) for row in lines["row"]} == {("nt", 4 * UNIT), ("cuda", 4 * UNIT)}
    assert {row["routine"] for row in lines["row"]} == {"complete", "processor"}
    assert any("a block is a power of two" in note["text"] for note in lines["note"])


@pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it")
def test_a_page_of_a_gibibyte(mocks: Path) -> None:
    """The other size of huge pages, which a device is given in pieces."""
    if os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") < 3 << 30:
        pytest.skip("needs 3 GiB of free memory")
    # The pool's engines are left out: their thread has the lowest priority, and may have no CPU for long.
    lines = smoke(mocks, "--variant", ",".join(DEVICES), "--sizes", str(1 << 30), "--rounds", "1")
    assert "absent" not in lines
    assert {(row["variant"], row["n"]) for row in lines["row"]} == {(name, 1 << 30) for name in DEVICES}
    whole = ("--unit=1G", "--cap=1G", "--low=1G", "--high=1G")
    said = json.loads(run("--once", "--engine=nt", *whole).stdout)
    assert (said["bytes"], said["not_zero"]) == (1 << 30, 0)


def test_the_script_for_a_machine_with_a_gpu(mocks: Path, tmp_path: Path) -> None:
    """Up to what okosu reproduce would do, and where it would put it; without a device it says so."""
    env = os.environ | {
        "LD_LIBRARY_PATH": str(mocks),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "OKOSU_NATIVE": str(native.find("okosu-zerod").parents[2]),
        "OCL_ICD_VENDORS": str(tmp_path),
    }
    script = [ROOT / "papers/zero_offload/gpu.sh", tmp_path / "new", "--dry-run"]
    done = subprocess.run(script, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stderr
    once = [json.loads(line) for line in done.stdout.splitlines() if "not_zero" in line]
    assert [(one["engine"], one["not_zero"]) for one in once] == [(name, 0) for name in DEVICES]
    assert "zero-engines: " in done.stdout
    assert f"records: {tmp_path}/new/zero-offload.json" in done.stdout
    # A Python that has what okosu needs, and nothing of okosu.
    bare = tmp_path / "bare"
    bare.mkdir()
    (bare / "python3").write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    (bare / "python3").chmod(0o755)
    packages = tmp_path / "packages"
    packages.mkdir()
    for found in Path(sysconfig.get_path("purelib")).iterdir():
        if not found.name.startswith("okosu"):
            (packages / found.name).symlink_to(found)
    alone = env | {"PATH": f"{bare}:/usr/bin:/bin", "PYTHONPATH": str(packages)}
    there = subprocess.run(script, capture_output=True, text=True, check=False, env=alone)
    assert (there.returncode, there.stderr) == (0, done.stderr)
    assert there.stdout.splitlines()[-1] == done.stdout.splitlines()[-1]
    none = subprocess.run(script, capture_output=True, text=True, check=False, env=env | {"LD_LIBRARY_PATH": ""})
    assert (none.returncode, none.stderr) == (1, "okosu: no device clears here\n")
