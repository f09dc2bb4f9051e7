# SPDX-License-Identifier: Apache-2.0
"""Simulators of the machine in rtl/, made by Verilator and kept by what they are made from."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lab import cache
from lab.cache import Say, quiet
from lab.kernel.build import compiler_version
from okosu.errors import LAUNCHER_FAILED, OkosuError
from papers.scheduling_hardware import ROOM
from papers.scheduling_hardware.machine import DMEM_WORDS, IMEM_WORDS, Machine

# Parameters that are the same for all machines. The sections are user, create, join, switch, lock, library, and the
# loop of a PE that is idle (kSections in sim/model.h).
_FIXED = {"DmemWords": DMEM_WORDS, "Sections": 7}
_KIND = "rtl"
_LOG = "build.log"
_TOOLS = {"verilator": "verilator", "make": "make", "g++": "g++"}
_PROGRAM = "machine"
_RUNNER = ("elf", "model", "counters", "schedule", "stacks", "trace", "options", "run", "describe", "machine_main")
_GOLDEN = ("effect", "golden", "golden_rv32", "lockstep", "lockstep_pe")
_SOURCES = (*_RUNNER, *_GOLDEN)
# Measured with 4 PEs, -O2 simulates 1.17 times as fast as -O1. Code that runs once (OPT_SLOW) is not optimised. The
# library of Verilator is OPT_GLOBAL's.
_MAKE = ("OPT_FAST=-O2", "OPT_SLOW=-O0", "OPT_GLOBAL=-O2")
# By Verilator's makefile alone a checked simulator of 8 PEs is compiled in 38 s, by this one in 24 s (Zen 3, two CPUs).
_MAKEFILE = "sim/simulator.mk"
_VERILATOR = ("--cc", "--exe", "-O3")
_FAST = (*_VERILATOR, "--x-assign", "fast", "--x-initial", "fast", "--no-assert")
_CHECKED = (*_VERILATOR, "--x-assign", "unique", "--x-initial", "unique", "--assert")
# Registers in arrays of up to so many bits are counted, too; the memories are larger.
_TOGGLES = ("--coverage-toggle", "--coverage-max-width", "8192")


@dataclass(frozen=True)
class Simulator:
    """A simulator that was built: its program, what it simulates, whether it checks, whether it can write waveforms."""

    program: Path
    machine: Machine
    checked: bool
    waves: bool
    key: str
    verilator: str


def design(room: Path = ROOM) -> list[str]:
    """Return what files.f lists: the design's files, packages first, relative to the room."""
    lines = (line.strip() for line in (room / "files.f").read_text().splitlines())
    return [line for line in lines if line and not line.startswith("//")]


