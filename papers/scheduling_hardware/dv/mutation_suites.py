# SPDX-License-Identifier: Apache-2.0
"""What is run against mutants of the machine: programs whose cycles are known (cycles.py), with assertions and every PE
beside the golden simulator; for SSH-m random messages beside the golden scheduler; at last a block's proof, if it has
one (formal)."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

from papers.scheduling_hardware import hardware, proving
from papers.scheduling_hardware.dv import core_bench, cycles, rtl_mutate, sched_bench
from papers.scheduling_hardware.dv.suite import Suite, run

SSH_M = (
    "rtl/bus/sched_bus.sv",
    "rtl/ssh/ssh_m.sv",
    "rtl/ssh/message_unit.sv",
    "rtl/ssh/waiting_unit.sv",
    "rtl/ssh/dispatcher.sv",
    "rtl/ssh/ready_unit.sv",
    "rtl/ssh/thread_table.sv",
    "rtl/ssh/deadline_unit.sv",
    "rtl/ssh/list_unit.sv",
    "rtl/ssh/watch_unit.sv",
    "rtl/ssh/pe_table.sv",
)
OTHERS = (
    "rtl/bus/rr_arbiter.sv",
    "rtl/bus/fifo.sv",
    "rtl/bus/mem_bus.sv",
    "rtl/bus/wide_bus.sv",
    "rtl/ssh/cpu_unit.sv",
    "rtl/ssh/context_directory.sv",
    "rtl/ssh/register_unit.sv",
    "rtl/ssh/context_engine.sv",
    "rtl/ssh/ssh_s.sv",
    "rtl/soc/shared_memory.sv",
    "rtl/soc/pe_counters.sv",
    "rtl/soc/dcache.sv",
    "rtl/soc/pe.sv",
    "rtl/soc/machine.sv",
)
# What the first machine uses most of: without the jobs of other context modes, and what only proofs see.
THIN = (
    "rtl/bus/rr_arbiter.sv",
    "rtl/bus/fifo.sv",
    "rtl/ssh/cpu_unit.sv",
    "rtl/ssh/register_unit.sv",
    "rtl/ssh/ssh_s.sv",
    "rtl/soc/shared_memory.sv",
    "rtl/soc/pe_counters.sv",
    "rtl/soc/pe.sv",
    "rtl/soc/machine.sv",
)
# What only one of the machines has.
ONLY = {"rtl/bus/wide_bus.sv": "cached", "rtl/soc/dcache.sv": "cached", "rtl/ssh/context_directory.sv": "local"}
# The proofs that bind to a file's ports, and how long one may take to fail, in seconds.
PROOFS = {
    "rtl/bus/rr_arbiter.sv": "rr_arbiter:of5",
    "rtl/bus/fifo.sv": "fifo:deep4",
    "rtl/bus/mem_bus.sv": "mem_bus:ports2",
    "rtl/ssh/list_unit.sv": "list_unit:threads4",
    "rtl/ssh/watch_unit.sv": "watch_unit:watches2",
}
PROOF_LIMIT_S = 200
# A mutant's run is at its end so many cycles after the original's.
GRACE = 1000


@contextmanager
def planted(rtl: Path) -> Iterator[None]:
    """Let simulators be built from the sources in `rtl`."""
    before = os.environ.get("OKOSU_RTL")
    os.environ["OKOSU_RTL"] = str(rtl)
    try:
        yield
    finally:
        if before is None:
            del os.environ["OKOSU_RTL"]
        else:
            os.environ["OKOSU_RTL"] = before


def mutants_of(folder: Path) -> list[rtl_mutate.Mutant]:
    """Write the machine's sources with mutants into `folder`/rtl, the same for all suites; return the mutants."""
    rtl = folder / "rtl"
    shutil.copytree(core_bench.RTL, rtl, dirs_exist_ok=True)
    mutants = rtl_mutate.write(core_bench.RTL, rtl, [*OTHERS, *SSH_M])
    listed = (core_bench.RTL / "files.f").read_text()
    (rtl / "files.f").write_text("lint/mutants.vlt\nmutant_pkg.sv\n" + listed)
    (rtl / "lint" / "mutants.vlt").write_text('`verilator_config\nlint_off -file "*"\n')
    return mutants


