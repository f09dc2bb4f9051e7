# SPDX-License-Identifier: Apache-2.0
"""What a tool of this room measured, as a summary for results/."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import okosu
from okosu import machine
from okosu.cli._summary import kept_facts
from okosu.records.summary import SUMMARY_SCHEMA, Section, Summary
from okosu.records.types import Tool


def summary_of(tool: str, arguments: Sequence[str], started: str, sections: Sequence[Section]) -> Summary:
    """Return the summary of tables that a module of this room has made, which was called with `arguments`."""
    return Summary(
        schema=SUMMARY_SCHEMA,
        sources=[],
        command=shlex.join(["python", "-m", f"papers.scheduling_hardware.{tool}", *arguments]),
        tool=Tool("okosu", okosu.__version__, started),
        machine=dict(kept_facts(machine.facts(machine.read()))),
        sections=list(sections),
    )
