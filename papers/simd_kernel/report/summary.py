# SPDX-License-Identifier: Apache-2.0
"""What a summary keeps of the paper's records, and of UnixBench's (`okosu lab profile --unixbench`)."""

from __future__ import annotations

from typing import Any

import msgspec

from okosu.records.summary import Kept, Section
from okosu.records.types import ReproduceFile
from okosu.report.part import section
from papers.simd_kernel.formats import ProfileFile
from papers.simd_kernel.report import parts, unixbench


def sections(envelope: ReproduceFile) -> list[Section]:
    return [section(part) for part in parts.parts(envelope, "s")]


def raw(held: dict[str, Any]) -> Kept | None:
    """Return the tables of a record of UnixBench, None of any other file."""
    if held.get("schema") != ProfileFile.__struct_config__.tag:
        return None
    records = msgspec.convert(held, ProfileFile).records
    made = unixbench.sections(records)
    return Kept(made, unixbench.command(records)) if made else None
