# SPDX-License-Identifier: Apache-2.0
"""Lever retain: freed memory stays with the program. Proof: page faults that no longer happen."""

from __future__ import annotations

from okosu.levers.base import Availability, Lever, resembles_pilot
from okosu.machine.model import Machine
from okosu.machine.program import Program
from okosu.records.measurement import Measurement
from okosu.records.types import Proof

MOST = 0.9
"""The pilot's faults must be at most this share of base's: faults of equal runs differ by far less than the rest."""
LEAST_FAULTS = 512
"""And fewer by at least this many: 2 MiB that need not be cleared again. Starting a program costs about as many."""

TUNABLES = (2, 26)
"""The first glibc whose malloc reads GLIBC_TUNABLES."""


class Retain(Lever):
    """Keeps glibc from handing large blocks back to the kernel."""

    name = "retain"
    likely = 0.5

    def needs(self, machine: Machine) -> Availability:
        """Glibc's malloc must have tunables."""
        if machine.glibc_version >= TUNABLES:
            return Availability(True)
        why = f"glibc {machine.glibc} has no malloc tunables" if machine.glibc else "no glibc was found"
        return Availability(False, why, "a system with glibc 2.26 or newer")

    def values(self, machine: Machine, program: Program, base: Measurement | None) -> list[list[str]]:
        """One arm for programs that use glibc's malloc."""
        return [["on"]] if program.heeds_tunables else []

    def nothing(self, machine: Machine, program: Program, base: Measurement | None) -> Availability:
        """The reason: only glibc's malloc has this setting, and it is ignored where the program gains privileges."""
        if program.setuid:
            return Availability(False, "the program gains privileges when it starts, and then ignores GLIBC_TUNABLES")
        return Availability(False, f"the program does not use glibc's malloc ({program.kind})")

    def proof(self, value: str, run: Measurement, base: Measurement, pilot: Measurement | None) -> Proof:
        """In the pilot, page faults must fall clearly; later runs must be nearer (in log) to the pilot's count than to
        base's.
        """
        values = {"faults": float(run.minflt), "base_faults": float(base.minflt)}
        text = f"{run.minflt:,} page faults instead of {base.minflt:,}"
        if pilot is not None:
            holds = resembles_pilot(run.minflt, pilot.minflt, base.minflt)
            return Proof(holds, text if holds else f"{text}, where the pilot had {pilot.minflt:,}", values)
        if run.minflt <= MOST * base.minflt and base.minflt - run.minflt >= LEAST_FAULTS:
            return Proof(True, text, values)
        return Proof(False, f"the program hands no large blocks back: {text}", values)
