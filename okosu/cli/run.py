# SPDX-License-Identifier: Apache-2.0
"""okosu run: hands over to the launcher okosu-run by execv; with --from, after reading the levers from a records
file."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

from okosu import native
from okosu.errors import LAUNCHER_FAILED, OkosuError, usage

NAME = "run"
PLACE = 2
HELP = "run a program with levers applied (all options are okosu-run's; --from FILE takes them from a trial)"
EXAMPLES = """\
  okosu run --superpage=thp -- ./app args
  okosu run --pin=compact --retain --dry-run -- ./app args
  okosu run --from trial.json -- ./app args
"""


def main(argv: list[str]) -> int:
    """Replace this process by okosu-run; returns only if that fails (125)."""
    try:
        options = _expand(argv)
    except OkosuError as error:
        error.status = LAUNCHER_FAILED
        raise
    launcher = str(native.find("okosu-run"))
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execv(launcher, [launcher, *options])
    except OSError as error:
        raise OkosuError(f"{launcher} cannot be run: {error.strerror}", "", "make build", LAUNCHER_FAILED) from error


def _expand(argv: list[str]) -> list[str]:
    """Replace `--from FILE` or `--from=FILE`, which must stand before `--`, by the levers that the file recommends."""
    cut = argv.index("--") if "--" in argv else len(argv)
    own, rest = iter(argv[:cut]), argv[cut:]
    made: list[str] = []
    for word in own:
        option, equals, name = word.partition("=")
        if option != "--from":
            made.append(word)
        elif name := name if equals else next(own, ""):
            made += _recommended(name, rest[1:])
        else:
            raise usage("--from needs a records file", "nothing stands behind it", "okosu run --from FILE -- PROGRAM")
    return [*made, *rest]


def _recommended(name: str, command: list[str]) -> list[str]:
    """The launcher options that the trial in the file recommends, or that of this kind of machine in the folder. Warns
    where the program, the machine or its state is not the trial's.
    """
    if Path(name).is_dir():
        return _of_this_kind(Path(name), command)
    from okosu import machine
    from okosu.machine.program import called
    from okosu.records import files
    from okosu.records.types import TryFile

    envelope = files.read_as(TryFile, Path(name))
    best = [v for v in envelope.verdicts if v.headline]
    tried = envelope.plan.options.command
    if command and called(command) != called(tried):
        what = f"it was measured with {tried[0] if tried else 'no program'}, and this is {command[0]}"
        print(f"okosu: {name}: {what}: what helps one can slow the other: okosu try", file=sys.stderr)
    if lines := machine.differences(envelope.machine, machine.read()):
        again = f"a lever can lose here what it won there: okosu try --revalidate {shlex.quote(name)}"
        for line in [*lines, again]:
            print(f"okosu: {name}: {line}", file=sys.stderr)
    if not best:
        print(f"okosu: {name} recommends no lever: the program runs as it is", file=sys.stderr)
        return []
    if not best[0].options:
        better = shlex.join(envelope.use(best[0]))
        print(f"okosu: {name} recommends another command line: {better}; this one runs as it is", file=sys.stderr)
    return list(best[0].options)


def _of_this_kind(folder: Path, command: list[str]) -> list[str]:
    """The launcher options that the record of this kind of machine recommends; none where the folder has none."""
    from okosu import machine
    from okosu.cluster import collect

    choice = collect.choose(folder, machine.read(), command)
    # Which record it is, is not said by each of a job's ranks.
    for line in choice.said if choice.path is None or sys.stderr.isatty() else []:
        print(f"okosu: {line}", file=sys.stderr)
    return [] if choice.path is None else _recommended(str(choice.path), command)
