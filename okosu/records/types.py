# SPDX-License-Identifier: Apache-2.0
"""The record types of okosu: what is stored of every measurement, on whatever platform it was made."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeVar

import msgspec

import okosu
from okosu.records.measurement import Measurement

RECORD_SCHEMA: Final = "okosu.record/1"
Metric = Literal["wall", "cpu", "rss", "regex"]
Kind = Literal["base", "placebo", "lever", "user", "stack"]
Stage = Literal["pilot", "screening", "confirmation"]

STAGES: Final[tuple[Stage, ...]] = ("screening", "confirmation")
"""What follows the pilot."""
BASE, PLACEBO, STACK = "base", "placebo", "stack"


class Tool(msgspec.Struct, frozen=True):
    """Which okosu wrote the file, and when (ISO 8601, UTC)."""

    name: str
    version: str
    started: str


class Proof(msgspec.Struct, frozen=True):
    """Whether a lever's effect was read back from the program, and what was read."""

    holds: bool
    text: str
    values: dict[str, float] = {}


class Place(NamedTuple):
    """Where in a stage a sample was taken: the round, and the part of it where a long round is split; both from 0."""

    round: int
    part: int = 0


class Record(msgspec.Struct, kw_only=True):
    """The samples of one metric of one arm in one stage of one run of the tool.

    `samples[i]` was taken by the `order[i]`-th process that the tool started, in part `parts[i]` of round `rounds[i]`;
    `predecessor[i]` is the arm that ran just before it ("" for the first). Any of these columns may be empty: without
    `parts` no round was split. Exactly one of `lever` and `variant` is not empty.
    """

    schema: Literal["okosu.record/1"] = RECORD_SCHEMA
    tool: str
    machine: str
    platform: Literal["native", "uml", "qemu", "verilator"] = "native"
    subject: str
    lever: str = ""
    variant: str = ""
    stage: Literal["pilot", "screening", "confirmation", "bench"] = "screening"
    metric: str
    unit: str
    samples: list[float] = []
    order: list[int] = []
    rounds: list[int] = []
    parts: list[int] = []
    predecessor: list[str] = []
    parameters: dict[str, str | float] = {}
    """What was measured, where it takes more than the subject and the variant to say it (size, mode, placement, …)."""
    seed: int = 0
    proof: Proof | None = None
    note: str = ""

    @property
    def arm(self) -> str:
        """The name of what was measured: the lever, or the variant."""
        return self.lever or self.variant

    def places(self) -> list[Place]:
        """The place of each sample; without a column of rounds, the samples are counted up as rounds."""
        rounds = self.rounds or range(len(self.samples))
        return [Place(*place) for place in zip(rounds, self.parts or [0] * len(self.samples), strict=True)]


class Verdict(msgspec.Struct, kw_only=True):
    """What is concluded of one arm. `ratio` is t_arm / t_base: below 1 is faster.

    `verdict` is one of FASTER, SLOWER, SAME, UNRESOLVED, NOT CONFIRMED, NOT APPLIED, WRONG OUTPUT, UNAVAILABLE; ratio
    and interval are null where nothing could be measured.
    """

    arm: str
    verdict: str
    options: list[str] = []
    """Options of okosu-run that make this arm."""
    ratio: float | None = None
    interval: tuple[float, float] | None = None
    ratio_of_sums: float | None = None
    rounds: int = 0
    ties: int = 0
    proof: str = ""
    applied: bool = False
    stage: Literal["screening", "confirmation"] = "screening"
    confirmed: bool | None = None
    """True or false after confirmation on fresh rounds; null where there was none."""
    carry_over: bool = False
    headline: bool = False
    """The arm that is recommended: its ratio is the one to quote."""
    why: str = ""
    fix: str = ""
    rounds_needed: int | None = None
    minutes_needed: float | None = None


class Compared(msgspec.Struct, kw_only=True):
    """A published value of a paper, or a target of okosu's own, beside what was measured here (`okosu reproduce`).

    A published value never fails: `holds` is null. Of a target, null says that it could not be judged.
    `target` is the published number, or the target's bound.
    """

    id: str
    text: str
    kind: Literal["published", "floor", "at least", "at most"]
    mark: Literal["", "value", "statement", "disputed"] = ""
    """Of a published number: was it measured there, stated, or is it wrong?"""
    source: str
    target: float
    measured: float | None = None
    interval: tuple[float, float] | None = None
    unit: str = ""
    holds: bool | None = None
    note: str = ""

    @property
    def sign(self) -> str:
        """The relation in which the measured value must stand to a target's bound; "" for a published value."""
        return {"published": "", "at most": "≤"}.get(self.kind, "≥")


class Arm(msgspec.Struct, frozen=True):
    """What is compared with base. `levers` maps names to values; `alternatives` are further values for the pilot."""

    name: str
    kind: Kind
    levers: dict[str, str] = {}
    env: dict[str, str] = {}
    alternatives: list[str] = []
    preload: bool = False
    """Whether it works through the preload library, so that it is judged against the placebo too."""
    extra: list[str] = []
    """Further options of okosu-run (--no-fork, --delay=…)."""

    @property
    def options(self) -> list[str]:
        """The options of okosu-run that make this arm."""
        made = [f"--{name}={value}" for name, value in self.levers.items()]
        made += [f"--env={name}={value}" for name, value in self.env.items()]
        if self.kind == "placebo":
            made.append("--placebo")
        return made + self.extra


