# SPDX-License-Identifier: Apache-2.0
"""How fast the machine in rtl/ is simulated, and beside it as many cores of another project, brought by the user."""

from __future__ import annotations

import hashlib
import subprocess
from dataclasses import dataclass
from pathlib import Path

from lab import cache
from lab.build import compiler_version
from lab.cache import Say, quiet
from okosu.errors import LAUNCHER_FAILED, NOT_FOUND, OkosuError
from papers.scheduling_hardware import cross_compile, hardware, simulation
from papers.scheduling_hardware.hardware import Machine

# A core of picorv32 takes a few cycles for an instruction and shares nothing with the others: an eighth of the speed of
# as many of them is the aim.
AIM = 1 / 8
_WORK = "examples/grain.c"
_KIND = "rtl-peer"
_PROGRAM = "peer"


@dataclass(frozen=True)
class Speed:
    """Thousands of cycles a second that the simulation of `pes` processors does; of the peer with as many cores, too,
    where there is one."""

    pes: int
    cycles: int
    khz: float
    peer_khz: float | None = None

    @property
    def ratio(self) -> float | None:
        """Return the machine's speed as a part of the peer's."""
        return None if self.peer_khz is None else self.khz / self.peer_khz


def measure(machine: Machine, program: Path, peer: Path | None = None, runs: int = 3, say: Say = quiet) -> Speed:
    """Return how fast `program` is simulated on `machine`, the median of `runs` by turns with the peer's.

    `peer` is picorv32's source, picorv32.v, or the folder of a checkout of it; as many of its cores as the machine has
    PEs run as many cycles. OkosuError (127) where it is not there, (125) where it cannot be built.
    """
    source = None if peer is None else find_peer(peer)
    simulator = hardware.build(machine, say=say)
    other = None if source is None else _build_peer(source, machine.pes, say)
    ours, theirs, cycles = [], [], 0
    for turn in range(runs):
        say(f"run {turn + 1} of {runs}")
        outcome = simulation.run(simulator, program)
        if outcome.status:
            raise OkosuError("the program failed", outcome.message, "", LAUNCHER_FAILED)
        ours.append(outcome.khz)
        cycles = outcome.cycles
        if other:
            theirs.append(cycles / _run_peer(other, cycles) / 1e3)
    return Speed(machine.pes, cycles, _median(ours), _median(theirs) if theirs else None)


def work(machine: Machine, say: Say = quiet) -> Path:
    """Return a program for `machine` that keeps all PEs busy: examples/grain.c, four threads of 2,000 steps a PE."""
    source = hardware.home().parent / _WORK
    if not source.is_file():
        raise OkosuError(f"{source}: no such file", "it is in a checkout", "-- PROGRAM.c [ARG...]", NOT_FOUND)
    wanted = cross_compile.parse([str(source), str(4 * machine.pes), "2000"])
    return cross_compile.compile_(wanted, cross_compile.BACKENDS[0], say)


def find_peer(named: Path) -> Path:
    """Return picorv32's source, named or in the folder that was named; OkosuError (127) if it is not there."""
    source = named / "picorv32.v" if named.is_dir() else named
    if not source.is_file():
        raise OkosuError(f"{source}: no such file", "", "--peer picorv32.v", NOT_FOUND)
    return source


def _build_peer(source: Path, cores: int, say: Say) -> Path:
    sim = hardware.home() / "sim"
    ours = [sim / "peer_top.sv", sim / "peer_main.cpp"]
    digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in (source, *ours)]
    key = cache.key(digests, cores, compiler_version("verilator"), compiler_version("g++"), hardware.MAKE)

    def fill(folder: Path) -> None:
        say(f"building {cores} cores of {source.name}")
        words = [
            "verilator",
            *hardware.FASTEST,
            "--top-module",
            "peer_top",
            f"-GCores={cores}",
            "-Wno-fatal",
            "-Wno-lint",
        ]
        words += ["-CFLAGS", f"-std=c++17 -DOKOSU_CORES={cores}", "--Mdir", str(folder), "-o", _PROGRAM]
        _do([*words, str(source.absolute()), *map(str, ours)])
        _do(["make", "-C", str(folder), "-f", "Vpeer_top.mk", *hardware.MAKE])

    return cache.made(_KIND, key, fill, say) / _PROGRAM


def _do(words: list[str]) -> None:
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if "rror" in line]
        why = "\n       ".join(lines[:3])
        raise OkosuError("the peer cannot be built", why, "picorv32.v as its project has it", LAUNCHER_FAILED)


def _run_peer(program: Path, cycles: int) -> float:
    done = subprocess.run([program, str(cycles)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise OkosuError("the peer failed", done.stderr.strip(), "", LAUNCHER_FAILED)
    return float(done.stdout)


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]
