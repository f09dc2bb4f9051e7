# SPDX-License-Identifier: Apache-2.0
"""What a paper's two files hold: what it publishes (published.toml), and our targets beyond it (targets.toml)."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Literal, TypeVar

import msgspec

_PAPERS = Path(__file__).resolve().parents[1]
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
    """One number or fact of the paper; papers/hpc_programming/published.toml explains the fields at its head."""

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

    routine: list[str]
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
    """A target beyond the paper (papers/hpc_programming/targets.toml explains the fields at its head).

    A target on a bench compares rows that `select` and `against` choose. A target on a lab experiment compares what the
    paper's `sides` takes from the records. ValueError where it names both a bench and an experiment, or neither.
    """

    id: str
    text: str
    kind: Literal["floor", "at-least", "at-most"]
    bench: str = ""
    select: Select = Select(routine=[])
    against: str = ""
    experiment: str = ""
    value: float
    unit: str = "times"
    held: bool = False
    certain: bool = False
    """The whole interval must reach the value, not the median alone."""

    def __post_init__(self) -> None:
        if bool(self.bench) == bool(self.experiment):
            raise ValueError(f"target {self.id} names {'both' if self.bench else 'neither'} of bench and experiment")
        if bool(self.bench) != bool(self.select.routine) or (self.bench and not self.against):
            raise ValueError(f"target {self.id}: a bench, the routines selected and against belong together")

    @property
    def measured_by(self) -> str:
        return self.bench or self.experiment

    @property
    def sign(self) -> Literal["≥", "≤"]:
        return "≤" if self.kind == "at-most" else "≥"


class _PublishedFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    paper: About
    published: list[Published]


class _TargetsFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    source: str
    target: list[Target] = []


@functools.cache
def published(name: str) -> tuple[About, list[Published]]:
    """Return the head of the paper's published.toml, and its entries in the order of the file."""
    held = _toml(folder(name) / "published.toml", _PublishedFile)
    return held.paper, held.published


@functools.cache
def targets(name: str) -> tuple[str, list[Target]]:
    """Return the `source` of the paper's targets.toml and its targets; "" and [] if there is no such file."""
    path = folder(name) / "targets.toml"
    held = _toml(path, _TargetsFile) if path.exists() else _TargetsFile(source="")
    return held.source, held.target


def folder(name: str) -> Path:
    """Return the folder of the paper called `name`, which may have hyphens where the folder has underscores."""
    return _PAPERS / name.replace("-", "_")


def _toml(path: Path, kind: type[_T]) -> _T:
    return msgspec.toml.decode(path.read_bytes(), type=kind)
