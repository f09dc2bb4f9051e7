# SPDX-License-Identifier: Apache-2.0
"""Contexts of the machine in rtl/: LOCAL, preemption in every mode, the guard of stacks, main's end before others."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from okosu.errors import OkosuError
from papers.scheduling_hardware import ROOM, cross_compile, simulation, verilator
from papers.scheduling_hardware.machine import Machine
from papers.scheduling_hardware.tests.long.shared import NEEDS

PROGRAMS = ROOM / "sw/programs"
LIMIT = 8_000_000
MODES = ("soft", "mem", "local", "banked")

pytestmark = NEEDS

# Each waits, without a yield, for what the other one does; then each works with all kinds of state that a switch has
# to keep: registers, HI and LO, and what a command answered.
SPINNERS = """\
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
enum { THREADS = 5, ROUNDS = 40 };
static volatile unsigned came[THREADS];
static void *child(void *a) { return (void *)((uintptr_t)a * 3); }
static uint64_t mix(uint64_t v, unsigned n)
{
    for (; n != 0; n--)
        v = v * UINT64_C(6364136223846793005) + v / (n | 1);
    return v;
}
static void *work(void *argument)
{
    unsigned self = (unsigned)(uintptr_t)argument;
    uint64_t sum = self;

    for (unsigned round = 1; round <= ROUNDS; round++) {
        pthread_t thread;
        void *value = NULL;

        came[self] = round;
        if (round % 8 == 1)
            while (came[(self + 1) % THREADS] < round)
                ;
        if (pthread_create(&thread, NULL, child, (void *)(uintptr_t)round) || pthread_join(thread, &value))
            exit(9);
        sum = mix(sum, round % 4) + (uintptr_t)value;
    }
    return (void *)(uintptr_t)(uint32_t)(sum ^ sum >> 32);
}
int main(void)
{
    pthread_t threads[THREADS];
    void *value = NULL;

    for (unsigned at = 0; at < THREADS; at++)
        if (pthread_create(&threads[at], NULL, work, (void *)(uintptr_t)at))
            return 1;
    for (unsigned at = 0; at < THREADS; at++) {
        pthread_join(threads[at], &value);
        printf("%08x\\n", (unsigned)(uintptr_t)value);
    }
    return 0;
}
"""

YIELDS = """\
#include <pthread.h>
#include <sched.h>
static void *work(void *a)
{
    for (int round = 0; round < 200; round++)
        sched_yield();
    return a;
}
int main(void)
{
    pthread_t one, two;
    if (pthread_create(&one, NULL, work, NULL) || pthread_create(&two, NULL, work, NULL))
        return 1;
    pthread_join(one, NULL);
    return pthread_join(two, NULL);
}
"""


def simulator(mode: str) -> verilator.Simulator:
    """Return the machine of the other tests; in LOCAL with so little room that contexts go on to shared memory."""
    if mode == "local":
        return verilator.build(Machine(pes=2, context=mode, contexts=2), checked=True)
    return verilator.build(Machine(pes=4, context=mode))


def one_pe(mode: str) -> verilator.Simulator:
    return verilator.build(Machine(pes=1, context=mode), checked=True)


def compiled(folder: Path, text: str, *words: str, backend: str = "ssh") -> Path:
    (source := folder / "program.c").write_text(text)
    return cross_compile.compile_(cross_compile.parse([str(source), *words]), backend)


def quantum(cycles: int) -> tuple[str, str]:
    return f"-Wl,--defsym=__okosu_quantum={cycles}", "-Wl,--defsym=__okosu_policy=1"


def on_linux(folder: Path, *sources: Path) -> subprocess.CompletedProcess[bytes]:
    program = folder / "program"
    subprocess.run(["gcc", "-O2", "-Wall", "-Werror", "-D_GNU_SOURCE", "-o", program, *sources, "-pthread"], check=True)
    return subprocess.run([program], capture_output=True, check=False)


def test_conformance_with_contexts_in_a_memory_of_each_pe(tmp_path: Path) -> None:
    sources = sorted(PROGRAMS.glob("conformance*.c"))
    program = cross_compile.compile_(cross_compile.parse([str(path) for path in sources]), "ssh")
    here = simulation.run(simulator("local"), program, max_cycles=LIMIT)
    assert (here.stdout, here.status) == (on_linux(tmp_path, *sources).stdout, 0)


@pytest.mark.parametrize("name", ["matmul.c", "queens.c", "producer.c", "tree.c", "misuse.c"])
def test_programs_with_contexts_in_a_memory_of_each_pe(tmp_path: Path, name: str) -> None:
    program = cross_compile.compile_(cross_compile.parse([str(PROGRAMS / name)]), "ssh")
    here = simulation.run(simulator("local"), program, max_cycles=LIMIT)
    assert here.status == 0
    if name == "misuse.c":
        assert here.stdout.endswith(b"\n0 failed\n")
    else:
        assert here.stdout == on_linux(tmp_path, PROGRAMS / name).stdout


def test_a_switch_costs_less_the_nearer_contexts_are(tmp_path: Path) -> None:
    program = compiled(tmp_path, YIELDS)
    cycles = {mode: simulation.run(one_pe(mode), program, max_cycles=LIMIT).cycles for mode in MODES}
    assert cycles["banked"] < cycles["local"] < cycles["mem"]
    assert cycles["local"] < cycles["soft"]


@pytest.mark.parametrize("mode", MODES)
def test_threads_that_never_stop_are_preempted(tmp_path: Path, mode: str) -> None:
    """Five threads on one PE wait for each other by looking; without a quantum the first looks for ever."""
    with pytest.raises(OkosuError, match="has not ended"):
        simulation.run(one_pe(mode), compiled(tmp_path, SPINNERS), max_cycles=200_000)
    expected = on_linux(tmp_path, tmp_path / "program.c").stdout
    for cycles in (60, 333, 2000):
        program = compiled(tmp_path, SPINNERS, *quantum(cycles))
        here = simulation.run(one_pe(mode), program, max_cycles=LIMIT)
        assert (here.stdout, here.status) == (expected, 0), cycles


@pytest.mark.parametrize("name", ["conformance", "queens", "producer"])
def test_preemption_in_soft_mode_changes_no_output(tmp_path: Path, name: str) -> None:
    sources = sorted(PROGRAMS.glob(f"{name}*.c"))
    words = [*(str(path) for path in sources), *quantum(200)]
    program = cross_compile.compile_(cross_compile.parse(words), "ssh")
    here = simulation.run(simulator("soft"), program, max_cycles=LIMIT)
    assert (here.stdout, here.status) == (on_linux(tmp_path, *sources).stdout, 0)


@pytest.mark.parametrize("backend", cross_compile.BACKENDS)
def test_frames_of_almost_a_kib_do_not_step_over_the_guard(tmp_path: Path, backend: str) -> None:
    text = """\
