# SPDX-License-Identifier: Apache-2.0
"""Trials of many machines, brought together by program and by kind of machine. Nothing is pooled over kinds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import NamedTuple

import okosu
from okosu import machine
from okosu.cluster import slurm
from okosu.errors import OkosuError
from okosu.machine import Machine
from okosu.machine.program import called
from okosu.records import files
from okosu.records.collected import MIXED, Absent, Collected, Kind, KindVerdict, NodeTrial, Program
from okosu.records.types import Tool, TryFile, Verdict

_RECORD = re.compile(r"(?P<node>.+)-(?P<job>\d+(?:_\d+)?)\.json")
_SCRIPT = re.compile(r"job-(?P<job>\d+)\.sh")
_ARRAY = re.compile(r"^#SBATCH --array=(\S+)$", re.MULTILINE)
_WAITING = ("PENDING", "CONFIGURING", "REQUEUED", "SUSPENDED")
_RUNNING = ("RUNNING", "SIGNALING")


class Found(NamedTuple):
    """A file of `okosu try`, the machine it was measured on, and the node and job in the file's name ("" for none)."""

    path: Path
    file: TryFile
    machine: Machine
    node: str = ""
    job: str = ""


class Gathered(NamedTuple):
    """The trials of some folders, finished or not, in the order of the files' names, and what is no trial."""

    found: list[Found]
    absent: list[Absent]

    @property
    def finished(self) -> list[Found]:
        return [one for one in self.found if one.file.finished]


def gather(folders: Sequence[Path]) -> Gathered:
    """Read all trials in the folders, and ask Slurm for the jobs that have none. OkosuError where a folder cannot be
    read or holds neither trial nor job.
    """
    gathered, jobs = _read_all(folders)
    _ask_for_the_rest(gathered, jobs)
    return gathered


def _read_all(folders: Sequence[Path]) -> tuple[Gathered, dict[str, Path]]:
    """The trials in the folders, and the folder of each job that was submitted."""
    gathered = Gathered([], [])
    jobs: dict[str, Path] = {}
    for folder in folders:
        try:
            names = sorted(folder.iterdir())
        except OSError as error:
            raise OkosuError(f"{folder} cannot be read", error.strerror or "", "a folder of records") from error
        for path in names:
            if script := _SCRIPT.fullmatch(path.name):
                jobs |= dict.fromkeys(_tasks(script["job"], path), folder)
            elif path.suffix == ".json" and not path.name.startswith("."):
                _read(path, gathered)
    if not gathered.found and not gathered.absent and not jobs:
        shown = ", ".join(map(str, folders))
        fix = "okosu try --slurm NODES --json FOLDER -- PROGRAM"
        raise OkosuError(f"{shown} holds no record of `okosu try`", "", fix)
    return gathered, jobs


def _tasks(job: str, script: Path) -> list[str]:
    """The job of this script as squeue and the record's name call it: 7, or 7_1, 7_2, … for an array."""
    array = _ARRAY.search(script.read_text(errors="replace"))
    try:
        return [f"{job}_{task}" for task in slurm.tasks(array[1])] if array else [job]
    except OkosuError:
        return [job]


def _read(path: Path, gathered: Gathered) -> None:
    try:
        held = files.read(path)
    except OkosuError as error:
        gathered.absent.append(Absent(path.name, f"{error.what.removeprefix(f'{path} ')}: {error.why}", error.fix))
        return
    if isinstance(held, TryFile):
        named = _RECORD.fullmatch(path.name)
        names = (named["node"], named["job"]) if named else ("", "")
        gathered.found.append(Found(path, held, machine.stored(held.machine), *names))


