# SPDX-License-Identifier: Apache-2.0
"""What a summary keeps of the paper's records, of its synthesis (`okosu lab synth`) and of the mutations of its RTL."""

from __future__ import annotations

from typing import Any

import msgspec

from okosu.records.summary import Kept, Section
from okosu.records.types import ReproduceFile
from okosu.report.part import section
from papers.scheduling_hardware import cost_table
from papers.scheduling_hardware.formats import SynthFile
from papers.scheduling_hardware.report import parts

MUTATION_SCHEMA = "okosu rtl-mutation 1"


def sections(envelope: ReproduceFile) -> list[Section]:
    return [section(part) for part in parts.parts(envelope, "s")]


def raw(held: dict[str, Any]) -> Kept | None:
    """Return the tables of synthesis or mutation, None of any other file."""
    if held.get("schema") == SynthFile.__struct_config__.tag:
        return Kept(
            cost_table.sections(msgspec.convert(held, SynthFile)),
            "okosu lab synth --json scheduling-hardware-synthesis.json",
        )
    if held.get("schema") == MUTATION_SCHEMA:
        command = "python papers/scheduling_hardware/dv/mutation.py --json rtl-mutation.json"
        return Kept([_mutation(held["files"])], command)
    return None


def _mutation(files: dict[str, dict[str, int]]) -> Section:
    body = []
    for name, of in files.items():
        told = of["found"] + of["left"]
        body.append(
            [f"`{name}`", str(of["found"]), str(told), f"{100 * of['found'] / told:.1f} %", str(of["equivalent"])]
        )
    found, left, equal = (sum(of[key] for of in files.values()) for key in ("found", "left", "equivalent"))
    share = 100 * found / (found + left)
    body.append(["all", f"{found:,}", f"{found + left:,}", f"{share:.1f} %", str(equal)])
    return Section(id="mutation", head=["file", "found", "of", "", "no program can tell"], body=body)
