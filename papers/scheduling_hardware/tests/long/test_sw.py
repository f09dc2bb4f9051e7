# SPDX-License-Identifier: Apache-2.0
"""The pthread library of the machine in rtl/: both back ends in every context mode against Linux; what calls cost."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from papers.scheduling_hardware import ROOM, cross_compile, planting, simulation, verilator
from papers.scheduling_hardware.machine import Machine
from papers.scheduling_hardware.tests.long.shared import MACHINE, NEEDS, compiled
from papers.scheduling_hardware.tests.test_elementary import objects

ROOT = ROOM.parents[1]
PROGRAMS = ROOM / "sw/programs"
LIMIT = 8_000_000

pytestmark = NEEDS

# (back end, context mode)
WAYS = (("ssh", "soft"), ("ssh", "mem"), ("ssh", "banked"), ("software", "soft"))
PORTABLE = ("arithmetic.c", "library.c", "matmul.c", "queens.c", "producer.c", "tree.c")
KERNELS = ("fft.c", "lu.c", "barnes.c")
# With signals, cancellation and priorities other functions of the library take part (sw/posix).
POSIX = ["conformance.c", "posix_events.c", "posix_kinds.c"]
ROUND_ROBIN = ("-Wl,--defsym=__okosu_policy=1", "-Wl,--defsym=__okosu_quantum=150")


def simulator(context: str) -> verilator.Simulator:
    return verilator.build(Machine(pes=4, context=context))


def run(backend: str, context: str, *words: str, limit: int = LIMIT) -> simulation.Outcome:
    program = cross_compile.compile_(cross_compile.parse(words), backend)
    return simulation.run(simulator(context), program, max_cycles=limit)


def on_linux(folder: Path, sources: list[str], *arguments: str) -> subprocess.CompletedProcess[bytes]:
    program = folder / "program"
    subprocess.run(
        ["gcc", "-O2", "-Wall", "-Werror", "-D_GNU_SOURCE", "-o", program, *sources, "-pthread", "-lm"], check=True
    )
    return subprocess.run([program, *arguments], capture_output=True, check=False)


@pytest.mark.parametrize(("backend", "context"), WAYS)
def test_conformance_is_what_linux_says(tmp_path: Path, backend: str, context: str) -> None:
    sources = [str(path) for path in sorted(PROGRAMS.glob("conformance*.c"))]
    linux = on_linux(tmp_path, sources)
    here = run(backend, context, *sources)
    assert linux.returncode == 0
    assert linux.stdout.count(b"\nok ") >= 60
    assert here.stdout == linux.stdout
    assert here.status == 0


@pytest.mark.parametrize(("backend", "context"), WAYS)
def test_signals_and_cancellation_are_what_linux_says(tmp_path: Path, backend: str, context: str) -> None:
    sources = [str(PROGRAMS / name) for name in POSIX]
    linux = on_linux(tmp_path, sources)
    here = run(backend, context, *sources)
    assert linux.returncode == 0
    assert linux.stdout.count(b"\nok ") >= 80
    assert here.stdout == linux.stdout
    assert here.status == 0


@pytest.mark.parametrize(("backend", "context"), WAYS)
def test_what_linux_leaves_undefined_is_told_by_errno(backend: str, context: str) -> None:
    here = run(backend, context, str(PROGRAMS / "misuse.c"))
    assert here.stdout.endswith(b"\n0 failed\n"), here.stdout
    assert here.status == 0


@pytest.mark.parametrize("name", PORTABLE)
@pytest.mark.parametrize(("backend", "context"), WAYS)
def test_programs_say_the_same_as_on_linux(tmp_path: Path, backend: str, context: str, name: str) -> None:
    linux = on_linux(tmp_path, [str(PROGRAMS / name)])
    here = run(backend, context, str(PROGRAMS / name))
    assert linux.stdout.endswith(b"\nok\n")
    assert (here.stdout, here.status) == (linux.stdout, linux.returncode)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize(("backend", "context"), WAYS)
def test_kernels_compute_the_same_bits_as_on_linux(tmp_path: Path, backend: str, context: str, name: str) -> None:
    linux = on_linux(tmp_path, [str(PROGRAMS / name)])
    here = run(backend, context, str(PROGRAMS / name), limit=4 * LIMIT)
    assert linux.stdout.endswith(b"\nok\n")
    # How long it took is another number in each run on Linux.
    told = [re.sub(rb"parallel \d+", b"", one) for one in (here.stdout, linux.stdout)]
    assert told[0] == told[1]
    assert here.status == 0


def test_elementary_functions_have_the_same_bits_as_the_same_code_here(tmp_path: Path) -> None:
    program = tmp_path / "program"
    source = str(PROGRAMS / "elementary.c")
    # The objects come before libm, and no call is folded by the compiler.
    subprocess.run(["gcc", "-O2", "-fno-builtin", "-o", program, source, *objects(tmp_path)], check=True)
    linux = subprocess.run([program], capture_output=True, check=True)
    here = run("ssh", "banked", source, limit=8 * LIMIT)
    assert linux.stdout.endswith(b"\nok\n")
    assert (here.stdout, here.status) == (linux.stdout, 0)


@pytest.mark.parametrize(("backend", "context"), WAYS)
def test_main_need_not_return(tmp_path: Path, backend: str, context: str) -> None:
    """As in every hosted implementation of C; and a program may have more text than a branch reaches."""
    source = tmp_path / "program.c"
    body = "".join(f"y = y * {odd} + x;" for odd in range(3, 400, 2))
    source.write_text(
        "int last = 7;\n"
        + "".join(f"int f{i}(volatile int x) {{ volatile int y = {i}; {body} return y; }}\n" for i in range(24))
        + "int main(void) { last = "
        + " + ".join(f"f{i}({i})" for i in range(24))
        + "; }\n"
    )
    assert run(backend, context, str(source)).status == 0


@pytest.mark.parametrize(("backend", "context"), WAYS)
def test_grain_compiles_unchanged(tmp_path: Path, backend: str, context: str) -> None:
    grain = str(ROOT / "examples/programs/grain.c")
    linux = on_linux(tmp_path, [grain], "20", "100", "2")
    here = run(backend, context, grain, "20", "100", "2")
    assert (here.stdout, here.status) == (linux.stdout, 0)


def primitives(backend: str, context: str) -> dict[str, int]:
    """Return the most cycles that each operation took."""
    said = run(backend, context, str(PROGRAMS / "primitives.c")).stdout.decode()
    return {name: int(most) for name, most in re.findall(r"^(\w+) \d+ (\d+)$", said, re.MULTILINE)}


def test_calls_take_no_more_cycles_than_their_targets() -> None:
    most = primitives("ssh", "banked")
    assert most["create"] <= 30
    assert most["join_finished"] <= 20
    assert most["mutex_lock"] <= 14
    assert most["yield_alone"] <= 14
    assert most["join_wake"] <= 40
    assert most["barrier_last_to_last"] <= 30


def test_software_is_no_slower_than_the_papers() -> None:
    most = primitives("software", "soft")
    assert most["create"] <= 724
    assert most["join_finished"] <= 1180


def test_the_library_holds_no_foreign_code(tmp_path: Path) -> None:
    """Nothing of a libgcc or libc for a later MIPS, and no command in a delay slot."""
    elf = cross_compile.compile_(cross_compile.parse([str(PROGRAMS / "tree.c")]), "ssh")
    listing = subprocess.run(
        ["mipsel-linux-gnu-objdump", "-d", "--no-show-raw-insn", elf], capture_output=True, text=True, check=True
    ).stdout
    instructions = [line.split("\t")[1:] for line in listing.splitlines() if line.count("\t") >= 1]
    names = [words[0].strip() for words in instructions]
    assert not {"ll", "sc", "sync", "teq", "clz", "mul", "movz", "movn", "ext", "ins", "seb", "beql"} & set(names)
    for before, (name, *operands) in zip(names, instructions[1:], strict=False):
        if before.startswith(("b", "j")) and before != "break":
            is_command = name.strip() == "mtc2" and int(operands[0].split("$")[-1]) >= 16
            assert name.strip() != "lwc2"
            assert not is_command


def test_what_a_program_does_not_use_costs_it_nothing(tmp_path: Path) -> None:
    """Creation, join, yield and lock of a program without signals are the short ones; of one with them, the others."""
    nm = cross_compile.COMPILER.replace("gcc", "nm")

    def symbols(*words: str) -> dict[str, str]:
        elf = cross_compile.compile_(cross_compile.parse(words), "ssh")
        said = subprocess.run([nm, elf], capture_output=True, text=True, check=True).stdout
        return {line.split()[-1]: line.split()[-2] for line in said.splitlines()}

    replaced = ("pthread_create", "pthread_join", "sched_yield", "pthread_mutex_lock", "pthread_barrier_wait")
    lean = symbols(str(PROGRAMS / "primitives.c"))
    assert not {"events_wait", "events_act", "held_lock", "signals_handle"} & {
        name for name, kind in lean.items() if kind in "tT"
    }
    assert all(lean[name] == "W" for name in replaced if name in lean)
    full = symbols(*(str(PROGRAMS / name) for name in POSIX))
    assert all(full[name] == "T" for name in replaced)


def wakeups(backend: str, context: str, *words: str, last: str, step: str) -> simulation.Outcome:
    program = (str(PROGRAMS / "wakeups.c"), f"-I{ROOM / 'sw/pthread'}")
    elf = cross_compile.compile_(cross_compile.parse([*program, *words, "--", last, step]), backend)
    return simulation.run(simulator(context), elf, max_cycles=40 * LIMIT)


@pytest.mark.parametrize("words", [(), ROUND_ROBIN])
@pytest.mark.parametrize(("backend", "context"), WAYS)
def test_no_signal_without_the_mutex_is_lost(backend: str, context: str, words: tuple[str, ...]) -> None:
    """At each cycle of a waiter's way into its sleep; OKOSU_LAB=full scans every one, else every 13th."""
    if backend == "software" and words:
        pytest.skip("the software back end has no quantum")
    here = wakeups(backend, context, *words, last="420", step="1" if os.environ["OKOSU_LAB"] == "full" else "13")
    assert re.search(rb"^\d+ rounds, 0 lost, times ran out: in some$", here.stdout, re.MULTILINE), here.stdout
    assert here.status == 0


