# SPDX-License-Identifier: Apache-2.0
"""The measurements of one trial so far, and their file, which is written after every round. No run is ever dropped."""

from __future__ import annotations

from math import log
from pathlib import Path

from okosu.records import files
from okosu.records.types import BASE, PLACEBO, Failure, Place, Plan, Proof, Record, Stage, TryFile
from okosu.trial.runs import Run

UNITS = {"wall": "s", "cpu": "s", "rss": "MiB", "minflt": "faults", "nvcsw": "switches", "nivcsw": "switches"}
JUDGED = "judged"
"""The metric that verdicts are read from, where it is not one of UNITS (a number found by --metric regex)."""


class Session:
    """The records of one trial in memory and on disk."""

    def __init__(self, envelope: TryFile, path: Path | None) -> None:
        self.envelope, self.path = envelope, path
        self._next = max((o for r in envelope.records for o in r.order), default=-1) + 1
        self._last = ""
        self._index = {(r.stage, r.arm, r.metric): r for r in envelope.records}

    @property
    def plan(self) -> Plan:
        return self.envelope.plan

    @property
    def failures(self) -> dict[str, Failure]:
        """For each arm that left the trial for another reason than its time: why."""
        return self.envelope.failures

    @property
    def judged_metric(self) -> str:
        """The metric of the records from which verdicts are read."""
        return self.plan.options.metric if self.plan.options.metric in UNITS else JUDGED

    def add(self, stage: Stage, place: Place, run: Run, proof: Proof | None) -> None:
        """Add one run to the records, as the next in the order of execution."""
        m = run.measurement
        values: dict[str, float | None] = {
            "wall": m.wall_ns / 1e9,
            "cpu": (m.user_ns + m.sys_ns) / 1e9,
            "rss": m.maxrss_kb / 1024,
            "minflt": m.minflt,
            "nvcsw": m.nvcsw,
            "nivcsw": m.nivcsw,
        }
        if self.judged_metric == JUDGED:
            values[JUDGED] = run.value
        for metric, value in values.items():
            if value is None:
                continue
            record = self._record(stage, run.arm, metric)
            record.samples.append(value)
            record.order.append(self._next)
            record.rounds.append(place.round)
            record.parts.append(place.part)
            record.predecessor.append(self._last)
            if proof is not None and (record.proof is None or record.proof.holds):
                record.proof = proof
        self._next += 1
        self._last = run.arm

    def passed(self, arm: str) -> None:
        """Note that `arm` ran untimed: it is the predecessor of the next run."""
        self._last = arm

    def values(self, stage: Stage, arm: str) -> dict[Place, float]:
        """The judged metric of `arm` by the place of each run."""
        record = self._index.get((stage, arm, self.judged_metric))
        return {} if record is None else dict(zip(record.places(), record.samples, strict=True))

    def base_history(self, stage: Stage) -> tuple[list[float], list[str]]:
        """Base's samples and what ran just before each, in the order of execution."""
        record = self._index.get((stage, BASE, self.judged_metric))
        return ([], []) if record is None else (list(record.samples), list(record.predecessor))

    def pairs(self, stage: Stage, arm: str) -> tuple[list[float], list[float]]:
        """The samples of `arm` and those of base at the same places."""
        base = self.values(stage, BASE)
        both = [(v, base[at]) for at, v in sorted(self.values(stage, arm).items()) if at in base]
        return [a for a, _ in both], [b for _, b in both]

    def log_ratios(self, stage: Stage, arm: str) -> list[float]:
        """ln(arm / base) of each place that has both, in order."""
        return list(self._log_ratios(stage, arm).values())

    def against_placebo(self, stage: Stage, arm: str) -> list[float]:
        """ln(arm / placebo) of the rounds that held both, each of the two first divided by the base of its own sub-
        round.
        """
        placebo = {place.round: x for place, x in self._log_ratios(stage, PLACEBO).items()}
        mine = self._log_ratios(stage, arm)
        return [x - placebo[place.round] for place, x in mine.items() if place.round in placebo]

    def next_round(self, stage: Stage) -> int:
        """The number of the first round of `stage` that has not been run."""
        return max((place.round for place in self.values(stage, BASE)), default=-1) + 1

    @property
    def piloted(self) -> bool:
        return self.plan.pilot_s > 0

    def forget_pilot(self) -> None:
        """Prepare for a new pilot after an interrupted one; the records of the interrupted pilot's runs stay."""
        plan = self.plan
        plan.arms, plan.k, plan.pilots, plan.proofs = [], 0, {}, {}
        self.failures.clear()

    def forget_round(self, stage: Stage, number: int) -> None:
        """Drop the records of an interrupted round, so that a resumed trial runs it as a whole."""
        for record in self.envelope.records:
            if record.stage == stage:
                keep = [i for i, at in enumerate(record.rounds) if at < number]
                record.samples = [record.samples[i] for i in keep]
                record.order = [record.order[i] for i in keep]
                record.predecessor = [record.predecessor[i] for i in keep]
                record.parts = [record.parts[i] for i in keep]
                record.rounds = [record.rounds[i] for i in keep]

    def write(self) -> None:
        if self.path is not None:
            files.write(self.envelope, self.path)

    def _log_ratios(self, stage: Stage, arm: str) -> dict[Place, float]:
        base = self.values(stage, BASE)
        mine = sorted(self.values(stage, arm).items())
        return {place: log(v) - log(base[place]) for place, v in mine if place in base}

    def _record(self, stage: Stage, arm: str, metric: str) -> Record:
        key = (stage, arm, metric)
        if key not in self._index:
            given = any(a.name == arm and a.kind == "user" for a in self.plan.given)
            user = given or arm in self.plan.options.user_arms
            self._index[key] = Record(
                tool=f"okosu {self.envelope.tool.version}",
                machine=str(self.envelope.machine.get("id", "")),
                subject=" ".join(self.plan.options.command),
                lever="" if user else arm,
                variant=arm if user else "",
                stage=stage,
                metric=metric,
                unit=UNITS.get(metric, ""),
                seed=self.plan.options.seed,
            )
            self.envelope.records.append(self._index[key])
        return self._index[key]
