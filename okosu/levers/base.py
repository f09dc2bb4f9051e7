# SPDX-License-Identifier: Apache-2.0
"""The interface of a lever. Facts, values and texts come from the launcher in C, which also applies the lever; Python
judges whether it took effect.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

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


class Lever(ABC):
    """One lever. A subclass is one file in okosu/levers, found by directory scan; `name` is its row in okosu-run."""

    name: ClassVar[str]

    @property
    def facts(self) -> launcher.Facts:
        return launcher.table()[self.name]

    @functools.cached_property
    def excludes(self) -> frozenset[str]:
        """The names of levers that it cannot be stacked with."""
        return frozenset(self.facts.excludes)

    @functools.cached_property
    def observes(self) -> frozenset[str]:
        """What okosu-measure must observe for the proof besides memory: "threads", "numa"."""
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

    @abstractmethod
    def proof(self, value: str, run: Measurement, base: Measurement, pilot: Measurement | None) -> Proof:
        """Judge from one run whether the value took effect.

        `base` is a pilot run of base. `pilot` is the pilot run of this arm, in which memory was sampled; it is None
        while the pilot run itself is judged.
        """
