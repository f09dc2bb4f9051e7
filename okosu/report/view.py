# SPDX-License-Identifier: Apache-2.0
"""One view of a trial: the first line, a row for each arm, what to know of the place, how to read it all.

The terminal, the README and the HTML page all show this view; none of them words a trial itself.
"""

from __future__ import annotations

import math
import shlex
from dataclasses import dataclass, field, replace
from statistics import median

from okosu.records.types import BASE, TryFile, Verdict
from okosu.report import commands, formats, model, state, words
from okosu.report.model import Arm, Trial, running, sane
from okosu.report.words import Words
from okosu.stats import verdict as judging
from okosu.stats.eprocess import fewest_rounds
from okosu.trial.arms import described
from okosu.trial.validity import ANY_OUTPUT, WRONG_OUTPUT

OPEN = "NOT JUDGED YET"
SHORT_S = 0.005
"""A program that takes less is mostly the start of a process."""
WIDE = (("user", "user"), ("sys", "sys"), ("minflt", "faults"), ("rss", "RSS"))
"""The metrics of the further columns, with their headings."""
COUNTERS = {"dtlb_misses": "dTLB misses", "itlb_misses": "iTLB misses"}
CHANGES = "changes"
"""The label of what an arm changes beside the time."""
_OUT = ("NOT APPLIED", "WRONG OUTPUT", "UNAVAILABLE", "CANNOT MATTER")
TONES = {"FASTER": "good", "SLOWER": "bad", "WRONG OUTPUT": "bad", "NOT APPLIED": "bad"}


@dataclass(frozen=True)
class Row:
    """One arm in the table of verdicts, every cell as text; `remarks` are (label, text) lines below it."""

    arm: str
    kind: str
    median: str
    change: str
    interval: str
    won: str
    applied: str
    verdict: str
    tone: str
    headline: bool
    failed: bool
    """It was not measured in the rounds, or what was measured does not count."""
    proof: str
    remarks: list[tuple[str, str]]
    wide: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Headline:
    """What is to be read first. `text` names the arm; `command` is what to type, "" where nothing is recommended."""

    text: str
    arm: str
    detail: str
    tone: str
    command: str


@dataclass(frozen=True)
class View:
    """A whole trial. `rows` are base and the arms that ran or that the user asked for; the placebo is a note."""

    headline: Headline
    rows: list[Row]
    folded: list[Row]
    """The levers that this machine or this program does not have a use for."""
    untried: list[Row]
    """The arms for which the budget had no room, and those that fell behind in the race before the rounds."""
    apart: list[str]
    """What is faster and changes more than the time, which was not accepted: a sentence each. Never recommended."""
    missing: list[str]
    """What could be tried if it were installed: a recipe, why not, and the line to type."""
    notes: list[str]
    """What the reader has to know of the place and of this program, a sentence each."""
    caption: str
    """What a change and an interval are."""
    about: str
    """How much was run, and to what plan."""
    again: str
    """The `okosu try` that measures the same again."""
    explain: str
    """The command that says why the folded levers are unavailable."""


def of(file: TryFile) -> View:
    """The view of a file of `okosu try`, finished or not, with its records or without."""
    return view(model.load(file))


def view(trial: Trial) -> View:
    said, options = words.of(trial.file.plan.options), trial.file.plan.options
    made = [_open_row(trial, arm) if arm.verdict is None else row(arm.verdict, said, arm.kind) for arm in _shown(trial)]
    made = [_widened(trial, _described(trial, one)) for one in made]
    named = {name for name, value in options.levers.items() if value}
    lacking = {v.arm: v for v in trial.file.verdicts if v.verdict == "UNAVAILABLE" and v.arm in options.unasked}
    made = [one for one in made if one.arm not in lacking]
    folded = [one for one in made if one.verdict == "UNAVAILABLE" and one.arm not in named]
    late = {v.arm for v in trial.file.verdicts if _not_tried(v)}
    untried = [one for one in made if one.arm in late]
    aside = [*folded, *untried]
    return View(
        headline=_headline(trial, said),
        rows=[_base_row(trial, said), *sorted((one for one in made if one not in aside), key=_place)],
        folded=folded,
        untried=untried,
        apart=_apart(trial, said),
        missing=[f"{v.arm}: not tried: {v.why}; {v.fix}" for v in lacking.values()],
        notes=[note for note in (*_notes(trial, said), state.changes(trial.file)) if note],
        caption=f"Median {said.noun} of an arm's runs; the change is the median of arm against base in the same round. "
        f"{_level(trial)}; it holds whenever the trial stops.",
        about=_about(trial),
        again=commands.again(trial.file),
        explain=shlex.join(["okosu", "doctor", "--", *options.command[:1]]),
    )


