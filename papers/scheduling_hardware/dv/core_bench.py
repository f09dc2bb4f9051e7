# SPDX-License-Identifier: Apache-2.0
"""Builds core-lockstep (sim/core_main.cpp) and the directed programs (dv/isa).

python -m papers.scheduling_hardware.dv.core_bench FOLDER

writes FOLDER/core-lockstep, FOLDER/NAME.elf, and FOLDER/NAME.linux of those programs that Linux can run.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from papers.scheduling_hardware import ROOM
from papers.scheduling_hardware.cross_compile import COMPILER

ISA = ROOM / "dv" / "isa"
PROGRAM = "core-lockstep"
_SOURCES = (
    "core_main",
    "core_bench",
    "coverage",
    "effect",
    "elf",
    "golden",
    "random_program",
    "instruction",
    "timing",
    "core_switch",
)
_FLAGS = ("-march=r3000", "-mfp32", "-msoft-float", "-mno-abicalls", "-fno-pic", "-no-pie", "-static", "-nostdlib")
_VERILATOR = ("--cc", "--exe", "--build", "-j", "2", "-O3", "--assert", "--x-assign", "unique", "--x-initial", "unique")


def build(folder: Path, room: Path = ROOM, more: tuple[str, ...] = ()) -> Path:
    """Build core-lockstep in `folder` from the sources in `room`; return it."""
    folder.mkdir(parents=True, exist_ok=True)
    sim = room / "sim"
    words = [
        "verilator",
        *_VERILATOR,
        "-F",
        str(room / "files.f"),
        str(sim / "core_top.sv"),
        "--top-module",
        "core_top",
    ]
    words += ["-CFLAGS", f"-O1 -std=c++17 -I{sim} -include verilator_print.h", *more]
    words += [str(sim / f"{name}.cpp") for name in _SOURCES]
    run([*words, "--Mdir", str(folder / "core"), "-o", str(folder / PROGRAM)])
    return folder / PROGRAM


def programs() -> list[Path]:
    return sorted(ISA.glob("*.S"))


def for_linux(source: Path) -> bool:
    """Say whether a directed program is one for Linux, too."""
    text = source.read_text()
    return "MACHINE_ONLY" not in text and "traps.inc" not in text


def compile_(source: Path, folder: Path) -> None:
    """Compile a directed program for the machine, and for Linux if it is for it."""
    words = [COMPILER, *_FLAGS, "-Wl,--build-id=none", f"-I{ISA}", str(source), "-o"]
    run([*words, str(folder / f"{source.stem}.elf"), f"-Wl,-T,{ISA / 'link.ld'}"])
    if for_linux(source):
        run([*words, str(folder / f"{source.stem}.linux"), "-DON_LINUX", "-Wl,-e,_start"])


def run(words: list[str]) -> None:
    """Run a command; end with what it says if it fails."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{words[0]} failed:\n{done.stdout}{done.stderr}")


def main(arguments: list[str]) -> int:
    """Build all of it; return 2 where no folder is named."""
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    folder = Path(arguments[0]).absolute()
    build(folder)
    for source in programs() if shutil.which(COMPILER) else ():
        compile_(source, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
