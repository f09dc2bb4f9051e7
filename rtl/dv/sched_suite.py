# SPDX-License-Identifier: Apache-2.0
"""What is run against mutants of SSH-m: random messages, beside the golden scheduler (rtl/sim/sched_main.cpp)."""

from __future__ import annotations

import shutil
from typing import ClassVar

import core_bench
import mutate
from mutation_suites import Suite

PROGRAM = "sched-lockstep"
PES, THREADS, WATCHES = 4, 32, 4
BANKED = 3
SOURCES = ("main", "model", "words", "rules", "pes", "commands", "reach")


class SchedSuite(Suite):
    """SSH-m and the scheduler bus, with random processors and beside the golden model."""

    NAMES = (
        "bus/sched_bus.sv",
        "ssh/ssh_m.sv",
        "ssh/message_unit.sv",
        "ssh/waiting_unit.sv",
        "ssh/dispatcher.sv",
        "ssh/ready_unit.sv",
        "ssh/thread_table.sv",
        "ssh/deadline_unit.sv",
        "ssh/list_unit.sv",
        "ssh/watch_unit.sv",
        "ssh/pe_table.sv",
    )
    # First seed, seeds, messages: few to begin with.
    RUNS = ((1, 1, 4_000), (2, 12, 12_000))
    # What so few messages do not reach is no mutant's doing.
    WELL: ClassVar = {"1": (0, 3), "2": (0, 3)}

    def build(self) -> list[mutate.Mutant]:
        """Build sched-lockstep, assertions included."""
        rtl = self.folder / "rtl"
        shutil.copytree(core_bench.RTL, rtl, dirs_exist_ok=True)
        mutants = mutate.write(core_bench.RTL, rtl, list(self.NAMES))
        listed = (rtl / "files.f").read_text()
        (rtl / "files.f").write_text("mutant_pkg.sv\n" + listed)
        sizes = {"NumPes": PES, "Threads": THREADS, "Watches": WATCHES, "Context": BANKED}
        defined = f"-DNUM_PES={PES} -DTHREADS={THREADS} -DWATCHES={WATCHES} -DCONTEXT={BANKED}"
        words = ["verilator", "--cc", "--exe", "--build", "-j", "2", "-O3", "--assert", "--output-split", "4000"]
        words += ["--x-assign", "unique", "--x-initial", "unique", "-Wno-fatal", "-Wno-lint", "-Wno-style"]
        words += ["-F", str(rtl / "files.f"), str(rtl / "sim/sched_top.sv"), "--top-module", "sched_top"]
        words += [f"-G{name}={size}" for name, size in sizes.items()]
        words += ["-CFLAGS", f"-O1 -std=c++17 -I{rtl / 'sim'} -include cstdlib {defined}"]
        words += [str(rtl / f"sim/sched_{name}.cpp") for name in SOURCES]
        core_bench.run([*words, "--Mdir", str(self.folder / "sched"), "-o", str(self.folder / PROGRAM)])
        return mutants

    def runs(self) -> list[list[str]]:
        """Return a few messages, and then many."""
        program = str(self.folder / PROGRAM)
        return [[program, *map(str, numbers)] for numbers in self.RUNS]