def _place(row: Row) -> tuple[bool, bool]:
    """Arms that were measured come first, and of these the ones that change nothing but the time."""
    return row.failed, any(label == CHANGES for label, _ in row.remarks)


def _changes(trial: Trial, name: str) -> dict[str, str]:
    """What an arm changes beside the time that was not accepted, with the hazard of each: it is not recommended."""
    plan = trial.file.plan
    return next((plan.unaccepted(arm) for arm in plan.arms if arm.name == name), {})


def _apart(trial: Trial, said: Words) -> list[str]:
    """locale: 3.3x faster (3.1x to 3.4x) with LC_ALL=C; output identical here; ordering: … (not recommended without
    --accept ordering).
    """
    options, sentences = trial.file.plan.options, []
    alike = "output not compared" if options.output == "null" or options.service else "output identical here"
    if options.check:
        alike = "output passes --check here"
    for v in trial.file.verdicts:
        changes = _changes(trial, v.arm)
        if v.verdict == "FASTER" and changes and v.ratio is not None:
            using = " ".join(option.removeprefix("--env=") for option in v.options)
            hazards = "; ".join(f"{what}: {hazard}" for what, hazard in changes.items())
            accept = f"not recommended without --accept {','.join(changes)}"
            gain = said.signed(v.ratio, v.interval)
            sentences.append(f"{v.arm}: {gain} with {using}; {alike}; {hazards} ({accept})")
    return sentences


def _not_tried(verdict: Verdict) -> bool:
    """Say whether the budget had no room for the arm."""
    return verdict.verdict == "UNRESOLVED" and verdict.ratio is None and bool(verdict.why)


def _shown(trial: Trial) -> list[Arm]:
    return [arm for arm in trial.arms if arm.kind not in ("base", "placebo")]


def outcome(verdict: Verdict, said: Words) -> str:
    """A verdict in one line, without its arm: "1.48 s -> 1.26 s: 15 % faster (11 % to 19 %)"; the first reason where
    nothing was measured."""
    if verdict.ratio is None or verdict.interval is None:
        return f"{verdict.verdict} ({verdict.why.partition(';')[0]})"
    if verdict.verdict in ("FASTER", "SLOWER"):
        return _measured(verdict, said)
    return f"{said.verdict(verdict.verdict)}: {said.signed(verdict.ratio, verdict.interval)}"


def _measured(verdict: Verdict, said: Words) -> str:
    values = ""
    if verdict.base_value is not None and verdict.value is not None:
        values = said.fell_or_rose(verdict.base_value, verdict.value) + ": "
    return values + said.signed(verdict.ratio, verdict.interval)


def _level(trial: Trial) -> str:
    """The level of an interval: "95 % interval", and for how many arms at once it holds."""
    k = trial.k
    return f"{formats.setting(1 - trial.alpha)} interval" + (f" over {k} arms at once" if k > 1 else "")


def _about(trial: Trial) -> str:
    options = trial.file.plan.options
    effect = formats.setting(options.min_effect)
    ran = _rounds(trial.rounds()) if trial.rounds() else "No round"
    return f"{ran}; seed {options.seed}; smallest effect of interest {effect}."


def _rounds(count: int) -> str:
    return formats.counted(count, "round")


def _headline(trial: Trial, said: Words) -> Headline:
    """The recommended arm with what it gains, or how far the trial came and what no arm exceeds."""
    file = trial.file
    best = next((v for v in file.verdicts if v.headline and v.ratio and sane(v.ratio)), None)
    tail = "" if file.finished else "The trial is not finished."
    if best is not None:
        detail = " ".join(filter(None, [_later(best, said), tail]))
        return Headline(_line(trial, best, said), best.arm, detail, "good", commands.use(file, best))
    if not trial.rounds() and not file.plan.pilot_s:
        return Headline("nothing is decided yet: the pilot did not end", "", "", "muted", "")
    # What is shown apart is not part of the answer.
    judged = [arm.verdict for arm in _shown(trial) if arm.verdict is not None and not _changes(trial, arm.name)]
    measured = [v for v in judged if v.rounds and v.ratio is not None and sane(v.ratio)]
    faster = [v for v in measured if v.verdict == "FASTER" and v.ratio is not None]
    if faster:
        least = min(faster, key=lambda v: v.ratio or 1.0)
        return Headline(_line(trial, least, said), least.arm, " ".join(filter(None, [_hardly(trial), tail])), "", "")
    noun = "lever" if all(arm.kind == "lever" for arm in _shown(trial)) else "arm"
    if any(_not_tried(v) for v in judged):
        noun = f"{noun} that was tried"
    if len(measured) == 1 == len([v for v in judged if v.verdict != "UNAVAILABLE"]):
        alone = _alone(trial, measured[0], said)
        if alone is not None:
            return Headline(alone[0], measured[0].arm, tail, alone[1], "")
    if not trial.rounds() and not any(v.verdict == "CANNOT MATTER" for v in judged):
        text = "nothing was measured" if file.finished else "nothing is measured yet"
        return Headline(text, "", _tally(trial) or "The file holds no round.", "muted", "")
    return Headline(_bounded(trial, judged, noun, said), "", tail, "muted", "")


