# SPDX-License-Identifier: Apache-2.0
"""okosu report --summary: from full records to the summary that is kept in git."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec

from okosu import plugins
from okosu.bench import profile, rows
from okosu.cli import _bench_table, _table
from okosu.errors import usage
from okosu.records import files, summary
from okosu.records.files import File
from okosu.records.summary import SUMMARY_SCHEMA, Kept, Row, Section, Source, Summary
from okosu.records.types import KINDS, BenchFile, Plan, ReproduceFile, TryFile
from okosu.report import commands, formats, view, words

_MOST_ROWS = 200
"""A file of more records than this (a sweep over sizes) keeps its sections, and no row for each record."""


_RECORDS = tuple(str(kind.__struct_config__.tag).partition("/")[0] for kind in KINDS)
_FACTS = ("id", "model", "vendor", "family", "microcode", "arch", "kernel", "glibc")
_NESTED = {"memory_kb": ("memory", "total_kb"), "thp": ("thp", "enabled"), "under": ("virtual", "hypervisor")}
_PLAN = ("metric", "better", "alpha", "min_effect", "seed", "k", "base_s", "warm_kb")


def make(paths: list[Path]) -> Summary:
    """The summary of one records file, or of several trials of one program with one plan.

    A JSON file of another kind is summarised by the paper that registered for it. OkosuError where no paper did, or
    where the trials are of different programs.
    """
    if len(paths) == 1:
        return _one(paths[0])
    return _trials(paths, [files.read_as(TryFile, path) for path in paths])


def _one(path: Path) -> Summary:
    data = path.read_bytes() if path.is_file() else b""
    held = _decoded(data)
    kind = str(held.get("schema", "")) if isinstance(held, dict) else ""
    if kind and kind.partition("/")[0] not in _RECORDS:
        kept = _selftest(held) if kind == "okosu.selftest/1" else _kept(held)
        if kept.sections:
            return Summary(
                schema=SUMMARY_SCHEMA,
                sources=[summary.source(path, data)],
                command=kept.command,
                sections=kept.sections,
            )
    return of(files.read(path), summary.source(path, data))


def of(envelope: File, source: Source) -> Summary:
    made = Summary(
        schema=SUMMARY_SCHEMA, sources=[source], command="", tool=envelope.tool, machine=kept_facts(envelope.machine)
    )
    if isinstance(envelope, TryFile):
        seen = view.of(envelope)
        made.command, made.plan, made.verdicts = seen.again, _plan(envelope.plan), envelope.verdicts
        made.plan["spent_s"] = round(envelope.spent_s, 1)
        made.printed = "\n\n".join(filter(None, [_table.render(envelope), seen.headline.command]))
    else:
        again = commands.bench(envelope) if isinstance(envelope, BenchFile) else ""
        made.command = again or " ".join(envelope.plan.command)
        made.sections = _kept(envelope).sections
    if isinstance(envelope, BenchFile) and profile.was_learned(envelope.plan.options):
        made.sections += _profiles(envelope)
    if isinstance(envelope, ReproduceFile):
        made.compared = envelope.compared
    measured = [record for record in envelope.records if record.samples and record.stage != "pilot"]
    if len(measured) <= _MOST_ROWS:
        made.rows = [summary.row(record) for record in measured]
    return made


def _trials(paths: list[Path], held: list[TryFile]) -> Summary:
    asked = held[0].plan.options
    if any(envelope.plan.options.command != asked.command for envelope in held):
        raise usage("these files are of different programs", "", "name trials of one program")
    arms = list(dict.fromkeys(verdict.arm for envelope in held for verdict in envelope.verdicts))
    said = words.of(asked)
    rows, body = [], []
    for arm in arms:
        verdicts = [verdict for envelope in held for verdict in envelope.verdicts if verdict.arm == arm]
        counted = Counter(verdict.verdict for verdict in verdicts)
        body.append([arm, ", ".join(f"{verdict} {count}" for verdict, count in counted.most_common())])
        ratios = [verdict.ratio for verdict in verdicts if verdict.ratio is not None]
        if ratios:
            spread = summary.spread(ratios)
            ends = [formats.plain(said.change(ratio)) for ratio in (spread.median, spread.greatest, spread.least)]
            body[-1] += [str(spread.count), ends[0], " to ".join(ends[1:])]
            rows.append(
                Row(
                    subject=" ".join(asked.command),
                    arm=arm,
                    stage="rounds",
                    metric="t_arm / t_base, a trial each",
                    unit="times",
                    samples=spread,
                )
            )
        else:
            body[-1] += ["", "", ""]
    return Summary(
        schema=SUMMARY_SCHEMA,
        sources=[summary.source(path, path.read_bytes()) for path in paths],
        command=f"{commands.again(held[0])}   # and {len(held) - 1} other seeds",
        tool=held[0].tool,
        machine=kept_facts(held[0].machine),
        plan=_plan(held[0].plan),
        rows=rows,
        sections=[
            Section(
                id="trials",
                title=f"{len(held)} trials",
                head=["arm", "verdicts", "trials with rounds", "median change", "worst to best"],
                body=body,
            )
        ],
    )


def _kept(held: BenchFile | ReproduceFile | dict[str, Any]) -> Kept:
    every: list[Kept] = [keep(held) for keep in plugins.load("okosu.summary").values()]
    return Kept([one for kept in every for one in kept.sections], next((k.command for k in every if k.command), ""))


def _profiles(file: BenchFile) -> list[Section]:
    """What was learned beside what is built in, for each bench of which a profile was made."""
    made = []
    for name, found in rows.from_records(file.records).items():
        header = msgspec.convert(file.plan.benches[name]["header"], rows.Header)
        body = [[header.features, *row] for row in _bench_table.beside_built_in(name, found, header)]
        made.append(Section(id=f"profile-{name}", head=["instructions", *_bench_table.BESIDE_HEAD], body=body))
    return made


def _selftest(held: dict[str, Any]) -> Kept:
    body = []
    for rate in held["rates"]:
        low, high = (100 * end for end in rate["interval"])
        said = "passed" if rate["passed"] else "FAILED"
        body.append(
            [rate["case"], f"{rate['hits']} of {rate['trials']}", f"{low:.1f}–{high:.1f} %", rate["limit"], said]
        )
    head = ["case", "decided", "95 % interval of the share", "asked", ""]
    return Kept([Section(id="selftest", head=head, body=body)], "okosu selftest --json selftest.json")


def _decoded(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return None


def kept_facts(facts: dict[str, Any]) -> dict[str, str | int | float]:
    """The machine's facts on which a lever's gain or loss depends, as far as the file has them."""
    kept: dict[str, str | int | float] = {key: facts[key] for key in _FACTS if key in facts}
    kept["cpus"] = len(facts.get("cpus_online", []))
    for name, (group, key) in _NESTED.items():
        if isinstance(facts.get(group), dict) and key in facts[group]:
            kept[name] = facts[group][key]
    return kept


def _plan(plan: Plan) -> dict[str, str | int | float]:
    return {name: getattr(plan, name) if hasattr(plan, name) else getattr(plan.options, name) for name in _PLAN}
