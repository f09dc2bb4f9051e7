# SPDX-License-Identifier: Apache-2.0
"""The data cache and the wide bus of the machine in rtl/: the same programs, the same output, fewer cycles."""

from __future__ import annotations

from pathlib import Path

import pytest

from papers.scheduling_hardware import ROOM, cross_compile, simulation, verilator
from papers.scheduling_hardware.machine import Machine
from papers.scheduling_hardware.tests.long.shared import NEEDS

PROGRAMS = ROOM / "sw/programs"
LIMIT = 8_000_000
PLAIN = Machine(pes=4)
CACHED = Machine(pes=4, dcache=1024)
BOTH = Machine(pes=4, dcache=256, bus="pipelined")

pytestmark = NEEDS

# Words of one line belong to different threads, and all threads read one flag: caches that disagree get these wrong.
SHARED = """\
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
enum { THREADS = 4, ROUNDS = 100 };
static volatile unsigned words[THREADS], turn;
static volatile unsigned char bytes[THREADS];
static unsigned seen[THREADS];
static void *work(void *a)
{
    unsigned self = (unsigned)(uintptr_t)a;

    for (unsigned round = 0; round < ROUNDS; round++) {
        while (turn % THREADS != self)
            sched_yield();
        for (unsigned at = 0; at < THREADS; at++)
            seen[self] += words[at] * (at + 1) + bytes[at];
        words[self] += round;
        bytes[self]++;
        turn++;
    }
    return NULL;
}
int main(void)
{
    pthread_t threads[THREADS];
    for (unsigned at = 0; at < THREADS; at++)
        pthread_create(&threads[at], NULL, work, (void *)(uintptr_t)at);
    for (unsigned at = 0; at < THREADS; at++) {
        pthread_join(threads[at], NULL);
        printf("%u %u %u\\n", words[at], bytes[at], seen[at]);
    }
    return 0;
}
"""


def run(machine: Machine, program: Path) -> simulation.Outcome:
    return simulation.run(verilator.build(machine, machine != PLAIN), program, max_cycles=LIMIT)


@pytest.mark.parametrize("name", ["matmul.c", "queens.c", "producer.c", "tree.c"])
def test_programs_say_the_same_in_fewer_cycles(name: str) -> None:
    program = cross_compile.compile_(cross_compile.parse([str(PROGRAMS / name)]), "ssh")
    plain, cached, both = (run(machine, program) for machine in (PLAIN, CACHED, BOTH))
    assert (cached.stdout, cached.status) == (both.stdout, both.status) == (plain.stdout, 0)
    assert cached.cycles < plain.cycles
    # BOTH has 16 lines only. The columns of a matrix push each other out of them, and a line is filled for each word.
    assert both.cycles < plain.cycles or name == "matmul.c"


@pytest.mark.parametrize("machine", [CACHED, BOTH], ids=["cache", "cache and wide bus"])
@pytest.mark.parametrize("backend", cross_compile.BACKENDS)
def test_conformance_is_the_same(machine: Machine, backend: str) -> None:
    sources = [str(path) for path in sorted(PROGRAMS.glob("conformance*.c"))]
    program = cross_compile.compile_(cross_compile.parse(sources), backend)
    plain, here = run(PLAIN, program), run(machine, program)
    assert plain.stdout.count(b"\nok ") >= 60
    assert (here.stdout, here.status) == (plain.stdout, 0)


@pytest.mark.parametrize("machine", [CACHED, BOTH], ids=["cache", "cache and wide bus"])
def test_caches_never_disagree(tmp_path: Path, machine: Machine) -> None:
    (source := tmp_path / "shared.c").write_text(SHARED)
    program = cross_compile.compile_(cross_compile.parse([str(source)]), "ssh")
    plain, here = run(PLAIN, program), run(machine, program)
    assert len(plain.stdout.split()) == 12
    assert here.stdout == plain.stdout


def test_a_word_that_is_looked_at_again_and_again_costs_a_cycle(tmp_path: Path) -> None:
    (source := tmp_path / "again.c").write_text(
        "static volatile unsigned word;\n"
        "int main(void)\n{\n    unsigned sum = 0;\n    for (int n = 0; n < 1000; n++)\n"
        "        sum += word;\n    return sum != 0;\n}\n"
    )
    program = cross_compile.compile_(cross_compile.parse([str(source)]), "ssh")
    plain, here = run(PLAIN, program), run(CACHED, program)
    # A read takes three cycles on the bus (doc/INTERFACES.md): two of waiting, which a hit has not. The first read
    # misses, and fills a line.
    assert 1980 <= plain.cycles - here.cycles <= 2500
