# SPDX-License-Identifier: Apache-2.0
"""What a summary keeps of the paper's records, of synthesis (`okosu lab synth`) and of mutations of the RTL."""

from __future__ import annotations

from typing import Any

import msgspec

from okosu.records.summary import Kept, Section
from okosu.records.types import ReproduceFile
from okosu.report.part import section
from papers.scheduling_hardware import board_table, cost_table
from papers.scheduling_hardware.formats import BoardFile, MutatedFile, MutationFile, SynthFile
from papers.scheduling_hardware.report import parts


def sections(envelope: ReproduceFile) -> list[Section]:
    return [section(part) for part in parts.parts(envelope, "s")]


def raw(held: dict[str, Any]) -> Kept | None:
    """Return the tables of synthesis, a board or mutation, None of any other file."""
    if held.get("schema") == SynthFile.__struct_config__.tag:
        synthesised = msgspec.convert(held, SynthFile)
        return Kept(cost_table.sections(synthesised), cost_table.command(synthesised))
    if held.get("schema") == BoardFile.__struct_config__.tag:
        return Kept(
            board_table.sections(msgspec.convert(held, BoardFile)),
            "okosu lab synth --board ulx3s --json scheduling-hardware-board.json",
        )
    if held.get("schema") == MutationFile.__struct_config__.tag:
        words = "python -m papers.scheduling_hardware.dv.mutation core|sched|machine|board|foreign FOLDER --record"
        return Kept([_mutation(msgspec.convert(held, MutationFile).files)], f"{words} rtl-mutation.json")
    return None


def _mutation(files: dict[str, MutatedFile]) -> Section:
    body = []
    for name, of in files.items():
        told = of.found + of.left
        shown = name.removeprefix("rtl/")
        body.append([f"`{shown}`", str(of.found), str(told), f"{100 * of.found / told:.1f} %", str(of.equivalent)])
    found, equivalent = (sum(getattr(of, key) for of in files.values()) for key in ("found", "equivalent"))
    told = found + sum(of.left for of in files.values())
    body.append(["all", f"{found:,}", f"{told:,}", f"{100 * found / told:.1f} %", str(equivalent)])
    return Section(id="mutation", head=["file", "found", "of", "", "no program can tell"], body=body)
