# SPDX-License-Identifier: Apache-2.0
"""The lever prezero on two programs, with a CPU that idles and with none, as `okosu try` measures it.

The command lines that are shown are parsed and run here, so that typing one of them measures the same.
"""

from __future__ import annotations

import importlib.util
import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import okosu
from okosu import native, trial
from okosu.cli import _options, main
from okosu.cli.selftest import HOG, hogs
from okosu.errors import OkosuError
from okosu.records.types import BASE, Record, Stage
from okosu.stats.verdict import Judgement
from papers.common.base import Say

LEVER = "prezero"
ROUNDS, FEW = 11, 3
EXAMPLES = native.PACKAGE.parent / "examples"
BUILT = native.PACKAGE.parent / "build/examples"


def _programs() -> dict[str, list[str]]:
    return {
        "churn": [str(BUILT / "churn"), "40", "1", "calloc"],
        "numpy": [sys.executable, str(EXAMPLES / "real/numpy-temporaries.py")],
    }


def _check_programs() -> None:
    """Raise OkosuError where one of the programs cannot run here."""
    for example in (BUILT / "churn", EXAMPLES / "real/numpy-temporaries.py"):
        if not example.is_file():
            raise OkosuError(f"examples/{example.name} was not found", "it is there in a checkout only", "make build")
    if importlib.util.find_spec("numpy") is None:
        raise OkosuError("numpy was not found", "one of the programs is written in it", "pip install numpy")


def _asked(program: list[str], rounds: int) -> list[str]:
    """Return the command line that measures a program over a fixed number of rounds, whatever the first ones say."""
    fixed = ["--min-rounds", str(rounds), "--max-rounds", str(rounds)]
    return ["okosu", "try", "--seed", "1", "--levers", LEVER, *fixed, "--budget", "1h", "--", *program]


def shown(rounds: int) -> str:
    """Return the command lines, one a line; those of a busy machine start a loop for each CPU, and end it."""
    typed = [shlex.join(_asked(program, rounds)) for program in _programs().values()]
    loops = f"for cpu in $(seq {_cpus()}); do {shlex.join(HOG)} & done"
    return "\n".join([*typed, *(f"{loops}; {line}; kill $(jobs -p)" for line in typed)])


def _cpus() -> int:
    return len(os.sched_getaffinity(0))


class _Copying(trial.Watcher):
    """Copies the rounds of a trial into records while they come."""

    def __init__(self, session: trial.Session, records: dict[str, Record], tell: Say) -> None:
        self.session, self.records, self.tell = session, records, tell

    def stage(self, stage: Stage, arms: list[str]) -> None:
        self.tell(f"{next(iter(self.records.values())).subject}: {stage} of {', '.join([BASE, *arms])}")

    def round_done(self, number: int, judgements: dict[str, Judgement], left_s: float) -> None:  # noqa: ARG002
        for arm, record in self.records.items():
            values = self.session.values(arm)
            record.rounds, record.samples = [place.round for place in values], list(values.values())


def _measure(rounds: int, say: Say) -> Iterator[Record]:
    _check_programs()
    if _cpus() < 2:
        raise OkosuError("no CPU can idle beside the program", "this machine offers one CPU only", "two CPUs")
    for busy, count in (("idle", 0), ("busy", _cpus())):
        for name, program in _programs().items():
            session = trial.new(_options.parse(main.parse(_asked(program, rounds)[1:])), None)
            records = {arm: _record(name, arm, busy) for arm in (BASE, LEVER)}
            yield from records.values()
            with hogs(count):
                trial.run(session, _Copying(session, records, say))
            if failed := session.failures.get(LEVER):
                raise OkosuError(f"{Path(program[0]).name}: {LEVER} {failed.verdict}", failed.why, failed.fix)


def _record(program: str, arm: str, busy: str) -> Record:
    return Record(
        tool=f"okosu {okosu.__version__}",
        machine="",
        subject=program,
        variant=arm,
        stage="bench",
        metric="wall",
        unit="s",
        parameters={"of": "try", "cpus": busy},
    )


def measure(say: Say) -> Iterator[Record]:
    """Yield wall times by program, arm and whether a CPU idled; they grow as the rounds go on."""
    return _measure(ROUNDS, say)


def measure_few(say: Say) -> Iterator[Record]:
    """Yield the same of a few rounds."""
    return _measure(FEW, say)
