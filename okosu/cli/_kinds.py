# SPDX-License-Identifier: Apache-2.0
"""The table of `okosu collect`: verdicts by kind of machine, in at most 80 columns of plain text."""

from __future__ import annotations

from collections.abc import Sequence

from okosu.report import formats
from okosu.report.kinds import KindView, ProgramView, Row, View

WIDTH = 80
ARM = 22


def render(seen: View) -> str:
    blocks = [_program(program) for program in seen.programs]
    if seen.absent:
        lines = ["not counted:"]
        for one in seen.absent:
            lines.append(_wrapped(f"{one.name}: {one.why}", "  ", "    "))
            lines += [_wrapped(f"fix: {one.fix}", "    ", "      ")] if one.fix else []
        blocks.append("\n".join(lines))
    blocks.append(_wrapped(seen.about))
    return formats.plain("\n\n".join(blocks))


def _program(program: ProgramView) -> str:
    lines = [_wrapped(f"{program.subject}: {program.text}", "", "  ")]
    lines += [_wrapped(arm, "  ", "    ") for arm in program.arms]
    if program.shared:
        whose = "its kind" if len(program.kinds) == 1 else "all kinds"
        lines += ["", _wrapped(f"{whose}: {'; '.join(map(' '.join, program.shared))}", "", "  ")]
    return "\n".join([*lines, *(_kind(kind) for kind in program.kinds)])


def _kind(kind: KindView) -> str:
    facts = "; ".join(map(" ".join, kind.facts))
    lines = ["", _wrapped(f"kind {kind.id}{f': {facts}' if facts else ''}", "", "  ")]
    lines.append(_wrapped(f"trials: {', '.join(one.text for one in kind.trials)}", "  ", "    "))
    lines += [f"  {kind.base}"] if kind.base else []
    if kind.rows:
        lines += _aligned(kind.rows)
    lines += [_wrapped(text, "  ", "    ") for text in kind.folded]
    lines += [_wrapped(f"{row.arm}: {row.why}", "  ", "    ") for row in kind.rows if row.why]
    lines.append(f"  use: {kind.use}" if kind.command else f"  {kind.use}")
    return "\n".join(lines)


def _aligned(rows: Sequence[Row]) -> list[str]:
    table = [("arm", "change", "interval", "trials", "verdict")]
    table += [(formats.shorten(row.arm, ARM), row.change, row.interval, row.trials, row.verdict) for row in rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in table
    ]


def _wrapped(text: str, first: str = "", then: str = "") -> str:
    return formats.wrapped(text, WIDTH, first, then)
