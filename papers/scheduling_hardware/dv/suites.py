# SPDX-License-Identifier: Apache-2.0
"""What is run against mutants, until something fails.

Of the core: random and directed programs, then machines' as below. Of SSH-m: random messages beside the golden
scheduler, then machines' programs. Of all: programs whose cycles are known (cycles.py), with assertions and every PE
beside the golden simulator, and at last a block's proof, if it has one. Of a board, and of the processing element of a
foreign core: a program whose output, end and time are those of the original.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from papers.scheduling_hardware import ROOM, board, cross_compile, foreign_core, planting, proving, verilator
from papers.scheduling_hardware.dv import core_bench, cycles, mutants, sched_bench
from papers.scheduling_hardware.dv.mutants import Mutant
from papers.scheduling_hardware.machine import Machine

SSH_M = (
    "rtl/bus/sched_bus.sv",
    "rtl/ssh/ssh_m.sv",
    "rtl/ssh/message_unit.sv",
    "rtl/ssh/waiting_unit.sv",
    "rtl/ssh/dispatcher.sv",
    "rtl/ssh/ready_unit.sv",
    "rtl/ssh/thread_table.sv",
    "rtl/ssh/deadline_unit.sv",
    "rtl/ssh/list_unit.sv",
    "rtl/ssh/watch_unit.sv",
    "rtl/ssh/pe_table.sv",
)
# Types and constants, checks, and a memory without an operator: nothing in these is changed.
UNCHANGED = ("rtl/soc/instruction_memory.sv", "rtl/ssh/ssh_m_checks.sv")
MUTATED = tuple(
    line for line in verilator.design() if line.endswith(".sv") and "_pkg" not in line and line not in UNCHANGED
)
CORE = tuple(line for line in MUTATED if line.startswith("rtl/cpu/"))
OTHERS = tuple(line for line in MUTATED if line not in (*SSH_M, *CORE))
# The files most of which the first machine uses: not those of other context modes, nor those that only proofs examine.
THIN = (
    "rtl/bus/rr_arbiter.sv",
    "rtl/bus/fifo.sv",
    "rtl/ssh/cpu_unit.sv",
    "rtl/ssh/register_unit.sv",
    "rtl/ssh/ssh_s.sv",
    "rtl/soc/shared_memory.sv",
    "rtl/soc/pe_counters.sv",
    "rtl/soc/pe.sv",
    "rtl/soc/cluster.sv",
    "rtl/soc/machine.sv",
)
# By file, the only machine that has its block.
ONLY = {
    "rtl/bus/wide_bus.sv": "cached",
    "rtl/bus/wishbone_bus.sv": "wishbone",
    "rtl/bus/wishbone_slave.sv": "wishbone",
    "rtl/soc/dcache.sv": "cached",
    "rtl/ssh/context_directory.sv": "local",
}
# The proof of a file's block: the one that its planted bugs break.
PROOFS = {one.bug.file: f"{one.proof}:{one.task}" for one in reversed(proving.bugs())}
# Seconds that a proof may take to fail.
PROOF_LIMIT_S = 200
# Cycles that a mutant's run may take longer than the original's.
GRACE = 1000
# A mutant may make the simulation endless. The limit is processor time, so that a busy machine changes no result.
CPU_LIMIT_S = 60


def run(words: list[str], mutant: int, folder: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    """Run a command in a folder with a mutant (0: with none) until it ends or has used its time."""
    env = {**os.environ, planting.VARIABLE: str(mutant)}
    limited = ["sh", "-c", f'ulimit -t {CPU_LIMIT_S}; exec "$@"', "sh", *words]
    return subprocess.run(limited, env=env, cwd=folder, capture_output=True, check=False)


class Suite(ABC):
    """Tests of a model that has all mutants of some files in it; `thin`: those that cost least; `only`: for the mutants
    of these files alone."""

    def __init__(self, folder: Path, thin: bool = False, only: Sequence[str] = ()) -> None:
        self.folder = folder
        self.thin = thin
        self.only = only

    @abstractmethod
    def build(self) -> list[Mutant]:
        """Build the models; return the mutants that they are to find."""

    @abstractmethod
    def killer(self, mutant: Mutant | None) -> str:
        """Return the name of the first test that fails with a mutant (None: with the original), "" if none fails."""


class MachineSuite(Suite):
    """All but the core and SSH-m, in machines of all kinds; thin: in the first one what that uses."""

    FILES: ClassVar[tuple[str, ...]] = OTHERS
    THIN: ClassVar[tuple[str, ...]] = THIN
    # The files that have mutants in the model, so that suites have machines in common.
    PLANTED: ClassVar[tuple[str, ...]] = (*OTHERS, *SSH_M)

    def build(self) -> list[Mutant]:
        """Build the machines' simulators, and the programs."""
        self.room = planting.copy(self.folder / "room")
        found = mutants.plant(self.room, self.PLANTED)
        self.programs = {point: point.compiled() for point in self.points()}
        self.expected = cycles.table()["points"]
        for name in self.machines():
            simulator = verilator.build(cycles.MACHINES[name], checked=True, room=self.room)
            shutil.copy(simulator.program, self.folder / name)
        return [one for one in found if one.file in (self.THIN if self.thin else self.FILES)]

    def machines(self) -> tuple[str, ...]:
        """Return the machines that are built: where all files are of one machine's blocks, that one."""
        if self.only and {*self.only} <= {*ONLY}:
            return tuple({ONLY[file] for file in self.only})
        return tuple(cycles.MACHINES)[: 1 if self.thin else None]

    def points(self) -> list[cycles.Point]:
        """Return the programs, short ones first; of some that are long others have most."""
        expected = cycles.table()["points"]
        kept = [point for point in cycles.POINTS if point.machine in self.machines() and not point.is_long]
        return sorted(kept, key=lambda point: int(expected[point.name]["cycles"]))

    def killer(self, mutant: Mutant | None) -> str:
        """Return the first program that ends otherwise, or in other cycles, than the table says."""
        only = ONLY.get(mutant.file) if mutant else None
        for point, program in self.programs.items():
            if only in (None, point.machine) and not self.holds(point, program, mutant.number if mutant else 0):
                return point.name
        return "" if self.thin or self.proved(mutant) else f"proof {PROOFS[mutant.file] if mutant else ''}"

    def proved(self, mutant: Mutant | None) -> bool:
        """Say whether a mutant's block is without a proof, or its proof holds (or finds nothing in time)."""
        if mutant is None or mutant.file not in PROOFS:
            return True
        proof = proving.find([PROOFS[mutant.file]])[0]
        with tempfile.TemporaryDirectory() as folder:
            room = planting.copy(Path(folder) / "room")
            (room / mutant.file).write_text(planting.settle((self.room / mutant.file).read_text(), mutant.number))
            limits = room / "formal" / f"{proof.name}.sby"
            limits.write_text(
                re.sub(r"^timeout \d+", f"timeout {PROOF_LIMIT_S}", limits.read_text(), flags=re.MULTILINE)
            )
            return proving.prove(proof, room).verdict != "FAIL"

    def holds(self, point: cycles.Point, program: Path, number: int) -> bool:
        """Say whether a program does with a mutant what the table says."""
        expected = self.expected[point.name]
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "report.json"
            limit = ["--max-cycles", str(expected["cycles"] + GRACE), "--report", str(report)]
            done = run([str(self.folder / point.machine), *limit, str(program)], number)
            try:
                told = json.loads(report.read_text())
            except (OSError, ValueError):
                return False
        return not cycles.differences(expected, cycles.shape(told, done.stdout, program))