def _line(trial: Trial, v: Verdict, said: Words) -> str:
    """superpage: 3.55 s -> 1.33 s: 2.66x faster (2.4x to 3.2x), won 16 of 16 rounds, memory warmed."""
    return f"{v.arm}: {_told(trial, v, said)}"


def _told(trial: Trial, v: Verdict, said: Words) -> str:
    won = f", won {v.wins} of {_rounds(v.rounds)}" if v.value is not None else f", {_rounds(v.rounds)}"
    warmed = ", memory warmed" if trial.file.plan.warm_kb else ""
    return f"{_measured(v, said)}{won}{warmed}"


def _hardly(trial: Trial) -> str:
    """Why what is faster is not recommended."""
    effect = formats.setting(trial.delta)
    return f"Not recommended: it may gain less than {effect}, the smallest effect of interest."


def _later(v: Verdict, said: Words) -> str:
    if v.later is None:
        return ""
    alone = f"{said.change(v.later.ratio)}, won {v.later.wins} of {v.later.rounds}"
    return f"Known after round {v.decided}; the rounds since then alone: {alone}."


def _alone(trial: Trial, v: Verdict, said: Words) -> tuple[str, str] | None:
    """The line and the tone where there is one arm only, which did not win: it is told whatever it is."""
    if v.verdict == "SLOWER":
        return _line(trial, v, said), "bad"
    if v.verdict == "SAME":
        return f"{v.arm}: the same within {formats.setting(trial.delta)}: {_told(trial, v, said)}", ""
    if v.verdict == "UNRESOLVED" and v.interval is not None and trial.kind(v.arm) == "user":
        return f"undecided after {_rounds(v.rounds)}: {v.arm}: {_measured(v, said)}", "muted"
    return None


def _bounded(trial: Trial, judged: list[Verdict], noun: str, said: Words) -> str:
    """undecided after 30 rounds: no lever is better than 3 %."""
    least, unbounded = 1.0, list[str]()
    for v in judged:
        if v.verdict == "CANNOT MATTER" and v.bound is not None:
            least = min(least, 1 - v.bound)
        elif v.rounds and v.interval is not None and sane(v.interval[0]):
            least = min(least, v.interval[0] if v.bound is None else v.bound)
        elif v.rounds:
            unbounded.append(v.arm)
    open_arms = [v for v in judged if v.verdict in ("UNRESOLVED", "NOT CONFIRMED") and v.rounds]
    few = fewest_rounds(trial.k, trial.alpha)
    unjudged = any(arm.verdict is None for arm in _shown(trial))
    if not unjudged and not any(v.rounds or v.verdict == "CANNOT MATTER" for v in judged):
        apart = any(_changes(trial, arm.name) for arm in _shown(trial))
        return f"no {noun} was judged" + (f" that changes the {said.noun} alone" if apart else "")
    after = f"undecided after {_rounds(trial.rounds())}: " if open_arms or unjudged else ""
    if unjudged or (after and trial.rounds() < few):
        return f"{after}the fewest that can decide are {few}"
    if unbounded:
        return f"{after}too few of {', '.join(unbounded)}, {few} can decide"
    if least == 1.0:
        return f"{after}no {noun} is better" + ("" if after else f": each is {'slower' if said.time else 'worse'}")
    bound = f"no {noun} is better than {said.at_most(least)}"
    if not trial.rounds():
        return f"{bound}, by arithmetic: no round was run"
    return after + bound + ("" if after else f" ({_rounds(trial.rounds())})")


