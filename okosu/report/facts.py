# SPDX-License-Identifier: Apache-2.0
"""The tables of a report that only list facts: machine, state over time, plan, explaining metrics, all records."""

from __future__ import annotations

import json
from statistics import median
from typing import Any

import msgspec

from okosu.records import summary
from okosu.records.summary import Quantiles
from okosu.records.types import BASE, BenchPlan, Envelope, Plan, ReproducePlan
from okosu.report import formats
from okosu.report.model import EXPLAINING, Trial

_STATE = ("state", "state_before", "state_after", "state_rounds")
_LABELS = {
    "cpu": "CPU time",
    "rss": "peak memory",
    "minflt": "page faults",
    "nvcsw": "voluntary switches",
    "nivcsw": "involuntary switches",
}
_PLAN = (
    ("seed", "seed of the random order"), ("budget_s", "budget"), ("k", "arms that count (K)"),
    ("alpha", "error level α"),
    ("min_effect", "smallest effect of interest δ"), ("metric", "metric"), ("pattern", "pattern of the metric"),
    ("better", "better is"), ("base_s", "base, from the pilot"), ("timeout_s", "timeout of a run"),
    ("warm_kb", "warm memory"), ("warm_why", "why memory is warmed"), ("pad_to", "environment padded to"),
    ("proof_mode", "effect proof taken"), ("check", "output judged by"),
    ("stdin", "standard input"), ("prepare", "before each run"), ("conclude", "after each run"),
    ("setup", "before all runs"), ("cleanup", "after all runs"), ("warmup", "runs before the first"),
    ("children", "children inherit levers"), ("min_rounds", "rounds at least"),
    ("max_rounds", "rounds at most"),
)  # fmt: skip
_LONG = 400


def flat(source: dict[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    """Nested facts as (dotted name, text), in their order. A long text is shortened, never left out."""
    found: list[tuple[str, str]] = []
    for key, value in source.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict) and value:
            found += flat(value, f"{name}.")
        else:
            found.append((name.removesuffix("_kb"), _text(key, value)))
    return found


def _text(key: str, value: Any) -> str:
    if value is None or value == "" or value == [] or value == {}:
        return formats.DASH
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)):
        if str(key).endswith("_kb"):
            return formats.quantity(value / 1024, "MiB")
        if isinstance(value, float) and not (value.is_integer() and abs(value) < 1e15):
            return f"{value:.6g}"
        return str(int(value)) if abs(value) < 1e4 else formats.count(value)
    if isinstance(value, list):
        plain = all(isinstance(item, (str, int, float)) for item in value)
        text = ", ".join(str(item) for item in value) if plain else "; ".join(_item(item) for item in value)
    else:
        text = str(value)
    return formats.shorten(text, _LONG)


def _item(item: Any) -> str:
    if isinstance(item, dict):
        return " ".join(f"{str(key).removesuffix('_kb')} {_text(key, value)}" for key, value in item.items())
    return json.dumps(item)


def machine(envelope: Envelope) -> list[tuple[str, str]]:
    """What is known of the machine, without its state over time."""
    known = flat({key: value for key, value in envelope.machine.items() if key not in _STATE})
    return [(name, text) for name, text in known if text != formats.DASH]


def state(envelope: Envelope) -> list[tuple[str, str, str]]:
    """(name, before, after) of the machine's state; without a state before or after, that of the first or last
    round.
    """
    source = envelope.machine
    before, after = source.get("state_before", source.get("state")), source.get("state_after")
    series = source.get("state_rounds")
    steps = [item for item in series if isinstance(item, dict)] if isinstance(series, list) else []
    stages = {"stage", "round"}
    if not isinstance(before, dict):
        before = {key: value for key, value in steps[0].items() if key not in stages} if steps else {}
    if not isinstance(after, dict):
        after = {key: value for key, value in steps[-1].items() if key not in stages} if steps else {}
    one, other = dict(flat(before)), dict(flat(after))
    return [(key, one.get(key, formats.DASH), other.get(key, formats.DASH)) for key in {**one, **other}]


def plan(planned: Plan | BenchPlan | ReproducePlan) -> list[tuple[str, str]]:
    """What was fixed before the measurement, in words."""
    source = msgspec.to_builtins(planned)
    source = {**source["options"], **source} if isinstance(planned, Plan) else source
    found = []
    for key, label in _PLAN:
        value = source.get(key)
        if value is None or value in ("", [], {}):
            continue
        if key == "warm_kb" and value == 0:
            found.append((label, "no"))
        elif key in ("budget_s", "timeout_s", "base_s") and isinstance(value, (int, float)):
            found.append((label, formats.quantity(value, "s")))
        elif key == "min_effect" and isinstance(value, (int, float)):
            found.append((label, formats.setting(value)))
        elif key == "pad_to":
            found.append((label, f"{value} bytes and a draw of 0 to 4095 more each round"))
        else:
            found.append((label, _text(key, value)))
    return found


def explaining(trial: Trial) -> tuple[list[str], list[tuple[str, list[tuple[str, str]]]]]:
    """(column labels, rows (arm, cells)); a cell is (median, ratio to base's median)."""
    metrics = [m for m in EXPLAINING if m != trial.metric and any(key[2] == m for key in trial.records)]
    found: list[tuple[str, list[tuple[str, str]]]] = []
    for arm in trial.arms:
        if any(("rounds", arm.name, metric) in trial.records for metric in metrics):
            found.append((arm.name, [_cell(trial, arm.name, metric) for metric in metrics]))
    return [_LABELS[metric] for metric in metrics], found


def _cell(trial: Trial, arm: str, metric: str) -> tuple[str, str]:
    mine = list(trial.samples(arm, metric).values())
    if not mine:
        return formats.DASH, ""
    unit = trial.records["rounds", arm, metric].unit
    base = list(trial.samples(BASE, metric).values())
    text = formats.quantity(median(mine), unit)
    if arm == BASE or not base or not median(base):
        return text, ""
    ratio = median(mine) / median(base)
    return text, "same" if abs(ratio - 1) < 0.005 else f"× {formats.significant(ratio)}"


def all_records(envelope: Envelope) -> list[dict[str, str]]:
    """One row for each record of the file, whatever its kind, with quartiles of its samples."""
    found = []
    for record in envelope.records:
        spread = summary.spread(record.samples) if record.samples else None
        found.append(
            {
                "arm": record.arm,
                "stage": record.stage,
                "metric": record.metric,
                "platform": record.platform,
                "samples": str(len(record.samples)),
                "note": record.note,
                "median": formats.quantity(spread.median, record.unit) if spread else formats.DASH,
                "quartiles": _quartiles(spread, record.unit) if spread else formats.DASH,
            }
        )
    return found


def _quartiles(of: Quantiles, unit: str) -> str:
    return f"{formats.quantity(of.lower, unit)} {formats.DASH} {formats.quantity(of.upper, unit)}"
