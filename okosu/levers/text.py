# SPDX-License-Identifier: Apache-2.0
"""Lever text: code and constants on 2 MiB pages in the page cache. Proof: what of them is mapped by huge pages."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path

from okosu import native
from okosu.errors import OkosuError
from okosu.levers import launcher
from okosu.levers.base import FORBIDDEN, HUGE_PAGE_KB, NEVER, Availability, Lever, share_of_work
from okosu.machine.model import Machine
from okosu.machine.program import Program
from okosu.records.measurement import Measurement
from okosu.records.types import Proof

MOST_FAULTS = 0.95
"""Where memory may not be read, the faults must be at most this share of base's: those of equal runs differ by less."""


class Text(Lever):
    """Brings the code of the program, and of what it starts and loads, onto huge pages that all processes share."""

    name = "text"
    likely = 0.25

    def needs(self, machine: Machine) -> Availability:
        """The kernel must have transparent huge pages of 2 MiB, not switched off. Whether the file system can make them
        for files is known only for a program.
        """
        if machine.rights.thp_disabled:
            return FORBIDDEN
        if not machine.thp.enabled:
            return Availability(
                False, "this kernel has no transparent huge pages", "a kernel with CONFIG_TRANSPARENT_HUGEPAGE"
            )
        if machine.thp.mode == "never":
            return NEVER
        if machine.thp.pmd_size not in (0, HUGE_PAGE_KB * 1024):
            why = f"a huge page is of {machine.thp.pmd_size >> 20} MiB here, and few programs have as much code"
            return Availability(False, why, "a kernel with base pages of 4 KiB")
        return Availability(True)

    def values(self, machine: Machine, program: Program, base: Measurement | None) -> list[list[str]]:
        """One arm: the files that base had mapped; before there is a base, those that the program itself names."""
        value = "cache"
        if base is not None and base.files:
            if not (files := free(base.files)):
                return []
            value = f"cache:{':'.join(files)}"
        found = self._plan(value, program, machine)
        if not found.applied:
            return []
        return [[value if base is None or not base.files else f"cache:{':'.join(found.text)}"]]

    def nothing(self, machine: Machine, program: Program, base: Measurement | None) -> Availability:
        """The reason that the launcher gives, or that all files are in use."""
        files = free(base.files) if base is not None else []
        if base is not None and base.files and not files:
            return Availability(False, "all that it maps is also mapped by other processes now, which keep it in place")
        found = self._plan(f"cache:{':'.join(files)}" if files else "cache", program, machine)
        if files:
            return Availability(False, "no program or library that it maps has 2 MiB of code that huge pages can map")
        return Availability(False, found.why, found.fix)

    def _plan(self, value: str, program: Program, machine: Machine) -> launcher.Plan:
        try:
            return launcher.plan(self.name, value, program.path, machine.root)
        except OkosuError as error:
            return launcher.Plan(False, error.why, error.fix)

    def settle(self, value: str, applied: bool, program: str) -> list[str]:
        """The page cache outlives the program: the files are brought onto huge pages, or back onto small ones."""
        _, _, named = value.partition(":")
        files = named.split(":") if named else launcher.plan(self.name, value, program).text
        return [str(native.find("okosu-textcache")), "huge" if applied else "small", *files]

    def proof(self, value: str, run: Measurement, base: Measurement, pilot: Measurement | None) -> Proof:
        """In the pilot, at least one huge page of a file must have been mapped, and more than in base; later runs must
        have half of the pilot's. Where memory may not be read, the page faults must have fallen.
        """
        huge, was = _huge(run), _huge(base)
        values = {"text_mib": huge / 1024, "faults": float(run.minflt), "base_faults": float(base.minflt)}
        faults = f"{run.minflt:,} page faults instead of {base.minflt:,}"
        if not run.traced and not huge:
            return Proof(run.minflt <= MOST_FAULTS * base.minflt, faults, values)
        many = f" in {run.processes:,} processes" if run.processes > 1 else ""
        text = f"{huge / 1024:,.0f} MiB of code mapped by huge pages{many}, {faults}"
        if pilot is not None:
            holds = huge >= HUGE_PAGE_KB and 2 * huge >= _huge(pilot) * share_of_work(run, pilot)
            return Proof(holds, text, values)
        if huge < HUGE_PAGE_KB:
            return Proof(False, "none of its code came to be mapped by huge pages", values)
        if huge < was + HUGE_PAGE_KB:
            return Proof(False, f"{text}: base has as much of it on huge pages already", values)
        return Proof(True, text, values)


def free(files: Iterable[str]) -> list[str]:
    """Those of the files that no process maps now, as far as this process may see. Such pages cannot be dropped."""
    wanted = {name for name in files if ":" not in name and "," not in name and Path(name).is_file()}
    for maps in Path("/proc").glob("[0-9]*/maps"):
        with contextlib.suppress(OSError):
            for line in maps.read_text(errors="replace").splitlines():
                wanted.discard(line[line.find("/") :] if "/" in line else "")
    return sorted(wanted)


def _huge(run: Measurement) -> int:
    """KiB of files mapped by huge pages, summed over the processes at their end, or seen at once if that was more."""
    return max(run.exit.file_huge_kb, run.peak.file_huge_kb if run.peak else 0)