def _tally(trial: Trial) -> str:
    """One sentence for each kind of verdict that kept an arm from being measured."""
    sentences = {
        "NOT APPLIED": "not applied",
        "WRONG OUTPUT": "wrong in its output",
        "UNAVAILABLE": "unavailable here",
        "UNRESOLVED": "not tried",
    }
    parts = []
    for verdict, text in sentences.items():
        names = [v.arm for v in trial.file.verdicts if v.verdict == verdict and not v.rounds]
        if names and trial.kind(names[0]) != "placebo":
            parts.append(f"{', '.join(names)}: {text}")
    return "; ".join(parts) + ("." if parts else "")


def _base_row(trial: Trial, said: Words) -> Row:
    values = list(trial.samples(BASE, trial.metric).values())
    best = next((v.base_value for v in trial.file.verdicts if v.base_value is not None), None)
    cost = said.value(median(values)) if values else best
    shown = formats.quantity(cost, said.unit) if cost is not None else formats.DASH
    options = trial.file.plan.options
    runs = [("runs", formats.shorten(shlex.join(options.command), 200))] if options.template else []
    made = Row(BASE, "base", shown, "", "", "", "", "", "muted", False, False, "", runs)
    return _widened(trial, made)


def row(verdict: Verdict, said: Words, kind: str = "lever") -> Row:
    failed = verdict.verdict in _OUT
    measured = verdict.ratio is not None
    return Row(
        arm=verdict.arm,
        kind=kind,
        median=formats.DASH if verdict.value is None else formats.quantity(verdict.value, said.unit),
        change=_at_most(verdict, said) or said.change(verdict.ratio),
        interval=said.interval(verdict.ratio, verdict.interval),
        won=_won(verdict),
        applied={True: "yes", False: "no", None: formats.DASH}[verdict.applied if measured or failed else None],
        verdict=said.verdict(verdict.verdict),
        tone=TONES.get(verdict.verdict, "muted"),
        headline=verdict.headline,
        failed=failed or not measured,
        proof=verdict.proof if measured else "",
        remarks=_remarks(verdict, said),
    )


def _at_most(verdict: Verdict, said: Words) -> str:
    if verdict.verdict != "CANNOT MATTER" or verdict.bound is None or not 0 <= verdict.bound < 1:
        return ""
    return f"at most {said.at_most(1 - verdict.bound)}"


def _won(verdict: Verdict) -> str:
    """ "16/16"; for a verdict of an older okosu, which did not count them, the rounds alone."""
    if not verdict.rounds:
        return formats.DASH
    return f"{verdict.wins}/{verdict.rounds}" if verdict.value is not None else str(verdict.rounds)


def _open_row(trial: Trial, arm: Arm) -> Row:
    """The row of an arm without a verdict, with what its rounds say so far."""
    said, pairs = words.of(trial.file.plan.options), trial.pairs(arm.name)
    so_far = running(pairs, trial.k, trial.alpha)
    proof = next((r.proof for (_, name, _), r in trial.records.items() if name == arm.name and r.proof), None)
    unjudged = Verdict(
        arm=arm.name,
        verdict=OPEN,
        ratio=math.exp(median(pair.x for pair in pairs)) if pairs else None,
        interval=(so_far[-1].low, so_far[-1].high) if so_far else None,
        rounds=len(pairs),
        wins=sum(pair.x < 0 for pair in pairs),
        value=said.value(median(pair.arm for pair in pairs)) if pairs else None,
        proof=proof.text if proof else "",
        applied=proof.holds if proof else None,
    )
    return replace(row(unjudged, said, arm.kind), failed=False)


def _described(trial: Trial, made: Row) -> Row:
    """The row, with the command line of an arm that has one of its own, and what to do where it prints otherwise."""
    every = [*trial.file.plan.arms, *described(trial.file.plan.options)]
    command = next((arm.command for arm in every if arm.name == made.arm), [])
    made.remarks.extend((CHANGES, f"{what}: {hazard}") for what, hazard in _changes(trial, made.arm).items())
    if command:
        made.remarks.insert(0, ("runs", formats.shorten(shlex.join(command), 200)))
        if made.verdict == WRONG_OUTPUT and all(label != "fix" for label, _ in made.remarks):
            made.remarks.append(("fix", ANY_OUTPUT))
    return made


def _widened(trial: Trial, made: Row) -> Row:
    """The row with the medians of the further metrics, for `--wide`."""
    for metric, _ in WIDE:
        values = list(trial.samples(made.arm, metric).values())
        unit = trial.records["rounds", made.arm, metric].unit if values else ""
        made.wide.append(formats.quantity(median(values), unit) if values else formats.DASH)
    return made


