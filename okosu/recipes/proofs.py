# SPDX-License-Identifier: Apache-2.0
"""Whether a recipe took effect in a run, from what was counted and mapped there. Base's own run never proves it.

Time plays no part: a proof that goes with time would keep the runs that are fast.
"""

from __future__ import annotations

from collections.abc import Sequence

from okosu.levers.base import resembles_pilot
from okosu.recipes.recognise import fits
from okosu.records.measurement import Measurement
from okosu.records.recipe import Names, Proofs
from okosu.records.types import Proof

CLEARLY = 0.9
"""Counts that vary from run to run (page faults, switches) must differ by this factor between arm and base …"""
LEAST = 512
"""… and by this number: starting a program costs about as many faults."""


def judge(asked: Proofs, run: Measurement, base: Measurement, pilot: Measurement | None) -> Proof:
    """All that the recipe names, together. `pilot` is the arm's pilot run, None while that is judged itself: a later
    run must be as the pilot was, and where counts decide, nearer to it than to base.
    """
    parts = []
    if asked.mapped:
        parts.append(_mapped(asked.mapped, run, base))
    if asked.unmapped:
        parts.append(_unmapped(asked.unmapped, run, base))
    if asked.threads:
        parts.append(_threads(asked.threads, run, base, pilot))
    if asked.thread_names is not None:
        parts.append(_thread_names(asked.thread_names, run, base))
    for way, noun, of in ((asked.faults, "page faults", "minflt"), (asked.switches, "voluntary switches", "nvcsw")):
        if way:
            parts.append(_counted(way, noun, *(None if m is None else getattr(m, of) for m in (run, base, pilot))))
    for way, noun, of in ((asked.processes, "processes", "processes"), (asked.at_once, "processes at once", "at_once")):
        if way:
            parts.append(_processes(way, noun, of, run, base, pilot))
    if asked.heaps:
        parts.append(_heaps(asked.heaps, run, base, pilot))
    if asked.said is not None:
        parts.append(_said(run, base, pilot))
    failed = [part for part in parts if not part.holds]
    numbers = {key: value for part in parts for key, value in part.values.items()}
    return Proof(not failed, "; ".join(part.text for part in failed or parts), numbers)


def _mapped(patterns: Sequence[str], run: Measurement, base: Measurement) -> Proof:
    if not run.files or not base.files or base.names_cut:
        return _unread("mapped files")
    if was := fits(base.files, patterns):
        return Proof(False, f"base maps {was}, too")
    found = fits(run.files, patterns)
    return Proof(bool(found), f"{found} is mapped" if found else f"none of {', '.join(patterns)} is mapped")


def _unmapped(patterns: Sequence[str], run: Measurement, base: Measurement) -> Proof:
    if not run.files or not base.files or run.names_cut:
        return _unread("mapped files")
    was = fits(base.files, patterns)
    if not was:
        return Proof(False, f"base maps none of {', '.join(patterns)}")
    found = fits(run.files, patterns)
    return Proof(not found, f"{found} is still mapped" if found else f"{was} is not mapped any more")


def _threads(way: str, run: Measurement, base: Measurement, pilot: Measurement | None) -> Proof:
    numbers = {"threads": float(run.threads), "base_threads": float(base.threads)}
    text = f"{_count(run.threads, 'thread')} made, {base.threads} in base"
    if pilot is not None:
        holds = abs(run.threads - pilot.threads) <= abs(run.threads - base.threads)
        return Proof(holds, text if holds else f"{text}, {pilot.threads} in the pilot", numbers)
    holds = run.threads < base.threads if way == "fewer" else run.threads > base.threads
    return Proof(holds, text if holds else f"no {way} threads: {text}", numbers)


def _thread_names(asked: Names, run: Measurement, base: Measurement) -> Proof:
    mine, before = run.thread_names, base.thread_names
    if not mine or not before or run.names_cut or base.names_cut:
        return _unread("names of the threads")
    parts = []
    if asked.absent:
        was, still = fits(before, asked.absent), fits(mine, asked.absent)
        if not was:
            return Proof(False, f"base has no thread {' or '.join(asked.absent)}")
        if still:
            return Proof(False, f"there is still a thread {still!r}")
        parts.append(f"no thread {was!r} any more")
    if asked.present:
        was, now = fits(before, asked.present), fits(mine, asked.present)
        if was or not now:
            return Proof(False, f"base has a thread {was!r}" if was else f"no thread {' or '.join(asked.present)}")
        parts.append(f"a thread {now!r}")
    return Proof(True, ", ".join(parts))


def _counted(way: str, noun: str, mine: int | None, base: int | None, pilot: int | None) -> Proof:
    assert mine is not None
    assert base is not None
    numbers = {noun.partition(" ")[0]: float(mine), f"base_{noun.partition(' ')[0]}": float(base)}
    text = f"{mine:,} {noun} instead of {base:,}"
    if pilot is not None:
        holds = resembles_pilot(mine, pilot, base)
        return Proof(holds, text if holds else f"{text}, where the pilot had {pilot:,}", numbers)
    holds = differs(way, mine, base) and abs(mine - base) >= LEAST
    return Proof(holds, text if holds else f"not clearly {way} {noun}: {text}", numbers)


def _processes(way: str, noun: str, of: str, run: Measurement, base: Measurement, pilot: Measurement | None) -> Proof:
    if not run.traced or not base.traced:
        return _unread("processes")
    mine, before = (int(getattr(m, of)) for m in (run, base))
    numbers = {of: float(mine), f"base_{of}": float(before)}
    text = f"{mine} {noun} instead of {before}"
    if pilot is not None:
        like = int(getattr(pilot, of))
        holds = resembles_pilot(mine, like, before)
        return Proof(holds, text if holds else f"{text}, where the pilot had {like}", numbers)
    holds = differs(way, mine, before)
    return Proof(holds, text if holds else f"no {way} {noun}: {text}", numbers)


def _heaps(way: str, run: Measurement, base: Measurement, pilot: Measurement | None) -> Proof:
    # Their number hangs on which threads met at a lock, but base's and the arm's differ by far where it was limited.
    if not run.files or not base.files or run.names_cut or base.names_cut:
        return _unread("mappings")
    numbers = {"heaps": float(run.heaps), "base_heaps": float(base.heaps)}
    text = f"{_count(run.heaps, 'heap')} of arenas instead of {base.heaps}"
    if pilot is not None:
        holds = resembles_pilot(run.heaps, pilot.heaps, base.heaps)
        return Proof(holds, text if holds else f"{text}, where the pilot had {pilot.heaps}", numbers)
    holds = differs(way, run.heaps, base.heaps)
    return Proof(holds, text if holds else f"not clearly {way} heaps of arenas: {text}", numbers)


def differs(way: str, mine: int, base: int) -> bool:
    """Say whether there are clearly fewer, or clearly more, than in base."""
    less, more = (mine, base) if way == "fewer" else (base, mine)
    return less < more and less <= CLEARLY * more


def _said(run: Measurement, base: Measurement, pilot: Measurement | None) -> Proof:
    if pilot is not None or run.said is None:
        # The runtime is asked in pilots alone, because what it says takes time; of a stack, in those of its parts.
        return Proof(pilot is None or pilot.said is True, "the runtime said so in the pilot")
    if base.said:
        return Proof(False, "the runtime says the same of base")
    return Proof(run.said is True, "the runtime says so itself" if run.said else "the runtime does not say so")


def _unread(what: str) -> Proof:
    return Proof(False, f"the {what} could not be read")


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}" + "s" * (count != 1)