def test_the_scan_finds_a_signal_that_is_lost(tmp_path: Path) -> None:
    """A wait that looks at the condition's number some cycles after it has let the mutex go misses signals."""
    shutil.copytree(ROOM / "sw", sw := tmp_path / "sw")
    late = "for (volatile int pause = 0; pause < 20; pause++) { } sequence = cond->sequence; error"
    text = f"«error → {late}» = wait_at(&cond->sequence, sequence, deadline);"
    planting.plant(tmp_path, planting.Bug("a wait looks too late", "sw/pthread/cond.c", text))
    elf = tmp_path / "program.elf"
    words = [str(PROGRAMS / "wakeups.c"), f"-I{sw / 'pthread'}", "--", "420", "13"]
    subprocess.run(["sh", str(sw / "build.sh"), "ssh", str(elf), *words], check=True)
    here = simulation.run(simulator("banked"), elf, max_cycles=40 * LIMIT)
    assert here.stdout.startswith(b"lost: ")
    assert here.status == 1


@pytest.mark.parametrize(("backend", "arguments"), [("ssh", ()), ("software", ("yield",))])
def test_priorities_are_told_apart_and_lent(backend: str, arguments: tuple[str, ...]) -> None:
    """Fourteen of the 32 that POSIX wants, on a scheduler that has 15; on one PE, where their order shows."""
    words = (str(PROGRAMS / "priorities.c"), "--", *arguments)
    program = cross_compile.compile_(cross_compile.parse(words), backend)
    here = simulation.run(verilator.build(Machine(pes=1)), program, max_cycles=LIMIT)
    assert here.stdout.decode().splitlines() == [
        "ranks 31 30 28 25 22 20 16 12 10 8 7 5 3 1",
        "middle first: none 1, inherit 0",
        "main first: none 1, protect 0",
    ]