class Options(msgspec.Struct, kw_only=True):
    """What the user asked for; stored in the records file, so that --resume needs nothing else."""

    command: list[str]
    metric: Metric = "wall"
    pattern: str = ""
    better: Literal["lower", "higher"] = "lower"
    alpha: Annotated[float, msgspec.Meta(gt=0, lt=1)] = 0.05
    min_effect: Annotated[float, msgspec.Meta(ge=0, lt=1)] = 0.01
    budget_s: float = 600.0
    min_rounds: int = 0
    """Rounds that a stage runs at least, however early its arms are resolved."""
    max_rounds: int = 1000
    timeout_s: float | None = None
    seed: int = 0
    stdin: str = ""
    check: str = ""
    prepare: str = ""
    conclude: str = ""
    warm: bool = True
    children: bool = True
    levers: dict[str, str] = {}
    """Lever name to the value asked for, "" for its candidates; empty for all levers."""
    user_arms: dict[str, dict[str, str]] = {}


class Failure(msgspec.Struct, frozen=True):
    """Why an arm left the trial for another reason than its time: NOT APPLIED, WRONG OUTPUT or UNAVAILABLE."""

    verdict: str
    why: str
    fix: str = ""


class Reference(msgspec.Struct, frozen=True):
    """What base's pilot ended with: every run must end the same way."""

    status: int | None
    signal: int | None
    digest: str


class Plan(msgspec.Struct, kw_only=True):
    """All that is fixed before the first round. Times in seconds, sizes in KiB."""

    options: Options
    given: list[Arm] = []
    """Arms that the caller made, tried in the place of those that the options name."""
    stages: list[Stage] = msgspec.field(default_factory=lambda: list(STAGES))
    arms: list[Arm] = []
    """Base, placebo, then every arm that counts in K; a stack is added when its confirmation begins."""
    k: Annotated[int, msgspec.Meta(ge=0)] = 0
    observes: list[str] = []
    proof_mode: Literal["exit", "sample"] = "exit"
    pad_to: int = 0
    """Bytes of environment that every arm can be padded to; each round adds a draw of 0..4095."""
    warm_kb: int = 0
    warm_why: str = ""
    base_s: float = 0.0
    arm_s: dict[str, float] = {}
    overhead_s: float = 0.0
    """Untimed seconds that go with each timed run: warming memory, preparing, reading proofs."""
    timeout_s: float = 0.0
    pilot_s: float = 0.0
    pilots: dict[str, Measurement] = {}
    reference: Reference | None = None
    proofs: dict[str, Proof] = {}
    """What the pilot read back of each arm's effect."""

    def arm(self, name: str) -> Arm:
        """The arm of that name; KeyError if there is none."""
        for arm in self.arms:
            if arm.name == name:
                return arm
        raise KeyError(name)

    def run_s(self, names: list[str]) -> float:
        """The expected seconds of one run of each named arm, with the overhead around each run."""
        return sum(self.arm_s.get(name, self.base_s) + self.overhead_s for name in names)


class Envelope(msgspec.Struct, kw_only=True, tag_field="schema"):
    """What every records file begins with: who measured, when, on what machine; then what was measured."""

    tool: Tool
    machine: dict[str, Any]
    records: list[Record] = []
    finished: bool = False

    @property
    def schema(self) -> str:
        """The name of the kind of file, with its version."""
        return str(self.__struct_config__.tag)


class TryFile(Envelope, kw_only=True, tag="okosu.try/2"):
    """What `okosu try` keeps of a trial."""

    plan: Plan
    failures: dict[str, Failure] = {}
    confirm_arms: list[str] = []
    """The arms of the confirmation, once it has begun."""
    verdicts: list[Verdict] = []


class BenchPlan(msgspec.Struct, kw_only=True):
    """What `okosu bench` was asked, the options of its programs, and what each program said of itself."""

    command: list[str] = []
    options: list[str] = []
    seed: int = 0
    benches: dict[str, Any] = {}


class BenchFile(Envelope, kw_only=True, tag="okosu.bench/1"):
    """What `okosu bench` keeps."""

    plan: BenchPlan


class ExperimentRun(msgspec.Struct):
    """An experiment in the lab: the command that makes it again, and how many records it gave."""

    command: str
    records: int


class ReproducePlan(msgspec.Struct, kw_only=True):
    """What `okosu reproduce` was asked, and by the names of the experiments how they were measured."""

    command: list[str] = []
    paper: str = ""
    title: str = ""
    published_on: str = ""
    """The paper's own machine."""
    quick: bool = False
    seed: int = 1
    lab: dict[str, ExperimentRun] = {}
    benches: dict[str, Any] = {}
    missing: dict[str, str] = {}
    """Why an experiment did not come to its end, or was left out."""


class ReproduceFile(Envelope, kw_only=True, tag="okosu.reproduce/2"):
    """What `okosu reproduce` keeps. What it compares stands in the order of the paper, then of the targets."""

    plan: ReproducePlan
    compared: list[Compared] = []


class Rate(msgspec.Struct, frozen=True):
    """How many of the trials of a case of the selftest ended in a verdict.

    The verdict is SLOWER where a slow-down was planted, and FASTER or SLOWER elsewhere.
    """

    case: str
    trials: int
    hits: int
    interval: tuple[float, float]
    rounds: float
    """Mean rounds until the verdict, of the trials that had one; 0 for none."""
    limit: str
    passed: bool
    visible: int | None = None
    """How many of the interleaved A/A trials would have ended SLOWER with the planted time added to their own runs."""


class SelftestFile(msgspec.Struct, tag_field="schema", tag="okosu.selftest/1"):
    """What `okosu selftest --json` writes."""

    rates: list[Rate]


KINDS: Final[tuple[type[Envelope], ...]] = (TryFile, BenchFile, ReproduceFile)
E = TypeVar("E", bound=Envelope)


def begin(kind: type[E], facts: dict[str, Any], **rest: Any) -> E:
    """An empty file for a measurement that begins now on the machine with these facts."""
    started = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return kind(tool=Tool("okosu", okosu.__version__, started), machine=facts, **rest)
