# SPDX-License-Identifier: Apache-2.0
"""The record types of okosu: what is stored of every measurement, on whatever platform it was made."""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

RECORD_SCHEMA: Final = "okosu.record/1"
TRY_SCHEMA: Final = "okosu.try/1"
BENCH_SCHEMA: Final = "okosu.bench/1"
REPRODUCE_SCHEMA: Final = "okosu.reproduce/2"
PARTS: Final = {TRY_SCHEMA: ("verdicts",), BENCH_SCHEMA: (), REPRODUCE_SCHEMA: ("compared",)}
"""Which of the envelope's lists of conclusions a kind of file has; the others are empty, and not written."""


def foreign_parts(schema: str) -> list[str]:
    """Return the names of the conclusions that a kind of file does not have."""
    return sorted({part for parts in PARTS.values() for part in parts} - set(PARTS[schema]))


class Tool(msgspec.Struct, frozen=True):
    """Which okosu wrote the file, and when (ISO 8601, UTC)."""

    name: str
    version: str
    started: str


class Proof(msgspec.Struct, frozen=True):
    """Whether a lever's effect was read back from the program, and what was read."""

    holds: bool
    text: str
    values: dict[str, float] = {}


class Record(msgspec.Struct, kw_only=True):
    """The samples of one metric of one arm in one stage of one run of the tool.

    `samples[i]` was taken by the `order[i]`-th process that the tool started, in round `rounds[i]`; `predecessor[i]`
    is the
    arm that ran just before it ("" for the first). Exactly one of `lever` and `variant` is not empty.
    """

    schema: Literal["okosu.record/1"] = RECORD_SCHEMA
    tool: str
    machine: str
    platform: Literal["native", "uml", "qemu", "verilator"] = "native"
    subject: str
    lever: str = ""
    variant: str = ""
    stage: Literal["pilot", "screening", "confirmation", "bench"] = "screening"
    metric: str
    unit: str
    samples: list[float] = []
    order: list[int] = []
    rounds: list[int] = []
    predecessor: list[str] = []
    parameters: dict[str, str | float] = {}
    """What was measured, where it takes more than the subject and the variant to say it (size, mode, placement, …)."""
    seed: int = 0
    proof: Proof | None = None
    note: str = ""


class Verdict(msgspec.Struct, kw_only=True):
    """What is concluded of one arm. `ratio` is t_arm / t_base: below 1 is faster.

    `verdict` is one of FASTER, SLOWER, SAME, UNRESOLVED, NOT CONFIRMED, NOT APPLIED, WRONG OUTPUT, UNAVAILABLE; ratio
    and
    interval are null where nothing could be measured.
    """

    arm: str
    verdict: str
    options: list[str] = []
    """Options of okosu-run that make this arm."""
    ratio: float | None = None
    interval: tuple[float, float] | None = None
    ratio_of_sums: float | None = None
    rounds: int = 0
    ties: int = 0
    proof: str = ""
    applied: bool = False
    stage: Literal["screening", "confirmation"] = "screening"
    confirmed: bool | None = None
    """True or false after confirmation on fresh rounds; null where there was none."""
    carry_over: bool = False
    headline: bool = False
    """The arm that is recommended: its ratio is the one to quote."""
    why: str = ""
    fix: str = ""
    rounds_needed: int | None = None
    minutes_needed: float | None = None


class Compared(msgspec.Struct, kw_only=True):
    """A published value of a paper, or a target of okosu's own, beside what was measured here (`okosu reproduce`).

    A published value never fails: `holds` is null. Of a target, null says that it could not be judged.
    `target` is the published number, or the target's bound.
    """

    id: str
    text: str
    kind: Literal["published", "floor", "at least", "at most"]
    mark: Literal["", "value", "statement", "disputed"] = ""
    """Of a published number: was it measured there, stated, or is it wrong?"""
    source: str
    target: float
    measured: float | None = None
    interval: tuple[float, float] | None = None
    unit: str = ""
    holds: bool | None = None
    note: str = ""

    @property
    def sign(self) -> str:
        """How the measured value must stand to a target's bound; "" of a published value."""
        return {"published": "", "at most": "≤"}.get(self.kind, "≥")


class Envelope(msgspec.Struct, kw_only=True):
    """A whole records file: who measured, on what machine, to what plan, what came out.

    One type serves every kind of file; `PARTS` says which conclusions a kind has, and the others stay empty.
    """

    schema: Literal["okosu.try/1", "okosu.bench/1", "okosu.reproduce/2"]
    tool: Tool
    machine: dict[str, Any]
    plan: dict[str, Any]
    records: list[Record] = []
    verdicts: list[Verdict] = []
    compared: list[Compared] = []
    """What `okosu reproduce` compares, in the order of the paper and then of the targets; [] of any other command."""
    finished: bool = False