#include <pthread.h>
static int deep(volatile char *above)
{
    volatile char here[960];
    here[0] = *above;
    return deep(here) + here[0];
}
static void *work(void *a) { return (void *)(long)deep(a); }
int main(void)
{
    pthread_t t;
    char some = 1;
    pthread_create(&t, NULL, work, &some);
    return pthread_join(t, NULL);
}
"""
    here = simulation.run(simulator("soft"), compiled(tmp_path, text, backend=backend), max_cycles=LIMIT)
    assert here.status == 139
    assert "okosu: stack overrun" in here.message


LAST_WORDS = """\
#include <pthread.h>
#include <stdio.h>
static void *work(void *a)
{
    for (volatile int round = 0; round < 3000; round++)
        ;
    puts(a);
    return NULL;
}
int main(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, "joinable") || pthread_create(&thread, NULL, work, "other") ||
        pthread_detach(thread))
        return 1;
    puts("main");
    pthread_exit(NULL);
}
"""


@pytest.mark.parametrize(("backend", "mode"), [*(("ssh", mode) for mode in MODES), ("software", "soft")])
def test_main_may_end_before_the_others(tmp_path: Path, backend: str, mode: str) -> None:
    here = simulation.run(simulator(mode), compiled(tmp_path, LAST_WORDS, backend=backend), max_cycles=LIMIT)
    assert (sorted(here.stdout.split()), here.status, here.end) == ([b"joinable", b"main", b"other"], 0, "exit")


@pytest.mark.parametrize("backend", cross_compile.BACKENDS)
def test_who_is_left_behind_by_main_and_waits_for_ever_is_a_deadlock(tmp_path: Path, backend: str) -> None:
    text = LAST_WORDS.replace("    puts(a);", "    pthread_mutex_lock(&taken);").replace(
        "static void *work", "static pthread_mutex_t taken = PTHREAD_MUTEX_INITIALIZER;\nstatic void *work"
    )
    text = text.replace('puts("main");', "pthread_mutex_lock(&taken);")
    with pytest.raises(OkosuError, match="deadlock"):
        simulation.run(simulator("soft"), compiled(tmp_path, text, backend=backend), max_cycles=LIMIT)


def test_yields_take_no_more_cycles_than_their_targets() -> None:
    program = cross_compile.compile_(cross_compile.parse([str(PROGRAMS / "switches.c")]), "ssh")
    said = simulation.run(simulator("banked"), program, max_cycles=LIMIT).stdout.decode()
    most = {name: int(number) for name, number in re.findall(r"^(\w+) \d+ (\d+)$", said, re.MULTILINE)}
    assert most["yield_command"] <= 8
    assert most["yield_switch"] <= 14
