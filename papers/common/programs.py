# SPDX-License-Identifier: Apache-2.0
"""Runs a paper's experiments: benches through okosu.bench, listings as programs, the lab's as they say themselves."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from okosu import native
from okosu.errors import OkosuError
from okosu.records.types import Record
from papers.common.base import Experiment, LabExperiment, Measured, Said, Say

if TYPE_CHECKING:
    from okosu.bench.rows import Result

LISTING_S = 120.0
"""The longest that a listing may take: the paper's largest writes 1 GB twice."""
LEFT_OUT = "--quick leaves it out"


@dataclass(frozen=True)
class Runner:
    """What runs programs; the tests put something else in its place."""

    bench: Callable[[str, list[str]], Result]
    listing: Callable[[Experiment, tuple[str, ...]], Said]


def arguments(experiment: Experiment, quick: bool) -> tuple[str, ...] | None:
    """Return the program's arguments, None where --quick leaves it out."""
    return experiment.quick if quick else experiment.args


def argv(experiment: Experiment, quick: bool) -> list[str]:
    """Return the whole command line, as --dry-run shows it; [] where --quick leaves it out."""
    args = arguments(experiment, quick)
    return [] if args is None else [experiment.program, *args]


def run(experiment: Experiment, quick: bool, runner: Runner, into: Measured, seed: int) -> None:
    """Run one experiment and put what it gave, or why it gave nothing, into `into`; `seed` is the benches'."""
    args = arguments(experiment, quick)
    if args is None:
        into.missing[experiment.name] = LEFT_OUT
        return
    try:
        if experiment.read == "rows":
            into.rows[experiment.name] = runner.bench(experiment.name, [*args, "--seed", str(seed)])
        else:
            into.said[experiment.name] = runner.listing(experiment, args)
    except OkosuError as error:
        # A bench that failed half-way keeps what it had measured (okosu.bench.drive.BenchError).
        if (there := getattr(error, "result", None)) is not None and there.rows:
            into.rows[experiment.name] = there
        _failed(experiment.name, error, into)


def run_lab(experiment: LabExperiment, quick: bool, into: Measured, say: Say, took: Callable[[Record], None]) -> None:
    """Run one lab experiment: each record goes to `took` and into `into` as it comes, then why no more came."""
    if quick and not experiment.quick:
        into.missing[experiment.name] = LEFT_OUT
        return
    say(experiment.typed(quick))
    held = into.records.setdefault(experiment.name, [])
    try:
        measure = experiment.thin if quick and experiment.thin else experiment.run
        for record in measure(say):
            held.append(record)
            took(record)
    except OkosuError as error:
        _failed(experiment.name, error, into)


def _failed(name: str, error: OkosuError, into: Measured) -> None:
    into.failed[name] = error
    into.missing[name] = f"{error.what}{f': {error.why}' if error.why else ''}"


def listing(experiment: Experiment, args: tuple[str, ...]) -> Said:
    """Run a listing and read its output. OkosuError if it was not built, failed or printed something else."""
    command = [str(native.find(experiment.program)), *args]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LISTING_S)
    except subprocess.TimeoutExpired as error:
        raise OkosuError(f"{shlex.join(command)} did not end within {LISTING_S:.0f} s") from error
    if done.returncode != 0 and not experiment.may_fail:
        why = (done.stderr or done.stdout).strip().splitlines()
        raise OkosuError(f"{shlex.join(command)} ended with status {done.returncode}", why[-1] if why else "")
    if experiment.read == "text":
        return Said(done.returncode, (), done.stdout)
    try:
        return Said(done.returncode, tuple(json.loads(line) for line in done.stdout.splitlines()))
    except ValueError as error:
        raise OkosuError(f"{shlex.join(command)} printed something else than JSON lines", f"{error}") from error
