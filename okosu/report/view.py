# SPDX-License-Identifier: Apache-2.0
"""One view of a trial: the headline, a row for each arm, how to read them.

The terminal, the README and the HTML page all show this view; none of them words a trial itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median

from okosu.records.types import BASE, STAGES, TryFile, Verdict
from okosu.report import commands, formats, model
from okosu.report.model import Arm, Trial, running, sane
from okosu.stats.eprocess import fewest_rounds

OPEN = "NOT JUDGED YET"
_FAILED = ("NOT APPLIED", "WRONG OUTPUT", "UNAVAILABLE")
_TONES = {"FASTER": "good", "SLOWER": "bad", "WRONG OUTPUT": "bad", "NOT APPLIED": "bad"}
_NOUNS = {"wall": "time", "cpu": "CPU time", "rss": "peak memory", "judged": "value"}


@dataclass(frozen=True)
class Row:
    """One arm in the table of verdicts, every cell as text; `remarks` are (label, text) lines below it."""

    arm: str
    kind: str
    ratio: str
    interval: str
    rounds: str
    applied: str
    verdict: str
    tone: str
    fresh: bool
    tag: str
    headline: bool
    failed: bool
    proof: str
    remarks: list[tuple[str, str]]


@dataclass(frozen=True)
class Headline:
    """What is to be read first. `command` is what to type, "" where nothing is recommended."""

    text: str
    arm: str
    detail: str
    tone: str
    command: str


@dataclass(frozen=True)
class View:
    """A whole trial. `rows` are the measured arms in the order of the plan, then those that could not be measured."""

    headline: Headline
    rows: list[Row]
    base: str
    """How long base takes, by the pilot."""
    caption: str
    """What a ratio and an interval are."""
    about: str
    """How much was run, and to what plan."""
    again: str
    """The `okosu try` that measures the same again."""


def of(file: TryFile) -> View:
    """The view of a file of `okosu try`, finished or not, with its records or without."""
    return view(model.load(file))


def view(trial: Trial) -> View:
    return View(
        headline=_headline(trial),
        rows=sorted(
            (
                _open_row(trial, arm) if arm.verdict is None else row(arm.verdict, arm.kind)
                for arm in trial.arms
                if arm.name != BASE
            ),
            key=lambda made: made.failed,
        ),
        base=formats.quantity(trial.file.plan.base_s, "s"),
        caption=f"Ratio = arm’s {_noun(trial)} ÷ base’s in the same round, median of rounds; below 1 is better. "
        f"The interval is a {_level(trial, 'screening')} and holds whenever the trial stops.",
        about=_about(trial),
        again=commands.again(trial.file),
    )


def _noun(trial: Trial) -> str:
    """The quantity whose ratios are shown."""
    if trial.metric == "judged" and trial.file.plan.options.better == "higher":
        return "inverse rate"
    return _NOUNS.get(trial.metric, trial.metric)


def directions(metric: str) -> tuple[str, str]:
    """The words for a ratio below and above 1."""
    return {"wall": ("faster", "slower"), "judged": ("better", "worse")}.get(metric, ("less", "more"))


def change(ratio: float, metric: str) -> str:
    """A ratio in words: "1.52× faster", "0.4 % slower"; for other metrics than wall time "34 % less"."""
    less, more = directions(metric)
    times = metric in ("wall", "judged")
    if ratio < 1:
        if times and ratio <= 0.8:
            return f"{formats.significant(1 / ratio)}× {less}"
        return f"{formats.percent((1 / ratio - 1) if times else 1 - ratio)} {less}"
    if ratio >= 1.25:
        return f"{formats.significant(ratio)}× {'as much' if not times else more}"
    return f"{formats.percent(ratio - 1)} {more}" if ratio > 1 else "no change"


def outcome(verdict: Verdict, metric: str) -> str:
    """A verdict in one line, without its arm: "15 % faster (0.842 – 0.903 of base’s time)"; the first reason where
    nothing was measured."""
    if verdict.ratio is None or verdict.interval is None:
        return f"{verdict.verdict} ({verdict.why.partition(';')[0]})"
    said = change(verdict.ratio, metric) if verdict.verdict in ("FASTER", "SLOWER") else verdict.verdict
    return f"{said} ({formats.bounds(verdict.interval)} of base’s {_NOUNS.get(metric, metric)})"


def _level(trial: Trial, stage: str) -> str:
    """The level of an interval: "95 % interval", and for how many arms at once it holds."""
    k = trial.comparisons(stage)
    return f"{formats.setting(1 - trial.alpha)} interval" + (f" over {k} arms at once" if k > 1 else "")


def _about(trial: Trial) -> str:
    options = trial.file.plan.options
    ran = [f"{_rounds(count)} of {stage}" for stage in STAGES if (count := trial.rounds(stage))]
    effect = formats.setting(options.min_effect)
    return f"{', '.join(ran) or 'No round'}; seed {options.seed}; smallest effect of interest {effect}."


def _headline(trial: Trial) -> Headline:
    """The recommended arm with its ratio on fresh rounds, or the reason why there is none."""
    file = trial.file
    best = next((v for v in file.verdicts if v.headline and v.ratio and sane(v.ratio)), None)
    rounds = sum(trial.rounds(stage) for stage in STAGES)
    if best is not None and best.ratio is not None:
        stage = "fresh rounds" if best.stage == "confirmation" else "rounds of screening, not confirmed"
        bounds = f" ({formats.bounds(best.interval)}, a {_level(trial, best.stage)})" if best.interval else ""
        detail = (
            f"{formats.ratio(best.ratio, best.interval)} of base’s {_noun(trial)}{bounds}, from {best.rounds} {stage}. "
            f"Base takes {formats.quantity(file.plan.base_s, 's')}."
        )
        if not file.finished:
            detail += " The trial is not finished."
        return Headline(change(best.ratio, trial.metric), best.arm, detail, "good", commands.use(file, best))
    if not rounds:
        if not file.plan.pilot_s:
            return Headline("Nothing is decided yet", "", "The pilot did not end.", "muted", "")
        text = "Nothing was measured" if file.finished else "Nothing is measured yet"
        return Headline(text, "", _tally(trial) or "The file holds no round.", "muted", "")
    if not file.finished:
        few = fewest_rounds(trial.comparisons("screening"), trial.alpha)
        wait = f" The fewest that can decide are {few}." if rounds < few else ""
        return Headline("Not decided yet", "", f"{_rounds(rounds)} so far.{wait} {_tally(trial)}".strip(), "muted", "")
    return Headline("Nothing helped", "", _tally(trial), "muted", "")


def _rounds(count: int) -> str:
    return f"{count} round{'' if count == 1 else 's'}"


def _tally(trial: Trial) -> str:
    """One sentence for each kind of verdict that occurs."""
    delta = formats.setting(trial.delta)
    sentences = {
        "FASTER": "faster in the screening, not confirmed on fresh rounds",
        "NOT CONFIRMED": "faster in the screening, and not on fresh rounds",
        "SAME": f"the same within {delta}",
        "UNRESOLVED": "undecided",
        "SLOWER": "slower" if trial.metric == "wall" else "worse",
        "NOT APPLIED": "not applied",
        "WRONG OUTPUT": "wrong in its output",
        "UNAVAILABLE": "unavailable here",
    }
    kinds = {arm.name: arm.kind for arm in trial.arms}
    said = []
    for verdict, words in sentences.items():
        names = [v.arm for v in trial.file.verdicts if v.verdict == verdict and kinds.get(v.arm) != "placebo"]
        if names:
            said.append(f"{', '.join(names)}: {words}")
    return "; ".join(said) + ("." if said else "")


def row(verdict: Verdict, kind: str = "lever") -> Row:
    failed = verdict.verdict in _FAILED
    fresh = verdict.stage == "confirmation" and not failed
    applied = "yes" if verdict.applied and verdict.proof else formats.DASH
    if verdict.verdict == "NOT APPLIED" or (verdict.proof and not verdict.applied):
        applied = "no"
    return Row(
        arm=verdict.arm,
        kind=kind,
        ratio=formats.ratio(verdict.ratio, verdict.interval),
        interval=formats.bounds(verdict.interval),
        rounds=str(verdict.rounds) if verdict.rounds else formats.DASH,
        applied=applied,
        verdict=verdict.verdict,
        tone=_TONES.get(verdict.verdict, "muted"),
        fresh=fresh,
        tag="" if failed else "fresh rounds" if fresh else "screening",
        headline=verdict.headline,
        failed=failed,
        proof=verdict.proof if verdict.ratio is not None else "",
        remarks=_remarks(verdict),
    )


def _open_row(trial: Trial, arm: Arm) -> Row:
    """The row of an arm without a verdict, with what its rounds say so far."""
    pairs = trial.pairs("screening", arm.name)
    so_far = running(pairs, trial.comparisons("screening"), trial.alpha)
    interval = (so_far[-1].low, so_far[-1].high) if so_far else None
    ratio = math.exp(median(pair.x for pair in pairs)) if pairs else None
    proof = next((r.proof for (_, name, _), r in trial.records.items() if name == arm.name and r.proof), None)
    return Row(
        arm=arm.name,
        kind=arm.kind,
        ratio=formats.ratio(ratio, interval),
        interval=formats.bounds(interval),
        rounds=str(len(pairs)),
        applied=formats.DASH if proof is None else "yes" if proof.holds else "no",
        verdict=OPEN,
        tone="muted",
        fresh=False,
        tag="",
        headline=False,
        failed=False,
        proof=proof.text if proof else "",
        remarks=[],
    )


def _remarks(verdict: Verdict) -> list[tuple[str, str]]:
    said = []
    if verdict.why:
        said.append(("why", verdict.why))
    if verdict.fix:
        said.append(("fix", verdict.fix))
    if verdict.rounds_needed is not None and str(verdict.rounds_needed - verdict.rounds) not in verdict.why:
        minutes = f", about {verdict.minutes_needed:.0f} min" if verdict.minutes_needed is not None else ""
        said.append(("needs", f"{verdict.rounds_needed} rounds{minutes}, if the present share of wins holds"))
    if verdict.carry_over:
        what = "base took another time right after this arm than after others; a confirmation ran base between"
        said.append(("carry-over", what))
    if verdict.stage == "screening" and verdict.verdict == "FASTER":
        said.append(("screening", "it is not among the arms that fresh rounds confirmed"))
    if verdict.ties:
        said.append(("ties", f"{verdict.ties} of {verdict.rounds} rounds, which say nothing about the direction"))
    return said
