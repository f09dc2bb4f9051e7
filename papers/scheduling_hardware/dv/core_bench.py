# SPDX-License-Identifier: Apache-2.0
"""Builds core-lockstep (dv/core/core_main.cpp) and the directed programs (dv/isa, dv/rv32).

python -m papers.scheduling_hardware.dv.core_bench FOLDER [mips1|rv32]

writes FOLDER/core-lockstep, FOLDER/NAME.elf, and FOLDER/NAME.linux of those programs that Linux can run, for one
instruction set (mips1).
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from papers.scheduling_hardware import ROOM
from papers.scheduling_hardware.cross_compile import COMPILER

PROGRAM = "core-lockstep"


@dataclass(frozen=True)
class Isa:
    """An instruction set: the value of core_top's parameter, where its directed programs lie, what compiles them (of
    which Debian package), what runs them on Linux, and the sources that are its own."""

    name: str
    number: int
    programs: Path
    compiler: str
    package: str
    flags: tuple[str, ...]
    qemu: str
    sources: tuple[str, ...]


MIPS1 = Isa(
    "mips1",
    0,
    ROOM / "dv" / "isa",
    COMPILER,
    "gcc-mipsel-linux-gnu",
    ("-march=r3000", "-mfp32", "-msoft-float", "-mno-abicalls", "-fno-pic", "-no-pie", "-static", "-nostdlib"),
    "qemu-mipsel-static",
    ("dv/core/coverage", "sim/golden", "dv/core/random_program", "dv/core/instruction"),
)
RV32 = Isa(
    "rv32",
    1,
    ROOM / "dv" / "rv32",
    "riscv64-unknown-elf-gcc",
    "gcc-riscv64-unknown-elf",
    ("-march=rv32ima_zicsr_zifencei", "-mabi=ilp32", "-fno-pic", "-static", "-nostdlib"),
    "qemu-riscv32-static",
    ("dv/core/coverage_rv32", "sim/golden_rv32", "dv/core/random_rv32", "dv/core/instruction_rv32"),
)
ISAS = {isa.name: isa for isa in (MIPS1, RV32)}
SOURCES = (
    *("sim/effect", "sim/elf"),
    *("dv/core/core_main", "dv/core/core_bench", "dv/core/timing", "dv/core/core_switch"),
)
_VERILATOR = ("--cc", "--exe", "--build", "-j", "2", "-O3", "--assert", "--x-assign", "unique", "--x-initial", "unique")


def build(folder: Path, room: Path = ROOM, more: tuple[str, ...] = (), isa: Isa = MIPS1) -> Path:
    """Build core-lockstep in `folder` from the sources in `room` for an instruction set; return it."""
    folder.mkdir(parents=True, exist_ok=True)
    words = [
        "verilator",
        *_VERILATOR,
        "-F",
        str(room / "files.f"),
        str(room / "dv/core/core_top.sv"),
        "--top-module",
        "core_top",
        f"-GIsa={isa.number}",
    ]
    flags = f"-O1 -std=c++17 -I{room}/sim -I{room}/dv/core -include verilator_print.h -DOKOSU_RV32={isa.number}"
    words += ["-CFLAGS", flags, *more, *(str(room / f"{name}.cpp") for name in (*SOURCES, *isa.sources))]
    run([*words, "--Mdir", str(folder / "core"), "-o", str(folder / PROGRAM)])
    return folder / PROGRAM


def programs(isa: Isa = MIPS1) -> list[Path]:
    return sorted(isa.programs.glob("*.S"))


def for_linux(source: Path) -> bool:
    """Say whether a directed program is one for Linux, too."""
    text = source.read_text()
    return "MACHINE_ONLY" not in text and "traps.inc" not in text


def compile_(source: Path, folder: Path, isa: Isa = MIPS1) -> None:
    """Compile a directed program for the machine, and for Linux if it is for it."""
    words = [isa.compiler, *isa.flags, "-Wl,--build-id=none", f"-I{isa.programs}", str(source), "-o"]
    run([*words, str(folder / f"{source.stem}.elf"), f"-Wl,-T,{isa.programs / 'link.ld'}"])
    if for_linux(source):
        run([*words, str(folder / f"{source.stem}.linux"), "-DON_LINUX", "-Wl,-e,_start"])


def run(words: list[str]) -> None:
    """Run a command; end with what it says if it fails."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{words[0]} failed:\n{done.stdout}{done.stderr}")


def main(arguments: list[str]) -> int:
    """Build all of it; return 2 where no folder is named, or no instruction set that there is."""
    if not 1 <= len(arguments) <= 2 or (isa := ISAS.get([*arguments, MIPS1.name][1])) is None:
        print(__doc__, file=sys.stderr)
        return 2
    folder = Path(arguments[0]).absolute()
    build(folder, isa=isa)
    for source in programs(isa) if shutil.which(isa.compiler) else ():
        compile_(source, folder, isa)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