def _ask_for_the_rest(gathered: Gathered, jobs: dict[str, Path]) -> None:
    """Say of every job that has no finished trial, and of every trial that is not finished, what is the matter."""
    unfinished = {one.job: one for one in gathered.found if not one.file.finished}
    read = {one.job for one in gathered.found}
    wanted = [job for job in jobs if job not in read]
    open_ = [*wanted, *(job for job in unfinished if job)]
    states = slurm.states(open_) if open_ else {}
    for job in wanted:
        why, fix = _state(job, states, jobs[job], started=False)
        gathered.absent.append(Absent(f"job {job}", f"no record: {why}", fix))
    for one in gathered.found:
        if not one.file.finished:
            rounds = f"not finished after {one.file.rounds} round{'s' * (one.file.rounds != 1)}"
            why, fix = _state(one.job, states, one.path.parent, started=True) if one.job else ("", "")
            resume = f"on that node: okosu try --resume {one.path}"
            gathered.absent.append(Absent(one.path.name, f"{rounds}: {why}" if why else rounds, fix or resume))


def _state(job: str, states: dict[str, str] | None, folder: Path, started: bool) -> tuple[str, str]:
    """What is the matter with a job, in words, and what to do about it."""
    known = (states or {}).get(job, "")
    again = "once it has ended: okosu collect again"
    if known.startswith(_WAITING):
        return f"it waits in Slurm's queue ({known})", again
    if known.startswith(_RUNNING):
        return "it is running" if started else "it has just begun", again
    log = folder / f"job-{job}.log"
    said = _last_words(log)
    if known:
        why = f"Slurm says {known}"
    elif states is None:
        why = "no squeue answers here, so whether its job still waits or runs is unknown"
    else:
        why = "its job has ended"
    return f"{why}{f'; its log ends: {said}' if said else ''}", "" if started or not said else f"read {log}"


def _last_words(log: Path) -> str:
    """The last error of okosu in a job's log with its reason, or of Slurm; else its last line."""
    try:
        lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    except OSError:
        return ""
    if not lines:
        return ""
    errors = [at for at, line in enumerate(lines) if line.startswith("okosu: ")]
    if errors and not lines[-1].startswith("slurmstepd"):
        after = lines[errors[-1] + 1 : errors[-1] + 2]
        return "; ".join([lines[errors[-1]], *(line for line in after if line.startswith("why: "))])
    return lines[-1]


