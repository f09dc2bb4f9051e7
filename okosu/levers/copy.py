# SPDX-License-Identifier: Apache-2.0
"""Lever copy: okosu's memcpy, memmove and memset. Proof: the library's own counts of calls and bytes by size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from okosu.levers.base import Availability, Bound, Lever, not_preloadable, share_of_work
from okosu.machine.model import Machine
from okosu.machine.program import Program
from okosu.records.measurement import Measurement
from okosu.records.types import Proof

CALL_S = 50e-9
"""The most that a call of libc's memcpy or memset costs apart from its bytes. Whole calls of 64 to 112 bytes took 4 to
18 ns with the slowest routine (results/epyc-zen5-vm-2026-11-21/simd-kernel.json, figure 6)."""
REFILL_S = 1.6e-9
"""The most that a byte costs after the call: a line of 64 bytes that the copy drove out of the caches takes 100 ns to
come back."""
BYTE_S = 0.4e-9 + REFILL_S
"""The most that a byte of a call costs that was not timed: 0.4 ns is 2.5 GB/s, from main memory to main memory."""
STAYS = 1 << 18
"""Up to this size both libraries' routines leave what they copied in the caches, so that they drive out the same."""
LEAST_CALLS = 10_000
LEAST_BYTES = 1 << 24
"""Less than this, in calls and in bytes, takes well under a millisecond, however slowly it is copied."""


class Copy(Lever):
    """Replaces libc's routines for copying and setting memory by okosu's, chosen by CPU features and cache sizes."""

    name = "copy"
    likely = 0.35
    bounding = "libc"

    def needs(self, machine: Machine) -> Availability:
        """Always available: the simplest routine runs on any processor."""
        return Availability(True)

    def values(self, machine: Machine, program: Program, base: Measurement | None) -> list[list[str]]:
        """One arm for programs that can be preloaded: as `okosu bench copy --profile` learned it on this processor, or
        else by the library's own choice of the routine for each size.
        """
        if not program.preloadable:
            return []
        return [["profile" if self.suits("profile", machine, program).ok else "auto"]]

    def nothing(self, machine: Machine, program: Program, base: Measurement | None) -> Availability:
        """Only a dynamic program calls a memcpy that a library can replace."""
        return not_preloadable(program)

    def proof(self, value: str, run: Measurement, base: Measurement, pilot: Measurement | None) -> Proof:
        """In the pilot, enough bytes must go through okosu's routines to matter; later, at least half of the
        pilot's calls for the same work.
        """
        counts = _counts(run)
        if counts is None:
            why = "no process of the program told what it copied: libokosu-copy.so was not loaded, or it was killed"
            return Proof(False, why, {"calls": 0.0, "bytes": 0.0})
        values = {"calls": float(counts.calls), "bytes": float(counts.size)}
        if not counts.as_asked:
            return Proof(False, "the routine or profile asked for could not be used", values)
        more = "" if counts.all else " and more"
        text = f"{counts.calls:,} calls{more}, {_bytes(counts.size)}{counts.most()}"
        if pilot is not None:
            was = _counts(pilot)
            enough = was is not None and 2 * counts.calls >= was.calls * share_of_work(run, pilot)
            holds = was is not None and (enough or not counts.all)
            return Proof(holds, text if was is None or holds else f"{text}, where the pilot had {was.calls:,}", values)
        if counts.calls < LEAST_CALLS and counts.size < LEAST_BYTES:
            return Proof(False, f"the program hardly copies by way of libc: {text}", values)
        return Proof(True, text, values)

    def bound(self, machine: Machine, base: Sequence[Measurement], run: Measurement | None) -> Bound | None:
        """All the time that the counted copies take in libc, as if okosu's took none: as measured where libc's own were
        timed, else by the costs of a call and of a byte.
        """
        counts = None if run is None else _counts(run)
        if counts is None:
            return None
        seconds = counts.calls * CALL_S + counts.size * BYTE_S
        if counts.timed_s is not None:
            seconds = counts.timed_s + counts.short_calls * CALL_S + counts.short * BYTE_S + counts.far * REFILL_S
        share = seconds * 1e9 / min(m.wall_ns for m in base)
        return Bound(share, f"{counts.calls:,} calls with {_bytes(counts.size)} take {1e3 * seconds:.3g} ms at most")


@dataclass
class _Counts:
    calls: int = 0
    size: int = 0
    as_asked: bool = True
    all: bool = True
    """False where a process stopped counting at calls enough for a proof."""
    classes: dict[int, int] = field(default_factory=dict)
    """Bytes by the upper bound of the size class."""
    timed_s: float | None = None
    """Seconds in the calls that libc served and that were timed; None where okosu's routines served."""
    short_calls: int = 0
    short: int = 0
    """The calls, and their bytes, that were too short to be timed."""
    far: int = 0
    """Bytes in calls of more than STAYS."""

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
        total.all &= line.get("counted_all") is not False
        timed_ns, timed_above = line.get("timed_ns"), line.get("timed_above", 0)
        if isinstance(timed_ns, int):
            total.timed_s = (total.timed_s or 0.0) + timed_ns / 1e9
        for group in ("classes", "set_classes"):
            classes = line.get(group)
            for bound, counted in classes.items() if isinstance(classes, dict) else ():
                calls, size = counted
                total.calls += calls
                total.size += size
                total.classes[int(bound)] = total.classes.get(int(bound), 0) + size
                if int(bound) <= timed_above:
                    total.short_calls += calls
                    total.short += size
                if int(bound) > STAYS:
                    total.far += size
    return total if lines else None


def _bytes(size: int) -> str:
    for unit, shift in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if size >= 1 << shift:
            return f"{size / (1 << shift):,.4g} {unit}"
    return f"{size} B"
