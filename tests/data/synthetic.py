# SPDX-License-Identifier: Apache-2.0
"""Record files for tests, made of pseudo-random numbers and marked as such: no sample here was ever measured.

`python tests/data/synthetic.py FOLDER` writes all of them; try-small.json, the one in the repository, is among them.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from math import exp
from pathlib import Path
from statistics import median
from typing import Any

from okosu.records import files
from okosu.records.types import Arm, Later, Options, Plan, Proof, Record, Tool, TryFile, Verdict
from okosu.stats import verdict as judging

NOTE = "synthetic: pseudo-random numbers, never measured"
UNITS = {"wall": "s", "cpu": "s", "rss": "MiB", "minflt": "faults", "nvcsw": "switches", "nivcsw": "switches"}


@dataclass(frozen=True)
class Planted:
    """An arm whose true ratio to base is known."""

    name: str
    kind: str
    ratio: float
    options: list[str] = field(default_factory=list)
    proof: Proof | None = None
    faults: float = 1.0
    rounds: int = 1000
    """Rounds after which the arm is dropped."""

    @property
    def extra(self) -> list[str]:
        """The options that the kind of arm does not imply already."""
        return [] if self.kind == "placebo" else self.options


SUPERPAGE = Planted(
    "superpage",
    "lever",
    0.64,
    ["--superpage=thp"],
    Proof(True, "AnonHugePages 4.00 GiB of 4.01 GiB anonymous (99.8 %)", {"huge_kb": 4194304, "share": 0.998}),
    faults=0.004,
)
RETAIN = Planted(
    "retain", "lever", 1.0003, ["--retain=on"], Proof(True, "minor faults 1049112 -> 1049098", {"faults": 1049098})
)
PIN = Planted("pin=compact", "lever", 0.985, ["--pin=compact"], Proof(True, "Cpus_allowed_list 0; CPUs used 0"))
OWN = Planted("jemalloc", "user", 1.062, ["--env=LD_PRELOAD=/usr/lib/libjemalloc.so.2"])
PLACEBO = Planted("placebo", "placebo", 1.0, ["--placebo"])
STACK = Planted("superpage+pin=compact", "stack", 0.636, ["--superpage=thp", "--pin=compact"], SUPERPAGE.proof, 0.004)
UNAVAILABLE = Verdict(
    arm="numa",
    verdict="UNAVAILABLE",
    why="this machine has one NUMA node, so every placement is the same",
    fix="a machine with two or more nodes (numactl --hardware)",
)


class Maker:
    """Draws rounds of runs and keeps their records."""

    def __init__(
        self, seed: int, base_s: float, command: list[str], metric: str = "wall", noise: float = 0.012
    ) -> None:
        self.rng = random.Random(seed)
        self.base_s, self.command, self.metric, self.noise = base_s, command, metric, noise
        self.records: dict[tuple[str, str, str], Record] = {}
        self.order, self.last, self.drift = 0, "", 0.0
        self.user: set[str] = set()

    def rounds(self, stage: str, count: int, arms: list[Planted]) -> None:
        """Run `count` rounds: lognormal noise, a slow drift, and a spike in one run of twenty."""
        for number in range(count):
            names = [Planted("base", "base", 1.0), *(a for a in arms if number < a.rounds)]
            self.rng.shuffle(names)
            for arm in names:
                self.drift = 0.9 * self.drift + self.rng.gauss(0, 0.004)
                spike = self.rng.expovariate(10) if self.rng.random() < 0.05 else 0.0
                seconds = self.base_s * arm.ratio * exp(self.drift + self.rng.gauss(0, self.noise) + spike)
                self._add(stage, number, arm, seconds)

    def _add(self, stage: str, number: int, arm: Planted, seconds: float) -> None:
        values = {
            "wall": seconds,
            "cpu": seconds * 0.985,
            "rss": 4110.0 + self.rng.randrange(3),
            "minflt": round(1049112 * arm.faults) + self.rng.randrange(40),
            "nvcsw": 3 + self.rng.randrange(3),
            "nivcsw": round(seconds * 12) + self.rng.randrange(9),
        }
        if self.metric == "judged":
            values["judged"] = seconds * 1e3
        for metric, value in values.items():
            key = (stage, arm.name, metric)
            if key not in self.records:
                own = arm.kind == "user"
                self.records[key] = Record(
                    tool="okosu 0.1.0",
                    machine="synthetic",
                    subject=" ".join(self.command),
                    lever="" if own else arm.name,
                    variant=arm.name if own else "",
                    stage=stage,  # type: ignore[arg-type]
                    metric=metric,
                    unit=UNITS.get(metric, ""),
                    seed=7,
                    proof=arm.proof,
                    note=NOTE,
                )
            record = self.records[key]
            record.samples.append(float(f"{value:.6g}"))
            record.order.append(self.order)
            record.rounds.append(number)
            record.predecessor.append(self.last)
        self.order += 1
        self.last = arm.name

    def verdict(self, stage: str, arm: Planted, k: int, delta: float = 0.01) -> Verdict:
        """Judge an arm with the code that judges real ones."""
        mine, base = (self.records[stage, name, self.metric] for name in (arm.name, "base"))
        by_round = dict(zip(base.rounds, base.samples, strict=True))
        pair = [by_round[n] for n in mine.rounds]
        found = judging.judge(judging.log_ratios(mine.samples, pair), None, k, 0.05, delta)
        return Verdict(
            arm=arm.name,
            verdict=found.verdict,
            options=arm.options,
            ratio=found.ratio,
            interval=found.interval,
            wins=found.wins,
            value=median(mine.samples),
            base_value=median(pair),
            ratio_of_sums=judging.ratio_of_sums(mine.samples, pair),
            rounds=found.rounds,
            ties=found.ties,
            proof=arm.proof.text if arm.proof else "",
            applied=True if arm.proof else None,
        )

    def envelope(self, arms: list[Planted], verdicts: list[Verdict], finished: bool, **options: Any) -> TryFile:
        own = {OWN.name: {"LD_PRELOAD": "/usr/lib/libjemalloc.so.2"}} if any(a.name == OWN.name for a in arms) else {}
        asked = Options(command=self.command, seed=7, user_arms=own, **options)
        asked.levers = {arm.name.partition("=")[0]: arm.name.partition("=")[2] for arm in arms if arm.kind == "lever"}
        plan = Plan(
            options=asked,
            arms=[Arm("base", "base"), *(Arm(a.name, a.kind, extra=a.extra) for a in arms)],  # type: ignore[arg-type]
            k=sum(a.kind in ("lever", "user", "stack") for a in arms),
            warm_kb=5260000,
            warm_why="free page reporting: memory given back to the host is slow to touch again",
            pad_to=16384,
            timeout_s=60.0,
            base_s=self.base_s,
            pilot_s=1.0,
        )
        return TryFile(
            tool=Tool("okosu", "0.1.0", "2026-11-02T09:30:00Z"),
            machine=MACHINE,
            plan=plan,
            records=list(self.records.values()),
            verdicts=verdicts,
            finished=finished,
        )


MACHINE: dict[str, Any] = {
    "id": "synthetic",
    "note": NOTE,
    "cpu_model": "Example CPU @ 2.60GHz",
    "microcode": "0x1",
    "kernel": "6.1.0-18-amd64",
    "glibc": "2.36",
    "cpus": [0, 1],
    "memory_kb": 24641536,
    "caches": [{"level": 1, "size_kb": 48, "ways": 12}, {"level": 2, "size_kb": 2048, "ways": 16}],
    "thp": {"enabled": "madvise", "defrag": "madvise"},
    "hugetlb": {"2048kB": {"total": 0, "free": 0}},
    "virtualisation": "kvm",
    "state_before": {"load": 0.31, "psi_memory_avg10": 0.0, "steal_ticks": 1204, "free_huge_blocks": 5120},
    "state_after": {"load": 1.12, "psi_memory_avg10": 0.0, "steal_ticks": 1873, "free_huge_blocks": 5120},
}


def win() -> TryFile:
    """A trial in which one lever wins, one changes nothing, one stays open, one loses and one is unavailable."""
    maker = Maker(1, 3.1, ["./examples/chase", "4G", "--steps", "20000000"])
    arms = [
        PLACEBO,
        SUPERPAGE,
        Planted(RETAIN.name, "lever", RETAIN.ratio, RETAIN.options, RETAIN.proof, rounds=30),
        PIN,
        Planted(OWN.name, "user", OWN.ratio, OWN.options, rounds=16),
    ]
    maker.rounds("rounds", 34, [*arms, STACK])
    verdicts = [maker.verdict("rounds", arm, 5) for arm in [*arms, STACK]]
    winner = verdicts[-1]
    winner.headline, winner.decided, winner.later = True, 9, Later(winner.ratio or 1.0, 25, 25)
    for verdict in verdicts:
        if verdict.arm == "retain":
            verdict.rounds_needed, verdict.minutes_needed = 61, 8.4
            verdict.why = "about 27 more rounds (8 min) if the share of wins holds"
            verdict.carry_over = True
    envelope = maker.envelope([*arms, STACK], [*verdicts, UNAVAILABLE], True)
    states = [{"stage": "rounds", "round": n, "load": n / 10} for n in range(1, 35)]
    envelope.machine = {**MACHINE, "state_rounds": states}
    return envelope


def nothing() -> TryFile:
    """A trial in which no lever makes a difference."""
    maker = Maker(2, 0.9, ["./examples/spin", "1000"], noise=0.002)
    arms = [PLACEBO, RETAIN, Planted("superpage", "lever", 1.0, ["--superpage=thp"])]
    maker.rounds("rounds", 30, arms)
    return maker.envelope(arms, [*(maker.verdict("rounds", a, 2) for a in arms), UNAVAILABLE], True)


def unfinished() -> TryFile:
    """A trial that was stopped after five rounds, too early to decide anything."""
    maker = Maker(3, 3.1, ["./examples/chase", "4G"])
    arms = [PLACEBO, SUPERPAGE, RETAIN]
    maker.rounds("rounds", 5, arms)
    return maker.envelope(arms, [], False)


def extremes() -> TryFile:
    """A trial with a ratio of 0.07 beside one of 1.0003, another metric, and an arm that was not applied."""
    command = ["sqlite3", ":memory:", "SELECT count(*) FROM a JOIN b USING (k);" * 12]
    maker = Maker(4, 1.7, command, "judged", noise=0.0004)
    fast = Planted("retain", "lever", 0.07, ["--retain=on"], RETAIN.proof, faults=0.01)
    close = Planted("pin=scatter", "lever", 1.0003, ["--pin=scatter"], PIN.proof)
    maker.rounds("rounds", 24, [fast, close])
    found = maker.verdict("rounds", fast, 2)
    found.headline = True
    failed = Verdict(
        arm="superpage", verdict="NOT APPLIED", options=["--superpage=thp"], why="pilot: AnonHugePages 0 of 4.0 GiB"
    )
    return maker.envelope(
        [fast, close],
        [found, maker.verdict("rounds", close, 2), failed],
        True,
        metric="regex",
        pattern=r"latency: ([0-9.]+) ms",
    )


def small() -> TryFile:
    """The smallest file with every kind of content, for tests that damage it byte by byte."""
    maker = Maker(5, 0.5, ["true"])
    maker.rounds("rounds", 2, [RETAIN])
    maker.records = {key: record for key, record in maker.records.items() if key[2] == "wall"}
    return TryFile(
        tool=Tool("okosu", "0.1.0", "2026-11-02T09:30:00Z"),
        machine={"id": "synthetic", "note": NOTE},
        plan=Plan(options=Options(command=["true"], seed=7), k=1, pilot_s=1.0),
        records=list(maker.records.values()),
        verdicts=[UNAVAILABLE, Verdict(arm="retain", verdict="UNRESOLVED", ratio=1.0, interval=(0.99, 1.02), rounds=2)],
        finished=True,
    )


ALL: dict[str, Callable[[], TryFile]] = {
    "win": win,
    "nothing": nothing,
    "unfinished": unfinished,
    "extremes": extremes,
    "small": small,
}


if __name__ == "__main__":
    for label, make in ALL.items():
        files.write(make(), Path(sys.argv[1]) / f"try-{label}.json")
