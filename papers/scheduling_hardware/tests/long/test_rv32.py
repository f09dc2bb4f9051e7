# SPDX-License-Identifier: Apache-2.0
"""Programs on the machine of RV32 cores, each PE beside the golden simulator: what they say is what Linux says."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from okosu.errors import OkosuError
from papers.scheduling_hardware import ROOM, cross_compile, planting, simulation, verilator
from papers.scheduling_hardware.machine import Machine
from papers.scheduling_hardware.tests.long.shared import NEEDS, compiled
from papers.scheduling_hardware.tests.long.test_sw import POSIX, ROUND_ROBIN, on_linux

COMPILER = cross_compile.COMPILERS["rv32"]
pytestmark = [
    *NEEDS,
    pytest.mark.skipif(
        not shutil.which(COMPILER), reason=f"{COMPILER} is not installed (Debian: gcc-riscv64-unknown-elf)"
    ),
]
PROGRAMS, DIRECTED = ROOM / "sw/programs", ROOM / "dv/programs"
CONFORMANCE = [str(path) for path in sorted(PROGRAMS.glob("conformance*.c"))]
EVENTS = [str(PROGRAMS / name) for name in POSIX]
LIMIT = 8_000_000
FAILED = 125
SOFT = Machine(pes=2, context="soft", isa="rv32")
BANKED = Machine(pes=3, banks=3, isa="rv32")
MACHINES = [SOFT, BANKED]
FULL = os.environ.get("OKOSU_LAB") == "full"
if FULL:
    MACHINES += [Machine(pes=2, context="mem", threads=16, isa="rv32"), Machine(pes=2, context="local", isa="rv32")]
EVERY = pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.context)


def run(machine: Machine, *words: str, backend: str = "ssh") -> simulation.Outcome:
    program = cross_compile.compile_(cross_compile.parse(words), backend, isa="rv32")
    return simulation.run(verilator.build(machine, checked=True), program, max_cycles=LIMIT)


@EVERY
@pytest.mark.parametrize("sources", [CONFORMANCE, EVENTS], ids=["conformance", "events"])
def test_conformance_is_what_linux_says(tmp_path: Path, machine: Machine, sources: list[str]) -> None:
    linux = on_linux(tmp_path, sources)
    here = run(machine, *sources)
    assert linux.stdout.count(b"\nok ") >= 60
    assert (here.stdout, here.status) == (linux.stdout, 0)
    assert here.report["compared"] > 0


def test_software_threads_conform_too(tmp_path: Path) -> None:
    linux = on_linux(tmp_path, CONFORMANCE)
    here = run(SOFT, *CONFORMANCE, backend="software")
    assert (here.stdout, here.status) == (linux.stdout, 0)


def test_a_thread_that_is_interrupted_anywhere_goes_on_there(tmp_path: Path) -> None:
    """In SOFT mode the library saves all registers, whenever a quantum of 150 cycles ends."""
    linux = on_linux(tmp_path, CONFORMANCE)
    here = run(SOFT, *ROUND_ROBIN, *CONFORMANCE)
    assert (here.stdout, here.status) == (linux.stdout, 0)


@pytest.mark.parametrize("name", ["arithmetic.c", "library.c", "matmul.c", "queens.c", "tree.c"])
def test_programs_say_the_same_as_on_linux(tmp_path: Path, name: str) -> None:
    linux = on_linux(tmp_path, [str(PROGRAMS / name)])
    here = run(BANKED, str(PROGRAMS / name))
    assert linux.stdout.endswith(b"\nok\n")
    assert (here.stdout, here.status) == (linux.stdout, linux.returncode)


@EVERY
def test_no_operation_on_a_word_that_all_want_is_lost(machine: Machine) -> None:
    """Operations and conditional stores of all PEs at once, their threads switched in the middle of them."""
    for settings in ((), ROUND_ROBIN):
        here = run(machine, str(DIRECTED / "atomics.c"), *settings, "--", "6", "60")
        assert (here.stdout, here.status) == (b"0 0 0 0 0\n", 0)


ENDS = {
    "*(volatile int *)0 = 1;": (139, "access to memory that is not there"),
    "((void (*)(void))0x12345678)();": (139, "jump out of the program's text"),
    "((void (*)(void))0x80000102)();": (135, "jump into the middle of an instruction"),
    '__asm__ volatile(".word 0xffffffff");': (132, "instruction that this processor does not have"),
    "volatile unsigned at = (unsigned)&one + 1; return *(volatile int *)at;": (
        135,
        "load from an address that is not aligned",
    ),
    "volatile char deep[8000]; for (int i = 8000; i-- > 0;) deep[i] = 0; return main() + deep[one];": (
        139,
        "stack overrun",
    ),
}


@pytest.mark.parametrize("text", ENDS)
def test_a_trap_is_told_in_words_with_its_line(tmp_path: Path, text: str) -> None:
    source = tmp_path / "program.c"
    source.write_text(f"static volatile int one = 1;\nint main(void)\n{{\n    (void)one;\n    {text}\n}}\n")
    here = run(SOFT, str(source))
    status, words = ENDS[text]
    assert here.status == status
    assert here.message.startswith(f"okosu: {words}")
    if "jump out" not in words:
        assert "main (program.c:" in here.message


def test_a_program_of_the_other_instruction_set_is_refused(tmp_path: Path) -> None:
    program = compiled(tmp_path, "int main(void) { return 0; }\n")
    with pytest.raises(OkosuError, match="ELF file for machine 8; the machine is a RISC-V"):
        simulation.run(verilator.build(SOFT, checked=True), program)


# Caches so small that lines leave them; on the wide bus a store is shown when the next access may be under way already.
CACHED_WIDE = Machine(pes=2, banks=3, bus="pipelined", dcache=256, isa="rv32")
BUSES = [Machine(pes=3, banks=3, bus="pipelined", isa="rv32"), Machine(pes=3, banks=3, dcache=256, isa="rv32")]
if FULL:
    BUSES += [
        CACHED_WIDE,
        Machine(pes=3, context="mem", bus="wishbone", isa="rv32"),
        Machine(pes=2, context="soft", bus="wishbone", dcache=64, isa="rv32"),
    ]


@pytest.mark.parametrize("machine", BUSES, ids=lambda one: f"{one.bus}-{one.dcache}-{one.context}")
def test_reservations_hold_on_every_bus_and_behind_caches(tmp_path: Path, machine: Machine) -> None:
    for settings in ((), ROUND_ROBIN):
        for threads, rounds in ((6, 60), (2, 200), (9, 30)):
            here = run(machine, str(DIRECTED / "atomics.c"), *settings, "--", str(threads), str(rounds))
            assert (here.stdout, here.status) == (b"0 0 0 0 0\n", 0)
    linux = on_linux(tmp_path, CONFORMANCE)
    here = run(machine, *CONFORMANCE)
    assert (here.stdout, here.status) == (linux.stdout, 0)
    assert here.report["compared"] > 0


BUGS = [
    planting.Bug(
        "a new thread's argument is beside its register",
        "rtl/ssh/context_engine.sv",
        "port_index_o = «Argument → Argument + 6'd1»; port_wdata_o = argument_q;",
    ),
    planting.Bug("an operation is not done again", "rtl/cpu/lsu.sv", "(!is_amo || (amo_writes && «reserved → 1'b1»))"),
    planting.Bug("nobody's store ends a reservation", "rtl/cpu/lsu.sv", "else if («ended → 1'b0» || drop_i"),
]


# On the wide bus only: there a store of the cycle before has not ended the reservation yet.
WIDE_BUGS = [
    planting.Bug(
        "a store that the bus shows now is not seen",
        "rtl/cpu/lsu.sv",
        "holds = reserved && !(«WideBus → 1'b0» && stores",
    ),
    planting.Bug(
        "a line takes the bytes that a core asks for, not those that the bus shows",
        "rtl/soc/dcache.sv",
        "if («snoop_i.be[b] → core_req_i.be[b]»)",
    ),
]


@pytest.fixture(scope="module")
def planted_wide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    room = planting.copy(tmp_path_factory.mktemp("planted") / "room")
    planting.plant_all(room, WIDE_BUGS)
    return verilator.build(CACHED_WIDE, checked=True, room=room).program


@pytest.mark.parametrize("number", range(len(WIDE_BUGS) + 1), ids=["none", *(bug.says for bug in WIDE_BUGS)])
def test_what_is_wrong_on_the_wide_bus_is_found(planted_wide: Path, number: int) -> None:
    assert differs(planted_wide, number, "6", "200") == (number > 0)


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a simulator with all of the bugs in it."""
    room = planting.copy(tmp_path_factory.mktemp("planted") / "room")
    planting.plant_all(room, BUGS)
    return verilator.build(Machine(pes=2, isa="rv32"), checked=True, room=room).program


@pytest.mark.parametrize("number", range(len(BUGS) + 1), ids=["none", *(bug.says for bug in BUGS)])
def test_the_lockstep_finds_a_bug(planted: Path, number: int) -> None:
    assert differs(planted, number, "6", "60") == (number > 0)


def differs(simulator: Path, number: int, *arguments: str) -> bool:
    """Say whether the golden simulator and the machine with that bug part on the program of atomic operations."""
    program = cross_compile.compile_(
        cross_compile.parse([str(DIRECTED / "atomics.c"), "--", *arguments]), "ssh", isa="rv32"
    )
    done = subprocess.run(
        [simulator, "--max-cycles", str(LIMIT), program],
        env={**os.environ, planting.VARIABLE: str(number)},
        capture_output=True,
        text=True,
        check=False,
    )
    found = "does not do what the golden simulator does" in done.stderr
    assert done.returncode == (FAILED if found else 0), done.stderr
    return found
