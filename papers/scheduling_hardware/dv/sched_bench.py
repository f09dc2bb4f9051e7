# SPDX-License-Identifier: Apache-2.0
"""Builds sched-lockstep (dv/sched/sched_main.cpp): SSH-m with random processors, beside the golden scheduler."""

from __future__ import annotations

import dataclasses
import subprocess
from collections.abc import Sequence
from pathlib import Path

from papers.scheduling_hardware import ROOM
from papers.scheduling_hardware.dv import core_bench
from papers.scheduling_hardware.machine import Machine

PROGRAM = "sched-lockstep"
FOLDER = "dv/sched"
_MAIN = "sched_main"
# The sources that are compiled once, for they do not depend on the machine.
_MODEL = ("sched_model", "sched_pes", "sched_reach")
SOURCES = (_MAIN, *_MODEL)
_MACROS = {"NumPes": "NUM_PES", "Threads": "THREADS", "Watches": "WATCHES", "Context": "CONTEXT"}
_CXX = ("-O1", "-std=c++17")
FOUR_PES = Machine(pes=4, threads=32, watches=4)
STAGED = dataclasses.replace(FOUR_PES, scheduler="staged")


def model(folder: Path) -> list[Path]:
    """Compile the golden scheduler and the random processors into `folder`; return the objects."""
    objects = [folder / f"{name}.o" for name in _MODEL]
    running = [
        subprocess.Popen(["g++", *_CXX, "-c", str(ROOM / FOLDER / f"{name}.cpp"), "-o", str(path)])
        for name, path in zip(_MODEL, objects, strict=True)
    ]
    statuses = [compiler.wait() for compiler in running]
    if any(statuses):
        raise SystemExit("the golden scheduler does not compile")
    return objects


def build(room: Path, folder: Path, machine: Machine, objects: Sequence[Path], *options: str) -> Path:
    """Return sched-lockstep for a machine, built in `folder` from the sources in `room`."""
    sizes = machine.parameters("pes", "threads", "watches", "context", "scheduler")
    defined = [f"-D{macro}={sizes[name]}" for name, macro in _MACROS.items()]
    words = ["verilator", "--cc", "--exe", "--build", "-j", "2", "-O3", "--x-assign", "unique", "--x-initial", "unique"]
    words += [*options, "-F", str(room / "files.f"), str(room / FOLDER / "sched_top.sv")]
    words += ["--top-module", "sched_top", *(f"-G{name}={size}" for name, size in sizes.items())]
    words += ["-CFLAGS", " ".join((*_CXX, f"-I{room / FOLDER}", "-include cstdlib", *defined))]
    words += [str(room / FOLDER / f"{_MAIN}.cpp"), *map(str, objects)]
    core_bench.run([*words, "--Mdir", str(folder), "-o", PROGRAM])
    return folder / PROGRAM