class CoreSuite(MachineSuite):
    """The core beside the golden simulators of both instruction sets, for a mutant may be in what only one of them
    uses; then in machines. Thin: not in machines."""

    FILES = THIN = PLANTED = CORE
    # Seed, programs, instructions. The first run is short, for most mutants fail at once.
    RANDOM = ((1, 2, 5_000), (3, 40, 10_000))
    # Exit statuses that find no mutant; 3: so few random programs did not reach everything.
    WELL: ClassVar[Mapping[str, tuple[int, ...]]] = {"random": (0, 3), "program": (0,)}
    # Operations of all PEs on the same words, on the bus that shows a store when the next access may be under way.
    WIDE = Machine(pes=3, banks=3, bus="pipelined", isa="rv32")
    ATOMICS = (str(cycles.DIRECTED / "atomics.c"), "--", "6", "60")

    def build(self) -> list[Mutant]:
        """Build core-lockstep and the directed programs, and the machines."""
        found = super().build()
        for isa in core_bench.ISAS.values():
            core_bench.build(self.folder / isa.name, self.room, ("-Wno-lint", "-Wno-style"), isa)
            for source in core_bench.programs(isa):
                core_bench.compile_(source, self.folder / isa.name, isa)
        if not self.thin:
            self.wide = verilator.build(self.WIDE, checked=True, room=self.room).program
            self.atomics = cross_compile.compile_(cross_compile.parse(self.ATOMICS), "ssh", isa=self.WIDE.isa)
            self.operated = self.operates(0, cycles.LIMIT)
        return found

    def machines(self) -> tuple[str, ...]:
        return () if self.thin else ("banked",)

    def runs(self) -> list[list[str]]:
        """Return random programs, all directed ones, and more random ones."""
        first, directed, then = [], [], []
        for isa in core_bench.ISAS.values():
            program = str(self.folder / isa.name / core_bench.PROGRAM)
            elves = [self.folder / isa.name / f"{source.stem}.elf" for source in core_bench.programs(isa)]
            first.append([program, "random", *map(str, self.RANDOM[0])])
            directed += [[program, "program", str(elf)] for elf in elves]
            then.append([program, "random", *map(str, self.RANDOM[1])])
        return [*first, *directed, *then]

    def operates(self, number: int, limit: int) -> tuple[bytes, int, int]:
        """Return what the operations on the same words print with a mutant, their status, and their cycles."""
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "report.json"
            words = [str(self.wide), "--max-cycles", str(limit), "--report", str(report), str(self.atomics)]
            done = run(words, number)
            try:
                return done.stdout, done.returncode, json.loads(report.read_text())["cycles"]
            except (OSError, ValueError):
                return done.stdout, done.returncode, 0

    def killer(self, mutant: Mutant | None) -> str:
        """Return the first program on which core and golden simulator differ, or machine that shows the mutant."""
        number = mutant.number if mutant else 0
        for words in self.runs():
            if run(words, number).returncode not in self.WELL[words[1]]:
                return " ".join((words[1], Path(words[0]).parent.name, *(Path(word).stem for word in words[2:])))
        if self.thin:
            return ""
        if mutant is None:
            return "" if self.operated[1] == 0 else "atomics.c"
        if self.operates(number, self.operated[2] + GRACE) != self.operated:
            return "atomics.c on the wide bus"
        return super().killer(mutant)


