# SPDX-License-Identifier: Apache-2.0
"""What a summary keeps of the paper's records: the findings as the README has them, then every table of the report."""

from __future__ import annotations

from okosu.records.summary import Section
from okosu.records.types import ReproduceFile
from okosu.report.part import section
from papers.superpage_colouring.report import findings, parts


def sections(envelope: ReproduceFile) -> list[Section]:
    found = [section(part) for part in parts.parts(envelope, "s")]
    return [Section(id="findings", about=findings.markdown(envelope).rstrip("\n")), *found] if found else []
