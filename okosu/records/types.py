# SPDX-License-Identifier: Apache-2.0
"""The record types of okosu: what is stored of every measurement, on whatever platform it was made."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeVar

import msgspec

import okosu
from okosu.records.measurement import Measurement
from okosu.records.recipe import Change

RECORD_SCHEMA: Final = "okosu.record/1"
Metric = Literal["wall", "cpu", "rss", "regex"]
Kind = Literal["base", "placebo", "lever", "user", "stack"]
Stage = Literal["pilot", "rounds"]
Leaving = Literal["decided", "beaten", "bounded", "futile"]

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


COLUMNS = ("order", "rounds", "parts", "predecessor")
"""The columns of a record beside its samples."""


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
    stage: Literal["pilot", "rounds", "bench", "confirmation"] = "rounds"
    """Of a trial "pilot" or "rounds"; of a benchmark "bench", or "confirmation" for its fresh processes."""
    metric: str
    unit: str
    samples: list[float] = []
    order: list[int] = []
    rounds: list[int] = []
    parts: list[int] = []
    predecessor: list[str] = []
    loads: list[float] = []
    """Of a benchmark: how many loads the core completed in a cycle beside each sample (okosu/bench/alone.py), or []."""
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


class Later(msgspec.Struct, frozen=True):
    """What the rounds of an arm after its decision say alone: the median ratio, their number, and its wins in them."""

    ratio: float
    rounds: int
    wins: int


class Verdict(msgspec.Struct, kw_only=True):
    """What is concluded of one arm. `ratio` is t_arm / t_base: below 1 is faster.

    `verdict` is one of FASTER, SLOWER, SAME, UNRESOLVED, NOT CONFIRMED, CANNOT MATTER, NOT APPLIED, WRONG OUTPUT,
    UNAVAILABLE; ratio and interval, over all rounds of the arm, are null where nothing was measured.
    """

    arm: str
    verdict: str
    options: list[str] = []
    """Options of okosu-run that make this arm."""
    ratio: float | None = None
    interval: tuple[float, float] | None = None
    ratio_of_sums: float | None = None
    rounds: int = 0
    wins: int = 0
    """Rounds in which the arm was better than base."""
    ties: int = 0
    value: float | None = None
    """Median over its rounds, in the metric's own unit (seconds, MiB, the number that the program prints)."""
    base_value: float | None = None
    """Base's median in the same rounds."""
    decided: int | None = None
    """The round, from 1, after which it was first known to be FASTER, SLOWER or SAME."""
    later: Later | None = None
    """Of an arm that was known to win: the rounds after that alone."""
    bound: float | None = None
    """Of CANNOT MATTER: the largest share of base's cost that it could save, by arithmetic. Of UNRESOLVED: the
    interval's lower end."""
    proof: str = ""
    applied: bool | None = None
    """Whether its effect was read back from the program; null where there was nothing to prove."""
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
    command: list[str] = []
    """The command line that it runs in place of the plan's; empty: the plan's own."""
    recipes: list[str] = []
    """Those of `levers` that okosu-run does not know, because they are variables alone (`env`)."""
    changes: dict[str, str] = {}
    """What it changes beside the time, and for each the hazard in a sentence."""

    @property
    def options(self) -> list[str]:
        """The options of okosu-run that make this arm."""
        made = [f"--{name}={value}" for name, value in self.levers.items() if name not in self.recipes]
        made += [f"--env={name}={value}" for name, value in self.env.items()]
        if self.kind == "placebo":
            made.append("--placebo")
        return made + self.extra


class Service(msgspec.Struct, frozen=True, kw_only=True):
    """How a service is driven, whose command is that of the options. Times in seconds.

    In these texts and in the command, {port} stands for a free port on loopback and {tmp} for a private folder, both
    new in each run.
    """

    load: str
    """A shell command: its wall time is judged, or the number that a regex finds in its output."""
    ready: list[str]
    """When the service is ready, all in this order: tcp:PORT, unix:PATH, log:REGEX or cmd:COMMAND."""
    ready_s: float = 60.0
    """How long the service may take to become ready."""
    stop: str = "TERM"
    """What stops it: the name of a signal without SIG, or a shell command."""
    grace_s: float = 10.0
    """How long it may take to stop, before it is killed."""