class SchedSuite(MachineSuite):
    """SSH-m and its bus: random messages beside the golden scheduler first; thin: nothing else."""

    FILES = THIN = SSH_M
    # First seed, seeds, messages. The first run is short.
    RUNS = ((1, 1, 4_000), (2, 12, 12_000))
    # Exit statuses that find no mutant; 3: so few messages did not reach everything.
    WELL = (0, 3)

    def build(self) -> list[Mutant]:
        """Build sched-lockstep, and the machines."""
        found = super().build()
        objects = sched_bench.model(self.folder)
        options = ("--assert", "-Wno-fatal", "-Wno-lint", "-Wno-style")
        # A machine is called as a scheduler is.
        messages = self.folder / "messages"
        messages.mkdir()
        self.lockstep = [
            sched_bench.build(self.room, messages / machine.scheduler, machine, objects, *options)
            for machine in (sched_bench.FOUR_PES, sched_bench.STAGED)
        ]
        return found

    def machines(self) -> tuple[str, ...]:
        return () if self.thin else super().machines()

    def killer(self, mutant: Mutant | None) -> str:
        """Return the first messages that SSH-m answers wrongly, or program that shows it."""
        for numbers in self.RUNS:
            for lockstep in self.lockstep:
                words = [str(lockstep), *map(str, numbers)]
                if run(words, mutant.number if mutant else 0).returncode not in self.WELL:
                    return f"{numbers[1] * numbers[2]} messages, {lockstep.parent.name}"
        return super().killer(mutant)


