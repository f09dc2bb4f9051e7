# SPDX-License-Identifier: Apache-2.0
"""The pthread library of the machine in rtl/: both back ends in every context mode against Linux; what calls cost."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from papers.scheduling_hardware import ROOM, cross_compile, simulation, verilator
from papers.scheduling_hardware.machine import Machine
from papers.scheduling_hardware.tests.long.shared import NEEDS

ROOT = ROOM.parents[1]
PROGRAMS = ROOM / "sw/programs"
LIMIT = 8_000_000

pytestmark = NEEDS

# (back end, context mode)
WAYS = (("ssh", "soft"), ("ssh", "mem"), ("ssh", "banked"), ("software", "soft"))
PORTABLE = ("arithmetic.c", "matmul.c", "queens.c", "producer.c", "tree.c")


def simulator(context: str) -> verilator.Simulator:
    return verilator.build(Machine(pes=4, context=context))


def run(backend: str, context: str, *words: str) -> simulation.Outcome:
    program = cross_compile.compile_(cross_compile.parse(words), backend)
    return simulation.run(simulator(context), program, max_cycles=LIMIT)


def on_linux(folder: Path, sources: list[str], *arguments: str) -> subprocess.CompletedProcess[bytes]:
    program = folder / "program"
    subprocess.run(["gcc", "-O2", "-Wall", "-Werror", "-D_GNU_SOURCE", "-o", program, *sources, "-pthread"], check=True)
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
