# SPDX-License-Identifier: Apache-2.0
"""What a board's bitstream took of its FPGA, and its clock, as a record and as tables."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from okosu.records.summary import Section, markdown
from papers.scheduling_hardware import ROOM, board
from papers.scheduling_hardware.formats import BoardFile
from papers.scheduling_hardware.machine import CONTEXTS

# Kinds of the FPGA's parts as nextpnr counts them, and what they are called here.
_PARTS = {
    "TRELLIS_COMB": "logic cells",
    "TRELLIS_FF": "flip-flops",
    "DP16KD": "block RAMs",
    "MULT18X18D": "multipliers",
    "EHXPLLL": "PLLs",
    "TRELLIS_IO": "pins",
}


def record(on: board.Board, built: board.Built, program: Sequence[str]) -> BoardFile:
    cost = built.cost
    return BoardFile(
        versions=board.tools(),
        board=on.name,
        fpga=on.fpga,
        parameters=on.parameters,
        logic=cost.logic,
        ff=cost.ff,
        ram=cost.ram,
        dsp=cost.dsp,
        used=built.used,
        reached_mhz=built.reached_mhz,
        wanted_mhz=built.wanted_mhz,
        program=[word.removeprefix(f"{ROOM}/") for word in program],
        bitstream=hashlib.sha256(built.bitstream.read_bytes()).hexdigest(),
    )


def sections(told: BoardFile) -> list[Section]:
    """Return the record's tables: what of the FPGA is in use, and the clock."""
    body = [
        [name, f"{used:,}", f"{there:,}", f"{100 * used / there:.0f} %"]
        for kind, name in _PARTS.items()
        for used, there in [told.used.get(kind, (0, 1))]
        if used
    ]
    given = told.parameters
    machine = f"{given['NumPes']} PEs, {CONTEXTS[given['Context']]}, {given['Threads']} threads"
    memory = f"{given['NumPes']} x {given['ImemWords'] // 256} KiB of text, {given['DmemWords'] // 256} KiB of data"
    clocks = [[machine, memory, f"{told.reached_mhz:.1f} MHz", f"{told.wanted_mhz:.1f} MHz"]]
    return [
        Section(id="fpga", head=[f"{told.board}, {told.fpga}", "in use", "of", ""], body=body),
        Section(id="clock", head=["machine", "memory", "clock by the router", "clock of the board"], body=clocks),
    ]


def tables(told: BoardFile) -> list[str]:
    """Return the same in lines of Markdown."""
    return "\n".join(map(markdown, sections(told))).splitlines()
