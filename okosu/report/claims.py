# SPDX-License-Identifier: Apache-2.0
"""What `okosu reproduce` compared, as the report shows it: a table of published values, and one of promises."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from okosu.records.types import Claim, Envelope
from okosu.report import formats

_SAID = {True: "holds", False: "missed", None: "not judged"}
_TONES = {True: "good", False: "bad", None: "muted"}


@dataclass(frozen=True)
class Row:
    """One claim in words."""

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
class Claims:
    """All of a file: `summary` counts the promises, "" where there is none."""

    published: list[Group]
    promised: list[Row]
    source: str
    summary: str


def claims(envelope: Envelope) -> Claims | None:
    """Return what the file compares, None where it compares nothing."""
    if not envelope.claims:
        return None
    published = [claim for claim in envelope.claims if claim.kind == "published"]
    promised = [claim for claim in envelope.claims if claim.kind != "published"]
    groups = [Group(where, [_row(c) for c in same]) for where, same in groupby(published, lambda c: c.source)]
    said = [claim.holds for claim in promised]
    summary = f"{said.count(True)} of {len(said)} hold, {said.count(False)} missed, {said.count(None)} not judged"
    source = promised[0].source if promised else ""
    return Claims(groups, [_row(claim) for claim in promised], source, summary if promised else "")


def _row(claim: Claim) -> Row:
    promise = claim.kind != "published"
    return Row(
        id=claim.id,
        text=claim.text,
        target=f"{claim.sign}\N{NARROW NO-BREAK SPACE}{_number(claim.target)}" if promise else _number(claim.target),
        measured=_number(claim.measured),
        unit=claim.unit,
        interval=_interval(claim.interval),
        said=_SAID[claim.holds] if promise else "",
        tone=_TONES[claim.holds] if promise else "",
        mark=claim.mark if claim.mark == "statement" else "",
        note=f"{claim.kind}: {claim.note}" if promise else claim.note,
    )


def _interval(bounds: tuple[float, float] | None) -> str:
    """Return the bounds, or that a simulation gives no other number."""
    return "exact" if bounds and bounds[0] == bounds[1] else formats.bounds(bounds)


def _number(value: float | None) -> str:
    """Return at most four significant digits; from a thousand on the whole number."""
    if value is None:
        return formats.DASH
    if abs(value) >= 1000 and abs(value) < 1e15:
        return formats.count(value)
    return f"{value:.4g}"
