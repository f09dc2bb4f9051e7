# SPDX-License-Identifier: Apache-2.0
"""Simulators of the machine in rtl/, made by Verilator and kept by what they are made from."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from lab import cache
from lab.build import compiler_version
from lab.cache import Say, quiet
from okosu.errors import LAUNCHER_FAILED, USAGE_ERROR, OkosuError

CONTEXTS = ("soft", "mem", "local", "banked")
BUSES = ("multiplexed", "pipelined")
MOST_PES = 64
MOST_THREADS = 256
IMEM_WORDS = 65536
DMEM_WORDS = 1048576
# User, create, join, switch, lock, library, and the loop of who is idle (sim/model.h).
_SECTIONS = 7
_KIND = "rtl"
_LOG = "build.log"
_TOOLS = {"verilator": "verilator", "make": "make", "g++": "g++"}
_PROGRAM = "machine"
_RUNNER = ("elf", "model", "counters", "schedule", "stacks", "trace", "options", "run", "describe", "machine_main")
_GOLDEN = ("effect", "golden", "golden_access", "lockstep", "lockstep_pe")
_SOURCES = (*_RUNNER, *_GOLDEN)
# Tried with 4 PEs: -O2 simulates 1.17 times as fast as -O1. What runs once is not optimised.
MAKE = ("OPT_FAST=-O2", "OPT_SLOW=-O0")
_VERILATOR = ("--cc", "--exe", "-O3", "--output-split", "4000")
FASTEST = (*_VERILATOR, "--x-assign", "fast", "--x-initial", "fast", "--no-assert")
_CHECKED = (*_VERILATOR, "--x-assign", "unique", "--x-initial", "unique", "--assert")


@dataclass(frozen=True)
class Machine:
    """What is simulated: 1 to 64 PEs; where contexts of threads are kept; register banks per PE; thread ids, a power of
    two; watches of the snooping unit; contexts in each PE's own memory (local); bytes of its data cache, 0 for none;
    which memory bus."""

    pes: int = 8
    context: str = "banked"
    banks: int = 4
    threads: int = 256
    watches: int = 16
    contexts: int = 16
    dcache: int = 0
    bus: str = BUSES[0]

    def check(self) -> None:
        """Raise OkosuError (2) where there is no such machine."""
        wrong = ""
        if not 1 <= self.pes <= MOST_PES:
            wrong = f"--pes {self.pes}: a machine has 1 to {MOST_PES} PEs"
        elif self.context not in CONTEXTS:
            wrong = f"--context {self.context}: contexts are kept in {', '.join(CONTEXTS)}"
        elif not 2 <= self.banks <= 32:
            wrong = f"--banks {self.banks}: a PE has 2 to 32 banks"
        elif not 2 <= self.threads <= MOST_THREADS or self.threads & (self.threads - 1):
            wrong = f"--threads {self.threads}: the number of thread ids is a power of two from 2 to {MOST_THREADS}"
        elif self.threads <= self.pes:
            wrong = f"--threads {self.threads}: {self.pes} PEs want more thread ids than there are of them"
        elif not 1 <= self.watches <= 64:
            wrong = f"--watches {self.watches}: there are 1 to 64 watches"
        elif not 2 <= self.contexts <= 256 or self.contexts & (self.contexts - 1):
            wrong = f"--contexts {self.contexts}: a PE's own memory has room for a power of two from 2 to 256 contexts"
        elif self.dcache and (not 32 <= self.dcache <= 65536 or self.dcache & (self.dcache - 1)):
            wrong = f"--dcache {self.dcache}: a cache has a power of two from 32 to 65536 bytes, or 0: there is none"
        elif self.bus not in BUSES:
            wrong = f"--bus {self.bus}: the memory bus is {' or '.join(BUSES)}"
        if wrong:
            raise OkosuError(wrong, "", "okosu lab run --help", USAGE_ERROR)

    @property
    def parameters(self) -> list[str]:
        """Return the parameters of the top module; only BANKED has more than one bank."""
        banks = self.banks if self.context == "banked" else 1
        values = {
            "NumPes": self.pes,
            "Context": CONTEXTS.index(self.context),
            "Banks": banks,
            "Threads": self.threads,
            "Watches": self.watches,
            "Contexts": self.contexts,
            "DcacheBytes": self.dcache,
            "Pipelined": BUSES.index(self.bus),
            "ImemWords": IMEM_WORDS,
            "DmemWords": DMEM_WORDS,
            "Sections": _SECTIONS,
        }
        return [f"-G{name}={value}" for name, value in values.items()]


@dataclass(frozen=True)
class Simulator:
    """A simulator that was built: its program, what it simulates, whether it checks, whether it can write waveforms."""

    program: Path
    machine: Machine
    checked: bool
    waves: bool
    key: str
    verilator: str


def home() -> Path:
    """Return the folder with rtl/, sim/, sw/, dv/ and formal/: this one, or what OKOSU_RTL names."""
    return Path(os.environ.get("OKOSU_RTL") or Path(__file__).parent)


def sources(folder: Path) -> list[Path]:
    """Return the files that a simulator is made from."""
    design = [line.strip() for line in (folder / "files.f").read_text().splitlines()]
    listed = [folder / line for line in design if line and not line.startswith("//")]
    headers = sorted((folder / "sim").glob("*.h"))
    return [folder / "files.f", *listed, *headers, *_compiled(folder)]


def build(machine: Machine, checked: bool = False, waves: bool = False, say: Say = quiet) -> Simulator:
    """Return the simulator of `machine`, built where the cache has none; OkosuError (125) if it fails.

    A checked one evaluates the assertions of the RTL, starts registers without a reset at random values, and compares
    every instruction of every PE with a golden simulator; both simulate the same cycles. With `waves` it can write
    waveforms, and is slower.
    """
    machine.check()
    check_tools(_TOOLS)
    folder = home()
    verilator = compiler_version("verilator")
    words = command(folder, machine, checked, waves)
    digests = {str(path.relative_to(folder)): _digest(path) for path in sources(folder)}
    how = [[word.replace(str(folder), "rtl") for word in words], MAKE]
    key = cache.key(digests, how, verilator, compiler_version("g++"))

    def fill(to: Path) -> None:
        objects = to / "objects"
        say(f"building the simulator of {machine.pes} PEs ({machine.context}): about {3 * machine.pes + 10} s")
        _do([*words, "--Mdir", str(objects), "-o", _PROGRAM], to)
        ccache = ["OBJCACHE=ccache"] if shutil.which("ccache") else []
        jobs = len(os.sched_getaffinity(0))
        _do(["make", f"-j{jobs}", "-C", str(objects), "-f", "Vmachine.mk", *MAKE, *ccache], to)
        (objects / _PROGRAM).rename(to / _PROGRAM)
        shutil.rmtree(objects)

    path = cache.made(_KIND, key, fill, say)
    return Simulator(path / _PROGRAM, machine, checked, waves, key, verilator)


def command(folder: Path, machine: Machine, checked: bool, waves: bool) -> list[str]:
    """Return the verilator command, without where it writes."""
    defines = [
        "-std=c++17",
        f"-I{folder}/sim",
        "-include verilator_print.h",
        f"-DOKOSU_PES={machine.pes}",
        f"-DOKOSU_IMEM_WORDS={IMEM_WORDS}",
        f"-DOKOSU_DMEM_WORDS={DMEM_WORDS}",
        f"-DOKOSU_CHECKED={int(checked)}",
        # sim/model.cpp has its own.
        "-DVL_USER_FATAL",
        f"-DOKOSU_CONTEXT={CONTEXTS.index(machine.context)}",
        f"-DOKOSU_DCACHE={machine.dcache}",
    ]
    return [
        "verilator",
        *(_CHECKED if checked else FASTEST),
        *("--top-module", "machine"),
        *(["--trace-fst"] if waves else []),
        *machine.parameters,
        *("-CFLAGS", " ".join(defines)),
        str(folder / "sim" / "pe.vlt"),
        *("-F", str(folder / "files.f")),
        *(str(path) for path in _compiled(folder) if path.suffix == ".cpp"),
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


def _compiled(folder: Path) -> list[Path]:
    return [folder / "sim" / "pe.vlt", *(folder / "sim" / f"{name}.cpp" for name in _SOURCES)]


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
