# SPDX-License-Identifier: Apache-2.0
"""okosu-bench-numa and okosu-bench-clock: properties that their rows must have on any machine."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from okosu import native
from papers.hpc_programming.tests.place_tool import allowed, numa, program

Line = dict[str, Any]


def bench(name: str, *words: str, prefix: tuple[str | Path, ...] = (), cpus: set[int] | None = None) -> list[Line]:
    command = [*prefix, native.find(f"okosu-bench-{name}"), *words]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False,
        preexec_fn=(lambda: os.sched_setaffinity(0, cpus)) if cpus else None,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def rows(lines: list[Line], **wanted: str) -> list[Line]:
    return [line for line in lines if line["type"] == "row" and all(line[k] == v for k, v in wanted.items())]


@pytest.mark.skipif(not numa(), reason="memory cannot be bound here")
def test_the_matrix_has_every_cpu_and_node_with_all_pages_in_place() -> None:
    cpus = allowed()[:4]
    lines = bench("numa", "--smoke", "--sizes", "3000001", cpus=set(cpus))
    assert {(row["extra"]["cpu"], row["mode"]) for row in rows(lines)} == {
        (cpu, mode) for cpu in cpus for mode in ("first", "second")
    }
    for row in rows(lines):
        extra = row["extra"]
        assert row["variant"] == f"cpu{extra['cpu']}-node{extra['node']}"
        assert (row["routine"], row["unit"], row["items"], row["bytes_per_item"]) == ("write", "ns", 3000001, 1)
        assert (extra["bound"], extra["misplaced"]) == (True, 0)
        assert extra["pages"] == -(-3000001 // os.sysconf("SC_PAGESIZE"))
        # Any machine writes at between 10 MB/s and 10 TB/s.
        assert all(3000001 / 1e4 < sample < 3000001 * 100 for sample in row["samples"])
    first, second = (min(min(row["samples"]) for row in rows(lines, mode=mode)) for mode in ("first", "second"))
    assert first > second


@pytest.mark.skipif(not numa(), reason="memory cannot be bound here")
def test_the_matrix_obeys_the_mask_it_was_started_with() -> None:
    cpu = allowed()[0]
    lines = bench("numa", "--smoke", "--sizes", "100000", cpus={cpu})
    assert {row["extra"]["cpu"] for row in rows(lines)} == {cpu}


def test_where_binding_is_forbidden_it_says_so() -> None:
    if len(list(Path("/sys/devices/system/node").glob("node[0-9]*"))) != 1:
        pytest.skip("with several nodes there is nothing to fall back on")
    lines = bench("numa", "--smoke", "--sizes", "100000", prefix=(program(), "--deny=mbind", "exec"))
    notes = [line["text"] for line in lines if line["type"] == "note"]
    assert {row["extra"]["bound"] for row in rows(lines)} == {False}
    for cpu in {row["extra"]["cpu"] for row in rows(lines)}:
        (note,) = (note for note in notes if note.startswith(f"cpu{cpu}-node0: not bound"))
        assert "mbind: a seccomp filter forbids it" in note


def test_the_clock_program_agrees_with_itself() -> None:
    """Other work may change the core's speed between the header and the rows of a process: hence the median of nine,
    and another nine where a neighbour came or went meanwhile.
    """
    medians: list[float] = []
    for _ in range(5):
        ratios = []
        for _ in range(9):
            lines = bench("clock", "--smoke")
            header = next(line for line in lines if line["type"] == "header")
            reads = {row["variant"] for row in rows(lines, routine="read")}
            assert reads >= {"start", "stop", "monotonic", "monotonic-raw"}
            (tick,) = rows(lines, routine="tick", variant="calibrated")
            assert 1e9 * tick["items"] / median(tick["samples"]) == pytest.approx(header["tick_hz"], rel=1e-3)
            (core,) = rows(lines, routine="core")
            ratios.append(median(core["samples"]) / core["items"] / header["cycles_per_tick"])
        medians.append(median(ratios))
        if medians[-1] == pytest.approx(1, rel=0.05):
            return
    pytest.fail(f"the rows' cycles per tick over the header's: {medians}")


def test_a_multiplication_takes_a_whole_number_of_cycles() -> None:
    """For as long as the core changes its speed, or its sibling multiplies too, it is none (Zen 1: 2.7 to 3.3)."""
    found: list[float] = []
    for _ in range(60):
        (multiply,) = rows(bench("clock", "--smoke", "--only", "multiply"), routine="multiply")
        found.append(median(multiply["samples"]))
        if found[-1] == pytest.approx(round(found[-1]), rel=0.02):
            break
        time.sleep(0.25)
    else:
        pytest.fail(f"no process found one: {found}")
    assert 2 <= found[-1] <= 5.1
