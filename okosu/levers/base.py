# SPDX-License-Identifier: Apache-2.0
"""The interface of a lever. Facts, values and texts come from the launcher in C, which also applies the lever; Python
judges whether it took effect.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from types import MappingProxyType

from okosu.levers import launcher
from okosu.machine.model import Machine
from okosu.machine.program import Program
from okosu.records.measurement import Measurement
from okosu.records.types import Proof


@dataclass(frozen=True)
class Availability:
    """Whether a lever can be tried here; if not, why not and what would change it (a command where there is one).

    Where it can be tried, `why` may hold a remark.
    """

    ok: bool
    why: str = ""
    fix: str = ""


@dataclass(frozen=True)
class Bound:
    """The largest share of base's time that a lever could save, by arithmetic on what was counted, and that sum in
    words.
    """

    share: float
    why: str


def share_of_work(run: Measurement, pilot: Measurement) -> float:
    """How much of the pilot's work a run did, by their CPU time, at most 1.

    It is 1 or close to it for a program that ends by itself. A service whose load lasts a fixed time does as much as
    the machine lets it, and its counts with it.
    """
    before = pilot.user_ns + pilot.sys_ns
    return min(1.0, (run.user_ns + run.sys_ns) / before) if before else 1.0


HUGE_PAGE_KB = 2048
"""The huge page that the levers work with, and the least amount that proves anything."""
FORBIDDEN = Availability(
    False,
    "huge pages are switched off for this process (PR_SET_THP_DISABLE, inherited from what started it)",
    "start okosu from a plain shell, or mend the service's settings",
)
NEVER = Availability(
    False,
    "transparent huge pages are switched off (never)",
    "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled",
)

SHARED_OFF = ("never", "deny")
"""Settings with which the kernel gives shared memory no huge pages."""
SHARED_ON = "echo advise | sudo tee /sys/kernel/mm/transparent_hugepage/shmem_enabled"


def not_preloadable(program: Program) -> Availability:
    """What to say of a program for a lever that is nothing but a library."""
    why = program.why or "the preload library cannot be loaded into it"
    return Availability(False, why, "build it as a dynamic glibc program")


def hardly_any_memory(base: Measurement) -> bool:
    """Say whether the program holds less than one huge page. Page faults also show memory that no sample saw."""
    seen = max(base.exit.anon_kb, base.peak.anon_kb if base.peak else 0)
    return seen < HUGE_PAGE_KB and base.minflt * 4 < HUGE_PAGE_KB


def resembles_pilot(count: int, pilot: int, base: int) -> bool:
    """Say whether a count that varies from run to run is nearer to the pilot's than to base's, as a ratio."""
    own, like, unlike = (log(max(1, number)) for number in (count, pilot, base))
    return abs(own - like) <= abs(own - unlike)


class Lever(ABC):
    """One lever. A subclass is one file in okosu/levers, found by directory scan, and `name` is its row in okosu-run;
    or it is a recipe (okosu/recipes), which sets variables alone.
    """

    name: str
    likely: float = 0.05
    """The share of the time that it saved in the programs of results/ that it helped most: what is tried first where
    the budget has no room for all."""
    changes: Mapping[str, str] = MappingProxyType({})
    """What it changes beside the time (okosu/records/recipe.py), and for each the hazard in one sentence."""

    disturbed_by: frozenset[str] = frozenset()
    """What must not be observed in rounds with this lever, because observing it takes the time that the lever saves."""
    spares: frozenset[str] = frozenset()
    """What of `observes` its proof needs in the pilot alone."""
    bounding: str = ""
    """A value that is no arm: a run with it gives `bound` more to go by. "" for none."""

    @property
    def facts(self) -> launcher.Facts:
        return launcher.table()[self.name]

    @functools.cached_property
    def excludes(self) -> frozenset[str]:
        """The names of levers that it cannot be stacked with."""
        return frozenset(self.facts.excludes)

    @functools.cached_property
    def observes(self) -> frozenset[str]:
        """What okosu-measure must observe for the proof besides memory: "threads", "numa", "files"."""
        return frozenset(self.facts.observes)

    @abstractmethod
    def needs(self, machine: Machine) -> Availability:
        """Say whether this machine allows the lever at all."""

    @abstractmethod
    def values(self, machine: Machine, program: Program, base: Measurement | None) -> list[list[str]]:
        """The arms to try: each a list of alternative values, of which the first whose proof holds is used.

        `base` is a pilot run without levers, or None before there is one. [] when the program leaves nothing to try.
        """

    def nothing(self, machine: Machine, program: Program, base: Measurement | None) -> Availability:
        """Say why `values` returned [], and what would change that."""
        return Availability(False, f"there is nothing to try for this program ({program.kind})")

    def suits(self, value: str, machine: Machine, program: Program) -> Availability:
        """Ask the launcher whether a value that the user named can be applied to this program here.

        OkosuError (2) where the lever has no such value.
        """
        plan = launcher.plan(self.name, value, program.path, machine.root)
        return Availability(plan.applied, plan.why, plan.fix)

    def loads_preload(self, value: str, program: Program) -> bool:
        """Say whether the value works through the preload library (it is then judged against the placebo too)."""
        row = self.facts.value(value)
        return row is not None and row.preload and program.preloadable

    def variables(self, value: str, machine: Machine, program: Program) -> dict[str, str] | None:
        """The variables that are all that the value is; None where okosu-run has the lever as an option."""
        return None

    def bound(self, machine: Machine, base: Sequence[Measurement], run: Measurement | None) -> Bound | None:
        """The most that the lever can save of this program's wall and CPU time; None where nothing sound can be said.

        `base` holds base's runs in the pilot, at least one; `run` is the lever's own, None before there is one. The
        bound must be generous: an arm below the smallest effect of interest is never measured.
        """
        return None

    def settle(self, value: str, applied: bool, program: str) -> list[str]:
        """The command that brings about, outside the clock, what a run with this value (`applied`) or without it is to
        find, and fails if it cannot; [] for levers of which nothing outlives the program. `program` is its path or
        name.
        """
        return []

    def enough(self, proof: Proof) -> bool:
        """Say of a value's pilot, which proved its effect, whether the values after it could hardly do more."""
        return False

    @abstractmethod
    def proof(self, value: str, run: Measurement, base: Measurement, pilot: Measurement | None) -> Proof:
        """Judge from one run whether the value took effect.

        `base` is a pilot run of base. `pilot` is the pilot run of this arm, in which memory was sampled; it is None
        while the pilot run itself is judged.
        """
