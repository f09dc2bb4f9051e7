# SPDX-License-Identifier: Apache-2.0
"""From a paper to its records: runs the experiments, compares with what is published, judges the targets."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

import okosu
from okosu.bench import rows
from okosu.bench.rows import Row
from okosu.errors import OkosuError
from okosu.papers import judge, points, programs
from okosu.papers.base import Experiment, Measured, Ours, Paper, Published, Target
from okosu.papers.judge import Judged
from okosu.records.types import Claim, Envelope, Record

Say = Callable[[str], None]
Keep = Callable[[], None]


class Conduct:
    """One reproduction. `envelope.claims` is filled by conclude(), which may be called at any time."""

    def __init__(
        self, paper: Paper, quick: bool, envelope: Envelope, runner: programs.Runner, say: Say, keep: Keep
    ) -> None:
        self.paper, self.quick, self.envelope, self.runner = paper, quick, envelope, runner
        self.say, self.keep = say, keep
        self.measured = Measured(machine=envelope.machine)
        self.seed = int(envelope.plan.get("seed", 1))
        self.again: dict[str, list[Row]] = {}

    def run(self) -> None:
        """Run every experiment, measure failing floors again, and conclude. Kept after each step."""
        for experiment in self.paper.experiments():
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
        """Fill in the claims with what has been measured so far."""
        ours = self.paper.compare(self.measured)
        claims = [_published(entry, ours.get(entry.id)) for entry in self.paper.published()]
        claims += [self._claim(target) for target in self.paper.targets()]
        self.envelope.claims = claims

    def _store(self, experiment: Experiment) -> None:
        name, machine = experiment.name, str(self.envelope.machine.get("id", ""))
        if result := self.measured.rows.get(name):
            self.envelope.records += rows.records(result, machine)
            about: dict[str, object] = {"header": result.header, "kernels": result.kernels, "variants": result.variants}
            about |= {"absent": result.absent, "notes": result.notes, "finished": result.finished}
            self.envelope.plan.setdefault("benches", {})[name] = msgspec.to_builtins(about)
        if name in self.measured.said:
            self.envelope.records += listing_records(experiment, self.measured.said[name].lines, machine)
        if name in self.measured.missing:
            self.envelope.plan.setdefault("missing", {})[name] = self.measured.missing[name]

    def _judged(self, target: Target, given: Sequence[Row]) -> tuple[points.Found, list[Judged]]:
        found = points.find(given, target)
        return found, judge.judge(target, found.sides)

    def _rows(self, target: Target) -> Sequence[Row]:
        result = self.measured.rows.get(target.bench)
        return result.rows if result else []

    def _measure_again(self) -> None:
        """Measure the points at which a floor failed in a fresh process, each bench once."""
        failed: dict[str, list[Judged]] = {}
        for target in self.paper.targets():
            _, judged = self._judged(target, self._rows(target))
            failed.setdefault(target.bench, []).extend(judge.failing(target, judged))
        for experiment in self.paper.experiments():
            below = failed.get(experiment.name, [])
            args = programs.arguments(experiment, self.quick)
            if not below or args is None:
                continue
            kernels = sorted({one.sides.kernel for one in below})
            sizes = sorted({one.sides.point.n for one in below})
            # Another seed: the same order of rows could favour the same one again.
            seed = ["--seed", str(self.seed + 1)]
            extra = ["--only", ",".join(kernels), "--sizes", ",".join(map(str, sizes)), *seed]
            self.say(f"{experiment.program}: {len(below)} points of floors once more, in a fresh process")
            try:
                fresh = self.runner.bench(experiment.name, [*_without(args), *extra])
            except OkosuError as error:
                self.measured.failed[experiment.name] = error
                continue
            self.again[experiment.name] = list(fresh.rows)
            again = rows.records(fresh, str(self.envelope.machine.get("id", "")))
            self.envelope.records += [msgspec.structs.replace(one, stage="confirmation") for one in again]

    def _claim(self, target: Target) -> Claim:
        source = self.paper.target_source()
        found, judged = self._judged(target, self._rows(target))
        if why := self.measured.missing.get(target.bench):
            found = points.Found(found.sides, [f"okosu bench {target.bench} did not come to its end: {why}"])
        elif without := self._without_peers(target):
            found = points.Found(found.sides, [*found.lacking, without])
        again = None
        if target.bench in self.again:
            below = {(one.sides.kernel, one.sides.point) for one in judge.failing(target, judged)}
            fresh = points.find(self.again[target.bench], target).sides
            # The level stays that of the whole sweep, of which these are the points that failed.
            again = judge.judge(
                target, [one for one in fresh if (one.kernel, one.point) in below], of=max(1, len(judged))
            )
        return judge.conclude(target, found, judged, again, source)

    def _without_peers(self, target: Target) -> str:
        """Return which of the peers that a target names could not take part, and how they would."""
        result = self.measured.rows.get(target.bench)
        kind, _, names = target.against.partition(":")
        if result is None or kind != "peer":
            return ""
        gone = [absent for absent in result.absent if absent.variant in names.split(",")]
        fix = next((f" ({absent.fix})" for absent in gone if absent.fix), "")
        return f"without {', '.join(absent.variant for absent in gone)}{fix}" if gone else ""


def _without(args: Sequence[str]) -> list[str]:
    """Return the arguments without those that the repetition sets itself."""
    kept: list[str] = []
    drop = False
    for word in args:
        drop_this, drop = drop, word in ("--only", "--sizes")
        if not (drop_this or drop or word.startswith(("--only=", "--sizes="))):
            kept.append(word)
    return kept


def _published(entry: Published, ours: Ours | None) -> Claim:
    note, value = entry.not_measured or "not measured in this run", None
    if ours is not None:
        note, value = ours.why, ours.value
    if entry.mark == "disputed":
        note = f"disputed: {entry.why}. {note}" if note else f"disputed: {entry.why}"
    return Claim(
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
