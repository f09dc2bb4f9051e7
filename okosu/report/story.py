# SPDX-License-Identifier: Apache-2.0
"""What a trial comes to, in words: the headline, and the row of each arm in the table of verdicts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median

from okosu.records.types import Verdict
from okosu.report import commands, formats
from okosu.report.model import BASE, Arm, Trial, running, sane
from okosu.stats.eprocess import fewest_rounds

OPEN = "NOT JUDGED YET"
_FAILED = ("NOT APPLIED", "WRONG OUTPUT", "UNAVAILABLE")
_TONES = {"FASTER": "good", "SLOWER": "bad", "WRONG OUTPUT": "bad", "NOT APPLIED": "bad"}
_NOUNS = {"wall": "time", "cpu": "CPU time", "rss": "peak memory", "judged": "value"}


@dataclass(frozen=True)
class Row:
    """One arm in the table of verdicts, every cell as text; `remark` holds (label, text) lines below it."""

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
    remarks: list[tuple[str, str]]


@dataclass(frozen=True)
class Headline:
    """The first thing to be read. `command` is what to type, "" where nothing is recommended."""

    text: str
    arm: str
    detail: str
    tone: str
    command: str


def noun(trial: Trial) -> str:
    """Return what the ratios are ratios of."""
    if trial.metric == "judged" and trial.options.get("better") == "higher":
        return "inverse rate"
    return _NOUNS.get(trial.metric, trial.metric)


def directions(metric: str) -> tuple[str, str]:
    """Return the words for a ratio below and above 1."""
    return {"wall": ("faster", "slower"), "judged": ("better", "worse")}.get(metric, ("less", "more"))


def change(ratio: float, metric: str) -> str:
    """Return a ratio in words: "1.52× faster", "0.4 % slower"; for other metrics than wall "34 % less"."""
    less, more = directions(metric)
    times = metric in ("wall", "judged")
    if ratio < 1:
        if times and ratio <= 0.8:
            return f"{formats.significant(1 / ratio)}× {less}"
        return f"{formats.percent((1 / ratio - 1) if times else 1 - ratio)} {less}"
    if ratio >= 1.25:
        return f"{formats.significant(ratio)}× {'as much' if not times else more}"
    return f"{formats.percent(ratio - 1)} {more}" if ratio > 1 else "no change"


def level(trial: Trial, k: int) -> str:
    """Return the level of an interval: "95 % interval", and over how many arms at once."""
    return f"{formats.setting(1 - trial.alpha)} interval" + (f" over {k} arms at once" if k > 1 else "")


def headline(trial: Trial) -> Headline:
    """Return the recommended arm with its fresh ratio, or honestly that there is none."""
    best = next((v for v in trial.envelope.verdicts if v.headline and v.ratio and sane(v.ratio)), None)
    rounds = trial.rounds()
    if best is not None and best.ratio is not None:
        stage = "fresh rounds" if best.stage == "confirmation" else "rounds of screening, not confirmed"
        said = level(trial, trial.comparisons(best.stage))
        bounds = f" ({formats.bounds(best.interval)}, a {said})" if best.interval else ""
        detail = (
            f"{formats.ratio(best.ratio, best.interval)} of base’s {noun(trial)}{bounds}, from {best.rounds} {stage}."
        )
        if not trial.envelope.finished:
            detail += " The trial is not finished."
        return Headline(change(best.ratio, trial.metric), best.arm, detail, "good", commands.use(trial, best))
    if not rounds:
        text = "Nothing was measured" if trial.envelope.finished else "Nothing is measured yet"
        return Headline(text, "", _tally(trial) or "The file holds no round.", "muted", "")
    if not trial.envelope.finished:
        few = fewest_rounds(trial.comparisons("screening"), trial.alpha)
        wait = f" The fewest that can decide are {few}." if rounds < few else ""
        return Headline("Not decided yet", "", f"{_rounds(rounds)} so far.{wait} {_tally(trial)}".strip(), "muted", "")
    return Headline("Nothing helped", "", _tally(trial), "muted", "")


def _rounds(count: int) -> str:
    return f"{count} round{'' if count == 1 else 's'}"


def _tally(trial: Trial) -> str:
    """Return a sentence for each kind of verdict that there is."""
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
        names = [v.arm for v in trial.envelope.verdicts if v.verdict == verdict and kinds.get(v.arm) != "placebo"]
        if names:
            said.append(f"{', '.join(names)}: {words}")
    return "; ".join(said) + ("." if said else "")


def rows(trial: Trial) -> list[Row]:
    """Return the table of verdicts: measured arms in the order of the plan, then those that could not be."""
    made = [_row(trial, arm) for arm in trial.arms if arm.name != BASE]
    return sorted(made, key=lambda row: row.verdict in _FAILED)


def _row(trial: Trial, arm: Arm) -> Row:
    verdict = arm.verdict
    if verdict is None:
        return _open_row(trial, arm)
    failed = verdict.verdict in _FAILED
    fresh = verdict.stage == "confirmation" and not failed
    applied = "yes" if verdict.applied and verdict.proof else formats.DASH
    if verdict.verdict == "NOT APPLIED" or (verdict.proof and not verdict.applied):
        applied = "no"
    return Row(
        arm=arm.name,
        kind=arm.kind,
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
        remarks=_remarks(verdict),
    )


def _open_row(trial: Trial, arm: Arm) -> Row:
    """Return the row of an arm without a verdict, with what its rounds say so far."""
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
        said.append(("carry-over", "base took another time right after this arm than after others"))
    if verdict.ties:
        said.append(("ties", f"{verdict.ties} of {verdict.rounds} rounds, which say nothing about the direction"))
    return said
