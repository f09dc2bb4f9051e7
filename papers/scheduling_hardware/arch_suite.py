# SPDX-License-Identifier: Apache-2.0
"""riscv-arch-test on the machine of RISC-V: every program for what its PEs have, one verdict each.

python -m papers.scheduling_hardware.arch_suite SUITE [--only REGEX] [--reasons FILE] [--table FILE] [--compare FILE]

SUITE is the repository riscv-non-isa/riscv-arch-test in any of its versions from 1.0 to 3.9. Each of its programs
leaves a signature in memory: what its instructions gave and, in those of machine mode, what traps said. Programs run on
the whole machine, of one PE where --pes says nothing else, with the golden simulator beside it, and signatures are
compared with what others say: the suite's own references, which its versions 1.0 and 2.x have, and where a program has
none, what the same program leaves under QEMU, as a process of Linux. A verdict is "pass", "fail" (with the first word
that differs), "differs" where machine and golden simulator do not agree, "max-cycles" where a program does not end,
"not compiled", or "no reference" where a program has none that is of such a machine and wants machine mode, in which a
process of Linux is not: then only machine and golden simulator agree. Options of the machine, and what --reasons,
--table and --compare are, as in suite.py.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from okosu.errors import LAUNCHER_FAILED, NOT_FOUND, OkosuError
from papers.scheduling_hardware import ROOM, cross_compile, machine, riscv_suite, simulation, suite, verilator
from papers.scheduling_hardware.machine import Machine
from papers.scheduling_hardware.suite import NOT_COMPILED, PASS, Verdict
from papers.scheduling_hardware.verilator import Simulator

GROUPS = (
    *("rv32i", "rv32im", "rv32Zicsr", "rv32Zifencei"),
    *(f"rv32i_m/{group}" for group in ("I", "M", "A", "Zifencei", "privilege")),
)
"""Folders of programs, of version 1.0 and of all others, for what the PEs have."""
PROGRAMS = "riscv-test-suite"
HEADERS = ("riscv-test-env", "riscv-test-suite/env")
"""The folder of groups, and those of headers: of version 1.0 and of all others."""
NO_REFERENCE = "no reference"
QEMU = "qemu-riscv32-static"
MAX_CYCLES = 1_000_000
# Text of up to 1.7 MB: some programs jump as far as jal reaches.
IMEM_WORDS = 1 << 19
_ISA = "RV32IMAZicsr_Zifencei"
# Programs know their machine by what RVTEST_CASE asks of it.
_OTHERWISE = {"hw_data_misaligned_support": "False"}
_CASE = re.compile(r'RVTEST_CASE\(\s*\d+\s*,\s*"//([^"]*)"')
_CHECK = re.compile(r"check\s+(\w+)\s*:=\s*(?:regex\(([^;]*)\)|(\w+))\s*(?:;|$)")
_DEFINE = re.compile(r"def\s+(\w+)\s*=\s*(\w+)")
_TRAPS = "rvtest_mtrap_routine"
_WORD = 4
_ENVIRONMENT = ROOM / "dv/riscv_arch"
_MACHINE = Machine(pes=1, isa="rv32")


@dataclass(frozen=True)
class Program:
    """A program, the macros that it is assembled with, and the suite's reference of its signature, if it has one."""

    name: str
    source: Path
    macros: tuple[str, ...]
    reference: Path | None

    @property
    def takes_traps(self) -> bool:
        """Whether it has a handler of machine mode for traps."""
        return any(one.startswith(_TRAPS) for one in self.macros)


def macros(text: str) -> tuple[str, ...] | None:
    """Return what a program's cases define, of those that this machine is asked for in; None where none asks for it."""
    found: dict[str, str] = {}
    cases = _CASE.findall(text)
    # Version 1.0 has no cases.
    applies = not cases
    for case in cases:
        if all(_holds(name, pattern, value) for name, pattern, value in _CHECK.findall(case)):
            applies = True
            found |= dict(_DEFINE.findall(case))
    return tuple(f"{name}={value}" for name, value in found.items()) if applies else None


def _depends_on_compressed(text: str) -> bool:
    """Say whether a program does other things where there are compressed instructions: the references are of those."""
    return "[^C]" in text


def _holds(name: str, pattern: str, value: str) -> bool:
    return bool(re.match(pattern, _ISA)) if name == "ISA" else _OTHERWISE.get(name) == value


