# SPDX-License-Identifier: Apache-2.0
"""What has been measured so far in one trial, and its file: every run is kept, and written after every round."""

from __future__ import annotations

from math import log
from pathlib import Path
from typing import Any, Literal

import msgspec

from okosu.records import files
from okosu.records.measurement import Measurement
from okosu.records.types import Envelope, Proof, Record
from okosu.trial.arms import BASE, PLACEBO
from okosu.trial.plan import Plan
from okosu.trial.runs import Run
from okosu.trial.schedule import MOST_PARTS

Stage = Literal["pilot", "screening", "confirmation"]

UNITS = {"wall": "s", "cpu": "s", "rss": "MiB", "minflt": "faults", "nvcsw": "switches", "nivcsw": "switches"}
JUDGED = "judged"
"""The metric that verdicts are read from, where it is not one of UNITS (a number found by --metric regex)."""


class Reference(msgspec.Struct, frozen=True):
    """What base's pilot ended with: every run must end the same way."""

    status: int | None
    signal: int | None
    digest: str


class Session:
    """The records of one trial in memory and on disk."""

    def __init__(self, envelope: Envelope, path: Path | None, plan: Plan) -> None:
        self.envelope, self.path, self.plan = envelope, path, plan
        self.pilots: dict[str, Measurement] = {}
        self.reference: Reference | None = None
        self.failures: dict[str, tuple[str, str]] = {}
        """Arm name -> (verdict, why) of an arm that left the trial for another reason than its time."""
        self.proofs: dict[str, Proof] = {}
        self.confirm_arms: list[str] = []
        self._next = max((o for r in envelope.records for o in r.order), default=-1) + 1
        self._last = ""
        self._index = {(r.stage, r.lever or r.variant, r.metric): r for r in envelope.records}

    @property
    def judged_metric(self) -> str:
        """Return the metric of the records that verdicts are read from."""
        return self.plan.options.metric if self.plan.options.metric in UNITS else JUDGED

    def add(self, stage: Stage, number: int, run: Run, proof: Proof | None) -> None:
        """Take one run into the records, as the next in the order of execution, in sub-round `number`."""
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
            record.rounds.append(number)
            record.predecessor.append(self._last)
            if proof is not None and (record.proof is None or record.proof.holds):
                record.proof = proof
        self._next += 1
        self._last = run.arm

    def passed(self, arm: str) -> None:
        """Note that `arm` ran untimed: it is the predecessor of the next run."""
        self._last = arm

    def values(self, stage: Stage, arm: str) -> dict[int, float]:
        """Return the judged metric of `arm` by sub-round number."""
        record = self._index.get((stage, arm, self.judged_metric))
        return {} if record is None else dict(zip(record.rounds, record.samples, strict=True))

    def base_history(self, stage: Stage) -> tuple[list[float], list[str]]:
        """Return base's samples and what ran just before each, in the order of execution."""
        record = self._index.get((stage, BASE, self.judged_metric))
        return ([], []) if record is None else (list(record.samples), list(record.predecessor))

    def pairs(self, stage: Stage, arm: str) -> tuple[list[float], list[float]]:
        """Return the samples of `arm` and those of base in the same sub-rounds."""
        base = self.values(stage, BASE)
        both = [(v, base[n]) for n, v in sorted(self.values(stage, arm).items()) if n in base]
        return [a for a, _ in both], [b for _, b in both]

    def log_ratios(self, stage: Stage, arm: str) -> list[float]:
        """Return ln(arm / base) by sub-round, in order."""
        return list(self._log_ratios(stage, arm).values())

    def against_placebo(self, stage: Stage, arm: str) -> list[float]:
        """Return ln(arm / placebo) of the rounds that held both, each taken against the base of its own sub-round."""
        placebo = {n // MOST_PARTS: x for n, x in self._log_ratios(stage, PLACEBO).items()}
        mine = self._log_ratios(stage, arm)
        return [x - placebo[n // MOST_PARTS] for n, x in mine.items() if n // MOST_PARTS in placebo]

    def next_round(self, stage: Stage) -> int:
        """Return the number of the first round of `stage` that has not been run."""
        return max((n // MOST_PARTS for n in self.values(stage, BASE)), default=-1) + 1

    @property
    def piloted(self) -> bool:
        """Say whether the pilot ran to its end, so that the plan is fixed."""
        return self.plan.pilot_s > 0

    def forget_pilot(self) -> None:
        """Make ready for another pilot after one that was interrupted; the records of its runs stay."""
        self.plan.arms, self.plan.k = [], 0
        self.pilots, self.proofs, self.failures = {}, {}, {}

    def forget_round(self, stage: Stage, number: int) -> None:
        """Drop what an interrupted round left behind, so that a resumed trial runs it whole."""
        for record in self.envelope.records:
            if record.stage == stage:
                keep = [i for i, n in enumerate(record.rounds) if n // MOST_PARTS < number]
                record.samples = [record.samples[i] for i in keep]
                record.order = [record.order[i] for i in keep]
                record.predecessor = [record.predecessor[i] for i in keep]
                record.rounds = [record.rounds[i] for i in keep]

    def write(self) -> None:
        """Write the records file (atomic rename)."""
        # Readers of the file want the constants flat and each arm's options beside its name.
        plan: dict[str, Any] = {**msgspec.to_builtins(self.plan.options), **msgspec.to_builtins(self.plan)}
        plan["arms"] = [{**msgspec.to_builtins(a), "options": a.options} for a in self.plan.arms]
        plan["pilots"] = msgspec.to_builtins(self.pilots)
        plan["reference"] = msgspec.to_builtins(self.reference)
        plan["failures"] = self.failures
        plan["proofs"] = msgspec.to_builtins(self.proofs)
        plan["confirm_arms"] = self.confirm_arms
        self.envelope.plan = plan
        if self.path is not None:
            files.write(self.envelope, self.path)

    @classmethod
    def restore(cls, envelope: Envelope, path: Path) -> Session:
        """Take up a trial from its file. Raises msgspec.ValidationError if its plan is not one of this version."""
        session = cls(envelope, path, msgspec.convert(envelope.plan, Plan))
        session.pilots = msgspec.convert(envelope.plan["pilots"], dict[str, Measurement])
        session.reference = msgspec.convert(envelope.plan["reference"], Reference | None)
        session.failures = msgspec.convert(envelope.plan["failures"], dict[str, tuple[str, str]])
        session.proofs = msgspec.convert(envelope.plan["proofs"], dict[str, Proof])
        session.confirm_arms = msgspec.convert(envelope.plan["confirm_arms"], list[str])
        return session

    def _log_ratios(self, stage: Stage, arm: str) -> dict[int, float]:
        base = self.values(stage, BASE)
        mine = sorted(self.values(stage, arm).items())
        return {n: log(v) - log(base[n]) for n, v in mine if n in base}

    def _record(self, stage: Stage, arm: str, metric: str) -> Record:
        key = (stage, arm, metric)
        if key not in self._index:
            user = arm in self.plan.options.user_arms
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
