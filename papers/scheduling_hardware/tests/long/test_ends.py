# SPDX-License-Identifier: Apache-2.0
"""Every end of a program on the machine in rtl/ but its own: told with place, cycle and status, and nothing measured is
lost; and the ends that only look bad."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from papers.scheduling_hardware import cross_compile, planting, simulation, verilator
from papers.scheduling_hardware.machine import Machine
from papers.scheduling_hardware.tests.long.shared import LIMIT, MACHINE, NEEDS, body, compiled, line_of, okosu

pytestmark = NEEDS


@pytest.fixture(scope="module")
def simulator() -> verilator.Simulator:
    return verilator.build(MACHINE)


TRAPS = [
    ("one = one / zero;", "division by zero", 136),
    ("one = *(volatile int *)0x1000;", "load or fetch from an address that is none", 139),
    ("*(volatile int *)((volatile char *)&zero + 2 * one) = 1;", "store to an address that is none", 139),
    ("one = *(volatile int *)0x98000000;", "access to memory that is not there", 139),
    ('__asm__ volatile("syscall");', "system call", 159),
    ('__asm__ volatile("break 3");', "break instruction", 133),
    ('__asm__ volatile(".word 0xfc000000");', "instruction that this processor does not have", 132),
    ('__asm__ volatile(".word 0x44020000");', "coprocessor that is not there", 132),
    ('__asm__ volatile("li $2, 0x7fffffff; addi $2, $2, 1" ::: "$2");', "integer overflow", 136),
]


@pytest.mark.parametrize(("text", "what", "status"), TRAPS, ids=[what for _, what, _ in TRAPS])
def test_a_trap_is_named_with_its_place(
    tmp_path: Path, simulator: verilator.Simulator, text: str, what: str, status: int
) -> None:
    whole = body(text)
    outcome = simulation.run(simulator, compiled(tmp_path, whole), max_cycles=LIMIT)
    assert (outcome.end, outcome.status) == ("trap", status)
    assert outcome.message.startswith(f"okosu: {what}")
    assert "PE 0, thread 0, pc 0x8" in outcome.message
    assert f"main (program.c:{line_of(whole, text)})" in outcome.message
    assert f"cycle {outcome.cycles}" in outcome.message
    assert f"exit status: {status}" in outcome.message


JUMPS = [
    ("((void (*)(void))0x88000000)();", "0x88000000"),
    ("((void (*)(void))0)();", "0x00000000"),
    ("((void (*)(void))0x90000000)();", "0x90000000"),
    ("((void (*)(void))(0x80000400 + 2 * one))();", "0x80000402"),
    # The jump goes into the instruction memory, but behind the program.
    ("((void (*)(void))0x80030000)();", "0x80030000"),
]


@pytest.mark.parametrize(("text", "pc"), JUMPS, ids=[pc for _, pc in JUMPS])
def test_a_jump_out_of_the_text_is_named_with_where_it_came_from(
    tmp_path: Path, simulator: verilator.Simulator, text: str, pc: str
) -> None:
    whole = body(text)
    outcome = simulation.run(simulator, compiled(tmp_path, whole), max_cycles=LIMIT)
    assert (outcome.end, outcome.status) == ("trap", 139)
    assert outcome.message.startswith("okosu: jump out of the program's text")
    assert f"pc {pc}" in outcome.message
    assert f"from: main (program.c:{line_of(whole, text)})" in outcome.message


def test_a_trap_in_the_library_is_told_with_the_call_of_it(tmp_path: Path, simulator: verilator.Simulator) -> None:
    whole = body("    pthread_mutex_lock((pthread_mutex_t *)0x1000);")
    outcome = simulation.run(simulator, compiled(tmp_path, whole), max_cycles=LIMIT)
    assert outcome.status == 139
    assert re.search(r", \w+ \(\w+\.[ch]:\d+\) in pthread_mutex_lock, called by", outcome.message)
    assert f"called by main (program.c:{line_of(whole, 'pthread_mutex_lock(')})" in outcome.message


DEEP = """\
#include <pthread.h>
volatile int one = 1;
static int deep(volatile int *above)
{
    volatile int here[64];
    here[0] = *above;
    return deep(here) + here[1];
}
/* A frame that ends far below the guard: what is touched of it is another thread's. */
static __attribute__((noinline)) int at_once(volatile int *above)
{
    volatile int here[2600];
    here[0] = *above;
    return here[0] + one;
}
static __attribute__((noinline)) int in_steps(int size)
{
    volatile char here[size];
    here[0] = one;
    return here[0];
}
static void *work(void *a) { return (void *)(long)RUN; }
int main(void)
{
    pthread_t t;
    int some = 1;
    void *a = &some;
    if (!THREAD)
        return (int)(long)work(a);
    pthread_create(&t, NULL, work, a);
    return pthread_join(t, NULL);
}
"""
OVERRUNS = [("deep(a)", "deep"), ("at_once(a) + in_steps(9000)", "at_once"), ("in_steps(100000)", "in_steps")]


@pytest.mark.parametrize("backend", cross_compile.BACKENDS)
@pytest.mark.parametrize(("call", "function"), OVERRUNS, ids=[name for _, name in OVERRUNS])
@pytest.mark.parametrize("thread", [0, 1])
def test_a_stack_that_is_overrun_is_said_so(
    tmp_path: Path, simulator: verilator.Simulator, backend: str, call: str, function: str, thread: int
) -> None:
    # The stack of main is larger than that of a thread.
    if not thread and function == "at_once":
        call = call.replace("at_once(a)", "0").replace("9000", "90000")
        function = "in_steps"
    program = compiled(tmp_path, DEEP, f"-DRUN=({call})", f"-DTHREAD={thread}", backend=backend)
    outcome = simulation.run(simulator, program, max_cycles=LIMIT)
    assert outcome.status == 139
    assert outcome.message.startswith("okosu: stack overrun")
    assert f"{function} (program.c:" in outcome.message


@pytest.mark.parametrize("backend", cross_compile.BACKENDS)
def test_a_stack_that_is_used_up_to_its_end_is_no_overrun(
    tmp_path: Path, simulator: verilator.Simulator, backend: str
) -> None:
    program = compiled(tmp_path, DEEP, "-DRUN=(in_steps(6900))", "-DTHREAD=1", backend=backend)
    assert simulation.run(simulator, program, max_cycles=LIMIT).status == 0


DEADLOCK = body("""\
    static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&first);
    puts("once");
    pthread_mutex_lock(&first); /* for ever */""")


@pytest.mark.parametrize("backend", cross_compile.BACKENDS)
def test_a_deadlock_ends_with_a_message(tmp_path: Path, simulator: verilator.Simulator, backend: str) -> None:
    heard = bytearray()
    program = compiled(tmp_path, DEADLOCK, backend=backend)
    with pytest.raises(simulation.UnfinishedError, match="deadlock: no PE has a thread to run") as caught:
        simulation.run(simulator, program, max_cycles=LIMIT, on_data=lambda _, data: heard.extend(data))
    assert caught.value.status == 125
    assert heard == b"once\n"
    if backend == "ssh":
        assert "thread 0 (main) waits for the mutex at 0x9" in caught.value.why
        assert "(first" in caught.value.why
        assert f"called by main (program.c:{line_of(DEADLOCK, 'for ever')})" in caught.value.why


@pytest.mark.parametrize("backend", cross_compile.BACKENDS)
def test_a_timed_wait_is_no_deadlock(tmp_path: Path, simulator: verilator.Simulator, backend: str) -> None:
    text = body(
        """\
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t c = PTHREAD_COND_INITIALIZER;
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += 2000000;
    pthread_mutex_lock(&m);
    return pthread_cond_timedwait(&c, &m, &t) == ETIMEDOUT ? 5 : 6;""",
        "#include <errno.h>\n#include <time.h>\n",
    )
    outcome = simulation.run(simulator, compiled(tmp_path, text, backend=backend), max_cycles=LIMIT)
    assert outcome.status == 5
    # Two milliseconds of the machine's clock of 100 MHz: longer than what counts as a deadlock.
    assert outcome.cycles > 200_000


@pytest.mark.parametrize("backend", cross_compile.BACKENDS)
@pytest.mark.parametrize(("end", "status"), [("trap", 136), ("deadlock", 125), ("max-cycles", 125)])
def test_nothing_measured_is_lost_by_a_bad_end(tmp_path: Path, backend: str, end: str, status: int) -> None:
    loop = "for (;;)\n        one++;"
    text = {"trap": body("return one / zero;"), "deadlock": DEADLOCK, "max-cycles": body(loop)}[end]
    (source := tmp_path / "program.c").write_text(text)
    report, counters, trace = (tmp_path / name for name in ("report.json", "counters.json", "trace.json"))
    files = ["--json", str(report), "--counters", str(counters), "--trace", str(trace)]
    done = okosu(*files, "--max-cycles", "150000", "--backend", backend, "--", str(source))
    assert done.returncode == status
    assert re.search(r"PE 0, thread 0, pc 0x8\w+, \w+ \(", done.stderr) or backend == "software"
    assert "cycle" in done.stderr
    told = json.loads(report.read_text())
    assert (told["end"], told["status"]) == (end, status)
    assert json.loads(counters.read_text())["counters"] == told["counters"]
    for row in told["counters"]:
        assert row["idle"] + sum(sum(row[name].values()) for name in simulation.SECTIONS) == told["cycles"]
    events = json.loads(trace.read_text())["traceEvents"]
    assert events[-1]["ts"] == told["cycles"] or end == "deadlock"


def test_a_failing_assertion_of_the_rtl_loses_nothing_either(tmp_path: Path) -> None:
    room = planting.copy(tmp_path / "room")
    wrong = "always_ff @(posedge clk_i) PlantedByATest : assert (!rst_ni || cycle_o < 64'd2000); endmodule"
    planting.plant(room, planting.Bug("an assertion fails", "rtl/soc/machine.sv", f"«endmodule → {wrong}»"))
    simulator = verilator.build(Machine(pes=1, context="soft", threads=4), checked=True, room=room)
    trace = tmp_path / "trace.json"
    with pytest.raises(simulation.UnfinishedError, match="an assertion of the machine failed, cycle 200") as caught:
        simulation.run(simulator, compiled(tmp_path, body("for (;;)\n        one++;")), max_cycles=LIMIT, trace=trace)
    outcome = caught.value.outcome
    assert "PlantedByATest" in caught.value.why
    assert "main (program.c:" in caught.value.why
    assert outcome.counters[0]["user"]["execute"] > 100
    assert json.loads(trace.read_text())["traceEvents"]


MAIN_LEAVES = """\
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *a)
{
    for (volatile int i = 0; i < 30000; i++)
        ;
    printf("%s\\n", (char *)a);
    return a;
}
static void *stay(void *a)
{
    pthread_mutex_lock(&lock);
    return a;
}
int main(void)
{
    pthread_t t;
    (void)work, (void)stay, (void)t;
    BEFORE
    pthread_exit(NULL);
}
"""
LEAVING = {
    "none runs": ("", b""),
    "one runs": ('pthread_create(&t, NULL, work, "1");', b"1\n"),
    "two run": ('pthread_create(&t, NULL, work, "1"); pthread_create(&t, NULL, work, "1");', b"1\n1\n"),
    "one is detached": ('pthread_create(&t, NULL, work, "1"); pthread_detach(t);', b"1\n"),
    "one has ended": ('pthread_create(&t, NULL, work, "1"); pthread_join(t, NULL);', b"1\n"),
}


@pytest.mark.parametrize("context", ["soft", "mem", "banked"])
@pytest.mark.parametrize("backend", cross_compile.BACKENDS)
def test_pthread_exit_in_main_ends_with_the_last_thread(tmp_path: Path, context: str, backend: str) -> None:
    simulator = verilator.build(Machine(pes=4, context=context))
    for what, (before, said) in LEAVING.items():
        program = compiled(tmp_path, MAIN_LEAVES, f"-DBEFORE={before}", backend=backend)
        outcome = simulation.run(simulator, program, max_cycles=LIMIT)
        assert (outcome.end, outcome.status, outcome.stdout) == ("exit", 0, said), what
        assert outcome.cycles > 30000 * len(said.split()), what


def test_threads_that_wait_for_ever_behind_main_are_a_deadlock(tmp_path: Path, simulator: verilator.Simulator) -> None:
    before = "pthread_mutex_lock(&lock); pthread_create(&t, NULL, stay, NULL);"
    program = compiled(tmp_path, MAIN_LEAVES, f"-DBEFORE={before}")
    with pytest.raises(simulation.UnfinishedError, match="deadlock") as caught:
        simulation.run(simulator, program, max_cycles=LIMIT)
    assert "(stay) waits for the mutex" in caught.value.why
    assert "thread 0" not in caught.value.why


def test_a_program_that_does_not_end_is_ended(tmp_path: Path, simulator: verilator.Simulator) -> None:
    text = body("for (;;)\n        one++;")
    with pytest.raises(simulation.UnfinishedError, match="has not ended after 20000 cycles") as caught:
        simulation.run(simulator, compiled(tmp_path, text), max_cycles=20000)
    assert "PE 0, thread 0, pc 0x8" in caught.value.why
    assert "main (program.c:" in caught.value.why
    assert "PE 1, without a thread" in caught.value.why
