# SPDX-License-Identifier: Apache-2.0
"""What is run against mutants: random and directed programs on one core, compiled programs on the whole machine."""

from __future__ import annotations

import os
import shutil
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import core_bench
import mutate

from okosu.lab import rtl_build, rtl_program

# A mutant may make the simulation endless: seconds of the processor, so that a busy machine finds nothing by itself.
CPU_LIMIT_S = 60


class Suite(ABC):
    """Tests of a model that has all mutants of some files in it."""

    # The exit statuses of a command that ended well, by its first word.
    WELL: Mapping[str, tuple[int, ...]]

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @abstractmethod
    def build(self) -> list[mutate.Mutant]:
        """Build the model; return its mutants."""

    @abstractmethod
    def runs(self) -> list[list[str]]:
        """Return the commands that have to end well, in the order in which they find most."""

    def killer(self, mutant: int) -> str:
        """Return the first command that a mutant lets fail, "" if there is none."""
        for words in self.runs():
            if not self.holds(words, mutant):
                return " ".join(Path(word).stem for word in words[1:])
        return ""

    def holds(self, words: list[str], mutant: int) -> bool:
        """Say whether a command ends well with a mutant (0: with none)."""
        env = {**os.environ, "OKOSU_MUTANT": str(mutant)}
        limited = ["sh", "-c", f'ulimit -t {CPU_LIMIT_S}; exec "$@"', "sh", *words]
        done = subprocess.run(limited, env=env, capture_output=True, check=False)
        return done.returncode in self.WELL[words[1]]


class CoreSuite(Suite):
    """The core beside the golden simulator."""

    FILES = ("alu", "decoder", "muldiv", "register_banks", "cp0", "lsu", "core")
    # Seed, programs, instructions: few to begin with, for most mutants fail at once.
    RANDOM = ((1, 2, 5_000), (3, 40, 10_000))
    # Programs too few to reach everything end with 3.
    WELL: ClassVar = {"random": (0, 3), "program": (0,)}

    def build(self) -> list[mutate.Mutant]:
        """Build core-lockstep and the directed programs."""
        names = [f"cpu/{name}.sv" for name in self.FILES]
        mutants = mutate.write(core_bench.RTL, self.folder, names)
        listed = [line.strip() for line in (core_bench.RTL / "files.f").read_text().splitlines()]
        kept = [line for line in listed if line.split("/")[0] in ("pkg", "cpu", "bus", "soc")]
        kept = [line for line in kept if line not in ("soc/pe.sv", "soc/machine.sv")]
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


class MachineSuite(Suite):
    """The whole machine, each PE beside the golden simulator, with the assertions of the RTL."""

    FOLDERS = ("bus", "ssh", "soc", "cpu")
    # What this machine is built without.
    ABSENT = ("bus/wide_bus.sv", "soc/dcache.sv", "ssh/context_directory.sv")
    # Two banks: contexts leave them often.
    MACHINE = rtl_build.Machine(pes=2, banks=2)
    LIMIT = 4_000_000
    WELL: ClassVar = {"--max-cycles": (0,)}

    def build(self) -> list[mutate.Mutant]:
        """Build the machine's simulator, and the programs."""
        rtl = self.folder / "rtl"
        shutil.copytree(core_bench.RTL, rtl, dirs_exist_ok=True)
        listed = [line.strip() for line in (rtl / "files.f").read_text().splitlines()]
        named = [line for line in listed if line.split("/")[0] in self.FOLDERS and line not in self.ABSENT]
        names = [line for line in named if not line.endswith("_pkg.sv")]
        mutants = mutate.write(core_bench.RTL, rtl, names)
        (rtl / "files.f").write_text("\n".join(["lint/mutants.vlt", "mutant_pkg.sv", *listed]) + "\n")
        (rtl / "lint" / "mutants.vlt").write_text('`verilator_config\nlint_off -file "*"\n')
        os.environ["OKOSU_RTL"] = str(rtl)
        shutil.copy(rtl_build.build(self.MACHINE, checked=True).program, self.folder / "machine")
        return mutants

    def runs(self) -> list[list[str]]:
        """Return a small program, and the conformance program for both back ends."""
        programs = core_bench.RTL / "sw" / "programs"
        tree, all_of_it = [str(programs / "tree.c")], [str(path) for path in sorted(programs.glob("conformance*.c"))]
        wanted = ((tree, "ssh"), (all_of_it, "ssh"), (tree, "software"))
        elves = [rtl_program.compile_(rtl_program.parse(words), backend) for words, backend in wanted]
        return [[str(self.folder / "machine"), "--max-cycles", str(self.LIMIT), str(elf)] for elf in elves]
