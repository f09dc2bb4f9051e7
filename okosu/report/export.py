# SPDX-License-Identifier: Apache-2.0
"""A trial for other programs: as CSV, a row for each run, or as Markdown, the table of verdicts."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable
from pathlib import Path

from okosu.records import files
from okosu.records.summary import table
from okosu.records.types import TryFile
from okosu.report import formats, view

_PLACE = ("order", "stage", "round", "part", "arm", "after")


def as_csv(file: TryFile) -> str:
    """One row for each run in the order of execution, with a column for each metric, named with its unit.

    `round` and `part` count from 1; `after` is the arm that ran just before.
    """
    metrics: dict[str, str] = {}
    runs: dict[tuple[int, str], dict[str, str]] = {}
    for record in file.records:
        column = f"{record.metric}_{record.unit.lower()}" if record.unit in ("s", "MiB") else record.metric
        metrics[record.metric] = column
        for i, (place, value) in enumerate(zip(record.places(), record.samples, strict=True)):
            order = record.order[i] if i < len(record.order) else i
            at = {
                "order": str(order),
                "stage": record.stage,
                "round": str(place.round + 1),
                "part": str(place.part + 1),
                "arm": record.arm,
                "after": record.predecessor[i] if i < len(record.predecessor) else "",
            }
            runs.setdefault((order, record.arm), at)[column] = f"{value:.9g}"
    text = io.StringIO()
    writer = csv.DictWriter(text, [*_PLACE, *metrics.values()], restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(run for _, run in sorted(runs.items()))
    return text.getvalue()


def as_markdown(file: TryFile) -> str:
    """The first line, what is shown apart, and the table of verdicts, those of arms that did not run too."""
    seen = view.of(file)
    head = ["arm", "median", "change", "interval", "won", "applied", "verdict"]
    body = [
        [row.arm, row.median, row.change, row.interval, row.won, row.applied, row.verdict]
        for row in [*seen.rows, *seen.untried, *seen.folded]
    ]
    cells = [[_cell(text) for text in line] for line in body]
    lines = [f"`{_cell(' '.join(file.plan.options.command))}`: {_cell(seen.headline.text)}", ""]
    lines += [f"{_cell(text)}\n" for text in seen.apart]
    lines += table(head, cells)
    lines += [f"\n{_cell(text)}" for text in seen.missing]
    return formats.plain("\n".join(lines)) + "\n"


def _cell(text: str) -> str:
    return formats.printable(text).replace("|", "\\|").replace("\n", " ")


def write(file: TryFile, kind: str, to: Path | None) -> None:
    """Write the trial as "csv" or "md" to a file or, for None, to the standard output. OkosuError if that fails."""
    text = FORMATS[kind](file)
    if to is None:
        sys.stdout.write(text)
    else:
        files.put(to, text.encode(), "another place after --export")


FORMATS: dict[str, Callable[[TryFile], str]] = {"csv": as_csv, "md": as_markdown}
