# SPDX-License-Identifier: Apache-2.0
"""The measurements of one trial so far, and their file, which is written after every round. No run is ever dropped."""

from __future__ import annotations

from math import log
from pathlib import Path

from okosu import stops
from okosu.records import files
from okosu.records.types import BASE, COLUMNS, Failure, Place, Plan, Proof, Record, Stage, TryFile
from okosu.trial.arms import described
from okosu.trial.runs import Run

UNITS = {
    "wall": "s",
    "cpu": "s",
    "user": "s",
    "sys": "s",
    "delay": "s",
    "rss": "MiB",
    "minflt": "faults",
    "nvcsw": "switches",
    "nivcsw": "switches",
}
"""The metrics of every run; `delay` is the time for which it was ready to run and waited for a CPU."""
JUDGED = "judged"
"""The metric that verdicts are read from, where it is not one of UNITS (a number found by --metric regex)."""


class Session:
    """The records of one trial in memory and on disk."""

    def __init__(self, envelope: TryFile, path: Path | None) -> None:
        self.envelope, self.path = envelope, path
        self._next = max((o for r in envelope.records for o in r.order), default=-1) + 1
        self._last = ""
        self._own = {made.name for made in described(envelope.plan.options)}
        self._ratios: dict[str, tuple[int, dict[Place, float]]] = {}
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
        """Add one run to the records, as the next in the order of execution. No signal interrupts it half-way."""
        with stops.held():
            self._add(stage, place, run, proof)

    def _add(self, stage: Stage, place: Place, run: Run, proof: Proof | None) -> None:
        m = run.measurement
        values: dict[str, float | None] = {
            "wall": m.wall_ns / 1e9,
            "cpu": (m.user_ns + m.sys_ns) / 1e9,
            "user": m.user_ns / 1e9,
            "sys": m.sys_ns / 1e9,
            "rss": m.maxrss_kb / 1024,
            "delay": None if m.delay_ns is None else m.delay_ns / 1e9,
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

    def shown(self, cost: float) -> float:
        """A judged value as the program or the clock gave it: a cost where lower is better, else its inverse."""
        return 1 / cost if self.plan.options.better == "higher" else cost

    def passed(self, arm: str) -> None:
        """Note that `arm` ran untimed: it is the predecessor of the next run."""
        self._last = arm

    def values(self, arm: str) -> dict[Place, float]:
        """The judged metric of `arm`, as a cost, by the place of each run in the rounds."""
        record = self._index.get(("rounds", arm, self.judged_metric))
        return {} if record is None else dict(zip(record.places(), record.samples, strict=True))

    def base_history(self) -> tuple[list[float], list[str]]:
        """Base's samples in the rounds and what ran just before each, in the order of execution; without the rounds in
        which an untimed run preceded each.
        """
        record, until = self._index.get(("rounds", BASE, self.judged_metric)), self.envelope.settled
        if record is None:
            return [], []
        kept = [i for i, number in enumerate(record.rounds) if until is None or number < until]
        return [record.samples[i] for i in kept], [record.predecessor[i] for i in kept]

    def pairs(self, arm: str) -> tuple[list[float], list[float]]:
        """The samples of `arm` and those of base at the same places."""
        base = self.values(BASE)
        both = [(v, base[at]) for at, v in sorted(self.values(arm).items()) if at in base]
        return [a for a, _ in both], [b for _, b in both]

    def log_ratios(self, arm: str, since: int = 0) -> list[float]:
        """ln(arm / base) of each place that has both, in order, from round `since` on."""
        return [x for place, x in self._log_ratios(arm).items() if place.round >= since]

    def against(self, arm: str, other: str) -> list[float]:
        """ln(arm / other) of the rounds that held both, each of the two first divided by the base of its own sub-
        round.
        """
        its = {place.round: x for place, x in self._log_ratios(other).items()}
        return [x - its[place.round] for place, x in self._log_ratios(arm).items() if place.round in its]

    @property
    def piloted(self) -> bool:
        return self.plan.pilot_s > 0

    def forget_pilot(self) -> None:
        """Prepare for a new pilot after an interrupted one; the records of the interrupted pilot's runs stay."""
        plan = self.plan
        plan.arms, plan.k, plan.pilots, plan.proofs = [], 0, {}, {}
        self.failures.clear()

    def forget_interrupted_round(self) -> None:
        """Drop what an interrupted round left, so that a resumed trial runs it as a whole."""
        done = self.envelope.rounds
        for record in self.envelope.records:
            if record.stage == "rounds":
                keep = [i for i, at in enumerate(record.rounds) if at < done]
                for column in ("samples", *COLUMNS):
                    setattr(record, column, [getattr(record, column)[i] for i in keep])
        for arm, failed in list(self.failures.items()):
            if failed.round > done:
                del self.failures[arm]
        self._next = max((o for r in self.envelope.records for o in r.order), default=-1) + 1
        self._last = ""
        self._ratios.clear()

    def write(self) -> None:
        if self.path is not None:
            files.write(self.envelope, self.path)

    def _log_ratios(self, arm: str) -> dict[Place, float]:
        # Every arm is judged after every round, and between two rounds nothing changes.
        of = [self._index.get(("rounds", name, self.judged_metric)) for name in (arm, BASE)]
        count = sum(len(record.samples) for record in of if record is not None)
        if self._ratios.get(arm, (-1, {}))[0] != count:
            base = self.values(BASE)
            mine = sorted(self.values(arm).items())
            self._ratios[arm] = count, {at: log(v) - log(base[at]) for at, v in mine if at in base}
        return self._ratios[arm][1]

    def _record(self, stage: Stage, arm: str, metric: str) -> Record:
        key = (stage, arm, metric)
        if key not in self._index:
            user = any(a.name == arm and a.kind == "user" for a in self.plan.given) or arm in self._own
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
