# SPDX-License-Identifier: Apache-2.0
"""What is no program for the machine in rtl/, or cannot be one: each is told with its reason, and nothing hangs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from okosu.errors import OkosuError
from papers.scheduling_hardware import ROOM, cross_compile, simulation, verilator
from papers.scheduling_hardware.tests.long.shared import HELLO, LIMIT, MACHINE, NEEDS, body, compiled, okosu

pytestmark = NEEDS


@pytest.fixture(scope="module")
def simulator() -> verilator.Simulator:
    return verilator.build(MACHINE)


DOES_NOT_COMPILE = [
    ("int main(void) { return undeclared; }\n", [], "undeclared"),
    ("int main(void) { return 0 }\n", [], "expected"),
    ("int other(void) { return 0; }\n", [], "undefined reference to `main'"),
    ("int missing(void);\nint main(void) { return missing(); }\n", [], "undefined reference to `missing'"),
    ("#include <sys/socket.h>\nint main(void) { return 0; }\n", [], "sys/socket.h"),
    ("static volatile char large[5000000];\nint main(int c, char **v) { return large[c * 1000000]; }\n", [], "data"),
    ('__asm__(".text\\n.space 300000");\nint main(void) { return 0; }\n', [], "text"),
    ("int main(void) { return 0; }\n", ["-fno-such-option"], "-fno-such-option"),
]


@pytest.mark.parametrize(("text", "words", "why"), DOES_NOT_COMPILE, ids=[why for *_, why in DOES_NOT_COMPILE])
def test_what_does_not_compile_is_told_with_the_compilers_words(
    tmp_path: Path, text: str, words: list[str], why: str
) -> None:
    with pytest.raises(OkosuError, match="does not compile for the machine") as caught:
        compiled(tmp_path, text, *words)
    assert why in caught.value.why
    assert caught.value.fix
    assert caught.value.status == 1


def test_the_command_says_where_it_does_not_compile(tmp_path: Path) -> None:
    (source := tmp_path / "broken.c").write_text("int main(void)\n{\n    return undeclared;\n}\n")
    done = okosu("--", str(source))
    assert done.returncode == 1
    what, why, fix = (done.stderr.index(word) for word in ("okosu: ", "\n  why: ", "\n  fix: "))
    assert what < why < fix
    assert "broken.c:3:" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_source_that_is_missing_is_named(tmp_path: Path) -> None:
    done = okosu("--", str(tmp_path / "none.c"))
    assert done.returncode == 127
    assert "none.c: no such file" in done.stderr


def test_what_is_no_program_for_the_machine_is_refused(tmp_path: Path, simulator: verilator.Simulator) -> None:
    def told(file: Path) -> str:
        with pytest.raises(OkosuError) as caught:
            simulation.run(simulator, file)
        assert caught.value.status == 125
        return caught.value.what

    assert "ELF file of 64 bits" in told(Path(sys.executable).resolve())
    good = compiled(tmp_path, HELLO).read_bytes()
    broken = tmp_path / "broken.elf"
    for change, what in (
        (b"#!/bin/sh\n", "no ELF file"),
        (good[:100], "cut off"),
        (good[: len(good) // 2], "cut off"),
        (good[:5] + b"\2" + good[6:], "big-endian"),
        (good[:18] + b"\x28\0" + good[20:], "machine 40"),
        (good[:39] + b"\x70" + good[40:], "later MIPS"),
        (good[:24] + b"\0\0\x40\0" + good[28:], "begins at 0x00400000"),
        (b"", "no ELF file"),
    ):
        broken.write_bytes(change)
        assert what in told(broken)
    # The first segment's address is in no memory of the machine.
    at = int.from_bytes(good[28:32], "little") + 8
    broken.write_bytes(good[:at] + b"\0\0\0\xa0" + good[at + 4 :])
    assert "outside the machine's memories" in told(broken)
    # Its size in memory is larger than any memory.
    broken.write_bytes(good[: at + 12] + b"\xff\xff\xff\x7f" + good[at + 16 :])
    assert "outside the machine's memories" in told(broken)
    assert "No such file" in told(tmp_path / "none.elf")


def test_a_linux_program_for_the_same_processor_is_refused(tmp_path: Path, simulator: verilator.Simulator) -> None:
    (source := tmp_path / "linux.c").write_text("void __start(void) { for (;;); }\n")
    words = [cross_compile.COMPILER, "-nostdlib", "-static", "-o", str(tmp_path / "linux.elf"), str(source)]
    subprocess.run(words, check=True)
    done = okosu("--", str(tmp_path / "linux.elf"))
    assert done.returncode == 125
    assert "a later MIPS than MIPS I" in done.stderr


def test_the_parser_takes_or_refuses_whatever_it_gets(tmp_path: Path) -> None:
    program, fuzz = compiled(tmp_path, HELLO), tmp_path / "fuzz"
    words = ["g++", "-std=c++17", "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-Wall"]
    sources = (ROOM / "dv/elf_fuzz.cpp", ROOM / "sim/elf.cpp")
    subprocess.run([*words, f"-I{ROOM / 'sim'}", "-o", fuzz, *sources], check=True)
    done = subprocess.run([fuzz, program, "1", "3000"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    taken, _, times = done.stdout.split()
    assert 0 < int(taken) < int(times)


THREADS = """\
#include <errno.h>
static pthread_t threads[300];
static void *work(void *a) { return a; }
"""


@pytest.mark.parametrize("backend", cross_compile.BACKENDS)
def test_more_threads_than_ids_are_refused_by_errno(
    tmp_path: Path, simulator: verilator.Simulator, backend: str
) -> None:
    text = body(
        """\
    int made = 0, error = 0;
    while (made < 300 && !(error = pthread_create(&threads[made], NULL, work, &threads[made])))
        made++;
    for (int i = 0; i < made; i++) {
        void *value = NULL;
        if (pthread_join(threads[i], &value) || value != &threads[i])
            return 1;
    }
    printf("%d\\n", made);
    return error == EAGAIN ? 5 : 6;""",
        THREADS,
    )
    outcome = simulation.run(simulator, compiled(tmp_path, text, backend=backend), max_cycles=LIMIT)
    assert outcome.status == 5, outcome
    # The machine has 16 ids, of which some wait in the other PE's pool; in software 256.
    assert 8 <= int(outcome.stdout) < (16 if backend == "ssh" else 256)


@pytest.mark.parametrize("backend", cross_compile.BACKENDS)
def test_a_program_that_ignores_that_ends_all_the_same(
    tmp_path: Path, simulator: verilator.Simulator, backend: str
) -> None:
    text = body(
        """\
    for (int i = 0; i < 300; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 300; i++)
        pthread_join(threads[i], NULL);
    return 3;""",
        THREADS,
    )
    outcome = simulation.run(simulator, compiled(tmp_path, text, backend=backend), max_cycles=LIMIT)
    assert (outcome.end, outcome.status) == ("exit", 3)


@pytest.mark.parametrize("backend", cross_compile.BACKENDS)
def test_a_thread_that_joins_itself_is_refused_by_errno(
    tmp_path: Path, simulator: verilator.Simulator, backend: str
) -> None:
    text = body(
        """\
    void *value = NULL;
    int own = pthread_join(pthread_self(), NULL);
    pthread_create(&threads[0], NULL, self, NULL);
    pthread_join(threads[0], &value);
    return own == EDEADLK && value == (void *)EDEADLK ? 4 : 1;""",
        THREADS + "static void *self(void *a) { return (void *)(long)pthread_join(pthread_self(), a); }\n",
    )
    outcome = simulation.run(simulator, compiled(tmp_path, text, backend=backend), max_cycles=LIMIT)
    assert (outcome.end, outcome.status) == ("exit", 4)
