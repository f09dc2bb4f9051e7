# SPDX-License-Identifier: Apache-2.0
"""A core that is not ours on the scheduling hardware: PicoRV32, by its port for coprocessors (rtl/foreign).

python -m papers.scheduling_hardware.foreign_core [PICORV32.v] [--pes N]

builds a machine of such cores and runs dv/foreign on it: a program that creates threads, yields, locks, meets at a
barrier and joins, by commands in custom-0 and without the library, whose atomic accesses and CSRs this core lacks. The
core's source is in a package of PyPI, which is fetched (foreign.py says how to do without), or named. Its licence is
ISC; nothing of it is in this repository. The exit status is the program's; 125 where it cannot be run.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from lab import cache
from lab.cache import Say, quiet
from lab.cli import _kernel_options
from lab.kernel.build import compiler_version
from okosu.errors import LAUNCHER_FAILED, OkosuError
from papers.scheduling_hardware import ROOM, board, cross_compile, foreign, verilator

PES = 2
NOBODYS = {
    "a command that there is not": ".insn r 0x0b, 3, 0, x0, x0, x0",
    "SWAP is written": ".insn r 0x0b, 0, 4, x0, x0, x0",
    "SWAP is read": ".insn r 0x0b, 1, 4, x5, x0, x0",
    "a write has a result": ".insn r 0x0b, 0, 0, x5, x0, x0",
    "a read has an operand": ".insn r 0x0b, 1, 0, x5, x6, x0",
    "a setting has a result": ".insn r 0x0b, 2, 0, x5, x0, x0",
    "there is a second operand": ".insn r 0x0b, 0, 0, x0, x0, x5",
    "the number is above 31": ".insn r 0x0b, 0, 32, x0, x0, x0",
    "the number is above 63": ".insn r 0x0b, 0, 64, x0, x0, x0",
}
"""Instructions in custom-0 that are nobody's, at which the core has to stop."""
NOWHERE = {
    "a load behind the data": "li t0, 0x90020000; lw t1, 0(t0)",
    "a store behind the data": "li t0, 0x90020000; sw t1, 0(t0)",
    "a load from the text": "li t0, 0x80000000; lw t1, 0(t0)",
    "a load from a device": "li t0, 0xbf000000; lw t1, 0(t0)",
    "a store behind the devices": "li t0, 0xbf000008; sw t1, 0(t0)",
    "a jump behind the text": "li t0, 0x80004000; jr t0",
    "a jump into the data": "li t0, 0x90000000; jr t0",
}
"""Accesses of the core to what is not there, which an assertion has to name."""
STOPPED = 125
"""The simulator's status where a core has stopped."""
_KIND = "rtl-foreign"
_TOP = "picorv32_machine"
_IMEM_WORDS, _DMEM_WORDS, _THREADS = 4096, 32768, 16
_PROGRAM = ROOM / "dv/foreign"
_FLAGS = ("-march=rv32im", "-mabi=ilp32", "-O2", "-g", "-Wall", "-ffreestanding", "-nostdlib", "-static")
_VERILATOR = ("--cc", "--exe", "--build", "-O3", "--assert", "--x-assign", "unique", "--x-initial", "unique")


def core(say: Say = quiet) -> Path:
    """Return the file of PicoRV32: fetched where the cache lacks it; OkosuError (125) where it cannot be had."""
    return _named(foreign.fetched("picorv32", say))


def _named(folder: Path) -> Path:
    found = sorted(folder.rglob("picorv32.v"))
    if not found:
        raise OkosuError(f"{folder} is not PicoRV32", "no picorv32.v is in it", "its repository", LAUNCHER_FAILED)
    return found[0]


def sources(room: Path = ROOM) -> list[Path]:
    """Return what the machine is made of but the core: what lint may pass over, packages, the rest."""
    listed = [
        line
        for name in ("files.f", "foreign.f")
        for line in (room / name).read_text().splitlines()
        if line.endswith((".sv", ".vlt"))
    ]
    return [room / "dv/foreign/foreign.vlt", *(room / line for line in listed)]


def build(core_file: Path, pes: int = PES, say: Say = quiet, room: Path = ROOM) -> Path:
    """Return the simulator of a machine of so many of these cores, built where the cache has none.

    Assertions of our blocks are evaluated. OkosuError (125) if it cannot be built.
    """
    verilator.check_tools({"verilator": "verilator", "make": "make", "g++": "g++"})
    main = room / "dv/foreign/foreign_main.cpp"
    words = ["verilator", *_VERILATOR, "--top-module", _TOP, f"-GNumPes={pes}"]
    words += [f"-GImemWords={_IMEM_WORDS}", f"-GDmemWords={_DMEM_WORDS}", f"-GThreads={_THREADS}"]
    # The memories are read when the simulation begins, from where it runs.
    words += ['-DOKOSU_TEXT="text.hex"', '-DOKOSU_DATA="data.hex"', "-CFLAGS", "-std=c++17 -O1"]
    words += [str(path.resolve()) for path in [*sources(room), core_file, main]]
    digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in [*sources(room), core_file, main]]
    how = [word for word in words if not word.startswith("/")]
    key = cache.key(how, digests, compiler_version("verilator"), compiler_version("g++"))

    def fill(to: Path) -> None:
        say(f"building the simulator of {pes} foreign cores")
        verilator.compile_into(to, "foreign", words, "the machine")

    return cache.made(_KIND, key, fill, say) / "foreign"


def compile_(folder: Path, first: str = "") -> None:
    """Compile the program, which does `first` at first, and put what the memories begin with into `folder`."""
    compiler = cross_compile.COMPILERS["rv32"]
    cross_compile.check_compiler("rv32")
    elf = folder / "program.elf"
    script = f"-Wl,--build-id=none,-T,{ROOM / 'dv/riscv_tests/link.ld'}"
    made = [compiler, *_FLAGS, f"-DFIRST={first}", script, *map(str, sorted(_PROGRAM.glob("*.[cS]"))), "-o", str(elf)]
    done = subprocess.run(made, capture_output=True, text=True, check=False)
    if done.returncode:
        raise OkosuError("the program does not compile", done.stderr.strip(), "", LAUNCHER_FAILED)
    board.write(folder, board.images(_IMEM_WORDS, _DMEM_WORDS, elf))


def run(simulator: Path, first: str = "") -> subprocess.CompletedProcess[str]:
    """Compile the program, which does `first` at first, and run it: what it prints, and how the simulator ends."""
    with tempfile.TemporaryDirectory(prefix="okosu-foreign-") as scratch:
        compile_(Path(scratch), first)
        return subprocess.run([simulator], cwd=scratch, capture_output=True, text=True, check=False)


def main(arguments: Sequence[str]) -> int:
    """Build the machine and run its program; return its status."""
    parser = argparse.ArgumentParser(prog="foreign_core", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("core", nargs="?", type=Path, metavar="PICORV32.v")
    parser.add_argument("--pes", type=int, default=PES, metavar="N")
    asked = parser.parse_args(arguments)
    try:
        with _kernel_options.progress() as say:
            done = run(build(asked.core or core(say), asked.pes, say))
    except OkosuError as error:
        print(error, file=sys.stderr)
        return LAUNCHER_FAILED
    print(done.stdout, end="")
    print(done.stderr, end="", file=sys.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
