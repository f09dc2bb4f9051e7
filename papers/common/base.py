# SPDX-License-Identifier: Apache-2.0
"""What a paper is to okosu: what is run to compare with what it publishes, and how that is compared."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import msgspec

from okosu.errors import OkosuError, usage
from okosu.machine.model import Machine
from okosu.records.types import Record
from papers.common import entries, points
from papers.common.entries import About, Published, Target

if TYPE_CHECKING:
    from okosu.bench.rows import Result

Say = Callable[[str], None]
"""Takes a line of progress."""


@dataclass(frozen=True)
class Experiment:
    """One program to run: a bench (okosu-bench-NAME) or a listing of the paper.

    `quick` are the arguments of --quick, null where it is left out there; a listing's output is read by `read`.
    """

    name: str
    program: str
    args: tuple[str, ...] = ()
    quick: tuple[str, ...] | None = ()
    read: Literal["rows", "json", "text"] = "rows"
    may_fail: bool = False
    """Whether an exit status other than 0 is an answer too."""


@dataclass(frozen=True)
class LabExperiment:
    """What is measured on one of the lab's platforms: a kernel under UML or QEMU, a circuit under Verilator.

    `run` yields each record as soon as it is measured, so that nothing is lost where a later one fails, and raises
    OkosuError where it cannot go on (a package that is missing, a kernel that does not boot). Their `machine` may be
    left empty: it is filled in. `shown` is what a person would type to get the same, for --dry-run and as progress.
    """

    name: str
    run: Callable[[Say], Iterator[Record]]
    shown: str
    quick: bool = False
    """Whether --quick runs it."""
    thin: Callable[[Say], Iterator[Record]] | None = None
    """What --quick runs in the place of `run`; None: `run` itself."""
    thin_shown: str = ""
    """What a person would type to get what `thin` gives, where that is something else than `shown`."""
    core_seconds: float = 0.0
    """Seconds that `run` takes one core, about, for --dry-run; 0 if unknown."""
    thin_core_seconds: float = 0.0
    """The same of `thin`."""

    def typed(self, quick: bool) -> str:
        """Return what a person would type to get the same."""
        return self.thin_shown if quick and self.thin_shown else self.shown

    def takes(self, quick: bool) -> float:
        """Return about how many seconds it takes one core; 0 if unknown."""
        return self.thin_core_seconds if quick and self.thin else self.core_seconds


@dataclass(frozen=True)
class Said:
    """What a listing printed: its JSON lines, or its text."""

    status: int
    lines: tuple[Mapping[str, Any], ...] = ()
    text: str = ""


@dataclass
class Measured:
    """What a paper's experiments gave, by the experiment's name."""

    rows: dict[str, Result] = field(default_factory=dict)
    said: dict[str, Said] = field(default_factory=dict)
    records: dict[str, list[Record]] = field(default_factory=dict)
    """Those of lab experiments; of one that failed half-way, the records until then."""
    missing: dict[str, str] = field(default_factory=dict)
    failed: dict[str, OkosuError] = field(default_factory=dict)
    """Experiments that were started and failed; `missing` has these too."""
    core_loads: float = 0.0
    """Loads in a cycle of a core of one's own, by all benches of the run (okosu/bench/alone.py); 0: not known."""
    machine: Mapping[str, Any] = field(default_factory=dict)
    """The facts of the records file; `facts` are the same as a Machine."""

    @property
    def facts(self) -> Machine | None:
        """Return what the machine is, None where the records do not say."""
        return msgspec.convert(self.machine, Machine) if self.machine else None

    def line(self, name: str) -> Mapping[str, Any] | None:
        """Return the only JSON line of a listing, None where it was not run."""
        said = self.said.get(name)
        return said.lines[0] if said and said.lines else None


@dataclass(frozen=True)
class Ours:
    """What stands beside a published value: this machine's, in the same unit, and one line on why they differ."""

    value: float
    why: str


class Paper(ABC):
    """A paper. `name` is the one in its TOML files: that of its folder, with hyphens."""

    name: ClassVar[str]

    @abstractmethod
    def experiments(self) -> Sequence[Experiment | LabExperiment]:
        """Return the experiments in the order in which they are run."""

    @abstractmethod
    def compare(self, measured: Measured) -> dict[str, Ours]:
        """Return our values by the ids of the published entries; an entry that could not be measured is left out."""

    chosen: tuple[str, ...] = ()
    """The options that chose this form of the paper, as they are typed."""

    def on(self, isa: str) -> Paper:
        """Return the paper on processors of that instruction set; OkosuError (2) where it builds none, or none such."""
        raise usage(f"{self.name} builds no processors, of {isa} or any other", "", f"okosu reproduce {self.name}")

    def on_base(self, base: str) -> Paper:
        """Return the paper on that Linux; OkosuError (2) where it has no series on several, or none on that one."""
        raise usage(
            f"{self.name} has no series on several kernels, {base} or any other", "", f"okosu reproduce {self.name}"
        )

    def peers(self) -> list[Path]:
        """Return the folders of the libraries that the paper brings for its benches to compare with."""
        return []

    def sides(self, target: Target, measured: Measured) -> points.Found:
        """Return what a target compares, point by point.

        This serves targets on benches. A paper with targets on lab experiments overrides it for those, and takes what
        they compare from `measured.records`, of which some may be missing.
        """
        if not target.bench:
            raise NotImplementedError(f"{self.name}: no sides() for target {target.id} on a lab experiment")
        result = measured.rows.get(target.bench)
        return points.find(result.rows if result else [], target, measured.core_loads)

    def about(self) -> About:
        return entries.published(self.name)[0]

    def published(self) -> list[Published]:
        return entries.published(self.name)[1]

    def targets(self) -> list[Target]:
        return entries.targets(self.name)[1]

    def target_source(self) -> str:
        return entries.targets(self.name)[0]
