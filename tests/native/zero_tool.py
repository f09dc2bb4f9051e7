# SPDX-License-Identifier: Apache-2.0
"""Where the program is that checks okosu's memsets, and how to read what it reports of the choice."""

from __future__ import annotations

from routine_tool import LAST, Checker, Choice, flags

__all__ = ["CHECKER", "LAST", "Choice", "flags", "run", "seen", "show"]

CHECKER = Checker("zero-check", ("any", "near", "far", "page"))
run, show = CHECKER.run, CHECKER.show


def seen(use: str, classes: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """What the choice reports of these classes: with AVX-512 the entries set up to 512 bytes without a choice."""
    always = run("--show", OKOSU_ZERO="loop8").stdout.partition("any 512 avx512\n")[1] and use != "page"
    if not always:
        return classes
    above = [(up_to, variant) for up_to, variant in classes if up_to > 512]
    return above if above[0][1] == "avx512" else [(512, "avx512"), *above]
