# SPDX-License-Identifier: Apache-2.0
"""Builds sched-lockstep (sim/sched_main.cpp): SSH-m with random processors, beside the golden scheduler."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from papers.scheduling_hardware.dv import core_bench

PROGRAM = "sched-lockstep"
# What does not depend on the machine.
_MODEL = ("sched_model", "sched_words", "sched_rules", "sched_pes", "sched_commands", "sched_reach")
_CXX = ("-O1", "-std=c++17")


class Machine(NamedTuple):
    """What is built: PEs, threads, watches, context mode (3: BANKED, and MEM for SSH-m; 0: SOFT)."""

    pes: int
    threads: int
    watches: int
    context: int


FOUR_PES = Machine(4, 32, 4, 3)


def model(folder: Path) -> list[Path]:
    """Compile the golden scheduler and the random processors into `folder`; return the objects."""
    objects = [folder / f"{name}.o" for name in _MODEL]
    running = [
        subprocess.Popen(["g++", *_CXX, "-c", str(core_bench.RTL / "sim" / f"{name}.cpp"), "-o", str(path)])
        for name, path in zip(_MODEL, objects, strict=True)
    ]
    statuses = [compiler.wait() for compiler in running]
    if any(statuses):
        raise SystemExit("the golden scheduler does not compile")
    return objects


def build(rtl: Path, folder: Path, machine: Machine, objects: Sequence[Path], *options: str) -> Path:
    """Return sched-lockstep for a machine, built in `folder` from the sources in `rtl`."""
    sizes = {"NumPes": machine.pes, "Threads": machine.threads, "Watches": machine.watches, "Context": machine.context}
    defined = [
        f"-D{name}={size}" for name, size in zip(("NUM_PES", "THREADS", "WATCHES", "CONTEXT"), machine, strict=True)
    ]
    words = ["verilator", "--cc", "--exe", "--build", "-j", "2", "-O3", "--x-assign", "unique", "--x-initial", "unique"]
    words += ["--output-split", "4000", *options, "-F", str(rtl / "files.f"), str(rtl / "sim" / "sched_top.sv")]
    words += ["--top-module", "sched_top", *(f"-G{name}={size}" for name, size in sizes.items())]
    words += ["-CFLAGS", " ".join((*_CXX, f"-I{rtl / 'sim'}", "-include cstdlib", *defined))]
    words += [str(rtl / "sim" / "sched_main.cpp"), *map(str, objects)]
    core_bench.run([*words, "--Mdir", str(folder), "-o", PROGRAM])
    return folder / PROGRAM
