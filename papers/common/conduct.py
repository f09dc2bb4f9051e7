# SPDX-License-Identifier: Apache-2.0
"""From a paper to its records: runs the experiments, compares with what is published, judges the targets."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import msgspec

import okosu
from okosu.bench import alone, rows
from okosu.bench.rows import Result
from okosu.records.types import Compared, ExperimentRun, Record, ReproduceFile
from papers.common import fresh_processes, judge, points, programs
from papers.common.base import Experiment, LabExperiment, Measured, Ours, Paper, Say
from papers.common.entries import Published, Target
from papers.common.judge import Judged

Keep = Callable[[], None]
KEEP_S = 2.0
"""Records of a lab experiment are written at most this often: some experiments yield thousands."""
KEEP_PAUSE = 20.0
"""Nor before this many times what writing them took last: all are written each time."""


class Conduct:
    """One reproduction. `envelope.compared` is filled by conclude(), which may be called at any time."""

    def __init__(
        self, paper: Paper, quick: bool, envelope: ReproduceFile, runner: programs.Runner, say: Say, keep: Keep
    ) -> None:
        self.paper, self.quick, self.envelope, self.runner = paper, quick, envelope, runner
        self.say, self.keep = say, keep
        self.measured = Measured(machine=envelope.machine)
        self.seed = envelope.plan.seed
        self.again: dict[str, list[Result]] = {}
        """By bench, what each fresh process gave for the points in doubt."""

    def run(self) -> None:
        """Run every experiment, measure what is in doubt again, and conclude. Kept after each step."""
        for experiment in self.paper.experiments():
            if isinstance(experiment, LabExperiment):
                self._run_lab(experiment)
                continue
            if shown := programs.argv(experiment, self.quick):
                self.say(" ".join(shown))
            programs.run(experiment, self.quick, self.runner, self.measured, self.seed)
            self._store(experiment)
            self.keep()
        self._measure_again()
        self.conclude()
        self.envelope.finished = True
        self.keep()

    def conclude(self) -> None:
        """Compare and judge what has been measured so far."""
        self._look_at_core()
        ours = self.paper.compare(self.measured)
        made = [_published(entry, ours.get(entry.id)) for entry in self.paper.published()]
        made += [self._target(target) for target in self.paper.targets()]
        self.envelope.compared = made

    def _run_lab(self, experiment: LabExperiment) -> None:
        due = time.monotonic() + KEEP_S

        def keep_when_due() -> None:
            nonlocal due
            begun = time.monotonic()
            if begun >= due:
                self.keep()
                ended = time.monotonic()
                due = ended + max(KEEP_S, KEEP_PAUSE * (ended - begun))

        def took(record: Record) -> None:
            record.machine = record.machine or str(self.envelope.machine.get("id", ""))
            self.envelope.records.append(record)
            keep_when_due()

        def say(text: str) -> None:
            # The experiment also appends samples to records that it has yielded, and says so before each boot.
            if self.measured.records.get(experiment.name):
                keep_when_due()
            self.say(text)

        try:
            programs.run_lab(experiment, self.quick, self.measured, say, took)
        finally:
            # What was measured is kept however the experiment ends: an interruption and a bug included.
            given = len(self.measured.records.get(experiment.name, []))
            self.envelope.plan.lab[experiment.name] = ExperimentRun(experiment.typed(self.quick), given)
            self._tell_missing(experiment.name)
            self.keep()

    def _store(self, experiment: Experiment) -> None:
        name, machine = experiment.name, str(self.envelope.machine.get("id", ""))
        if result := self.measured.rows.get(name):
            self.envelope.records += rows.records(result, machine)
            about: dict[str, object] = {
                "header": result.header,
                "routines": result.routines,
                "variants": result.variants,
            }
            about |= {"absent": result.absent, "notes": result.notes, "finished": result.finished}
            self.envelope.plan.benches[name] = msgspec.to_builtins(about)
        if name in self.measured.said:
            self.envelope.records += listing_records(experiment, self.measured.said[name].lines, machine)
        self._tell_missing(name)

    def _tell_missing(self, name: str) -> None:
        if name in self.measured.missing:
            self.envelope.plan.missing[name] = self.measured.missing[name]

    def _look_at_core(self) -> None:
        results = [*self.measured.rows.values(), *(one for again in self.again.values() for one in again)]
        self.measured.core_loads = alone.core_loads(row for result in results for row in result.rows)

    def _judged(self, target: Target) -> tuple[points.Found, list[Judged]]:
        found = self.paper.sides(target, self.measured)
        return found, judge.judge(target, found.sides)

    def _measure_again(self) -> None:
        """Measure the points that are in doubt in fresh processes. --quick is one process, and says so by its help."""
        self._look_at_core()
        doubted: dict[str, list[Judged]] = {}
        for target in [] if self.quick else self.paper.targets():
            doubted.setdefault(target.bench, []).extend(judge.in_doubt(target, self._judged(target)[1]))
        benches = [one for one in self.paper.experiments() if isinstance(one, Experiment) and doubted.get(one.name)]
        asked = [(one, one.args, doubted[one.name]) for one in benches]
        if not asked:
            return
        try:
            core = self.measured.core_loads
            failed = fresh_processes.measure(asked, self.runner, self.seed, core, self.say, self.again)
            self.measured.failed |= failed
        finally:
            self.envelope.records += fresh_processes.records(self.again, str(self.envelope.machine.get("id", "")))

    def _target(self, target: Target) -> Compared:
        found, judged = self._judged(target)
        if why := self.measured.missing.get(target.measured_by):
            what = f"okosu bench {target.bench}" if target.bench else f"the experiment {target.experiment}"
            found = points.Found(found.sides, [f"{what} did not come to its end: {why}"])
        elif without := self._without_peers(target):
            found = points.Found(found.sides, [*found.lacking, without])
        fresh = None
        if results := self.again.get(target.bench):
            core = self.measured.core_loads
            fresh = fresh_processes.fresh(
                lambda one: self.paper.sides(target, Measured({target.bench: one}, core_loads=core)),
                target,
                judged,
                results,
                core,
            )
        return judge.conclude(target, found, judged, fresh, self.paper.target_source())

    def _without_peers(self, target: Target) -> str:
        """Return which of the peers that a target names could not take part, and how they would."""
        result = self.measured.rows.get(target.bench)
        kind, _, names = target.against.partition(":")
        if result is None or kind != "peer":
            return ""
        gone = [absent for absent in result.absent if absent.variant in names.split(",")]
        fix = next((f" ({absent.fix})" for absent in gone if absent.fix), "")
        return f"without {', '.join(absent.variant for absent in gone)}{fix}" if gone else ""


def _published(entry: Published, ours: Ours | None) -> Compared:
    note, value = entry.not_measured or "not measured in this run", None
    if ours is not None:
        note, value = ours.why, ours.value
    if entry.mark == "disputed":
        note = f"disputed: {entry.why}. {note}" if note else f"disputed: {entry.why}"
    return Compared(
        id=entry.id,
        text=entry.text,
        kind="published",
        mark=entry.mark,
        source=entry.where,
        target=entry.value,
        measured=value,
        unit=entry.unit,
        holds=None,
        note=note,
    )


def listing_records(experiment: Experiment, lines: Sequence[object], machine: str) -> list[Record]:
    """Return the numbers that a listing printed as records, one for each line and key."""
    found = []
    for line in lines:
        values = msgspec.convert(line, dict[str, object])
        name = str(values.get("name", experiment.name))
        for key, value in values.items():
            if isinstance(value, (bool, int, float)):
                found.append(
                    Record(
                        tool=f"okosu {okosu.__version__}",
                        machine=machine,
                        subject=f"{experiment.program} {' '.join(experiment.args)}".strip(),
                        variant=name,
                        stage="bench",
                        metric=key,
                        unit="",
                        samples=[float(value)],
                    )
                )
    return found
