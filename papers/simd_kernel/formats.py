# SPDX-License-Identifier: Apache-2.0
"""The JSON that the paper's commands write, as types; schemas/ is generated from them."""

from __future__ import annotations

import msgspec

from okosu.records.types import Record


class BreakEvenCost(msgspec.Struct, frozen=True):
    """What one routine costs at one size (bytes), in ticks of the TSC a call; see papers/simd_kernel/run/break_even."""

    name: str
    size: int
    alone: int
    saved: int
    live: int


class BreakEvenFile(msgspec.Struct, tag_field="schema", tag="okosu.lab-break-even/1"):
    """What `okosu lab break-even --json` writes: costs, and from which size each routine wins (null: from none)."""

    costs: list[BreakEvenCost]
    smallest: dict[str, int | None]
    unmeasured: str | None


class ProfileFile(msgspec.Struct, tag_field="schema", tag="okosu.lab-profile/1"):
    """What `okosu lab profile --json` writes."""

    records: list[Record]


class CountedCaller(msgspec.Struct):
    """The calls of one kind (copy or set) from one return address (hexadecimal): calls, bytes, and calls by size class.

    `line` is the place in the source, "" where the image does not know it; run/histogram.py says what the classes are.
    """

    address: str
    function: str
    line: str
    kind: str
    calls: int
    bytes: int
    classes: list[int]


class CountedSize(msgspec.Struct):
    """The calls of one kind (copy or set) of one exact size, in bytes."""

    kind: str
    size: int
    calls: int


class HistogramFile(msgspec.Struct, tag_field="schema", tag="okosu.lab-histogram/1"):
    """What `okosu lab profile --histogram --json` writes."""

    callers: list[CountedCaller]
    sizes: list[CountedSize]


class SurveyFile(msgspec.Struct, tag_field="schema", tag="okosu.lab-survey/1"):
    """What `okosu lab survey --json` writes."""

    records: list[Record]


KINDS = [BreakEvenFile, ProfileFile, HistogramFile, SurveyFile]
