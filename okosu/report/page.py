# SPDX-License-Identifier: Apache-2.0
"""Puts a report together: the texts and charts of each records file, laid out by the templates beside this file."""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import okosu
from okosu import plugins
from okosu.errors import OkosuError
from okosu.records.files import File
from okosu.records.types import BASE, BenchFile, ReproduceFile, TryFile
from okosu.report import bench, charts, commands, compared, facts, formats, kinds, model, words
from okosu.report import view as viewing
from okosu.report.model import Arm, Trial
from okosu.report.part import Part
from okosu.report.view import View
from okosu.report.words import Words

_HERE = Path(__file__).parent
_KINDS = {"base": "the program as it is", "placebo": "preload library loaded, inert", "user": "your own variant"}


def render(files: Sequence[tuple[Path, File]], by_kind: kinds.View | None = None) -> str:
    """The HTML page of all files, in order, each given by its path and its content; above them the verdicts by kind of
    machine, where there are any.

    The same files give the same bytes. OkosuError if jinja2 or matplotlib is not installed.
    """
    try:
        import jinja2
    except ImportError as error:
        raise OkosuError("okosu report needs jinja2", f"{error}", "pip install 'okosu[report]'") from error
    # Charts, style and script are exempt from the escaping (|safe): okosu made them, and escaped what they show.
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, finalize=lambda v: formats.printable(v) if type(v) is str else v,
    )  # fmt: skip
    style, script = ((_HERE / name).read_text(encoding="utf-8").strip() for name in ("report.css", "report.js"))
    sections = [_section(i, path, held) for i, (path, held) in enumerate(files, 1)]
    title = sections[0]["subject"] if len(sections) == 1 else f"{len(sections)} trials"
    keys = {str(path): section["key"] for (path, _), section in zip(files, sections, strict=True)}
    return environment.get_template("template.html.j2").render(
        title=formats.shorten(title, 80), sections=sections, kinds=by_kind, keys=keys,
        style=style, script=script,
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(), version=okosu.__version__,
    )  # fmt: skip


def _section(index: int, path: Path, file: File) -> dict[str, Any]:
    """What the template section.html.j2 shows of any file; `_trial` adds what only a trial has."""
    key = f"s{index}"
    benches = [] if isinstance(file, TryFile) else bench.sections(file, key)
    parts: list[Part] = []
    if isinstance(file, ReproduceFile):
        parts = [part for show in plugins.load("okosu.report").values() for part in show(file, key)]
    common: dict[str, Any] = {
        "key": key,
        "file": path.name,
        "kind": file.schema,
        "unfinished": "" if file.finished else "unfinished",
        "tool": file.tool,
        "charts": {},
        "arms": [],
        "compared": compared.compared(file) if isinstance(file, ReproduceFile) else None,
        "benches": benches,
        "parts": parts,
        "machine": facts.machine(file),
        "state": facts.state(file),
        "plan": facts.plan(file.plan),
        # A benchmark has thousands of records, and each already stands in the table of its routine.
        "records": [] if benches or parts else facts.all_records(file),
        "revalidate": commands.revalidate(path),
    }
    if isinstance(file, TryFile):
        return common | _trial(model.load(file), key)
    count = len(file.records)
    return common | {
        "is_trial": False,
        "subject": " ".join(file.plan.command) or path.name,
        "headline": viewing.Headline(formats.counted(count, "record"), "", "", "muted", ""),
        "rows": [],
        "carry": [],
        "explain": [],
        "again": commands.bench(file) if isinstance(file, BenchFile) else "",
    }


