# SPDX-License-Identifier: Apache-2.0
"""One view of trials on many machines: verdicts by kind of machine, for the terminal and the HTML page alike."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from okosu.records.collected import MIXED, Absent, Collected, Kind, KindVerdict, NodeTrial, Program
from okosu.report import formats, words
from okosu.report.view import TONES
from okosu.report.words import Words

ABOUT = (
    "A verdict holds for the kind of machine it stands under; nothing is pooled over kinds. Each trial errs with a "
    "chance of at most its α (5 % unless its record says otherwise), any of M kinds with at most M × α. Where a kind "
    "has several trials, its verdict is the one on which all agree, else MIXED; the ratio is the median of theirs, and "
    "the interval holds all of theirs."
)
_FOLDED = ("UNAVAILABLE", "CANNOT MATTER")
_SHOWN = ("FASTER", "SLOWER", "SAME", "NOT CONFIRMED", "WRONG OUTPUT")


@dataclass(frozen=True)
class Row:
    """One arm on one kind of machine, every cell as text."""

    arm: str
    change: str
    interval: str
    trials: str
    verdict: str
    tone: str
    why: str


@dataclass(frozen=True)
class TrialView:
    """One finished trial: its file, and its node and the file's name as a text."""

    file: str
    text: str


@dataclass(frozen=True)
class KindView:
    """One kind of machine: what sets it apart from the program's other kinds, its trials, and what to run there."""

    id: str
    facts: list[tuple[str, str]]
    trials: list[TrialView]
    rows: list[Row]
    folded: list[str]
    base: str
    """What base takes there, "" where no trial has it."""
    use: str
    """What to run there, or why there is nothing."""
    command: bool


@dataclass(frozen=True)
class ProgramView:
    """One program on all kinds of machine. `shared` are the facts in which its kinds do not differ."""

    subject: str
    text: str
    shared: list[tuple[str, str]]
    arms: list[str]
    kinds: list[KindView]


@dataclass(frozen=True)
class View:
    programs: list[ProgramView]
    absent: list[Absent]
    about: str


def view(collected: Collected) -> View:
    return View([_program(program) for program in collected.programs], collected.absent, ABOUT)


def _program(program: Program) -> ProgramView:
    kinds, said = program.kinds, words.words(program.metric, program.better)
    differing = [label for label in kinds[0].facts if len({kind.facts.get(label) for kind in kinds}) > 1]
    trials = sum(len(kind.trials) for kind in kinds)
    return ProgramView(
        subject=shlex.join(program.command),
        text=f"{formats.counted(len(kinds), 'kind')} of machine, {formats.counted(trials, 'finished trial')}",
        shared=[(label, text) for label, text in kinds[0].facts.items() if label not in differing and text],
        arms=_by_arm(program, said),
        kinds=[_kind(kind, differing, said) for kind in kinds],
    )


def _by_arm(program: Program, said: Words) -> list[str]:
    """For each arm that is known to do anything somewhere, on how many kinds it does what."""
    lines = []
    for arm in dict.fromkeys(v.arm for kind in program.kinds for v in kind.verdicts):
        of = [v for kind in program.kinds for v in kind.verdicts if v.arm == arm]
        found = {name: [v for v in of if v.verdict == name] for name in (*_SHOWN, MIXED)}
        if found["FASTER"] or found["SLOWER"] or found[MIXED]:
            parts = [f"{said.verdict(name)} on {_where(those, said)}" for name, those in found.items() if those]
            rest = len(program.kinds) - sum(map(len, found.values()))
            lines.append(f"{arm}: {', '.join(parts)}{f', not known on {rest}' if rest else ''}")
    return lines


def _where(found: Sequence[KindVerdict], said: Words) -> str:
    """On how many kinds, and for FASTER and SLOWER from which change to which."""
    ratios = sorted(v.ratio for v in found if v.ratio and v.verdict in ("FASTER", "SLOWER"))
    changes = dict.fromkeys(map(said.change, ratios[:1] + ratios[-1:]))
    return formats.counted(len(found), "kind") + (f" ({' to '.join(changes)})" if changes else "")


def _kind(kind: Kind, differing: Sequence[str], said: Words) -> KindView:
    shown = [v for v in kind.verdicts if v.verdict not in _FOLDED]
    folded = [
        f"{name.lower()}: {', '.join(v.arm for v in kind.verdicts if v.verdict == name)}"
        for name in _FOLDED
        if any(v.verdict == name for v in kind.verdicts)
    ]
    use = "no lever is recommended here"
    if kind.recommended is not None:
        use = shlex.join(kind.recommended)
    elif any(v.headline for one in kind.trials for v in one.verdicts):
        use = "its trials do not recommend the same"
    return KindView(
        id=kind.id,
        facts=[(label, kind.facts[label] or "unknown") for label in differing],
        trials=[_trial(one) for one in kind.trials],
        rows=[_row(v, said, len(kind.trials)) for v in shown],
        folded=folded,
        base="" if kind.base is None else f"base: {formats.quantity(kind.base, said.unit)}",
        use=use,
        command=kind.recommended is not None,
    )


def _trial(trial: NodeTrial) -> TrialView:
    name = Path(trial.file).name
    return TrialView(trial.file, f"{trial.node} ({name})" if trial.node else name)


def _row(verdict: KindVerdict, said: Words, trials: int) -> Row:
    tried = sum(verdict.counts.values())
    counts = ", ".join(f"{count} {said.verdict(name)}" for name, count in verdict.counts.items())
    return Row(
        arm=verdict.arm,
        change=said.change(verdict.ratio),
        interval=said.interval(verdict.ratio, verdict.interval),
        trials=f"{tried} of {trials}" if tried < trials else str(trials),
        verdict=said.verdict(verdict.verdict),
        tone=TONES.get(verdict.verdict, "muted"),
        why=counts if verdict.verdict == MIXED else verdict.why,
    )
