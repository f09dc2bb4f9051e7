# SPDX-License-Identifier: Apache-2.0
"""okosu run: hands over to the launcher okosu-run by execv; with --from, after reading the levers from a records
file."""

from __future__ import annotations

import os
import sys

from okosu import native
from okosu.errors import LAUNCHER_FAILED, USAGE_ERROR, OkosuError

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
    own, rest = argv[:cut], argv[cut:]
    made: list[str] = []
    i = 0
    while i < len(own):
        word = own[i]
        if word == "--from":
            if i + 1 == len(own):
                raise OkosuError("--from needs a records file", "", "okosu run --from FILE -- PROGRAM", USAGE_ERROR)
            made += _recommended(own[i + 1])
            i += 2
            continue
        made += _recommended(word.removeprefix("--from=")) if word.startswith("--from=") else [word]
        i += 1
    return [*made, *rest]


def _recommended(name: str) -> list[str]:
    """The launcher options that the trial in the file recommends. Warns where the machine or its state is not the
    trial's.
    """
    from pathlib import Path

    from okosu import machine
    from okosu.records import files
    from okosu.records.types import TryFile

    envelope = files.read_as(TryFile, Path(name))
    best = [v for v in envelope.verdicts if v.headline]
    for line in machine.differences(envelope.machine, machine.read()):
        print(f"okosu: {name}: {line}", file=sys.stderr)
    if not best:
        print(f"okosu: {name} recommends no lever: the program runs as it is", file=sys.stderr)
        return []
    return list(best[0].options)
