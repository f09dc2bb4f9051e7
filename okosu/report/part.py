# SPDX-License-Identifier: Apache-2.0
"""One section of a report that a paper or the lab provides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from okosu.records.summary import Section, slug

NARROW = 396
"""Pixels of a chart for narrow pages."""


@dataclass
class Part:
    """A heading with a chart or none, and a table of texts.

    `draw` returns the chart as SVG, given a prefix for its ids and its width in pixels; `wide` is that for wide pages.
    """

    title: str
    about: str
    head: list[str]
    body: list[list[str]]
    draw: Callable[[str, int], str] | None = None
    key: str = ""
    wide: int = NARROW

    @cached_property
    def charts(self) -> dict[str, str]:
        """The chart for "wide" and "narrow" pages, drawn when it is asked for."""
        if not self.draw:
            return {}
        widths = {"wide": self.wide, "narrow": NARROW}
        return {name: self.draw(f"{self.key}-{name}", width) for name, width in widths.items()}


def section(part: Part) -> Section:
    """The part as a summary keeps it: without its charts."""
    return Section(id=slug(part.title), title=part.title, about=part.about, head=part.head, body=part.body)
