# SPDX-License-Identifier: Apache-2.0
"""The JSON that the paper's commands write, as types; schemas/ is generated from them."""

from __future__ import annotations

import msgspec
from msgspec import UNSET, UnsetType

from papers.scheduling_hardware.machine import Machine

PeCounters = dict[str, int | dict[str, int]]
"""Where a PE's cycles went: `pe` and `idle`, and each section of simulation.SECTIONS by what it was spent on."""


class BuiltSimulator(msgspec.Struct, kw_only=True):
    """A simulator: the machine, whether it checks the RTL's assertions, Verilator's version, its place in the cache."""

    machine: Machine
    checked: bool
    verilator: str
    key: str
    path: str


class BuildFile(BuiltSimulator, tag_field="schema", tag="okosu.lab-rtl-build/1"):
    """What `okosu lab build rtl --json` writes."""


class PointRecord(msgspec.Struct, kw_only=True):
    """A run of the machine, or a point of a sweep; simulation.Outcome says what the fields are.

    `varied` holds what the sweep set. `error` is there where the run failed: `status` is 125 then, and what follows it
    here is there only as far as the run came.
    """

    machine: Machine
    backend: str
    command: list[str]
    varied: dict[str, str]
    status: int
    error: str | UnsetType = UNSET
    end: str | UnsetType = UNSET
    message: str | UnsetType = UNSET
    cycles: int | UnsetType = UNSET
    seconds: float | UnsetType = UNSET
    khz: float | UnsetType = UNSET
    counters: list[PeCounters] | UnsetType = UNSET
    stdout: str | UnsetType = UNSET
    stderr: str | UnsetType = UNSET


class RunFile(PointRecord, tag_field="schema", tag="okosu.lab-rtl-run/1"):
    """What `okosu lab run rtl --json` writes."""

    platform: str
    built: BuiltSimulator


class CountersFile(msgspec.Struct, tag_field="schema", tag="okosu.lab-rtl-counters/1"):
    """What `okosu lab run rtl --counters FILE` writes: the cycles of the run, and where those of each PE went."""

    cycles: int
    counters: list[PeCounters]


class SweepFile(msgspec.Struct, tag_field="schema", tag="okosu.lab-sweep/2"):
    """What `okosu lab run rtl --sweep --json` writes, and each task of a job array."""

    points: list[PointRecord]


class ProofRecord(msgspec.Struct, kw_only=True):
    """How a proof went; proving.Proof and proving.Result say what the fields are. `depth` is always unbounded."""

    name: str
    task: str
    parameters: str
    says: str
    method: str
    depth: str
    properties: list[str]
    frames: dict[str, int | None]
    seconds: float
    verdict: str
    failed: str
    step: int | None
    said: str


class BugRecord(msgspec.Struct, kw_only=True):
    """Whether a proof found a planted bug, by which property and in which cycle ("" and null: by none alone)."""

    proof: str
    task: str
    says: str
    found: bool
    failed: str
    step: int | None
    seconds: float


class FormalFile(msgspec.Struct, tag_field="schema", tag="okosu.lab-formal/1"):
    """What `okosu lab formal --json` writes: the versions of the tools, and proofs, or with `--bugs` planted bugs."""

    versions: dict[str, str]
    proofs: list[ProofRecord] | UnsetType = UNSET
    bugs: list[BugRecord] | UnsetType = UNSET


class SpeedFile(msgspec.Struct, kw_only=True, tag_field="schema", tag="okosu.lab-speed/2"):
    """What `okosu lab speed rtl --json` writes: cycles of the program, thousands of cycles simulated in a second, and
    these times the PEs."""

    pes: int
    context: str
    cycles: int
    khz: float
    khz_pes: float


class BlockRecord(msgspec.Struct, kw_only=True):
    """A block that was synthesised or routed: its name in tables, its module, and the module's parameters."""

    name: str
    top: str
    parameters: dict[str, int | str]


class CostRecord(BlockRecord):
    """What a block takes; synthesis.Cost says what the fields are."""

    cells: dict[str, int]
    logic: int
    ff: int
    ram: int
    dsp: int


class ClockRecord(BlockRecord):
    """The clock of a routed block; synthesis.Clock says what the fields are. `others`: the clocks with the next seeds
    of the router."""

    mhz: float | None
    used: int | None
    limit_s: float
    others: list[float | None] = []


class CallRecord(msgspec.Struct, kw_only=True):
    """The cycles that a call of the thread library takes on the machine whose blocks are routed, by its scheduler."""

    scheduler: str
    name: str
    cycles: float


class SynthFile(msgspec.Struct, tag_field="schema", tag="okosu.lab-synth/1"):
    """What `okosu lab synth --json` writes: the versions of the tools, nextpnr's words for the FPGA, costs, clocks, and
    the calls whose time these clocks say."""

    versions: dict[str, str]
    device: str
    blocks: list[CostRecord]
    routes: list[ClockRecord]
    calls: list[CallRecord] = []


class BoardFile(msgspec.Struct, kw_only=True, tag_field="schema", tag="okosu.lab-board/1"):
    """What `okosu lab synth --board --json` writes: the versions of the tools, the board and its FPGA, the parameters
    of its top, the cells that synthesis made (CostRecord says what they are), those that the router used of those that
    there are, its clock for the machine and the one that is wanted in MHz, and the program and the bitstream's
    digest."""

    versions: dict[str, str]
    board: str
    fpga: str
    parameters: dict[str, int]
    logic: int
    ff: int
    ram: int
    dsp: int
    used: dict[str, tuple[int, int]]
    reached_mhz: float
    wanted_mhz: float
    program: list[str]
    bitstream: str


class MutatedFile(msgspec.Struct):
    """The mutants of a file of RTL: how many were found and by which test, how many were not, and of how many no
    program can tell."""

    found: int
    left: int
    equivalent: int
    by: dict[str, int]


class MutationFile(msgspec.Struct, tag_field="schema", tag="okosu.lab-rtl-mutation/1"):
    """What `python -m papers.scheduling_hardware.dv.mutation --record` writes, by the files of RTL: their scores, and
    each mutant that should have been found and was not, as "line:column was -> becomes: source"."""

    files: dict[str, MutatedFile] = {}
    left: dict[str, list[str]] = {}


KINDS = [BuildFile, RunFile, CountersFile, SweepFile, FormalFile, SpeedFile, SynthFile, BoardFile, MutationFile]
