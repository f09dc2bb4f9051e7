# SPDX-License-Identifier: Apache-2.0
"""The machine in rtl/ as a platform: programs compiled and run on it, what they print and cost, and every bad end."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from okosu.errors import OkosuError
from okosu.lab import rtl, rtl_build, rtl_program, rtl_sweep

pytestmark = [
    pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it"),
    pytest.mark.skipif(
        not all(shutil.which(tool) for tool in ("verilator", "make", "g++", rtl_program.COMPILER)),
        reason="verilator, make, g++ or gcc-mipsel-linux-gnu is not installed (tools/lab-deps.sh)",
    ),
]

MACHINE = rtl_build.Machine(pes=2, context="mem", threads=16)
LIMIT = 3_000_000

HELLO = """\
#include <pthread.h>
#include <stdio.h>
static void *work(void *a) { return a; }
int main(int argc, char **argv)
{
    pthread_t t;
    void *v = NULL;
    for (int i = 1; i < argc; i++)
        printf("[%s]\\n", argv[i]);
    if (pthread_create(&t, NULL, work, argv) || pthread_join(t, &v))
        return 1;
    fprintf(stderr, "same: %d\\n", v == argv);
    return 7;
}
"""


@pytest.fixture(scope="module")
def simulator() -> rtl_build.Simulator:
    return rtl_build.build(MACHINE)


@pytest.fixture(scope="module")
def checked() -> rtl_build.Simulator:
    return rtl_build.build(MACHINE, checked=True)


def compiled(folder: Path, text: str, *words: str, backend: str = "ssh") -> Path:
    source = folder / "program.c"
    source.write_text(text)
    return rtl_program.compile_(rtl_program.parse([str(source), *words]), backend)


def body(text: str) -> str:
    before = "#include <pthread.h>\n#include <stdio.h>\nvolatile int zero, one = 1;\n"
    return f"{before}int main(void)\n{{\n{text}\nreturn 0;\n}}\n"


def line_of(text: str, words: str) -> int:
    return next(n for n, line in enumerate(text.splitlines(), 1) if words in line)


@pytest.mark.parametrize("backend", rtl_program.BACKENDS)
def test_output_arguments_and_status_come_back(tmp_path: Path, simulator: rtl_build.Simulator, backend: str) -> None:
    outcome = rtl.run(simulator, compiled(tmp_path, HELLO, "a", "b c", "", backend=backend), max_cycles=LIMIT)
    assert (outcome.stdout, outcome.stderr, outcome.status) == (b"[a]\n[b c]\n[]\n", b"same: 1\n", 7)
    assert (outcome.end, outcome.message) == ("exit", "")


@pytest.mark.parametrize("backend", rtl_program.BACKENDS)
def test_every_cycle_of_every_pe_is_counted_once(tmp_path: Path, simulator: rtl_build.Simulator, backend: str) -> None:
    outcome = rtl.run(simulator, compiled(tmp_path, HELLO, backend=backend), max_cycles=LIMIT)
    assert len(outcome.counters) == MACHINE.pes
    for row in outcome.counters:
        assert row["idle"] + sum(sum(row[name].values()) for name in rtl.SECTIONS) == outcome.cycles
    first = outcome.counters[0]
    for section in ("create", "join", "library"):
        assert first[section]["execute"] > 0, section


@pytest.mark.parametrize("backend", rtl_program.BACKENDS)
def test_checked_and_fast_simulate_the_same_cycles(
    tmp_path: Path, simulator: rtl_build.Simulator, checked: rtl_build.Simulator, backend: str
) -> None:
    program = compiled(tmp_path, HELLO, backend=backend)
    fast = rtl.run(simulator, program, max_cycles=LIMIT)
    for seed in (1, 2, 3):
        other = rtl.run(checked, program, max_cycles=LIMIT, seed=seed)
        assert (other.cycles, other.counters, other.stdout) == (fast.cycles, fast.counters, fast.stdout)


TRAPS = [
    ("one = one / zero;", "division by zero", 136),
    ("one = *(volatile int *)0x1000;", "load or fetch from an address that is none", 139),
    ("*(volatile int *)((volatile char *)&zero + 2 * one) = 1;", "store to an address that is none", 139),
    ("one = *(volatile int *)0x98000000;", "access to memory that is not there", 139),
    ("((void (*)(void))0x88000000)();", "jump out of the program's text", 139),
    ('__asm__ volatile("syscall");', "system call", 159),
    ('__asm__ volatile(".word 0xfc000000");', "instruction that this processor does not have", 132),
]


@pytest.mark.parametrize(("text", "what", "status"), TRAPS, ids=[what for _, what, _ in TRAPS])
def test_a_trap_is_named_with_its_place(
    tmp_path: Path, simulator: rtl_build.Simulator, text: str, what: str, status: int
) -> None:
    whole = body(text)
    outcome = rtl.run(simulator, compiled(tmp_path, whole), max_cycles=LIMIT)
    assert (outcome.end, outcome.status) == ("trap", status)
    assert outcome.message.startswith(f"okosu: {what}")
    assert "PE 0, thread 0, pc 0x8" in outcome.message
    assert f"cycle {outcome.cycles}" in outcome.message
    if "jump" not in what:
        assert f"main (program.c:{line_of(whole, text)})" in outcome.message


@pytest.mark.parametrize("backend", ["ssh"])
def test_a_stack_that_is_overrun_is_said_so(tmp_path: Path, simulator: rtl_build.Simulator, backend: str) -> None:
    text = """\