def _remarks(verdict: Verdict, said: Words) -> list[tuple[str, str]]:
    parts = []
    if verdict.verdict == "CANNOT MATTER" and verdict.bound is not None and not verdict.why:
        parts.append(("why", f"it can save {formats.percent(verdict.bound)} at most"))
    if verdict.why:
        parts.append(("why", verdict.why))
    if verdict.fix:
        parts.append(("fix", verdict.fix))
    if verdict.verdict == "NOT CONFIRMED" and verdict.later is not None:
        parts.append(("later", _later(verdict, said)))
    if verdict.rounds_needed is not None and "more rounds" not in verdict.why:
        minutes = f", about {verdict.minutes_needed:.0f} min" if verdict.minutes_needed is not None else ""
        parts.append(("needs", f"{verdict.rounds_needed} rounds{minutes}, if the present share of wins holds"))
    if verdict.carry_over:
        parts.append(("carry-over", "base took another time right after this arm than after others"))
    if verdict.ties:
        parts.append(("ties", f"{verdict.ties} of {verdict.rounds} rounds, which say nothing about the direction"))
    return parts


def _notes(trial: Trial, said: Words) -> list[str]:
    return [_counters(trial), _noise(trial, said), _short(trial), *_waits(trial)]


def _counters(trial: Trial) -> str:
    """The hardware counters of base and of the recommended arm, as an explanation of what was gained."""
    file = trial.file
    names = [arm for arm in file.counted if arm != BASE]
    if not names or BASE not in file.counted:
        return f"Hardware counters are not available here: {file.uncounted}." if file.uncounted else ""
    base, best = file.counted[BASE], file.counted[names[0]]
    parts = [
        f"{COUNTERS.get(name, name)} {formats.large(base[name])} -> {formats.large(best[name])}"
        for name in base
        if name in best
    ]
    return f"Counted in one more run of base and of {names[0]}, in user mode: {', '.join(parts)}."


def _noise(trial: Trial, said: Words) -> str:
    """What the inert library did, which can be nothing but noise; without a placebo, how far base's runs differ."""
    for arm in trial.arms:
        if arm.kind == "placebo" and arm.verdict is not None and arm.verdict.ratio is not None:
            shown = said.signed(arm.verdict.ratio, arm.verdict.interval)
            ran = _rounds(arm.verdict.rounds)
            return f"Noise of this place: {shown} in {ran} with okosu's library loaded and inert (placebo)."
    values = sorted(trial.samples(BASE, trial.metric).values())
    if len(values) < 4 or not sane(values[0]):
        return ""
    middle = values[len(values) // 4 : len(values) - len(values) // 4]
    spread = formats.percent(middle[-1] / middle[0] - 1)
    return f"Noise of this place: the middle half of base's runs lies within {spread}."


def _short(trial: Trial) -> str:
    values = list(trial.samples(BASE, "wall").values())
    took = median(values) if values else trial.file.plan.base_s
    return short_run(took) if 0 < took < SHORT_S else ""


def short_run(seconds: float) -> str:
    """A warning for a program whose run is mostly the start of a process."""
    took = formats.quantity(seconds, "s")
    return f"A run takes {took}, mostly the start of a process: give the program more to do, or let it repeat itself."


def _waits(trial: Trial) -> list[str]:
    """The arms whose wall time is undecided only because their runs waited for a CPU."""
    if trial.metric != "wall":
        return []
    named = []
    for arm in _shown(trial):
        if arm.verdict is None or arm.verdict.verdict != "UNRESOLVED":
            continue
        waited, its_wait = trial.samples(BASE, "delay"), trial.samples(arm.name, "delay")
        wall, its_wall = trial.samples(BASE, "wall"), trial.samples(arm.name, "wall")
        both = [at for at in sorted(its_wall) if at in wall and at in waited and at in its_wait]
        left = [(its_wall[at] - its_wait[at], wall[at] - waited[at]) for at in both]
        xs = [math.log(mine) - math.log(base) for mine, base in left if sane(mine) and sane(base)]
        found = judging.judge(xs, None, trial.k, trial.alpha, trial.delta)
        if found.verdict in judging.RESOLVED:
            share = formats.percent(sum(waited.values()) / sum(wall.values()))
            named.append(
                f"{arm.name}: base waited for a CPU for {share} of its time; without these waits it would be "
                f"{found.verdict} here: --metric cpu leaves them out."
            )
    return named
