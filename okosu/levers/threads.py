# SPDX-License-Identifier: Apache-2.0
"""Lever threads: start routines are given to finished threads. Proof: the library's own count of those it served."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from okosu.levers.base import Availability, Bound, Lever, not_preloadable, share_of_work
from okosu.machine.model import Machine
from okosu.machine.program import Program
from okosu.records.measurement import Measurement
from okosu.records.types import Proof

THREAD_S = 0.5e-3
"""The most that making, ending and joining a thread costs: 16 to 29 µs on an idle machine, 120 µs beside four busy
loops on two CPUs (docs/THREADS.md), and more where the stack or malloc's arena is touched for the first time. At a
load of 20 to 30 it took 883 µs, but base took as much longer, and `bound` compares with its CPU time where that is
less."""
LEAST_GLIBC = (2, 35)
"""From here on libc itself registers restartable sequences, so that no library does in its thread-local variables."""
KEPT = 4
"""A run must serve at least one part in so many of what the pilot's run served: how many threads have finished when
another is made depends on the load."""


class Threads(Lever):
    """Keeps threads that have finished, and gives them the next start routine."""

    name = "threads"
    likely = 0.1
    # Each thread that okosu-measure follows takes about 1 ms more to be made and to end on a busy machine.
    disturbed_by = frozenset({"threads"})

    def needs(self, machine: Machine) -> Availability:
        """The state of a thread is known for x86-64 and for recent versions of glibc."""
        if machine.arch not in ("", "x86_64"):
            return Availability(False, f"only the state of x86-64 threads is known, and this is {machine.arch}")
        if machine.glibc_version and machine.glibc_version < LEAST_GLIBC:
            return Availability(False, f"it takes glibc 2.35 or later, and this is {machine.glibc}", "a newer system")
        return Availability(True)

    def values(self, machine: Machine, program: Program, base: Measurement | None) -> list[list[str]]:
        """One arm, unless base was seen to make fewer than two threads: only a second can be served."""
        return [["on"]] if program.preloadable and not (base is not None and _too_few(base)) else []

    def nothing(self, machine: Machine, program: Program, base: Measurement | None) -> Availability:
        """The reason: too few threads, or a program whose calls no library can replace."""
        if program.preloadable and base is not None and _too_few(base):
            return Availability(False, f"the program makes {_count(base.threads)}, and only later ones can be served")
        return not_preloadable(program)

    def bound(self, machine: Machine, base: Sequence[Measurement], run: Measurement | None) -> Bound | None:
        """All that the threads cost to be made, to end and to be joined, as if that took no time any more."""
        counts = None if run is None else _counts(run)
        made = counts.all if counts else max(m.threads for m in base)
        if not made and not counts and not all(_seen(m) for m in base):
            return None
        seconds = made * THREAD_S
        share = seconds * 1e9 / min(min(m.wall_ns, m.user_ns + m.sys_ns or m.wall_ns) for m in base)
        return Bound(share, f"{_count(made)} cost {1e3 * seconds:.3g} ms at most")

    def proof(self, value: str, run: Measurement, base: Measurement, pilot: Measurement | None) -> Proof:
        """In the pilot at least one start must have been served by a finished thread; later, a quarter of the
        pilot's.
        """
        counts = _counts(run)
        if counts is None:
            why = "no process of the program told what it served: libokosu-threads.so was not loaded, or it was killed"
            return Proof(False, why, {"served": 0.0, "threads": 0.0})
        values = {"served": float(counts.served), "threads": float(counts.all)}
        text = f"{counts.served:,} of {_count(counts.all)} started in finished ones"
        if not counts.served:
            return Proof(False, counts.why_none(), values)
        was = None if pilot is None else _counts(pilot)
        if pilot is not None and was is not None and KEPT * counts.served < was.served * share_of_work(run, pilot):
            return Proof(False, f"{text}, where the pilot had {was.served:,}", values)
        return Proof(True, text, values)


@dataclass
class _Counts:
    """What the processes tell together: threads started in finished ones, made for the pool, and left to glibc."""

    served: int = 0
    made: int = 0
    passed: int = 0
    closed: set[str] = field(default_factory=set)
    """Why the pool serves nobody any more, in the processes that made threads."""

    @property
    def all(self) -> int:
        return self.served + self.made + self.passed

    def why_none(self) -> str:
        if not self.all:
            return "the program makes no threads by pthread_create"
        if self.closed:
            return f"none of {_count(self.all)} was served: {'; '.join(sorted(self.closed))}"
        if not self.made:
            return f"none of {_count(self.all)} was served: they have attributes that finished ones cannot have"
        return (
            f"none of {_count(self.all)} was served: none had finished, in a state that can be restored, before another"
        )


def _counts(run: Measurement) -> _Counts | None:
    """Add up the evidence of all processes; None where there is none."""
    lines = [line for line in run.preload if line.get("by") == "threads"]
    total = _Counts()
    for line in lines:
        served, made, passed = (int(line.get(what, 0)) for what in ("served", "made", "passed"))
        total.served += served
        total.made += made
        total.passed += passed
        if line.get("closed") and served + made + passed:
            total.closed.add(str(line["closed"]))
    return total if lines else None


def _seen(run: Measurement) -> bool:
    """Whether threads were followed, so that their number is known."""
    return bool(run.thread_names)


def _too_few(base: Measurement) -> bool:
    return _seen(base) and base.threads < 2


def _count(number: int) -> str:
    return f"{number:,} thread{'s'[: number != 1]}"
