# SPDX-License-Identifier: Apache-2.0
"""Lever ascii: strcoll and regular expressions on ASCII text without Unicode's tables. Proof: the library's own counts
of the calls that it served.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from okosu.levers.base import Availability, Lever, not_preloadable, share_of_work
from okosu.machine import elf
from okosu.machine.model import Machine
from okosu.machine.program import Program
from okosu.records.measurement import Measurement
from okosu.records.types import Proof

SERVED = ("strcoll", "strcoll_l", "__strcoll_l", "regexec", "re_search", "re_match")
"""The functions whose calls the library serves."""
HAVE_THEM_ALL = ("libc.so.*", "libc-*.so", "libstdc++.so.*", "libokosu-*")
"""Libraries that have these names for others to call."""
LOCALES = ("*/locale-archive", "*/LC_CTYPE", "*/LC_COLLATE")
"""The files of a locale other than C, which every program has in itself."""
LEAST = 5_000
"""Calls that take well over a millisecond: one of strcoll takes 0.1 to 1 µs, a search longer (docs/ASCII.md)."""


class Ascii(Lever):
    """Serves comparisons and searches of ASCII text, as a language's locale has them, by cheaper means."""

    name = "ascii"
    likely = 0.4

    def needs(self, machine: Machine) -> Availability:
        """Always available; what it serves depends on the program and its locale."""
        return Availability(True)

    def values(self, machine: Machine, program: Program, base: Measurement | None) -> list[list[str]]:
        """One arm for programs that use a locale, and call what is served, themselves or in a library."""
        return [["on"]] if program.preloadable and not _why_not(program, base) else []

    def nothing(self, machine: Machine, program: Program, base: Measurement | None) -> Availability:
        """The reason: the C locale, or a program that neither compares nor matches by libc."""
        return Availability(False, _why_not(program, base)) if program.preloadable else not_preloadable(program)

    def proof(self, value: str, run: Measurement, base: Measurement, pilot: Measurement | None) -> Proof:
        """In the pilot enough calls must be served to matter; later, at least half of the pilot's for the same work."""
        counts = _counts(run)
        if counts is None:
            why = "no process of the program told what it served: libokosu-ascii.so was not loaded, or it was killed"
            return Proof(False, why, {"compared": 0.0, "searched": 0.0})
        compared, searched, passed = counts
        values = {"compared": float(compared), "searched": float(searched)}
        text = f"{compared:,} comparisons and {searched:,} searches served, {passed:,} left to libc"
        was = None if pilot is None else _counts(pilot)
        if was is not None and pilot is not None:
            before = was[0] + was[1]
            holds = 2 * (compared + searched) >= before * share_of_work(run, pilot)
            return Proof(holds, text if holds else f"{text}, where the pilot had {before:,}", values)
        if compared + searched < LEAST:
            return Proof(False, f"the program hardly compares or matches ASCII text by libc: {text}", values)
        return Proof(True, text, values)


def _counts(run: Measurement) -> tuple[int, int, int] | None:
    """Comparisons and searches served, and calls that were left to libc, of all processes; None where none told."""
    lines = [line for line in run.preload if line.get("by") == "ascii"]
    compared, searched, passed = (
        sum(int(line.get(what, 0)) for line in lines) for what in ("compared", "searched", "passed")
    )
    return (compared, searched, passed) if lines else None


def _why_not(program: Program, base: Measurement | None) -> str:
    """Why nothing would be served; "" where something may be."""
    seen = base is not None and bool(base.files)
    if base is not None and seen and not any(fnmatchcase(name, pattern) for name in base.files for pattern in LOCALES):
        return "the program uses no locale but C, where libc takes no detours"
    if not seen and _is_c(os.environ):
        return "the environment names no locale but C, where libc takes no detours"
    files = tuple(base.files) if base is not None and seen else _own(program)
    return "" if _calls(files) else f"neither the program nor a library calls {', '.join(SERVED[:2] + SERVED[3:5])}"


def _is_c(environment: Mapping[str, str]) -> bool:
    """Whether the locale of classes, and that of the order, is C: locale(7)."""
    names = [
        next((text for name in ("LC_ALL", category, "LANG") if (text := environment.get(name))), "C")
        for category in ("LC_CTYPE", "LC_COLLATE")
    ]
    return all(name in ("C", "POSIX") for name in names)


@functools.lru_cache(8)
def _own(program: Program) -> tuple[str, ...]:
    """The program's file and the libraries that it names."""
    image = Path(program.script or program.path)
    return tuple(str(path) for path in (image, *elf.libraries(image).values()) if path)


@functools.lru_cache(8)
def _calls(files: tuple[str, ...]) -> bool:
    callers = [
        path for name in files if not any(fnmatchcase((path := Path(name)).name, other) for other in HAVE_THEM_ALL)
    ]
    return any(elf.has_symbol(path, function) for path in callers if elf.kind(path) for function in SERVED)
