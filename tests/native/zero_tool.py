# SPDX-License-Identifier: Apache-2.0
"""Where the program is that checks okosu's memsets, and how to read what it reports of the choice."""

from __future__ import annotations

import functools
import re

from routine_tool import LAST, Checker, Choice, flags

__all__ = ["CHECKER", "LAST", "Choice", "flags", "run", "seen", "show"]

CHECKER = Checker("zero-check", ("any", "near", "far", "page"))
run, show = CHECKER.run, CHECKER.show


def seen(use: str, classes: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """What the choice reports of these classes: the entries set up to eight vectors without a choice."""
    own = always(use)
    if own is None:
        return classes
    above = [(up_to, variant) for up_to, variant in classes if up_to > own[0]]
    return above if above[0][1] == own[1] else [own, *above]


@functools.cache
def always(use: str) -> tuple[int, str] | None:
    """The largest size that is set without a choice, and by which variant; None for pages, or without IFUNCs."""
    found = re.search(
        rf"^{use} (\d+) (sse2|avx(?:2|512)(?:-intel|-once)?)$", run("--show", OKOSU_ZERO="loop8").stdout, re.MULTILINE
    )
    return (int(found[1]), found[2]) if found else None
