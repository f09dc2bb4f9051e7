# SPDX-License-Identifier: Apache-2.0
"""Lever prezero: large blocks from a pool of clean memory. Proof: what the pool says it served, and the faults."""

from __future__ import annotations

from dataclasses import dataclass

from okosu.levers.base import Availability, Lever, hardly_any_memory, not_preloadable, share_of_work
from okosu.machine.model import Machine
from okosu.machine.program import Program
from okosu.records.measurement import Measurement
from okosu.records.types import Proof

LEAST_BYTES = 16 << 20
"""Less than this costs the kernel about a millisecond to bring and to clear, however it is done."""
PAGE = 4096


class Prezero(Lever):
    """Serves large blocks from a pool: malloc's as they were freed, calloc's and mmap's from blocks cleared in
    advance.
    """

    name = "prezero"
    likely = 0.5

    def needs(self, machine: Machine) -> Availability:
        """Available with base pages of 4 KiB; without huge pages the pool uses base pages."""
        if machine.page_size != PAGE:
            why = f"base pages are of {machine.page_size >> 10} KiB, and the pool's units are made for 4 KiB"
            return Availability(False, why, "a kernel with pages of 4 KiB")
        if len(machine.cpus_allowed) == 1:
            why = "there is one CPU only: blocks are used again, but none is cleared ahead while the program runs"
            return Availability(True, why)
        return Availability(True)

    def values(self, machine: Machine, program: Program, base: Measurement | None) -> list[list[str]]:
        """One arm for programs that can be preloaded and have blocks of at least 2 MiB."""
        if not program.preloadable or (base is not None and hardly_any_memory(base)):
            return []
        return [["on"]]

    def nothing(self, machine: Machine, program: Program, base: Measurement | None) -> Availability:
        """The reason: too little memory, or a program whose malloc no library can replace."""
        if program.preloadable and base is not None and hardly_any_memory(base):
            return Availability(False, "the program never holds 2 MiB of memory of its own")
        return not_preloadable(program)

    def proof(self, value: str, run: Measurement, base: Measurement, pilot: Measurement | None) -> Proof:
        """In the pilot, enough of the served bytes must need no fault; later, the pool must serve half of the pilot's
        bytes.

        How many blocks are already clean depends on how much the machine idles, and so on time: only the pilot is
        judged by it.
        """
        served = _served(run)
        if served is None:
            why = "no process of the program told what it got: libokosu-prezero.so was not loaded, or it was killed"
            return Proof(False, why, {"served_mib": 0.0, "there_mib": 0.0})
        values = {
            "served_mib": served.bytes / (1 << 20),
            "there_mib": served.there / (1 << 20),
            "clean_pages": float(served.clean // PAGE),
            "faults": float(run.minflt),
            "base_faults": float(base.minflt),
        }
        text = served.text(base.minflt - run.minflt)
        if pilot is not None:
            was = _served(pilot)
            holds = was is not None and 2 * served.bytes >= was.bytes * share_of_work(run, pilot)
            return Proof(holds, text, values)
        if served.bytes < LEAST_BYTES:
            return Proof(False, f"the program hardly asks for blocks of 2 MiB: {text}", values)
        if served.there < LEAST_BYTES:
            return Proof(False, f"no block came back to be used again, and none was ready: {text}", values)
        return Proof(True, text, values)


@dataclass
class _Served:
    """Blocks and bytes that the pool served; and of these bytes, how many needed no fault, and were already clean."""

    blocks: int = 0
    bytes: int = 0
    there: int = 0
    clean: int = 0

    def text(self, spared: int) -> str:
        """What the pool served, and how many page faults it saved; `spared` is base's count less this run's."""
        mib = self.bytes / (1 << 20)
        share = 100 * self.there / self.bytes if self.bytes else 0.0
        told = f"{self.blocks:,} blocks of {mib:,.0f} MiB, {share:.0f} % of it there before the touch"
        return f"{told}; {self.clean // PAGE:,} pages served clean, {max(0, spared):,} faults avoided"


def _served(run: Measurement) -> _Served | None:
    """Add up the evidence of all processes; None where there is none."""
    lines = [line for line in run.preload if line.get("by") == "prezero"]
    total = _Served()
    for line in lines:
        for field in ("blocks", "bytes", "there", "clean"):
            counted = line.get(field)
            setattr(total, field, getattr(total, field) + (counted if isinstance(counted, int) else 0))
    return total if lines else None