class Options(msgspec.Struct, kw_only=True):
    """What the user asked for; stored in the records file, so that --resume needs nothing else."""

    command: list[str]
    metric: Metric = "wall"
    pattern: str = ""
    better: Literal["lower", "higher"] = "lower"
    alpha: Annotated[float, msgspec.Meta(gt=0, lt=1)] = 0.05
    min_effect: Annotated[float, msgspec.Meta(ge=0, lt=1)] = 0.01
    budget_s: float = 600.0
    brief: bool = False
    """The user named no budget: half of it is enough for a program that takes at most 10 s."""
    min_rounds: int = 0
    """Rounds that are run at least, however early the arms are resolved."""
    max_rounds: int = 1000
    precision: float | None = None
    """Half-width of a winner's interval, as a share of base, at which it needs no more rounds; null: the larger of
    min_effect and a tenth of its effect."""
    timeout_s: float | None = None
    seed: int = 0
    stdin: str = ""
    output: Literal["null", "pipe", "file"] = "pipe"
    """Where the program's standard output goes: nowhere (and is not compared), through a pipe, or into a file."""
    ignore_failure: bool = False
    """Compare runs that all fail the same way, as base does."""
    check: str = ""
    prepare: str = ""
    conclude: str = ""
    setup: str = ""
    cleanup: str = ""
    """Shell commands before and after each timed run (prepare, conclude), and before and after the whole trial."""
    warmup: int = 0
    """Runs of base, and of each arm with a command line of its own, before anything is measured."""
    warm: bool = True
    children: bool = True
    levers: dict[str, str] = {}
    """Name of a lever or recipe to the value asked for, "" for its candidates; empty for none."""
    race: bool = False
    """Whether the pilot may leave out arms that look hardly worth their rounds: where the user named no levers."""
    unasked: list[str] = []
    """The recipes among them that nobody named: of those that are for other programs nothing is said."""
    recipes: list[str] = []
    """Folders with recipes, beside okosu's and the user's."""
    accept: list[Change] = []
    """What an arm may change and be recommended all the same."""
    user_arms: dict[str, dict[str, str]] = {}
    versus: list[list[str]] = []
    """Other command lines, each an arm."""
    scan: dict[str, list[str]] = {}
    """Name of a variable or of a placeholder to its values, each an arm."""
    template: list[str] = []
    """The command line as it was typed, where it has placeholders; `command` is then that with their first values."""
    service: Service | None = None
    """Where the command is a service that a load judges; None where the command itself is judged."""


class Failure(msgspec.Struct, frozen=True):
    """Why an arm was not tried, or left the trial for another reason than its time: NOT APPLIED, WRONG OUTPUT,
    UNAVAILABLE, CANNOT MATTER, or UNRESOLVED where the budget had no room for it.
    """

    verdict: str
    why: str
    fix: str = ""
    bound: float | None = None
    """Of CANNOT MATTER: the largest share of base's cost that it could save."""
    round: int = 0
    """The round, from 1, in which it failed; 0 for the pilot."""


class Decision(msgspec.Struct, frozen=True):
    """What an arm was first known to be (FASTER, SLOWER, SAME), and after which round, from 1."""

    verdict: str
    round: int


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
    arms: list[Arm] = []
    """Base, placebo, then every arm that counts in K; a stack is added when it joins the rounds."""
    k: Annotated[int, msgspec.Meta(ge=0)] = 0
    """The arms that share the level: levers, arms of the user, and one more where a stack of winners is possible."""
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
    bounds: dict[str, float] = {}
    """The largest share of base's time (0 to 1) that an arm can save by arithmetic; absent where that is no bound."""

    def arm(self, name: str) -> Arm:
        """The arm of that name; KeyError if there is none."""
        for arm in self.arms:
            if arm.name == name:
                return arm
        raise KeyError(name)

    def least_ratio(self, name: str) -> float:
        """The least t_arm / t_base that arithmetic leaves possible; 0 where it says nothing of the arm."""
        return max(0.0, 1 - self.bounds.get(name, 1.0))

    def unaccepted(self, arm: Arm) -> dict[str, str]:
        """What the arm changes that the user did not accept, with the hazard of each."""
        return {what: hazard for what, hazard in arm.changes.items() if what not in self.options.accept}

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


class TryFile(Envelope, kw_only=True, tag="okosu.try/3"):
    """What `okosu try` keeps of a trial."""

    plan: Plan
    failures: dict[str, Failure] = {}
    rounds: int = 0
    """Rounds that were run to their end."""
    decided: dict[str, Decision] = {}
    left: dict[str, Leaving] = {}
    """Why an arm runs no more: it is decided, does not look as if it beat the winner, has nothing to gain, or needs
    more than the budget."""
    settled: int | None = None
    """The round, from 0, since which an untimed run of base precedes each run, for an arm was seen to carry over."""
    spent_s: float = 0.0
    """Seconds of the budget that the pilot and the rounds have used."""
    verdicts: list[Verdict] = []
    counted: dict[str, dict[str, int]] = {}
    """Of base and of the recommended arm, the hardware counters of one more run each."""
    uncounted: str = ""
    """Why there are no counters."""

    def use(self, verdict: Verdict) -> list[str]:
        """The command line that applies a verdict's arm: `okosu run …`, or the arm's own command line."""
        asked = self.plan.options
        own = next((arm.command for arm in self.plan.arms if arm.name == verdict.arm), [])
        children = [] if asked.children else ["--children=0"]
        return own or ["okosu", "run", *verdict.options, *children, "--", *asked.command]


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
