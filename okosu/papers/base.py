# SPDX-License-Identifier: Apache-2.0
"""What a paper is to okosu: what it publishes, what is run to compare with it, and what is claimed beyond it."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

import msgspec

from okosu.errors import OkosuError
from okosu.machine.model import Machine

if TYPE_CHECKING:
    from okosu.bench.rows import Result

_HERE = Path(__file__).parent
_T = TypeVar("_T")


class About(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which paper it is."""

    name: str
    title: str
    title_en: str
    authors: str
    machine: str
    """The machine that its numbers were measured on."""


class Published(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One number or fact of the paper (the fields are explained at the head of published/hpc-programming.toml)."""

    id: str
    mark: Literal["value", "statement", "disputed"]
    where: str
    text: str
    value: float
    unit: str
    why: str = ""
    ratio: tuple[str, str] | None = None
    factor: float = 1.0
    not_measured: str = ""


class Select(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which rows of a bench a target speaks of; what is left out does not restrict."""

    kernel: list[str]
    variant: str = "chosen"
    """A name, in which * stands for anything; "chosen": what the library does when nobody forces a variant."""
    n: list[int] = []
    n_from: int = 0
    n_to: int | None = None
    footprint: tuple[int, int] | None = None
    """Least and most bytes that a call touches."""
    place: list[str] = []
    aligned: bool | None = None
    """True: every operand begins a 64-byte line; false: some operand does not."""
    align: list[int] | None = None
    """Exactly these offsets in a line."""
    mode: list[str] = []


class Target(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A claim beyond the paper (the fields are explained at the head of targets/hpc-programming.toml)."""

    id: str
    text: str
    kind: Literal["floor", "at-least"]
    bench: str
    select: Select
    against: str
    value: float
    unit: str = "times"
    held: bool = False


class _PublishedFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    paper: About
    published: list[Published]


class _TargetsFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    source: str
    target: list[Target] = []


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
class Said:
    """What a listing printed: its JSON lines, or its text."""

    status: int
    lines: tuple[Mapping[str, Any], ...] = ()
    text: str = ""


@dataclass
class Measured:
    """What came out of a paper's experiments, by their names; what could not be run, and why."""

    rows: dict[str, Result] = field(default_factory=dict)
    said: dict[str, Said] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    failed: dict[str, OkosuError] = field(default_factory=dict)
    """Of the missing ones, those that were to be run."""
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
    """A paper. `name` is that of its files published/NAME.toml and targets/NAME.toml."""

    name: ClassVar[str]

    @abstractmethod
    def experiments(self) -> list[Experiment]:
        """Return what is run, in order."""

    @abstractmethod
    def compare(self, measured: Measured) -> dict[str, Ours]:
        """Return ours by the id of the published entry; what could not be measured is left out."""

    def about(self) -> About:
        """Return which paper it is."""
        return _published(self.name).paper

    def published(self) -> list[Published]:
        """Return every number and fact that it publishes, in its order."""
        return _published(self.name).published

    def targets(self) -> list[Target]:
        """Return what is claimed beyond it; [] where nothing is."""
        return _targets(self.name).target

    def target_source(self) -> str:
        """Return where the targets come from."""
        return _targets(self.name).source


@functools.cache
def _published(name: str) -> _PublishedFile:
    return _toml(_HERE / "published" / f"{name}.toml", _PublishedFile)


@functools.cache
def _targets(name: str) -> _TargetsFile:
    path = _HERE / "targets" / f"{name}.toml"
    return _toml(path, _TargetsFile) if path.exists() else _TargetsFile(source="")


def _toml(path: Path, kind: type[_T]) -> _T:
    return msgspec.toml.decode(path.read_bytes(), type=kind)
