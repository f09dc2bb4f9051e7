# SPDX-License-Identifier: Apache-2.0
"""The benchmark programs: the form of their output, their arguments, and the harness on a clock that the test
provides.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from measure_tool import PATIENCE

from okosu import native
from okosu.bench import drive

BENCHES = native.benches()
COPY = native.find("okosu-bench-copy")
FAKE = native.find("okosu-bench-copy").with_name("bench_fake")
PLACES = {"registers", "L1", "L2", "L3", "memory"}

needs_fake = pytest.mark.skipif(not FAKE.is_file(), reason="bench_fake is in a build tree alone")


def run(program: Path | str, *options: str, status: int = 0) -> tuple[list[dict[str, Any]], str]:
    """The lines of standard output, and the text of standard error."""
    done = subprocess.run([program, *options], capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def rows_of(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [line for line in lines if line["type"] == "row"]


def notes_of(lines: list[dict[str, Any]]) -> list[str]:
    return [line["text"] for line in lines if line["type"] == "note"]


def test_the_usual_programs_are_there() -> None:
    assert {"copy", "zero"} <= set(BENCHES)


@pytest.mark.parametrize("name", BENCHES)
def test_list_names_each_kernel_once(name: str) -> None:
    lines, stderr = run(native.find(f"okosu-bench-{name}"), "--list")
    assert stderr == ""
    routines = [line for line in lines if line["type"] == "routine"]
    assert routines
    assert {line["type"] for line in lines} <= {"routine", "variant"}
    names = [routine["name"] for routine in routines]
    assert len(names) == len(set(names))
    for routine in routines:
        assert routine["bytes_per_item"] >= 0
        assert routine["flops_per_item"] >= 0
        assert routine["doc"]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] if name == "copy" else []) for name in BENCHES]
)
def test_smoke(name: str) -> None:
    program = native.find(f"okosu-bench-{name}")
    routines = {line["name"]: line for line in run(program, "--list")[0] if line["type"] == "routine"}
    lines, _ = run(program, "--smoke")
    header, *rest = lines
    assert header["type"] == "header"
    assert header["bench"] == name
    assert header["version"] == 2
    assert header["rounds"] == 2
    assert header["tick_hz"] > 1e6
    assert header["cpu"] in os.sched_getaffinity(0)
    assert {line["type"] for line in rest} <= {"row", "absent", "note"}
    rows = rows_of(lines)
    assert rows
    for row in rows:
        routine = routines[row["routine"]]
        assert (row["bytes_per_item"], row["flops_per_item"]) == (routine["bytes_per_item"], routine["flops_per_item"])
        assert row["kind"] in {"okosu", "peer", "limit", "paper"}
        assert row["unit"] in {"cycles", "ns", "ticks"}
        assert row["place"] in PLACES
        assert len(row["align"]) == 2
        assert len(row["samples"]) == len(row["rounds"])
        assert all(sample >= 0 for sample in row["samples"])
        assert row["rounds"] == sorted(set(row["rounds"]))
        assert row["items"] >= 1


ARGUMENTS = [
    (["--rounds=0"], "--rounds=0 not accepted"),
    (["--rounds", "-1"], "--rounds=-1 not accepted"),
    (["--rounds", "1e3"], "--rounds=1e3 not accepted"),
    (["--rounds", "18446744073709551617"], "not accepted"),
    (["--rounds"], "--rounds needs a value"),
    (["--sizes", "1,,2"], "--sizes=1,,2 not accepted"),
    (["--sizes", "0"], "not accepted"),
    (["--only", "cpoy"], "the nearest is copy"),
    (["--only", "copy,"], "a name in the list is empty"),
    (["--points", "a,,b"], "a name in the list is empty"),
    (["--smok"], "did you mean --smoke?"),
    (["--list=1"], "--list takes no value"),
    (["--peers="], "the name of the directory is empty"),
    (["extra"], "there is no option extra"),
]


@pytest.mark.parametrize(("options", "told"), ARGUMENTS, ids=[" ".join(case[0]) for case in ARGUMENTS])
def test_arguments_refused(options: list[str], told: str) -> None:
    lines, stderr = run(COPY, *options, status=2)
    assert lines == []
    assert stderr.startswith("okosu: ")
    assert told in stderr


def test_help_is_data() -> None:
    done = subprocess.run([COPY, "--help"], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert "--rounds=N" in done.stdout


def test_a_cpu_that_may_not_be_used() -> None:
    lines, stderr = run(COPY, "--cpu", "8191", "--smoke", status=1)
    assert lines == []
    assert "not pinned to CPU 8191" in stderr
    assert "fix: name an allowed CPU" in stderr


def test_nothing_left_to_measure() -> None:
    lines, stderr = run(COPY, "--smoke", "--variant", "nobody", status=1)
    assert rows_of(lines) == []
    assert "nothing was measured" in stderr


def test_output_that_cannot_be_written() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [COPY, "--smoke", "--sizes=8"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert "could not be written" in done.stderr


@needs_fake
def test_samples_are_per_call_in_the_unit_of_the_point() -> None:
    lines, _ = run(FAKE, "steady", "--rounds", "3")
    cycles = {row["variant"]: row for row in rows_of(lines) if row["unit"] == "cycles"}
    nanoseconds = {row["variant"]: row for row in rows_of(lines) if row["unit"] == "ns"}
    assert cycles["a"]["samples"] == [100] * 3
    assert cycles["b"]["samples"] == [160] * 3
    assert nanoseconds["a"]["samples"] == [50] * 3
    assert nanoseconds["b"]["samples"] == [80] * 3
    assert all(row["dropped"] == 0 and row["shared"] == 0 for row in rows_of(lines))
    b = cycles["b"]
    assert (b["library"], b["config"], b["extra"]) == ('B "1.0"', "x\ty", {"k": 1})
    assert (b["n"], b["items"], b["footprint"], b["align"], b["place"]) == (10, 10, 80, [8, 16], "L1")
    assert nanoseconds["own"]["samples"] == [1.5, 2.5]
    assert [line["variant"] for line in lines if line["type"] == "absent"] == ["mkl"]


@needs_fake
@pytest.mark.parametrize(
    ("mode", "samples", "dropped", "shared"),
    [
        ("once", [160] * 4, 0, 0),
        ("preempted", [160] * 4, 0, 0),
        ("always", [], 4, 0),
        ("below", [159.283] * 4, 0, 0),
        ("crowded", [160] * 4, 0, 4),
    ],
)
def test_batches_that_were_disturbed(mode: str, samples: list[float], dropped: int, shared: int) -> None:
    lines, _ = run(FAKE, mode, "--rounds", "4")
    a, b = (row for row in rows_of(lines) if row["unit"] == "cycles" and row["kind"] != "limit")
    assert (a["samples"], a["dropped"]) == ([100] * 4, 0)
    assert b["samples"] == pytest.approx(samples)
    assert (b["dropped"], b["shared"]) == (dropped, shared)
    assert b["rounds"] == list(range(len(samples)))


@needs_fake
def test_a_core_that_was_shared_when_the_program_began() -> None:
    """What a core of its own does is seen as soon as three readings show it, or told by an earlier process."""
    for words, known in (((), False), (("--core-loads", "200"), True)):
        lines, _ = run(FAKE, "returned", "--rounds", "6", "--seed", "3", *words)
        a, b = (row for row in rows_of(lines) if row["unit"] == "cycles" and row["kind"] != "limit")
        assert (a["loads"], a["shared"]) == ([2] * 6, 0)
        assert b["loads"] == [1] * 6
        assert b["shared"] == 6 if known else 4 <= b["shared"] <= 6


@needs_fake
def test_a_neighbour_that_stays_costs_no_more_than_the_patience() -> None:
    """Rounds go on with one try for each batch: of a batch of "b" five are timed only in the first 20 s."""
    lines, _ = run(FAKE, "stays", "--rounds", "20", "--only", "sum")
    (order,) = (line["text"] for line in lines if line["type"] == "note" and line["text"].startswith("order"))
    b = next(row for row in rows_of(lines) if row["variant"] == "b" and row["unit"] == "cycles")
    assert (len(b["samples"]), b["shared"], b["dropped"]) == (20, 20, 0)
    # Each try runs "b" twice, once before its time is taken; five more runs calibrate it.
    assert 40 < order.count("b") < 70


@needs_fake
def test_an_interrupted_reading_does_not_widen_the_core() -> None:
    lines, _ = run(FAKE, "spike", "--rounds", "4")
    timed = [row for row in rows_of(lines) if row["variant"] != "own"]
    assert [(row["loads"], row["shared"]) for row in timed] == [([2] * 4, 0)] * len(timed)
    assert all(row["loads"] == [] for row in rows_of(lines) if row["variant"] == "own")


@needs_fake
@pytest.mark.parametrize("mode", ["always", "halted"])
def test_smoke_has_samples_of_every_row_on_a_busy_machine(mode: str) -> None:
    rows = [row for row in rows_of(run(FAKE, mode, "--smoke")[0]) if row["kind"] != "limit"]
    assert {(len(row["samples"]), row["dropped"]) for row in rows} == {(2, 0)}
    # A chain that another program interrupted makes no batch look faster than it was.
    assert [row["samples"] for row in rows if row["unit"] == "cycles"] == [[100, 100], [160, 160]]


@needs_fake
def test_a_disturbed_batch_is_run_five_times_at_most() -> None:
    quiet = notes_of(run(FAKE, "steady", "--rounds", "6")[0])[0].count("b")
    always = notes_of(run(FAKE, "always", "--rounds", "6")[0])[0].count("b")
    # Each run of a batch calls the routine twice: once to warm up and once timed.
    assert always - quiet == 6 * 4 * 2


@needs_fake
def test_a_disturbed_batch_is_run_twice_once_its_point_has_had_its_time() -> None:
    def batches(mode: str) -> int:
        notes = notes_of(run(FAKE, mode, "--rounds=9000", "--seconds=1", "--points=sum/10/throughput/8/16")[0])
        (found,) = (re.fullmatch(r"second point: (\d+) batches", note) for note in notes if note.startswith("second"))
        assert found
        return int(found[1])

    # The first point has all of the second, and the second one the fewest rounds, three.
    assert batches("always") - batches("steady") == 3 * 1 * 2


@needs_fake
def test_smoke_tries_no_batch_twice() -> None:
    quiet, always = (notes_of(run(FAKE, mode, "--smoke")[0])[0] for mode in ("steady", "always"))
    assert quiet == always


@needs_fake
def test_every_row_once_a_round_in_an_order_that_the_seed_draws() -> None:
    orders = set()
    for seed in range(8):
        order = notes_of(run(FAKE, "steady", "--rounds", "6", f"--seed={seed}")[0])[0].removeprefix("order ")
        rounds = [order[-36:][i : i + 6] for i in range(0, 36, 6)]
        # "a" has two rows (one of them the limit), each with two calls.
        assert [sorted(one) for one in rounds] == [list("aaaabb")] * 6
        assert len(set(rounds)) > 1
        orders.add(order)
    assert len(orders) > 4
    assert notes_of(run(FAKE, "steady", "--seed=3")[0]) == notes_of(run(FAKE, "steady", "--seed=3")[0])


@needs_fake
def test_cold_batches_are_prepared_and_short() -> None:
    lines, _ = run(FAKE, "cold", "--rounds", "5", "--variant", "a")
    order, counts = notes_of(lines)[:2]
    assert rows_of(lines)[0]["samples"] == [100] * 5
    prepared = int(counts.split()[1])
    # One preparation before each of the five batches, and before each step that determines the length of a batch.
    assert prepared >= 5 + 2
    assert order.count("b") == 0


@needs_fake
def test_prepared_batches_of_all_rows_are_equally_long() -> None:
    """A batch's own cost is shared by as many calls of the one row as of the other, so that it is none of their
    difference: 50 and 80 ticks a call, in cycles.
    """
    a, b = (row["samples"] for row in rows_of(run(FAKE, "begun", "--rounds", "5")[0])[:2])
    assert [later - earlier for earlier, later in zip(a, b, strict=True)] == pytest.approx([60] * 5)
    assert min(a) > 100


@needs_fake
def test_within_so_many_seconds_there_are_fewer_rounds_but_three() -> None:
    def rounds(*options: str) -> list[int]:
        rows = rows_of(run(FAKE, "steady", "--variant=a", "--rounds=9000", *options)[0])
        return [len(row["samples"]) for row in rows if row["variant"] == "a"]

    point = "--points=sum/10/throughput/8/16"
    assert rounds(point) == [9000, 9000]
    # One point was foretold and there are two: the first has all the time.
    [all_of_it, nothing] = rounds(point, "--seconds=1")
    assert 3 < all_of_it < 9000
    assert nothing == 3
    # The first of two has half of it, and the second what is left; its rounds have one row where those have two.
    first, second = rounds(f"{point},sum/11/throughput/8/16", "--seconds=1")
    assert first == pytest.approx(all_of_it / 2, rel=0.01)
    assert second == pytest.approx(2 * first, rel=0.01)


@needs_fake
@pytest.mark.parametrize(
    ("mode", "told"), [("twice", "row sum a is there twice"), ("stray", "its routine is in no table")]
)
def test_rows_that_cannot_be(mode: str, told: str) -> None:
    _, stderr = run(FAKE, mode, status=1)
    assert told in stderr


@needs_fake
def test_filters() -> None:
    def variants(*options: str) -> list[str]:
        return [row["variant"] for row in rows_of(run(FAKE, "steady", *options)[0]) if row["unit"] == "cycles"]

    assert variants() == ["a", "b", "l"]
    assert variants("--variant=b") == ["b", "l"]
    assert variants("--only=sum") == ["a", "b", "l"]
    assert variants("--only", "limit-load") == ["l"]
    assert variants("--points=sum/10/throughput/8/16") == ["a", "b", "l"]
    lines, _ = run(FAKE, "steady", "--smoke")
    assert "sizes 3: 1 5 9" in notes_of(lines)
    assert len(rows_of(lines)[0]["samples"]) == 2
    assert "sizes 2: 7 8 8" in notes_of(run(FAKE, "steady", "--sizes=7,8")[0])


@needs_fake
def test_a_point_that_is_not_there_is_told() -> None:
    lines, _ = run(FAKE, "steady", "--points", "sum/11/throughput/8/16,sum/10/throughput/8/16")
    assert {row["variant"] for row in rows_of(lines)} == {"a", "b", "l", "own"}
    assert [note for note in notes_of(lines) if "--points" in note] == ["--points: there is no sum/11/throughput/8/16"]
    for other in ("sum/10/latency/8/16", "sum/10/throughput/16/8", "limit-load/10/throughput/8/16"):
        _, stderr = run(FAKE, "steady", "--variant=a", "--points", other, status=1)
        assert "nothing was measured" in stderr


def children(process: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


@pytest.mark.parametrize("told", [True, False])
def test_a_benchmark_ends_with_the_process_it_is_told_of(told: bool) -> None:
    """Its output is read by nobody and is no pipe: a pipe without a reader would end it at the next row, too."""
    variable = "OKOSU_BENCH_PARENT=$$" if told else ""
    words = ["sh", "-c", f'{variable} "$0" --sizes=16777216 --rounds=100000 >/dev/null & wait', COPY]
    shell = subprocess.Popen(words)
    try:
        while not (found := children(shell.pid)):
            assert shell.poll() is None
            time.sleep(0.01)
        descriptor = os.pidfd_open(found[0])
        time.sleep(0.2)
    finally:
        shell.kill()
        shell.wait()
    try:
        # Without the variable it would go on for hours.
        assert bool(select.select([descriptor], [], [], PATIENCE if told else 1)[0]) == told
    finally:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
        os.close(descriptor)


def test_okosu_bench_tells_its_programs_of_itself() -> None:
    assert drive._environment()["OKOSU_BENCH_PARENT"] == str(os.getpid())
