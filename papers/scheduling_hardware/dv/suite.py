# SPDX-License-Identifier: Apache-2.0
"""What tests of a model with all mutants in it have in common; and the core's: random and directed programs."""

from __future__ import annotations

import os
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from papers.scheduling_hardware.dv import core_bench, rtl_mutate

# A mutant may make the simulation endless: seconds of the processor, so that a busy machine finds nothing by itself.
CPU_LIMIT_S = 60


def run(words: list[str], mutant: int) -> subprocess.CompletedProcess[bytes]:
    """Run a command with a mutant (0: with none) until it ends or has used its time."""
    env = {**os.environ, "OKOSU_MUTANT": str(mutant)}
    limited = ["sh", "-c", f'ulimit -t {CPU_LIMIT_S}; exec "$@"', "sh", *words]
    return subprocess.run(limited, env=env, capture_output=True, check=False)


class Suite(ABC):
    """Tests of a model that has all mutants of some files in it; `thin`: those that cost least."""

    def __init__(self, folder: Path, thin: bool = False) -> None:
        self.folder = folder
        self.thin = thin

    @abstractmethod
    def build(self) -> list[rtl_mutate.Mutant]:
        """Build the models; return the mutants that they are to find."""

    @abstractmethod
    def killer(self, mutant: rtl_mutate.Mutant | None) -> str:
        """Return the name of the first test that a mutant (None: the original) lets fail, "" if there is none."""


class CoreSuite(Suite):
    """The core beside the golden simulator."""

    FILES = ("alu", "decoder", "muldiv", "register_banks", "cp0", "lsu", "core")
    # Seed, programs, instructions: few to begin with, for most mutants fail at once.
    RANDOM = ((1, 2, 5_000), (3, 40, 10_000))
    # The exit statuses of a command that ended well: programs too few to reach everything end with 3.
    WELL: ClassVar[Mapping[str, tuple[int, ...]]] = {"random": (0, 3), "program": (0,)}

    def build(self) -> list[rtl_mutate.Mutant]:
        """Build core-lockstep and the directed programs."""
        names = [f"rtl/cpu/{name}.sv" for name in self.FILES]
        mutants = rtl_mutate.write(core_bench.RTL, self.folder, names)
        listed = [line.strip() for line in (core_bench.RTL / "files.f").read_text().splitlines()]
        kept = [line for line in listed if line.split("/")[0] in ("pkg", "cpu", "bus", "soc")]
        kept = [line for line in kept if line not in ("rtl/soc/pe.sv", "rtl/soc/machine.sv")]
        paths = [str(self.folder / line if line in names else core_bench.RTL / line) for line in kept]
        design = self.folder / "mutants.f"
        design.write_text("\n".join([str(self.folder / "mutant_pkg.sv"), *paths]) + "\n")
        core_bench.build(self.folder, design, ("-Wno-lint", "-Wno-style"))
        for source in core_bench.programs():
            core_bench.compile_(source, self.folder)
        return mutants

    def runs(self) -> list[list[str]]:
        """Return random programs, all directed ones, and more random ones."""
        program = str(self.folder / core_bench.PROGRAM)
        first, then = ([program, "random", *map(str, numbers)] for numbers in self.RANDOM)
        sources = core_bench.programs()
        return [first, *([program, "program", str(self.folder / f"{source.stem}.elf")] for source in sources), then]

    def killer(self, mutant: rtl_mutate.Mutant | None) -> str:
        """Return the first program on which core and golden simulator differ."""
        for words in self.runs():
            if run(words, mutant.number if mutant else 0).returncode not in self.WELL[words[1]]:
                return " ".join(Path(word).stem for word in words[1:])
        return ""