class MachineSuite(Suite):
    """All but the core and SSH-m, in machines of all kinds; thin: in the first one what that uses."""

    FILES: ClassVar[tuple[str, ...]] = OTHERS
    THIN: ClassVar[tuple[str, ...]] = THIN

    def build(self) -> list[rtl_mutate.Mutant]:
        """Build the machines' simulators, and the programs."""
        self.programs = {point: point.compiled() for point in self.points()}
        self.expected = cycles.table()["points"]
        mutants = mutants_of(self.folder)
        with planted(self.folder / "rtl"):
            for name in self.machines():
                shutil.copy(hardware.build(cycles.MACHINES[name], checked=True).program, self.folder / name)
        return [one for one in mutants if one.file in (self.THIN if self.thin else self.FILES)]

    def machines(self) -> tuple[str, ...]:
        """Return the names of the machines that are built."""
        return tuple(cycles.MACHINES)[: 1 if self.thin else None]

    def points(self) -> list[cycles.Point]:
        """Return the programs, short ones first; of some that are long others have most."""
        expected = cycles.table()["points"]
        kept = [point for point in cycles.POINTS if point.machine in self.machines() and not point.is_long]
        return sorted(kept, key=lambda point: int(expected[point.name]["cycles"]))

    def killer(self, mutant: rtl_mutate.Mutant | None) -> str:
        """Return the first program that ends otherwise, or in other cycles, than the table says."""
        only = ONLY.get(mutant.file) if mutant else None
        for point, program in self.programs.items():
            if only in (None, point.machine) and not self.holds(point, program, mutant.number if mutant else 0):
                return point.name
        return "" if self.thin or self.proved(mutant) else f"proof {PROOFS[mutant.file] if mutant else ''}"

    def proved(self, mutant: rtl_mutate.Mutant | None) -> bool:
        """Say whether a mutant's block is without a proof, or its proof holds (or finds nothing in time)."""
        if mutant is None or mutant.file not in PROOFS:
            return True
        proof = proving.find([PROOFS[mutant.file]])[0]
        with tempfile.TemporaryDirectory() as folder:
            rtl = Path(folder) / "rtl"
            proving.copy(core_bench.RTL, rtl)
            everyone = (self.folder / "rtl" / mutant.file).read_text()
            (rtl / mutant.file).write_text(everyone.replace("mutant_pkg::number", f"32'd{mutant.number}"))
            limits = rtl / "formal" / f"{proof.name}.sby"
            limits.write_text(
                re.sub(r"^timeout \d+", f"timeout {PROOF_LIMIT_S}", limits.read_text(), flags=re.MULTILINE)
            )
            return proving.prove(proof, rtl).verdict != "FAIL"

    def holds(self, point: cycles.Point, program: Path, number: int) -> bool:
        """Say whether a program does with a mutant what the table says."""
        expected = self.expected[point.name]
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "report.json"
            limit = ["--max-cycles", str(expected["cycles"] + GRACE), "--report", str(report)]
            done = run([str(self.folder / point.machine), *limit, str(program)], number)
            try:
                told = json.loads(report.read_text())
            except (OSError, ValueError):
                return False
        return not cycles.differences(expected, cycles.shape(told, done.stdout, program))


class SchedSuite(MachineSuite):
    """SSH-m and its bus: random messages beside the golden scheduler first; thin: nothing else."""

    FILES = THIN = SSH_M
    # First seed, seeds, messages: few to begin with.
    RUNS = ((1, 1, 4_000), (2, 12, 12_000))
    # What so few messages do not reach is no mutant's doing.
    WELL = (0, 3)

    def build(self) -> list[rtl_mutate.Mutant]:
        """Build sched-lockstep, and the machines."""
        mutants = super().build()
        objects = sched_bench.model(self.folder)
        options = ("--assert", "-Wno-fatal", "-Wno-lint", "-Wno-style")
        folder = self.folder / "sched"
        self.lockstep = sched_bench.build(self.folder / "rtl", folder, sched_bench.FOUR_PES, objects, *options)
        return mutants

    def machines(self) -> tuple[str, ...]:
        """Return the names of the machines that are built."""
        return () if self.thin else super().machines()

    def killer(self, mutant: rtl_mutate.Mutant | None) -> str:
        """Return the first messages that SSH-m answers wrongly, or program that shows it."""
        for numbers in self.RUNS:
            words = [str(self.lockstep), *map(str, numbers)]
            if run(words, mutant.number if mutant else 0).returncode not in self.WELL:
                return f"{numbers[1] * numbers[2]} messages"
        return super().killer(mutant)