#include <pthread.h>
static int deep(volatile int *above)
{
    volatile int here[64];
    here[0] = *above;
    return deep(here) + here[1];
}
static void *work(void *a) { return (void *)(long)deep(a); }
int main(void)
{
    pthread_t t;
    int some = 1;
    pthread_create(&t, NULL, work, &some);
    return pthread_join(t, NULL);
}
"""
    outcome = rtl.run(simulator, compiled(tmp_path, text, backend=backend), max_cycles=LIMIT)
    assert outcome.status == 139
    assert "okosu: stack overrun" in outcome.message
    assert "deep (program.c:" in outcome.message


DEADLOCK = body("""\
    static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&first);
    puts("once");
    pthread_mutex_lock(&first);""")


@pytest.mark.parametrize("backend", rtl_program.BACKENDS)
def test_a_deadlock_ends_with_a_message(tmp_path: Path, simulator: rtl_build.Simulator, backend: str) -> None:
    heard = bytearray()
    program = compiled(tmp_path, DEADLOCK, backend=backend)
    with pytest.raises(OkosuError, match="deadlock: no PE has a thread to run") as caught:
        rtl.run(simulator, program, max_cycles=LIMIT, on_data=lambda _, data: heard.extend(data))
    assert caught.value.status == 125
    assert heard == b"once\n"
    if backend == "ssh":
        assert "thread 0 (main) waits for the mutex at 0x9" in caught.value.why
        assert "(first" in caught.value.why


@pytest.mark.parametrize("backend", rtl_program.BACKENDS)
def test_a_timed_wait_is_no_deadlock(tmp_path: Path, simulator: rtl_build.Simulator, backend: str) -> None:
    text = body("""\
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t c = PTHREAD_COND_INITIALIZER;
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += 2000000;
    pthread_mutex_lock(&m);
    return pthread_cond_timedwait(&c, &m, &t) == ETIMEDOUT ? 5 : 6;""")
    program = compiled(tmp_path, "#include <errno.h>\n#include <time.h>\n" + text, backend=backend)
    outcome = rtl.run(simulator, program, max_cycles=LIMIT)
    assert outcome.status == 5
    # Two milliseconds of the machine's clock of 100 MHz: longer than what counts as a deadlock.
    assert outcome.cycles > 200_000


def test_a_program_that_does_not_end_is_ended(tmp_path: Path, simulator: rtl_build.Simulator) -> None:
    text = body("for (;;)\n        one++;")
    with pytest.raises(OkosuError, match="has not ended after 20000 cycles") as caught:
        rtl.run(simulator, compiled(tmp_path, text), max_cycles=20000)
    assert "PE 0, thread 0, pc 0x8" in caught.value.why
    assert "main (program.c:" in caught.value.why


def test_what_does_not_compile_is_told_with_the_compilers_words(tmp_path: Path) -> None:
    with pytest.raises(OkosuError, match="does not compile for the machine") as caught:
        compiled(tmp_path, "int main(void) { return undeclared; }\n")
    assert "undeclared" in caught.value.why


def test_what_is_no_program_for_the_machine_is_refused(tmp_path: Path, simulator: rtl_build.Simulator) -> None:
    def told(file: Path) -> str:
        with pytest.raises(OkosuError) as caught:
            rtl.run(simulator, file)
        return caught.value.what

    assert "ELF file of 64 bits" in told(Path(sys.executable).resolve())
    good = compiled(tmp_path, HELLO).read_bytes()
    broken = tmp_path / "broken.elf"
    for change, what in (
        (b"#!/bin/sh\n", "no ELF file"),
        (good[:100], "cut off"),
        (good[:5] + b"\2" + good[6:], "big-endian"),
        (good[:18] + b"\x28\0" + good[20:], "machine 40"),
        (good[:39] + b"\x70" + good[40:], "later MIPS"),
        (good[:24] + b"\0\0\x40\0" + good[28:], "begins at 0x00400000"),
        (b"", "no ELF file"),
    ):
        broken.write_bytes(change)
        assert what in told(broken)
    # The first segment's address: in no memory of the machine.
    at = int.from_bytes(good[28:32], "little") + 8
    broken.write_bytes(good[:at] + b"\0\0\0\xa0" + good[at + 4 :])
    assert "outside the machine's memories" in told(broken)
    assert "No such file" in told(tmp_path / "none.elf")


def test_the_parser_takes_or_refuses_whatever_it_gets(tmp_path: Path) -> None:
    program, sim = compiled(tmp_path, HELLO), rtl_build.rtl_folder() / "sim"
    fuzz = tmp_path / "fuzz"
    words = ["g++", "-std=c++17", "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-Wall"]
    subprocess.run([*words, "-o", fuzz, sim / "elf_fuzz.cpp", sim / "elf.cpp"], check=True)
    done = subprocess.run([fuzz, program, "1", "3000"], capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    taken, _, times = done.stdout.split()
    assert 0 < int(taken) < int(times)


def test_the_trace_tells_each_threads_life(tmp_path: Path, simulator: rtl_build.Simulator) -> None:
    trace = tmp_path / "trace.json"
    outcome = rtl.run(simulator, compiled(tmp_path, HELLO), max_cycles=LIMIT, trace=trace)
    events = json.loads(trace.read_text())["traceEvents"]
    names = [event.get("name", "") for event in events]
    assert any(name.startswith("create thread ") and name.endswith(" work") for name in names)
    assert any(name.startswith("block thread 0 waits for the end of thread ") for name in names)
    assert "wake thread 0" in names
    runs = [event for event in events if event["ph"] in "BE"]
    for pe in range(MACHINE.pes):
        kinds = [event["ph"] for event in runs if event["tid"] == pe]
        assert kinds == ["B", "E"] * (len(kinds) // 2)
    assert all(0 <= event["ts"] <= outcome.cycles for event in runs)
    starts = [event["id"] for event in events if event["ph"] == "s"]
    assert starts
    assert len(starts) == len(set(starts))


def test_waveforms_cost_no_cycle(tmp_path: Path, simulator: rtl_build.Simulator) -> None:
    program, fst = compiled(tmp_path, HELLO), tmp_path / "waves.fst"
    outcome = rtl.run(rtl_build.build(MACHINE, waves=True), program, max_cycles=LIMIT, fst=fst)
    assert outcome.cycles == rtl.run(simulator, program, max_cycles=LIMIT).cycles
    assert fst.stat().st_size > 1000


def test_a_sweep_gives_a_record_a_point_and_survives_a_failing_one(
    tmp_path: Path, simulator: rtl_build.Simulator
) -> None:
    source = tmp_path / "loop.c"
    source.write_text(
        "#include <stdlib.h>\nint main(int c, char **v)\n"
        "{ for (volatile int i = atoi(v[1]); i; i--) ; return c != 2; }\n"
    )
    base = rtl_sweep.Point(MACHINE, "ssh", (str(source), "{times}"))
    points = rtl_sweep.points(base, [("backend", ("ssh", "software")), ("times", ("10", "1000", "100000"))])
    records = rtl_sweep.run(points, max_cycles=200000)
    assert [one["varied"] for one in records] == [dict(point.varied) for point in points]
    assert [one["status"] for one in records] == [0, 0, 125] * 2
    assert records[0]["cycles"] < records[1]["cycles"]
    assert "has not ended after 200000 cycles" in records[2]["error"]


def test_the_command_hands_over_output_and_status(tmp_path: Path, simulator: rtl_build.Simulator) -> None:
    (source := tmp_path / "hello.c").write_text(HELLO)
    words = ["--pes", "2", "--context", "mem", "--threads", "16", "--counters", str(tmp_path / "c.json")]
    argv = [sys.executable, "-m", "okosu", "lab", "run", "rtl", *words, "--", str(source), "x"]
    done = subprocess.run(argv, capture_output=True, check=False, timeout=600)
    assert (done.returncode, done.stdout, done.stderr) == (7, b"[x]\n", b"same: 1\n")
    told = json.loads((tmp_path / "c.json").read_text())
    assert len(told["counters"]) == 2
    source.write_text(body("return one / zero;"))
    done = subprocess.run(argv, capture_output=True, check=False, timeout=600)
    assert done.returncode == 136
    assert b"okosu: division by zero" in done.stderr


@pytest.mark.parametrize("context", ["soft", "banked"])
def test_other_contexts_run_the_same_program(tmp_path: Path, context: str) -> None:
    machine = rtl_build.Machine(pes=2, context=context, threads=16)
    outcome = rtl.run(rtl_build.build(machine), compiled(tmp_path, HELLO, "x"), max_cycles=LIMIT)
    assert (outcome.stdout, outcome.status) == (b"[x]\n", 7)
