# SPDX-License-Identifier: Apache-2.0
"""What `okosu try` prints at its end: one line with the answer, a table of at most 80 columns, what to know of it."""

from __future__ import annotations

from okosu.records.types import TryFile
from okosu.report import formats, view
from okosu.report.view import Row, View
from okosu.trial.costs import clock

WIDTH = 80
ARM = 5
"""Columns that the name of an arm has at least; where the rest leaves less, the table is wider."""
_HEADS = ("arm", "median", "change", "interval", "won", "applied", "verdict")
_RIGHT = (1, 4)
"""Columns that are aligned at their right end."""


def render(file: TryFile, wide: bool = False) -> str:
    """The first line, the table with the remarks on each arm, and how to read it. `wide` adds user and system time,
    page faults and peak memory, and takes as many columns as that needs.
    """
    seen = view.of(file)
    head = seen.headline
    lines = [formats.plain(head.text), *([_wrapped(head.detail)] if head.detail else [])]
    lines += [*(_wrapped(text, "  ") for text in seen.apart), ""]
    lines += _aligned(seen, wide)
    notes = _notes(seen.rows)
    lines += ["", *notes] if notes else []
    closing = [*_folded(seen), *map(_wrapped, seen.notes)]
    lines += ["", *closing] if closing else []
    return "\n".join([*lines, "", _wrapped(f"{seen.caption} {seen.about}")])


def _aligned(seen: View, wide: bool) -> list[str]:
    """The heads and the rows in columns as narrow as their texts allow; the names of arms take what is left."""
    table = [list(_HEADS), *(_cells(row) for row in seen.rows)]
    if wide:
        for line, more in zip(table, [[name for _, name in view.WIDE], *(row.wide for row in seen.rows)], strict=True):
            line += map(formats.plain, more)
    widths = [max(len(line[i]) for line in table) for i in range(len(table[0]))]
    gap = "  " if sum(widths) + 2 * (len(widths) - 1) <= WIDTH or wide else " "
    if not wide:
        widths[0] = min(widths[0], max(ARM, WIDTH - sum(widths[1:]) - len(gap) * (len(widths) - 1)))
    right = (*_RIGHT, *range(len(_HEADS), len(table[0])))
    return [
        gap.join(
            formats.shorten(cell, width).rjust(width) if i in right else formats.shorten(cell, width).ljust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in table
    ]


def _cells(row: Row) -> list[str]:
    verdict = f"{row.verdict}{'*' if row.headline else ''}"
    cells = [row.arm, row.median, row.change, row.interval, row.won, row.applied, verdict]
    return [formats.plain("" if cell == formats.DASH and i in (2, 3) else cell) for i, cell in enumerate(cells)]


def _notes(rows: list[Row]) -> list[str]:
    """The remarks in the order of the arms; what is said of several arms is said once."""
    said: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        for remark in [*([("effect", row.proof)] if row.proof else []), *row.remarks]:
            said.setdefault(remark, []).append(row.arm)
    return [_wrapped(f"{', '.join(arms)}: {label}: {text}", "  ") for (label, text), arms in said.items()]


def _folded(seen: View) -> list[str]:
    lines = [_wrapped(text, "  ") for text in seen.missing]
    reasons: dict[str, list[str]] = {}
    for row in seen.untried:
        reasons.setdefault("; ".join(text for _, text in row.remarks), []).append(row.arm)
    lines += [_wrapped(f"{', '.join(arms)}: {why}", "  ") for why, arms in reasons.items()]
    if seen.folded:
        names = ", ".join(row.arm for row in seen.folded)
        lines.append(_wrapped(f"unavailable here: {names} ({seen.explain} explains)", "  "))
    return lines


def _wrapped(text: str, then: str = "") -> str:
    return formats.wrapped(text, WIDTH, then=then)


def plan_line(file: TryFile) -> str:
    """One line: what will be run, and how long it may take."""
    plan = file.plan
    arms = ", ".join(a.name for a in plan.arms[1:]) or "none"
    took = formats.plain(formats.quantity(plan.base_s, "s"))
    return f"base takes {took}; arms: {arms}; K = {plan.k}; at most {clock(plan.options.budget_s)}"