def programs(folder: Path, only: str = "") -> list[Program]:
    """Return the programs that apply, with `only` those whose name, GROUP/NAME, it matches.

    OkosuError (125) where the folder has none at all, so that it is not the suite.
    """
    sources = {group: sorted((folder / PROGRAMS / group / "src").glob("*.S")) for group in GROUPS}
    if not any(sources.values()):
        why = f"no programs for {' or '.join(GROUPS)} are in its {PROGRAMS}"
        raise OkosuError(f"{folder} is not riscv-arch-test", why, "the top of its repository", LAUNCHER_FAILED)
    found = []
    for group, source in ((group, source) for group, those in sources.items() for source in those):
        name = f"{group}/{source.stem}"
        defined = macros(source.read_text())
        if defined is not None and re.search(only, name):
            reference = source.parents[1] / f"references/{source.stem}.reference_output"
            has = reference.is_file() and not _depends_on_compressed(source.read_text())
            found.append(Program(name, source, defined, reference if has else None))
    return found


def judge(simulator: Simulator, folder: Path, program: Program) -> Verdict:
    """Assemble a program, run it, and compare its signature."""
    with tempfile.TemporaryDirectory(prefix="okosu-suite-") as scratch:
        elf, linux = Path(scratch) / "machine.elf", Path(scratch) / "linux.elf"
        flags = [f"-I{folder / headers}" for headers in HEADERS]
        flags += [f"-I{_ENVIRONMENT}", "-Wl,-e,rvtest_entry_point", "-DXLEN=32"]
        flags += [f"-D{one}" for one in program.macros]
        for halt, made in (("machine", elf), ("linux", linux)):
            if wrong := riscv_suite.assemble([program.source, _ENVIRONMENT / f"halt_{halt}.S"], made, *flags):
                return Verdict(program.name, NOT_COMPILED, wrong)
        try:
            outcome = simulation.run(simulator, elf, max_cycles=MAX_CYCLES, own_traps=True)
        except simulation.UnfinishedError as error:
            return Verdict(program.name, error.outcome.end, f"{error.what}: {error.why}")
        if program.reference is None and program.takes_traps:
            return Verdict(program.name, NO_REFERENCE, "it is for machine mode")
        expected = _from_text(program.reference.read_text()) if program.reference else under_qemu(linux)
    why = difference(_words(outcome.stdout), expected)
    return Verdict(program.name, "fail" if why else PASS, why)


def under_qemu(elf: Path) -> list[int]:
    """Return the signature that a program leaves as a process of Linux; OkosuError where QEMU cannot run it."""
    if not shutil.which(QEMU):
        raise OkosuError(f"{QEMU} not found", "it makes the references", "Debian: qemu-user-static", NOT_FOUND)
    done = subprocess.run([QEMU, str(elf)], capture_output=True, check=False)
    if done.returncode:
        raise OkosuError(f"{QEMU} cannot run a program", f"exit status {done.returncode}", "", LAUNCHER_FAILED)
    return _words(done.stdout)


def difference(signature: Sequence[int], expected: Sequence[int]) -> str:
    """Return in words where two signatures differ first; "" where they do not."""
    for number, (here, there) in enumerate(zip(signature, expected, strict=False)):
        if here != there:
            return f"word {number} is {here:08x}, expected {there:08x}"
    if len(signature) != len(expected):
        return f"{len(signature)} words, expected {len(expected)}"
    return "" if signature else "the signature is empty"


def _words(content: bytes) -> list[int]:
    return [int.from_bytes(content[at : at + _WORD], "little") for at in range(0, len(content), _WORD)]


def _from_text(text: str) -> list[int]:
    return [int(line, 16) for line in text.split()]


def main(arguments: Sequence[str]) -> int:
    """Run the programs, and write or compare the table; return the exit status."""
    parser = argparse.ArgumentParser(prog="arch_suite", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="SUITE")
    parser.add_argument("--only", default="", metavar="REGEX", help="the programs whose name matches")
    suite.add_table_arguments(parser)
    machine.add_arguments(parser, _MACHINE)
    args = parser.parse_args(arguments)
    cross_compile.check_compiler("rv32")
    found = programs(args.folder, args.only)
    simulator = verilator.build(machine.chosen(vars(args), _MACHINE), checked=True, imem_words=IMEM_WORDS)
    verdicts = []
    for program in found:
        verdicts.append(judge(simulator, args.folder, program))
        if verdicts[-1].verdict != PASS:
            print(f"{program.name}: {verdicts[-1].verdict}: {verdicts[-1].why}", flush=True)
    return suite.conclude(verdicts, args)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
