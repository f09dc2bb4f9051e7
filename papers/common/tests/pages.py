# SPDX-License-Identifier: Apache-2.0
"""The report page of records that a test made up."""

from __future__ import annotations

from pathlib import Path

from okosu.records.types import Record, ReproduceFile, ReproducePlan, Tool
from okosu.report import page


def envelope(records: list[Record]) -> ReproduceFile:
    tool = Tool("okosu", "1", "2026-01-01T00:00:00Z")
    return ReproduceFile(tool=tool, machine={}, plan=ReproducePlan(), records=records, finished=True)


def render(records: list[Record]) -> str:
    return page.render([(Path("lab.json"), envelope(records))])
