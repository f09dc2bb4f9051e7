# SPDX-License-Identifier: Apache-2.0
"""riscv-tests on the machine of RISC-V: every program for what its PEs have, one verdict each.

python -m papers.scheduling_hardware.riscv_suite ISA [--only REGEX] [--reasons FILE] [--table FILE] [--compare FILE]

ISA is the folder isa/ of riscv-software-src/riscv-tests. Its programs are bare: they are compiled with the environment
in dv/riscv_tests, and run on the whole machine, of one PE where --pes says nothing else, with the golden simulator
beside it: it executes each instruction, too, and at the end memory is compared. A verdict is "pass", "fail" (with the
number of the check, or mcause of a trap that the program does not handle), "differs" where machine and golden simulator
do not agree, or "not compiled". Options of the machine, and what --reasons, --table and --compare are, as in suite.py.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from okosu.errors import LAUNCHER_FAILED, OkosuError
from papers.scheduling_hardware import ROOM, cross_compile, machine, simulation, suite, verilator
from papers.scheduling_hardware.machine import Machine
from papers.scheduling_hardware.suite import NOT_COMPILED, PASS, Verdict
from papers.scheduling_hardware.verilator import Simulator

GROUPS = ("rv32ui", "rv32um", "rv32ua", "rv32mi")
"""Folders of programs for the integer instructions, products, atomic accesses and machine mode of 32 bits."""
MAX_CYCLES = 1_000_000
COMPILER = cross_compile.COMPILERS["rv32"]
_FLAGS = ("-march=rv32ima_zicsr_zifencei", "-mabi=ilp32", "-static", "-nostdlib", "-Wl,--build-id=none", "-w")
_ENVIRONMENT = ROOM / "dv/riscv_tests"
_MACHINE = Machine(pes=1, isa="rv32")
# riscv_test.h: from here on a status is mcause of a trap, and below it the number of a check.
_TRAPPED = 128
# The lowest byte of e_flags in an ELF header of 32 bits, and EF_RISCV_RVC.
_FLAGS_AT, _COMPRESSED = 36, 1


def programs(isa: Path, only: str = "") -> dict[str, Path]:
    """Return the programs by GROUP/NAME; OkosuError (125) where a group has none, so that the folder is not the suite.

    With `only`, those whose name it matches.
    """
    found: dict[str, Path] = {}
    for group in GROUPS:
        sources = sorted((isa / group).glob("*.S"))
        if not sources:
            why = f"no {group}/*.S is in it"
            raise OkosuError(f"{isa} is not isa/ of riscv-tests", why, "isa/ of its repository", LAUNCHER_FAILED)
        found |= {f"{group}/{source.stem}": source for source in sources}
    return {name: source for name, source in found.items() if re.search(only, name)}


def judge(simulator: Simulator, name: str, source: Path) -> Verdict:
    """Compile a program and run it."""
    with tempfile.TemporaryDirectory(prefix="okosu-suite-") as scratch:
        elf = Path(scratch) / "program.elf"
        macros = source.parents[1] / "macros/scalar"
        if wrong := assemble([source], elf, f"-I{_ENVIRONMENT}", f"-I{macros}"):
            return Verdict(name, NOT_COMPILED, wrong)
        try:
            outcome = simulation.run(simulator, elf, max_cycles=MAX_CYCLES, own_traps=True)
        except simulation.UnfinishedError as error:
            return Verdict(name, error.outcome.end, f"{error.what}: {error.why}")
    if outcome.status == 0:
        return Verdict(name, PASS, "")
    trapped = outcome.status >= _TRAPPED
    why = f"trap, mcause {outcome.status - _TRAPPED}" if trapped else f"check {outcome.status}"
    return Verdict(name, "fail", why)


def assemble(sources: Sequence[Path], elf: Path, *flags: str) -> str:
    """Make a bare program; return what was wrong with its sources, "" where nothing was."""
    words = [COMPILER, *_FLAGS, f"-Wl,-T,{_ENVIRONMENT / 'link.ld'}", *flags, *map(str, sources), "-o", str(elf)]
    made = subprocess.run(words, capture_output=True, text=True, check=False)
    if made.returncode:
        error = re.search(r"rror: (.*)", made.stderr)
        return error[1] if error else made.stderr.strip()[-200:]
    _allow_compressed(elf)
    return ""


def _allow_compressed(elf: Path) -> None:
    """Take the mark of compressed instructions from a file, for which the simulator would refuse it.

    Some programs have a few such where only a machine that executes them comes by.
    """
    content = bytearray(elf.read_bytes())
    content[_FLAGS_AT] &= ~_COMPRESSED
    elf.write_bytes(content)


def main(arguments: Sequence[str]) -> int:
    """Run the programs, and write or compare the table; return the exit status."""
    parser = argparse.ArgumentParser(prog="riscv_suite", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="ISA")
    parser.add_argument("--only", default="", metavar="REGEX", help="the programs whose name matches")
    suite.add_table_arguments(parser)
    machine.add_arguments(parser, _MACHINE)
    args = parser.parse_args(arguments)
    cross_compile.check_compiler("rv32")
    simulator = verilator.build(machine.chosen(vars(args), _MACHINE), checked=True)
    verdicts = []
    for name, source in programs(args.folder, args.only).items():
        verdicts.append(judge(simulator, name, source))
        if verdicts[-1].verdict != PASS:
            print(f"{name}: {verdicts[-1].verdict}: {verdicts[-1].why}", flush=True)
    return suite.conclude(verdicts, args)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
