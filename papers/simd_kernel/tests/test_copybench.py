# SPDX-License-Identifier: Apache-2.0
"""What the series um-simd measures itself, read back: um_copy/bench, the table printed at boot, compiled routines."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from lab.run.outcome import Outcome
from okosu.errors import OkosuError
from papers.simd_kernel.plan import Timing
from papers.simd_kernel.run import copybench, machine_code

BENCH = """\
empty 64 0 1000 100
orig 64 0 2100 100
empty 64 1 900 100
orig 64 1 2000 100
empty 64 2 900 100
orig 64 2 9000 100
fast 64 0 900 100
"""


def test_a_bench_of_the_kernel_is_read_with_its_loop() -> None:
    timed = copybench.parse(BENCH)
    assert len(timed) == 7
    assert copybench.per_call(timed) == {("empty", 64): 9.0, ("orig", 64): 21.0, ("fast", 64): 9.0}


class Run:
    """Stands in for a guest, and records the commands that it was given."""

    def __init__(self, status: int = 0, stdout: str = BENCH, log: str = "um_copy: using fast\n") -> None:
        self.said = (status, None, stdout.encode(), b"sh: cannot create", log, "", 1.0, 1.0, {})
        self.commands: list[list[str]] = []

    def __call__(self, command: list[str]) -> Outcome:
        self.commands.append(command)
        return Outcome(*self.said)


def test_each_boot_is_asked_for_the_plan_and_says_what_it_chose() -> None:
    run = Run()
    plan = Timing(boots=3, rounds=2, calls=100, first=64, last=96, step=32)
    found = list(copybench.boots(run, plan))
    assert [boot.chosen for boot in found] == ["fast"] * 3
    assert [command[-1] for command in run.commands] == ["2 100 64 96 32"] * 3
    assert plan.total == 600


def test_a_kernel_without_the_bench_is_named() -> None:
    with pytest.raises(OkosuError, match="no um_copy/bench") as caught:
        list(copybench.boots(Run(status=1)))
    assert caught.value.why == "sh: cannot create"


@pytest.mark.parametrize("line", ["orig 64 0 2100", "orig 64 0 2100 0", "orig x 0 1 1", "orig 64 0 -3 1", "a b"])
def test_a_line_of_the_bench_that_is_something_else_is_named(line: str) -> None:
    with pytest.raises(OkosuError, match="line 2 of um_copy/bench"):
        copybench.parse(f"orig 64 0 2100 100\n{line}")


def test_what_the_kernel_printed_at_boot_is_read() -> None:
    row = "[    0.1] um_copy:    sse2    : copy 512 B   12.3, 4 KiB   98.1, set 4 KiB   80.0 ticks"
    assert copybench.printed(f"{row}\n[    0.1] um_copy: using sse2\n") == {
        ("sse2", "copy", 512): 12.3, ("sse2", "copy", 4096): 98.1, ("sse2", "set", 4096): 80.0,
    }  # fmt: skip
    assert copybench.printed("um_copy: using orig, as asked for\n") == {}


DISASSEMBLY = """\
0000000060001000 <um_copy_x>:
    60001000:\tmov    %rdi,%rax
    60001003:\tjb     60001020 <um_copy_x+0x20>
    60001005:\tmovdqu 0x10(%rsi),%xmm1
    60001009:\tvmovdqu (%rsi),%ymm0
    6000100d:\tmovdqu %xmm1,0x10(%rdi)
    60001012:\trep movsq %ds:(%rsi),%es:(%rdi)
    60001015:\tjmp    60001020 <um_copy_x+0x20>
    60001017:\tret
    60001018:\tnopl   0x0(%rax,%rax,1)
"""


def test_instructions_of_a_function_are_counted() -> None:
    found = machine_code.count(DISASSEMBLY)
    assert found == machine_code.Function(instructions=8, strings=1, loads=2, branches=1)
    assert machine_code.count("x: file format elf64-x86-64\n") is None


@pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")
def test_bytes_of_functions_are_summed_by_name(tmp_path: Path) -> None:
    source, program = tmp_path / "a.s", tmp_path / "a.o"
    functions = {"copy_512_a": 3, "copy_512_b": 4, "copy": 50, "my_copy_512_a": 60}
    body = "".join(
        f".type {n}, @function\n{n}:\n.skip {size}, 0x90\n.size {n}, {size}\n" for n, size in functions.items()
    )
    source.write_text(f".text\n{body}")
    subprocess.run(["gcc", "-c", "-o", program, source], check=True)
    assert machine_code.bytes_of(program, r"copy_\d+_\w+") == 7
    assert machine_code.bytes_of(program, "none") == 0