def collected(gathered: Gathered) -> Collected:
    """The verdicts of all finished trials by program and kind, the kind with most trials first."""
    programs: dict[tuple[str, ...], list[Found]] = {}
    for one in gathered.finished:
        options = one.file.plan.options
        programs.setdefault((options.metric, options.pattern, options.better, *options.command), []).append(one)
    return Collected(
        tool=Tool("okosu", okosu.__version__, datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")),
        programs=[_program(trials) for trials in programs.values()],
        absent=gathered.absent,
    )


def _program(trials: Sequence[Found]) -> Program:
    by_kind: dict[str, list[Found]] = {}
    for one in trials:
        by_kind.setdefault(one.machine.id, []).append(one)
    options = trials[0].file.plan.options
    kinds = sorted((_kind(found) for found in by_kind.values()), key=lambda kind: -len(kind.trials))
    return Program(
        command=options.command,
        metric=options.metric,
        pattern=options.pattern,
        better=options.better,
        kinds=kinds,
    )


def _kind(trials: Sequence[Found]) -> Kind:
    names = dict.fromkeys(name for one in trials for name in _arms(one))
    verdicts = [_agreed(name, [v for one in trials for v in one.file.verdicts if v.arm == name]) for name in names]
    bases = [
        median(of) for one in trials if (of := [v.base_value for v in one.file.verdicts if v.base_value is not None])
    ]
    return Kind(
        id=trials[0].machine.id,
        facts=machine.kind(trials[0].machine),
        trials=[
            NodeTrial(
                file=str(one.path),
                node=one.node,
                job=one.job,
                started=one.file.tool.started,
                verdicts=one.file.verdicts,
            )
            for one in trials
        ],
        verdicts=verdicts,
        base=median(bases) if bases else None,
        recommended=recommended(trials),
    )


def _arms(one: Found) -> Iterable[str]:
    """The arms with a verdict, without the placebo, which shows the noise of one place and no effect."""
    placebos = {arm.name for arm in one.file.plan.arms if arm.kind == "placebo"}
    return (v.arm for v in one.file.verdicts if v.arm not in placebos)


def _agreed(arm: str, verdicts: Sequence[Verdict]) -> KindVerdict:
    """The verdict on which all trials of a kind agree that tried the arm. Their rounds are not pooled, because nodes
    of one kind may still differ.
    """
    counts = Counter(v.verdict for v in verdicts)
    ratios = [v.ratio for v in verdicts if v.ratio is not None]
    intervals = [v.interval for v in verdicts if v.interval is not None]
    options = {tuple(v.options) for v in verdicts if v.options}
    return KindVerdict(
        arm=arm,
        verdict=next(iter(counts)) if len(counts) == 1 else MIXED,
        counts=dict(counts),
        options=list(options.pop()) if len(options) == 1 else [],
        ratio=median(ratios) if ratios else None,
        interval=(min(low for low, _ in intervals), max(high for _, high in intervals)) if intervals else None,
        why=next((v.why for v in verdicts if v.why), "") if not ratios else "",
    )


def recommended(trials: Sequence[Found]) -> list[str] | None:
    """The command line that every one of the trials recommends; None where any recommends another or none."""
    said = [tuple(one.file.use(v)) for one in trials for v in one.file.verdicts if v.headline]
    return list(said[0]) if len(said) == len(trials) and len(set(said)) == 1 else None


class Choice(NamedTuple):
    """The record to use on a machine, or None, and what is to be said of it, one sentence a line."""

    path: Path | None
    said: list[str]


def choose(folder: Path, here: Machine, command: Sequence[str]) -> Choice:
    """The record of this kind of machine in the folder for the program, by its name. OkosuError as `gather`."""
    # Slurm is not asked: this may be one of a thousand ranks that start at once.
    gathered, _ = _read_all([folder])
    trials = [one for one in gathered.finished if called(one.file.plan.options.command) == called(command)]
    if not trials:
        others = sorted({called(one.file.plan.options.command) for one in gathered.finished})
        held = f"its finished trials are of {', '.join(others)}" if others else "no trial in it is finished"
        what = f"{folder} has no finished trial of {called(command) or 'this program'}"
        return Choice(None, [f"{what}: {held}; the program runs as it is"])
    mine = sorted((one for one in trials if one.machine.id == here.id), key=lambda one: one.file.tool.started)
    if not mine:
        near = min(trials, key=lambda one: _distance(one.machine, here))
        apart = [f"{label} {was} there, {now} here" for label, was, now in machine.apart(near.machine, here)]
        return Choice(
            None,
            [
                f"{folder} has no trial of this kind of machine ({here.id}): the program runs as it is",
                f"nearest is {near.path.name}: {'; '.join(apart) or 'some of its facts are unknown'}",
                f"to use it all the same: okosu run --from {near.path} -- …; to measure here: okosu try -- …",
            ],
        )
    return _of_one_kind(folder, mine, here)


def _of_one_kind(folder: Path, mine: Sequence[Found], here: Machine) -> Choice:
    said = [f"{mine[-1].path} is of this kind of machine ({here.id})"]
    if len(mine) > 1:
        said = [
            f"{len(mine)} trials in {folder} are of this kind of machine ({here.id}); the last is {mine[-1].path.name}"
        ]
        if recommended(mine) is None and any(v.headline for one in mine for v in one.file.verdicts):
            said.append("they do not recommend the same, so the program runs as it is: okosu collect shows them")
            return Choice(None, said)
    return Choice(mine[-1].path, said)


def _distance(one: Machine, other: Machine) -> tuple[int, int]:
    """How many facts differ or are unknown of one of the two; among equals, the first facts weigh most."""
    mine, theirs = machine.kind(one), machine.kind(other)
    differing = [at for at, label in enumerate(mine) if mine[label] != theirs[label]]
    return len(differing), sum(1 << (len(mine) - at) for at in differing)
