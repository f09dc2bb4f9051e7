# SPDX-License-Identifier: Apache-2.0
"""What `okosu reproduce` compared, as the report shows it: a table of published values, and one of targets."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from okosu.records.types import Compared, ReproduceFile
from okosu.report import formats

_SAID = {True: "holds", False: "missed", None: "not judged"}
_TONES = {True: "good", False: "bad", None: "muted"}


@dataclass(frozen=True)
class Row:
    """One comparison in words."""

    id: str
    text: str
    target: str
    measured: str
    unit: str
    interval: str
    said: str
    tone: str
    mark: str
    """"statement" for a number of the paper's text; a disputed one says so in its note."""
    note: str


@dataclass(frozen=True)
class Group:
    """Published values of one place of the paper."""

    title: str
    rows: list[Row]


@dataclass(frozen=True)
class Comparison:
    """All of a file: `summary` counts the targets, "" where there is none."""

    published: list[Group]
    targets: list[Row]
    source: str
    summary: str


def compared(envelope: ReproduceFile) -> Comparison | None:
    """What the file compares, None where it compares nothing."""
    if not envelope.compared:
        return None
    published = [item for item in envelope.compared if item.kind == "published"]
    targets = [item for item in envelope.compared if item.kind != "published"]
    groups = [Group(where, [_row(c) for c in same]) for where, same in groupby(published, lambda c: c.source)]
    said = [item.holds for item in targets]
    summary = f"{said.count(True)} of {len(said)} hold, {said.count(False)} missed, {said.count(None)} not judged"
    source = targets[0].source if targets else ""
    return Comparison(groups, [_row(item) for item in targets], source, summary if targets else "")


def _row(item: Compared) -> Row:
    target = item.kind != "published"
    return Row(
        id=item.id,
        text=item.text,
        target=f"{item.sign}\N{NARROW NO-BREAK SPACE}{_number(item.target)}" if target else _number(item.target),
        measured=_number(item.measured),
        unit=item.unit,
        interval=_interval(item.interval),
        said=_SAID[item.holds] if target else "",
        tone=_TONES[item.holds] if target else "",
        mark=item.mark if item.mark == "statement" else "",
        note=f"{item.kind}: {item.note}" if target else item.note,
    )


def _interval(bounds: tuple[float, float] | None) -> str:
    """The bounds as text; without bounds, that a simulation gives the same number every time."""
    return "exact" if bounds and bounds[0] == bounds[1] else formats.bounds(bounds)


def _number(value: float | None) -> str:
    """At most four significant digits; from a thousand on, the whole number."""
    if value is None:
        return formats.DASH
    if abs(value) >= 1000 and abs(value) < 1e15:
        return formats.count(value)
    return f"{value:.4g}"
