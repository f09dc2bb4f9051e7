# SPDX-License-Identifier: Apache-2.0
"""The command lines that a report shows: how to use what was found, and how to find it again."""

from __future__ import annotations

import shlex
from pathlib import Path

from okosu.records.types import Verdict
from okosu.report.formats import duration
from okosu.report.model import Trial


def use(trial: Trial, verdict: Verdict) -> str:
    """Return the `okosu run …` that applies a verdict's arm."""
    children = ["--children=0"] if trial.options.get("children") is False else []
    return shlex.join(["okosu", "run", *verdict.options, *children, "--", *trial.command])


def again(trial: Trial) -> str:
    """Return the `okosu try …` that measures the same arms with the same seed; "" if the program is not known."""
    asked = trial.options
    if not trial.command:
        return ""
    words = ["okosu", "try"]
    if isinstance(asked.get("seed"), int):
        words += ["--seed", str(asked["seed"])]
    if levers := _levers(trial):
        words += ["--levers", levers]
    arms = asked.get("user_arms")
    for name, variables in arms.items() if isinstance(arms, dict) else ():
        if isinstance(variables, dict):
            words += ["--arm", f"{name}=" + shlex.join(f"{key}={value}" for key, value in variables.items())]
    for key, option in (("budget_s", "--budget"), ("timeout_s", "--timeout")):
        value = asked.get(key)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0:
            words += [option, duration(value)]
    metric = str(asked.get("metric", "wall"))
    if metric == "regex":
        words += ["--metric", f"regex:{asked.get('pattern', '')}", "--better", str(asked.get("better", "lower"))]
    elif metric != "wall":
        words += ["--metric", metric]
    words += ["--min-effect", f"{trial.delta * 100:g}%"]
    for key in ("check", "stdin", "prepare", "conclude"):
        if isinstance(asked.get(key), str) and asked[key]:
            words += [f"--{key}", asked[key]]
    if asked.get("children") is False:
        words += ["--children", "0"]
    if asked.get("warm") is False:
        words.append("--no-warm")
    return shlex.join([*words, "--", *trial.command])


def bench(trial: Trial) -> str:
    """Return the `okosu bench …` that measures the same in the same order; "" if the file does not say what it was."""
    options = trial.plan.get("options")
    words = [*trial.command, *(options if isinstance(options, list) else [])]
    return shlex.join(map(str, words)) if words[:2] == ["okosu", "bench"] else ""


def revalidate(path: Path) -> str:
    """Return the command that measures the recommended arm of a file on fresh rounds."""
    return shlex.join(["okosu", "try", "--revalidate", str(path)])


def _levers(trial: Trial) -> str:
    """Return the list for --levers: as asked, else the levers that were arms."""
    asked = trial.options.get("levers")
    if isinstance(asked, dict) and asked:
        return ",".join(f"{name}={value}" if value else str(name) for name, value in asked.items())
    return ",".join(arm.name for arm in trial.arms if arm.kind == "lever")
