# SPDX-License-Identifier: Apache-2.0
"""One heading of what was measured in the lab."""

from __future__ import annotations

from dataclasses import dataclass, field

from okosu.records.summary import Section, slug


@dataclass
class Part:
    """One heading: a chart (twice, for wide and narrow pages) or none, and a table of texts."""

    title: str
    about: str
    head: list[str]
    body: list[list[str]]
    charts: dict[str, str] = field(default_factory=dict)


def section(part: Part) -> Section:
    """Return the part as a summary keeps it: without its charts."""
    return Section(id=slug(part.title), title=part.title, about=part.about, head=part.head, body=part.body)
