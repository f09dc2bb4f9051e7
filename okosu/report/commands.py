# SPDX-License-Identifier: Apache-2.0
"""The command lines that a report shows: to use what was found, and to measure it again."""

from __future__ import annotations

import shlex
from pathlib import Path

from okosu.records.types import BenchFile, Options, TryFile, Verdict
from okosu.report.formats import duration

_DEFAULTS = Options(command=[])


def use(file: TryFile, verdict: Verdict) -> str:
    """The `okosu run …` that applies a verdict's arm."""
    asked = file.plan.options
    children = [] if asked.children else ["--children=0"]
    return shlex.join(["okosu", "run", *verdict.options, *children, "--", *asked.command])


def again(file: TryFile) -> str:
    """The `okosu try …` that measures the same arms with the same seed."""
    asked = file.plan.options
    words = ["okosu", "try", "--seed", str(asked.seed)]
    if asked.levers:
        words += ["--levers", ",".join(f"{name}={value}" if value else name for name, value in asked.levers.items())]
    elif asked.user_arms:
        words += ["--levers", "none"]
    for name, variables in asked.user_arms.items():
        words += ["--arm", f"{name}=" + shlex.join(f"{key}={value}" for key, value in variables.items())]
    words += ["--budget", duration(asked.budget_s)]
    if asked.timeout_s:
        words += ["--timeout", duration(asked.timeout_s)]
    if asked.metric == "regex":
        words += ["--metric", f"regex:{asked.pattern}", "--better", asked.better]
    elif asked.metric != "wall":
        words += ["--metric", asked.metric]
    words += ["--min-effect", f"{asked.min_effect * 100:g}%"]
    for key in ("min_rounds", "max_rounds"):
        if getattr(asked, key) != getattr(_DEFAULTS, key):
            words += [f"--{key.replace('_', '-')}", str(getattr(asked, key))]
    for key in ("check", "stdin", "prepare", "conclude"):
        if value := getattr(asked, key):
            words += [f"--{key}", value]
    if not asked.children:
        words += ["--children", "0"]
    if not asked.warm:
        words.append("--no-warm")
    return shlex.join([*words, "--", *asked.command])


def bench(file: BenchFile) -> str:
    """The `okosu bench …` that measures the same in the same order; "" if the file does not have its options."""
    words = [*file.plan.command, *file.plan.options]
    return shlex.join(words) if words[:2] == ["okosu", "bench"] else ""


def revalidate(path: Path) -> str:
    """The command that measures the recommended arm of a file on fresh rounds."""
    return shlex.join(["okosu", "try", "--revalidate", str(path)])
