# SPDX-License-Identifier: Apache-2.0
"""okosu doctor: what this machine has, which levers are available on it, and what would change that."""

from __future__ import annotations

import argparse
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from okosu.errors import OkosuError, usage

if TYPE_CHECKING:
    from rich.console import Console

    from okosu.cli._doctor import Rows
    from okosu.levers.base import Availability
    from okosu.machine.model import Machine
    from okosu.machine.program import Program
    from okosu.recipes import Recipe
    from okosu.recipes.lever import Lacking

    Judged = dict[str, tuple[Availability, list[list[str]]]]

NAME = "doctor"
PLACE = 3
HELP = "say what this machine has, which levers are available, and what would change that"
EXAMPLES = """\
  okosu doctor                          this machine, and which levers it allows
  okosu doctor -- ./app                 … and what they can do for this program
  okosu doctor --capture machine.tar    the same facts as a file, to send to somebody (look at them with --root)
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--root", metavar="DIR|TAR", help="a captured machine instead of this one (default: OKOSU_ROOT, or /)")
    add("--capture", metavar="FILE", help="write the files that okosu reads to FILE (.tar, .tar.gz, .tar.xz)")
    add("--recipes", action="append", default=[], metavar="DIR", help="a folder with recipes of your own")
    add("--json", metavar="FILE|-", help="write everything as JSON too; -: to stdout, instead of the text")
    add("command", nargs=argparse.REMAINDER, metavar="-- PROGRAM", help="a program to judge the levers for")


def run(args: argparse.Namespace) -> int:
    """Run the command. Returns 0, or 1 where the root, the capture or the program cannot be read."""
    from okosu import machine

    root = Path(args.root or os.environ.get("OKOSU_ROOT") or "/")
    if not root.exists():
        raise usage(f"{root} does not exist", "", "a folder or a tar file with a captured machine")
    with machine.unpacked(root) as folder:
        if not (folder / "proc").is_dir() and not (folder / "sys").is_dir():
            raise usage(
                f"{root} holds no machine",
                "it has neither proc nor sys in it",
                "the root of a system, or what okosu doctor --capture FILE.tar wrote",
            )
        if args.capture:
            count = machine.capture(folder, Path(args.capture))
            print(f"{args.capture}: {count} files, for okosu doctor --root {args.capture}", file=sys.stderr)
            return 0
        _report(machine.read(folder), args)
    return 0


def _report(here: Machine, args: argparse.Namespace) -> None:
    from okosu.machine.program import inspect

    command = args.command[1:] if args.command[:1] == ["--"] else args.command
    program = msgspec.structs.replace(inspect(command[0]), command=tuple(command)) if command else None
    judged, matching = _judge(here, program), _matching(here, program, args.recipes)
    if args.json:
        _write_json(here, program, judged, matching, args.json)
    if args.json != "-":
        _print(here, program, judged, matching)


def _judge(here: Machine, program: Program | None) -> Judged:
    """For each lever, whether it is available here (and for the program, if given), and its arms for the program."""
    from okosu import levers

    judged = {}
    for name, lever in levers.load().items():
        available, arms = lever.needs(here), []
        if available.ok and program is not None:
            arms = lever.values(here, program, None)
            if not arms:
                available = lever.nothing(here, program, None)
        judged[name] = (available, arms)
    return judged


def _matching(here: Machine, program: Program | None, folders: list[str]) -> list[Recipe]:
    """The recipes that are for the program, by its files alone, and have something to try, to install or to warn of."""
    from okosu import recipes

    every = recipes.found(folders).values()
    if program is None:
        return []
    return [
        recipe
        for recipe in every
        if recipe.harm(program)
        or (recipe.matches(program, None) and (recipe.values(here, program, None) or recipe.lacking(here, program)))
    ]


def _write_json(here: Machine, program: Program | None, judged: Judged, matching: list[Recipe], to: str) -> None:
    import okosu
    from okosu.records import files

    document: dict[str, Any] = {
        "schema": "okosu.doctor/1",
        "tool": f"okosu {okosu.__version__}",
        "machine": here,
        "program": program,
        "levers": {
            name: {"available": a.ok, "why": a.why, "fix": a.fix, "arms": arms} for name, (a, arms) in judged.items()
        },
    }
    if program is not None:
        document["recipes"] = {
            recipe.name: {
                "doc": recipe.doc,
                "arms": recipe.values(here, program, None),
                "changes": dict(recipe.changes),
                "lacking": [{"why": one.why, "fix": one.fix} for one in recipe.lacking(here, program)],
            }
            for recipe in matching
        }
    files.put_json(to, document)


def _print(here: Machine, program: Program | None, judged: Judged, matching: list[Recipe]) -> None:
    from rich.console import Console

    console = Console(highlight=False, emoji=False, markup=False)
    with console.capture() as text:
        _show(console, here, program, judged)
        if program is not None and matching:
            console.print()
            console.print(_recipes(here, program, matching))
    # Rich pads each cell with blanks to its column's width.
    sys.stdout.write(re.sub(r" +$", "", text.get(), flags=re.MULTILINE))


def _show(console: Console, here: Machine, program: Program | None, judged: Judged) -> None:
    from okosu.cli._doctor import rows

    console.print(f"machine {here.id}" + ("" if here.root == "/" else " (captured)"), style="bold")
    console.print(_grid(rows(here)))
    if program is not None:
        reach = "can be preloaded" if program.preloadable else f"cannot be preloaded: {program.why}"
        script = f", run by {program.script}" if program.script else ""
        console.print(_grid([("Program", [f"{program.path}{script} ({program.kind})", reach])]))
    console.print()
    console.print(_table(judged, program is not None))


def _grid(listed: Rows) -> Any:
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2), pad_edge=False)
    grid.add_column(min_width=11, no_wrap=True)
    grid.add_column(overflow="fold")
    for label, lines in listed:
        for i, line in enumerate(lines):
            grid.add_row(Text("" if i else label, style="bold"), Text(line))
    return grid


def _columns(first: str, last: str) -> Any:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2), pad_edge=False, header_style="bold")
    table.add_column(first, no_wrap=True, min_width=11)
    table.add_column("here", no_wrap=True)
    table.add_column(last, overflow="fold")
    return table


def _recipes(here: Machine, program: Program, matching: list[Recipe]) -> Any:
    """The recipes for this program: what they would set, what that changes, and what is missing."""
    from rich.text import Text

    table = _columns("recipe", "what it does; a trial's first run confirms that the program is one for it")
    for recipe in matching:
        arms, lacking = recipe.values(here, program, None), recipe.lacking(here, program)
        notes = [recipe.doc]
        for value in (value for values in arms for value in values):
            set_to = recipe.variables(value, here, program)
            notes.append(f"to try: {' '.join(f'{name}={text}' for name, text in set_to.items())}")
        notes += [f"changes {what}: {hazard}" for what, hazard in recipe.changes.items()]
        if recipe.file.by_name_only:
            notes.append(f"only where it is asked for: --levers {recipe.name}")
        notes += _missing(lacking)
        state = Text("yes", style="green") if arms else Text("no", style="red")
        table.add_row(Text(recipe.name), state, Text("\n".join(notes)))
    return table


def _missing(lacking: list[Lacking]) -> list[str]:
    """What a recipe lacks, with the line to type; where several values lack something, a line for each such line."""
    if len(lacking) < 2:
        return [line for one in lacking for line in (one.why, f"fix: {one.fix}" if one.fix else "") if line]
    values = dict[str, list[str]]()
    for one in lacking:
        values.setdefault(one.fix, []).append(one.value)
    return [f"{', '.join(names)}: not here" + (f"; fix: {fix}" if fix else "") for fix, names in values.items()]


def _table(judged: Judged, arms_known: bool) -> Any:
    from rich.text import Text

    table = _columns("lever", "why, and what would change it")
    for name, (available, arms) in judged.items():
        notes = [available.why] if available.why else []
        if arms_known and arms:
            notes.append(f"to try: {', '.join(' else '.join(values) for values in arms)}")
        if available.fix:
            notes.append(f"fix: {available.fix}" + (" (needs root)" if "sudo " in available.fix else ""))
        state = Text("yes", style="green") if available.ok else Text("no", style="red")
        table.add_row(Text(name), state, Text("\n".join(notes or [_doc(name)])))
    return table


def _doc(lever: str) -> str:
    """The launcher's one-line description of the lever; "" where there is no launcher, because doctor must work without
    it.
    """
    from okosu.levers import launcher

    try:
        return launcher.table()[lever].doc
    except (OSError, KeyError, OkosuError):
        return ""