def _trial(trial: Trial, key: str) -> dict[str, Any]:
    file, seen = trial.file, viewing.view(trial)
    said = words.of(file.plan.options)
    carried = trial.by_predecessor()
    labels, explained = facts.explaining(trial)
    measured = {arm.name for arm in trial.arms if arm.name != BASE and trial.pairs(arm.name)}
    rounds = trial.rounds()
    drawn = {}
    if rows := _estimates(trial, seen):
        drawn["forest_wide"] = charts.forest(rows, trial.delta, said, f"{key}-forest", charts.WIDE)
        drawn["forest_narrow"] = charts.forest(rows, trial.delta, said, f"{key}-forest-narrow", charts.NARROW)
    shown = {arm: [said.value(value) for value in values] for arm, values in carried.items()}
    if shown:
        drawn["carry_wide"] = charts.carry(shown, said.unit, f"{key}-carry", charts.WIDE)
        drawn["carry_narrow"] = charts.carry(shown, said.unit, f"{key}-carry-narrow", charts.NARROW)
    # What is judged comes before what only shows the noise.
    shown_arms = sorted((arm for arm in trial.arms if arm.name in measured), key=lambda arm: arm.kind == "placebo")
    return {
        "is_trial": True,
        "subject": " ".join(file.plan.options.command),
        "headline": seen.headline,
        "unfinished": "" if file.finished else f"unfinished: {formats.counted(rounds, 'round')}",
        "rows": seen.rows,
        "folded": seen.folded,
        "untried": seen.untried,
        "apart": seen.apart,
        "missing": seen.missing,
        "notes": seen.notes,
        "caption": seen.caption,
        "better": said.verdict("FASTER"),
        "worse": said.verdict("SLOWER"),
        "delta": formats.setting(trial.delta),
        "alpha": formats.setting(trial.alpha),
        "k": trial.k,
        "charts": drawn,
        "arms": [_arm(trial, arm, said, f"{key}-a{i}") for i, arm in enumerate(shown_arms)],
        "carry": [(a, str(len(values)), formats.quantity(median(values), said.unit)) for a, values in shown.items()],
        "explain_labels": labels,
        "explain": explained,
        "plan": [*facts.plan(file.plan), *([("rounds", str(rounds))] if rounds else [])],
        "again": seen.again,
    }


def _estimates(trial: Trial, seen: View) -> list[charts.Estimate]:
    """The rows of the forest chart, the placebo's last: the verdicts' numbers; of arms without one what their rounds
    say so far.
    """
    tones = {row.arm: (row.tone, row.headline) for row in seen.rows}
    found = []
    for arm in sorted((a for a in trial.arms if a.kind != "base"), key=lambda a: a.kind == "placebo"):
        if arm.verdict is not None:
            ratio, interval = arm.verdict.ratio, arm.verdict.interval
        else:
            pairs = trial.pairs(arm.name)
            ratio, interval = (math.exp(median(p.x for p in pairs)) if pairs else None), None
        if ratio is not None and model.sane(ratio):
            drawable = interval if interval and all(model.sane(end) for end in interval) else None
            found.append(charts.Estimate(arm.name, ratio, drawable, *tones.get(arm.name, ("muted", False))))
    return found


def _arm(trial: Trial, arm: Arm, said: Words, key: str) -> dict[str, Any]:
    verdict, pairs = arm.verdict, trial.pairs(arm.name)
    course = charts.Course(
        pairs, model.running(pairs, trial.k, trial.alpha), verdict.decided if verdict is not None else None
    )
    record = next((r for (_, name, _), r in reversed(trial.records.items()) if name == arm.name and r.proof), None)
    proof = record.proof if record else None
    drawn = [
        {
            "svg": charts.rounds(course, trial.delta, said, f"{key}-ratio", arm.name),
            "caption": "Base ÷ arm, by round" if not said.rate else "Arm ÷ base, by round",
        },
        {
            "svg": charts.times(course, said, f"{key}-value", arm.name),
            "caption": f"{said.noun.capitalize() if said.noun.islower() else said.noun}, by round",
        },
    ]
    return {
        "key": key,
        "name": arm.name,
        "options": " ".join(arm.options),
        "about": _KINDS.get(arm.kind, ""),
        "verdict": "noise" if arm.kind == "placebo" else said.verdict(verdict.verdict) if verdict else viewing.OPEN,
        "summary": _summary(course, said),
        "proof": proof.text if proof else verdict.proof if verdict else "",
        "proof_holds": proof.holds if proof else bool(verdict and verdict.applied),
        "proof_values": facts.flat(dict(proof.values)) if proof else [],
        "charts": drawn,
    }


def _summary(course: charts.Course, said: Words) -> str:
    """The median change with its interval, and the change of the sums over all rounds."""
    last = course.running[-1] if course.running else None
    interval = (last.low, last.high) if last else None
    ratio = math.exp(median(pair.x for pair in course.pairs))
    sums = sum(pair.arm for pair in course.pairs) / sum(pair.base for pair in course.pairs)
    wins = sum(pair.x < 0 for pair in course.pairs)
    bounds = "" if interval else ", no interval yet"
    known = f"; known after round {course.decided}" if course.decided is not None else ""
    return (
        f"Median of rounds: {said.signed(ratio, interval)}{bounds}, won {wins} of {len(course.pairs)} rounds{known}. "
        f"All rounds added up: {said.change(sums)}."
    )
