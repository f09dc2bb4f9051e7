# SPDX-License-Identifier: Apache-2.0
"""What `okosu collect --json` writes: the verdicts of many trials by program and by kind of machine."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from okosu.records.types import Metric, Tool, Verdict

COLLECTED_SCHEMA: Final = "okosu.collected/1"
MIXED: Final = "MIXED"
"""The verdict of a kind whose trials do not agree."""


class NodeTrial(msgspec.Struct, kw_only=True):
    """One finished trial; its records stay in `file`. `node` and `job` are "" where the file's name does not have
    them."""

    file: str
    node: str = ""
    job: str = ""
    started: str = ""
    verdicts: list[Verdict] = []


class KindVerdict(msgspec.Struct, kw_only=True):
    """What those finished trials on one kind of machine that tried an arm say of it.

    `verdict` is theirs where all agree, else MIXED; `counts` has how many trials ended in which. `ratio` is the median
    of their ratios, `interval` the smallest that holds all of theirs; null where none measured one.
    """

    arm: str
    verdict: str
    counts: dict[str, int]
    options: list[str] = []
    ratio: float | None = None
    interval: tuple[float, float] | None = None
    why: str = ""


class Kind(msgspec.Struct, kw_only=True):
    """One kind of machine: its facts by label, its trials, its verdicts, and the command line to use there."""

    id: str
    facts: dict[str, str]
    trials: list[NodeTrial]
    verdicts: list[KindVerdict]
    base: float | None = None
    """Median over its trials of what base takes, in the metric's own unit."""
    recommended: list[str] | None = None
    """Null where its trials recommend nothing, or not the same."""


class Program(msgspec.Struct, kw_only=True):
    """The kinds of machine on which one command was tried by one metric."""

    command: list[str]
    metric: Metric = "wall"
    pattern: str = ""
    better: Literal["lower", "higher"] = "lower"
    kinds: list[Kind]


class Absent(msgspec.Struct, frozen=True):
    """A job or a file that counts for nothing: its name, what is the matter, and what can be done."""

    name: str
    why: str
    fix: str = ""


class Collected(msgspec.Struct, kw_only=True):
    """All that was found in the folders, and what was missing there."""

    schema: str = COLLECTED_SCHEMA
    tool: Tool
    programs: list[Program]
    absent: list[Absent]