DEEP = """\
#include <pthread.h>
#include <stdio.h>
#include <string.h>
static unsigned fill(unsigned bytes)
{
    volatile char room[1024];
    memset((char *)room, 1, sizeof(room));
    return room[bytes % 1024] + (bytes > 1024 ? fill(bytes - 1024) : 0);
}
static void *work(void *bytes)
{
    return (void *)(size_t)fill((size_t)bytes);
}
int main(void)
{
    pthread_t thread;
    void *value;
    unsigned here = fill(200000);
    pthread_create(&thread, NULL, work, (void *)20000);
    pthread_join(thread, &value);
    printf("%u %u\\n", here, (unsigned)(size_t)value);
    return 0;
}
"""


def deep(folder: Path, backend: str, **settings: int) -> simulation.Outcome:
    flags = [f"-Wl,--defsym=__okosu_{name}={value}" for name, value in settings.items()]
    return simulation.run(verilator.build(MACHINE), compiled(folder, DEEP, *flags, backend=backend), max_cycles=LIMIT)


@pytest.mark.parametrize("backend", cross_compile.BACKENDS)
def test_stacks_are_set_from_outside(tmp_path: Path, backend: str) -> None:
    roomy = deep(tmp_path, backend, main_stack=1 << 18, stack_log2=15, stacks=16)
    assert (roomy.stdout, roomy.status) == (b"196 20\n", 0)
    assert "overrun" in deep(tmp_path, backend, main_stack=1 << 18).message
    assert "overrun" in deep(tmp_path, backend, stack_log2=15, stacks=16).message


def test_a_machine_with_more_threads_than_stacks_is_refused(tmp_path: Path) -> None:
    here = deep(tmp_path, "ssh", stacks=8)
    assert here.status == 125
    assert here.stderr == b"okosu: __okosu_stacks is less than the machine's threads\n"


DETACHED = """\\
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
static volatile int ran;
static void *work(void *own)
{
    pthread_attr_t attr;
    void *stack;
    size_t size;
    pthread_getattr_np(pthread_self(), &attr);
    pthread_attr_getstack(&attr, &stack, &size);
    ran = size == 16384 && (char *)&attr > (char *)stack && (char *)&attr < (char *)stack + size;
    return own;
}
int main(void)
{
    pthread_attr_t attr;
    pthread_t thread;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 16384);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_create(&thread, &attr, work, NULL);
    for (int turn = 0; turn < 2000; turn++)
        sched_yield();
    printf("%d %d %d\\n", ran, pthread_join(thread, NULL) == EINVAL, pthread_detach(thread) == EINVAL);
    printf("%d\\n", pthread_join(0x1234, NULL) == ESRCH);
    return 0;
}
"""


@pytest.mark.parametrize("backend", cross_compile.BACKENDS)
def test_a_detached_thread_is_not_joinable_after_its_end_either(tmp_path: Path, backend: str) -> None:
    program = compiled(tmp_path, DETACHED, backend=backend)
    here = simulation.run(verilator.build(MACHINE), program, max_cycles=LIMIT)
    assert here.stdout == b"1 1 1\n1\n"