def compile_into(to: Path, program: str, words: Sequence[str], what: str) -> None:
    """Have Verilator and its compiler make `program` in the folder `to`, where they run, and leave nothing else.

    OkosuError (125), which says that `what` cannot be built, with the first errors.
    """
    argv = [*words, "-j", str(len(os.sched_getaffinity(0))), "--Mdir", "objects", "-o", program]
    done = subprocess.run(argv, cwd=to, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        errors = [line for line in (done.stdout + done.stderr).splitlines() if "rror" in line]
        raise OkosuError(f"{what} cannot be built", "\n       ".join(errors[:5]), "", LAUNCHER_FAILED)
    (to / "objects" / program).rename(to / program)
    shutil.rmtree(to / "objects")


def sources(room: Path) -> list[Path]:
    """Return the files that a simulator is made from."""
    listed = [room / line for line in design(room)]
    headers = sorted((room / "sim").glob("*.h"))
    return [room / "files.f", room / _MAKEFILE, *listed, *headers, *_compiled(room)]


def build(
    machine: Machine,
    checked: bool = False,
    waves: bool = False,
    say: Say = quiet,
    room: Path = ROOM,
    imem_words: int = IMEM_WORDS,
    toggles: bool = False,
) -> Simulator:
    """Return the simulator of `machine`, built where the cache has none; OkosuError (125) if it fails.

    `room` is the folder with files.f, rtl/ and sim/ that it is made from. `imem_words` is the size of each PE's memory
    of instructions.

    A checked one evaluates the assertions of the RTL, starts registers without a reset at random values, and compares
    every instruction of every PE with a golden simulator; both simulate the same cycles. With `waves` it can write
    waveforms, and with `toggles` say how often each signal has changed; it is slower.
    """
    machine.check()
    check_tools(_TOOLS)
    verilator = compiler_version("verilator")
    words = command(room, machine, checked, waves, imem_words, toggles)
    digests = {str(path.relative_to(room)): _digest(path) for path in sources(room)}
    how = [[word.replace(str(room), "rtl") for word in words], _MAKE]
    key = cache.key(digests, how, verilator, compiler_version("g++"))

    def fill(to: Path) -> None:
        objects = to / "objects"
        say(f"building the simulator of {machine.pes} PEs ({machine.context}): about {machine.pes + 10} s")
        _do([*words, "--Mdir", str(objects), "-o", _PROGRAM], to)
        jobs = len(os.sched_getaffinity(0))
        makefile = ["-f", str(room / _MAKEFILE), f"PRINT={room / 'sim/verilator_print.h'}"]
        _do(["make", f"-j{jobs}", "-C", str(objects), *makefile, *_MAKE], to)
        (objects / _PROGRAM).rename(to / _PROGRAM)
        shutil.rmtree(objects)

    path = cache.made(_KIND, key, fill, say)
    return Simulator(path / _PROGRAM, machine, checked, waves, key, verilator)


def command(
    room: Path,
    machine: Machine,
    checked: bool,
    waves: bool,
    imem_words: int = IMEM_WORDS,
    toggles: bool = False,
) -> list[str]:
    """Return the verilator command, without where it writes."""
    defines = [
        "-std=c++17",
        f"-I{room}/sim",
        "-include verilator_print.h",
        f"-DOKOSU_IMEM_WORDS={imem_words}",
        f"-DOKOSU_DMEM_WORDS={DMEM_WORDS}",
        f"-DOKOSU_CHECKED={int(checked)}",
        # sim/model.cpp defines vl_fatal() itself.
        "-DVL_USER_FATAL",
        *(f"-D{name}={value}" for name, value in machine.macros().items()),
    ]
    return [
        "verilator",
        *(_CHECKED if checked else _FAST),
        *("--top-module", "machine"),
        *(["--trace-fst"] if waves else []),
        *(_TOGGLES if toggles else []),
        *(f"-G{name}={value}" for name, value in {**machine.parameters(), "ImemWords": imem_words, **_FIXED}.items()),
        *("-CFLAGS", " ".join(defines)),
        str(room / "sim" / "pe.vlt"),
        *("-F", str(room / "files.f")),
        *(str(path) for path in _compiled(room) if path.suffix == ".cpp"),
    ]


def check_tools(tools: dict[str, str]) -> None:
    """Raise OkosuError (125) that names the packages of the commands that are missing."""
    missing = [package for tool, package in tools.items() if not shutil.which(tool)]
    if missing:
        raise OkosuError(
            f"the machine cannot be simulated: {', '.join(missing)} missing",
            "the commands of these packages are not on the PATH",
            f"make lab-deps, or apt-get install {' '.join(missing)}   (as root)",
            LAUNCHER_FAILED,
        )


def _compiled(room: Path) -> list[Path]:
    return [room / "sim" / "pe.vlt", *(room / "sim" / f"{name}.cpp" for name in _SOURCES)]


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _do(words: list[str], folder: Path) -> None:
    with (folder / _LOG).open("ab") as log:
        log.write(f"$ {shlex.join(words)}\n".encode())
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        log.write(done.stdout + done.stderr)
    if done.returncode == 0:
        return
    said = (done.stdout + done.stderr).decode(errors="replace")
    if "No space left on device" in said:
        raise cache.full_disk()
    errors = [line for line in said.splitlines() if "rror" in line] or said.splitlines()[-5:]
    kept = cache.root() / "failed-rtl-build.log"
    kept.write_bytes((folder / _LOG).read_bytes())
    raise OkosuError(
        "the simulator cannot be built", "\n       ".join(errors[:5]), f"all of it is in {kept}", LAUNCHER_FAILED
    )
