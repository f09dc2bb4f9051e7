# SPDX-License-Identifier: Apache-2.0
"""Lever copy: okosu's memcpy, memmove and memset. Proof: the library's own counts of calls and bytes by size."""

from __future__ import annotations

from dataclasses import dataclass, field

from okosu.levers.base import Availability, Lever
from okosu.machine.model import Machine
from okosu.machine.program import Program
from okosu.records.measurement import Measurement
from okosu.records.types import Proof

LEAST_CALLS = 10_000
LEAST_BYTES = 1 << 24
"""Less than this, in calls and in bytes, takes well under a millisecond, however slowly it is copied."""


class Copy(Lever):
    """Replaces libc's routines for copying and setting memory by okosu's, chosen by CPU features and cache sizes."""

    name = "copy"

    def needs(self, machine: Machine) -> Availability:
        """Always available: the simplest routine runs on any processor."""
        return Availability(True)

    def values(self, machine: Machine, program: Program, base: Measurement | None) -> list[list[str]]:
        """One arm for programs that can be preloaded. The library itself chooses the routine for each size."""
        return [["auto"]] if program.preloadable else []

    def nothing(self, machine: Machine, program: Program, base: Measurement | None) -> Availability:
        """Only a dynamic program calls a memcpy that a library can replace."""
        why = program.why or "the preload library cannot be loaded into it"
        return Availability(False, why, "build it as a dynamic glibc program")

    def proof(self, value: str, run: Measurement, base: Measurement, pilot: Measurement | None) -> Proof:
        """In the pilot, enough bytes must go through okosu's routines to matter; later, at least half of the pilot's
        calls.
        """
        counts = _counts(run)
        if counts is None:
            why = "no process of the program told what it copied: libokosu-copy.so was not loaded, or it was killed"
            return Proof(False, why, {"calls": 0.0, "bytes": 0.0})
        values = {"calls": float(counts.calls), "bytes": float(counts.size)}
        if not counts.as_asked:
            return Proof(False, "the routine or profile asked for could not be used", values)
        text = f"{counts.calls:,} calls, {_bytes(counts.size)}{counts.most()}"
        if pilot is not None:
            was = _counts(pilot)
            holds = was is not None and 2 * counts.calls >= was.calls
            return Proof(holds, text if was is None or holds else f"{text}, where the pilot had {was.calls:,}", values)
        if counts.calls < LEAST_CALLS and counts.size < LEAST_BYTES:
            return Proof(False, f"the program hardly copies by way of libc: {text}", values)
        return Proof(True, text, values)


@dataclass
class _Counts:
    calls: int = 0
    size: int = 0
    as_asked: bool = True
    classes: dict[int, int] = field(default_factory=dict)
    """Bytes by the upper bound of the size class."""

    def most(self) -> str:
        """The size class that most of the bytes are in."""
        if not self.size:
            return ""
        bound, size = max(self.classes.items(), key=lambda item: item[1])
        return f", {100 * size / self.size:.0f} % of it in pieces of {_bytes(bound // 2)} to {_bytes(bound)}"


def _counts(run: Measurement) -> _Counts | None:
    """Add up the evidence of all processes; None where there is none."""
    lines = [line for line in run.preload if line.get("by") == "copy"]
    total = _Counts()
    for line in lines:
        total.as_asked &= line.get("as_asked") is True
        for group in ("classes", "set_classes"):
            classes = line.get(group)
            for bound, counted in classes.items() if isinstance(classes, dict) else ():
                calls, size = counted
                total.calls += calls
                total.size += size
                total.classes[int(bound)] = total.classes.get(int(bound), 0) + size
    return total if lines else None


def _bytes(size: int) -> str:
    for unit, shift in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if size >= 1 << shift:
            return f"{size / (1 << shift):,.4g} {unit}"
    return f"{size} B"
