# SPDX-License-Identifier: Apache-2.0
"""Summaries: the part of a records file that is kept under results/ in git, and from which documents are filled.

A summary has the conclusions (verdicts, published values, targets), the quantiles of the samples, the tables that a
report makes of the records, and what is needed to get the full record back: its digest and the command that measures
it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from statistics import quantiles
from typing import Final, Literal, NamedTuple

import msgspec

from okosu.errors import OkosuError
from okosu.records import files
from okosu.records.types import Compared, Record, Tool, Verdict

SUMMARY_SCHEMA: Final = "okosu.summary/1"


class Source(msgspec.Struct, frozen=True):
    """A full records file: its name when it was summarised, its schema, the SHA-256 of its bytes, and how many."""

    name: str
    schema: str
    sha256: str
    bytes: int


class Quantiles(msgspec.Struct, frozen=True, array_like=True):
    """How many samples, their least, lower quartile, median, upper quartile and greatest; to 7 significant digits."""

    count: int
    least: float
    lower: float
    median: float
    upper: float
    greatest: float


class Row(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The samples of one record. `arm` is its lever or its variant."""

    subject: str
    arm: str
    stage: str
    metric: str
    unit: str
    parameters: dict[str, str | float] = {}
    samples: Quantiles


class Section(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A heading of the report: Markdown prose, a table of texts (or none), and remarks beneath it."""

    id: str
    title: str = ""
    about: str = ""
    head: list[str] = []
    body: list[list[str]] = []
    notes: list[str] = []


class Kept(NamedTuple):
    """What a summary keeps of a file through its report, and the command that made a file that does not state it
    itself.
    """

    sections: list[Section]
    command: str = ""


class Summary(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What is kept of one records file, or of several trials of one program."""

    schema: Literal["okosu.summary/1"]
    sources: list[Source]
    command: str
    """The command that measures the same again; of an older okosu, in today's words."""
    tool: Tool | None = None
    machine: dict[str, str | int | float] = {}
    plan: dict[str, str | int | float] = {}
    printed: str = ""
    """Of a trial, what `okosu try` printed at its end."""
    verdicts: list[Verdict] = []
    compared: list[Compared] = []
    rows: list[Row] = []
    sections: list[Section] = []


def source(path: Path, data: bytes) -> Source:
    head = msgspec.json.decode(data)
    schema = str(head.get("schema", "")) if isinstance(head, dict) else ""
    return Source(path.name, schema, hashlib.sha256(data).hexdigest(), len(data))


def spread(samples: Sequence[float]) -> Quantiles:
    """The quantiles of at least one sample; quartiles are interpolated between samples (inclusive)."""
    lower, middle, upper = quantiles(samples, n=4, method="inclusive") if len(samples) > 1 else [samples[0]] * 3
    return Quantiles(len(samples), *(float(f"{one:.7g}") for one in (min(samples), lower, middle, upper, max(samples))))


def row(record: Record) -> Row:
    """A record of at least one sample as a row."""
    return Row(
        subject=record.subject,
        arm=record.lever or record.variant,
        stage=record.stage,
        metric=record.metric,
        unit=record.unit,
        parameters=record.parameters,
        samples=spread(record.samples),
    )


def slug(title: str) -> str:
    """The name of this section's block in a document: "Table 2: all" is "table-2-all"."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def markdown(section: Section) -> str:
    """The section's prose, table and remarks as Markdown, without the title."""
    parts = [section.about] if section.about else []
    if section.body:
        parts.append("\n".join(table(section.head, section.body)))
    if section.notes:
        parts.append("\n".join(f"* {note}" for note in section.notes))
    return "\n\n".join(parts) + "\n"


def table(head: Sequence[str], body: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a Markdown table."""
    return [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *(f"| {' | '.join(one)} |" for one in body)]


def read(path: Path) -> Summary:
    """What the file holds. OkosuError if it cannot be read or is no summary."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Summary)
    except (OSError, msgspec.DecodeError) as error:
        raise OkosuError(
            f"{path} is no summary",
            f"{error}",
            "`okosu report --summary RECORDS.json -o SUMMARY.json` makes one of a records file",
        ) from error


def write(made: Summary, path: Path) -> None:
    """Replace the file by the summary."""
    files.replace(path, files.laid_out(made))
