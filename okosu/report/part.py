# SPDX-License-Identifier: Apache-2.0
"""One section of a report that a paper or the lab provides."""

from __future__ import annotations

from dataclasses import dataclass, field

from okosu.records.summary import Section, slug


@dataclass
class Part:
    """A heading with a chart (in two widths, for wide and narrow pages) or none, and a table of texts."""

    title: str
    about: str
    head: list[str]
    body: list[list[str]]
    charts: dict[str, str] = field(default_factory=dict)


def section(part: Part) -> Section:
    """The part as a summary keeps it: without its charts."""
    return Section(id=slug(part.title), title=part.title, about=part.about, head=part.head, body=part.body)
