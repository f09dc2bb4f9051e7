# SPDX-License-Identifier: Apache-2.0
"""What `okosu reproduce` prints: each published value beside ours and why they differ, then each target."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Iterable
from itertools import groupby

from okosu import machine
from okosu.cli._bench import PEERS
from okosu.records.types import Compared, ReproduceFile, ReproducePlan, begin
from papers.common.base import Paper

NARROWEST, WIDEST = 80, 120
NUMBER = 14
UNIT = 10


def envelope(paper: Paper, quick: bool) -> ReproduceFile:
    """Return the empty records of a reproduction that begins now."""
    about = paper.about()
    plan = ReproducePlan(
        command=["okosu", "reproduce", paper.name, *paper.chosen, *(["--quick"] if quick else [])],
        paper=paper.name,
        title=about.title_en,
        published_on=about.machine,
        quick=quick,
        seed=int.from_bytes(os.urandom(4)),
    )
    return begin(ReproduceFile, machine.facts(machine.read()), plan=plan)


def peers(paper: Paper) -> list[str]:
    """Return the options that name the libraries to compare with: where `make peers` put them, and the paper's own."""
    folders = [*([PEERS] if PEERS.is_dir() else []), *paper.peers()]
    return [word for folder in folders for word in ("--peers", str(folder))]


def listed(paper: Paper) -> str:
    """What the paper publishes, and the targets beyond it."""
    lines = _head(paper)
    for where, entries in groupby(paper.published(), lambda entry: entry.where):
        lines += ["", where]
        for entry in entries:
            lines += _row(entry.text, [_number(entry.value)], entry.unit)
            if entry.mark != "value":
                lines += _prose(f"{entry.mark}{f': {entry.why}' if entry.why else ''}")
    if paper.targets():
        lines += ["", f"targets beyond the paper ({paper.target_source()})"]
        for target in paper.targets():
            lines += _row(f"{target.id}: {target.text}", [f"{target.sign} {_number(target.value)}"], target.unit)
            of = f"okosu bench {target.bench}" if target.bench else f"experiment {target.experiment}"
            lines += _prose(f"{target.kind}; {of}{f', against {target.against}' if target.against else ''}")
    return "\n".join(lines)


def render(held: ReproduceFile, paper: Paper) -> str:
    """Return the tables of published values and targets, at most 120 columns wide."""
    lines = [*_head(paper), f"here: {held.machine.get('model', 'an unknown machine')}"]
    published = [item for item in held.compared if item.kind == "published"]
    for where, place in groupby(published, lambda item: item.source):
        lines += ["", *_row(where, ["published", "here"], "")]
        # A remark that several rows in turn share is printed once, below them.
        for note, same in groupby(place, lambda item: item.note):
            for item in same:
                lines += _row(_indented(item), [_number(item.target), _number(item.measured)], item.unit)
            lines += _prose(note)
    targets = [item for item in held.compared if item.kind != "published"]
    if targets:
        lines += ["", *_row(f"targets beyond the paper ({targets[0].source})", ["target", "here"], "holds?")]
    for note, same in groupby(targets, _remark):
        for item in same:
            said = {True: "holds", False: "MISSED", None: "not judged"}[item.holds]
            numbers = [f"{item.sign} {_number(item.target)}", _number(item.measured)]
            lines += _row(f"  {item.id}: {item.text}", numbers, said)
        lines += _prose(note)
    lines += ["", _summary(targets)] if targets else []
    return "\n".join(lines)


def _head(paper: Paper) -> list[str]:
    about = paper.about()
    return [f"{paper.name}: {about.title_en}", about.authors, f"published: {about.machine}"]


def _summary(targets: Iterable[Compared]) -> str:
    held = [item.holds for item in targets]
    return f"{held.count(True)} of {len(held)} targets hold, {held.count(False)} missed, {held.count(None)} not judged"


def _indented(item: Compared) -> str:
    return f"  {item.text}"


def _remark(item: Compared) -> str:
    if item.measured is None:
        return item.note
    bounds = f", 95 % interval {item.interval[0]:.3g} to {item.interval[1]:.3g}" if item.interval else ""
    if item.interval and item.interval[0] == item.interval[1]:
        bounds = ", exact"
    return f"{item.kind}, {item.unit}{bounds}: {item.note}"


def _width() -> int:
    columns = shutil.get_terminal_size((100, 24)).columns if sys.stdout.isatty() else 100
    return max(NARROWEST, min(WIDEST, columns))


def _row(text: str, numbers: list[str], unit: str) -> list[str]:
    """Return the lines of a row: the text, wrapped, and the numbers on its last line."""
    right = "".join(f"{number:>{NUMBER}}" for number in numbers) + f" {unit:<{UNIT}}"
    room = _width() - len(right)
    indent = " " * (len(text) - len(text.lstrip()))
    words = textwrap.wrap(text.strip(), room - 1, subsequent_indent=indent + "  ", initial_indent=indent) or [""]
    # The numbers stand on the last line of a text that is wrapped.
    return [*words[:-1], f"{words[-1]:<{room}}{right}".rstrip()]


def _prose(text: str) -> list[str]:
    return textwrap.wrap(text, _width() - 2, initial_indent="      ", subsequent_indent="      ") if text else []


def _number(value: float | None) -> str:
    """Return four significant digits; whole numbers from a thousand on, with no exponent."""
    if value is None:
        return "–"
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}" if abs(value) >= 10000 else f"{value:.0f}"
    return f"{value:.4g}"
