# SPDX-License-Identifier: Apache-2.0
"""One heading of what was measured in the lab."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Part:
    """One heading: a chart (twice, for wide and narrow pages) or none, and a table of texts."""

    title: str
    about: str
    head: list[str]
    body: list[list[str]]
    charts: dict[str, str] = field(default_factory=dict)