class WholeSuite(Suite):
    """A system that begins with files of memory and runs a program, which has to end as it does with the original; and
    others, which are shorter."""

    FILES: ClassVar[tuple[str, ...]]
    # What the program prints at last, its status, and clocks within which it ends with the original.
    LAST: ClassVar[bytes]
    STATUS: ClassVar[int]
    CLOCKS: ClassVar[int]

    def build(self) -> list[Mutant]:
        """Build the system's simulator, and the programs."""
        room = planting.copy(self.folder / "room")
        found = mutants.plant(room, self.FILES)
        self.program = self.folder / "simulator"
        shutil.copy(self.simulator(room), self.program)
        self.expected = {name: self.ends(0, folder) for name, folder in self.programs().items()}
        return found

    @abstractmethod
    def simulator(self, room: Path) -> Path:
        """Return the system's simulator, from sources in `room`."""

    @abstractmethod
    def programs(self) -> dict[str, Path]:
        """Return folders with what the memories begin with, by the programs' names; first the one that LAST is of."""

    def ends(self, number: int, folder: Path) -> tuple[bytes, bytes, int]:
        """Return what a program prints with a mutant, when it ends, and with which status."""
        done = run([str(self.program), str(self.CLOCKS)], number, folder)
        return done.stdout, done.stderr, done.returncode

    def killer(self, mutant: Mutant | None) -> str:
        """Return the first program that prints or ends otherwise than with the original."""
        if mutant is None:
            said, _, status = next(iter(self.expected.values()))
            return "" if said.endswith(self.LAST) and status == self.STATUS else f"status {status}"
        differ = (name for name, was in self.expected.items() if self.ends(mutant.number, self.folder / name) != was)
        return next(differ, "")


class BoardSuite(WholeSuite):
    """What a board has beside the machine, from its pins."""

    FILES = ("rtl/board/uart_tx.sv", "rtl/board/ulx3s_top.sv")
    LAST = b"2 arguments, the last two\n"
    STATUS = 93
    CLOCKS = 1_000_000

    def simulator(self, room: Path) -> Path:
        """Return the simulator of the ULX3S."""
        return board.simulator(board.BOARDS["ulx3s"], room=room)

    def programs(self) -> dict[str, Path]:
        """Return the program that prints more than the buffer of the serial line holds."""
        on, folder = board.BOARDS["ulx3s"], self.folder / "talks"
        folder.mkdir(exist_ok=True)
        program = board.compile_(on, [str(ROOM / "dv/board/talks.c"), "--", "one", "two"])
        board.write(folder, board.images(on.imem_words, on.dmem_words, program))
        return {folder.name: folder}


class ForeignSuite(WholeSuite):
    """A foreign core's way to SSH-s and to memory."""

    FILES = ("rtl/foreign/pcpi_ssh.sv", "rtl/foreign/picorv32_pe.sv", "rtl/foreign/picorv32_machine.sv")
    LAST = b"thread 5 is joined\n"
    STATUS = 0
    CLOCKS = 100_000

    def simulator(self, room: Path) -> Path:
        """Return the simulator of the machine of PicoRV32, which is fetched."""
        return foreign_core.build(foreign_core.core(), room=room)

    def programs(self) -> dict[str, Path]:
        """Return the program with threads, and those with an instruction or access that there is not."""
        wrong = {**foreign_core.NOBODYS, **foreign_core.NOWHERE}
        folders = {name: self.folder / name for name in ("threads", *wrong)}
        for name, folder in folders.items():
            folder.mkdir(exist_ok=True)
            foreign_core.compile_(folder, wrong.get(name, ""))
        return folders
