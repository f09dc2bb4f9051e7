# SPDX-License-Identifier: Apache-2.0
"""The command lines that a report shows: to use what was found, and to measure it again."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from okosu.records.types import BenchFile, Options, Service, TryFile, Verdict
from okosu.report.formats import duration

_DEFAULTS = Options(command=[])


def use(file: TryFile, verdict: Verdict) -> str:
    """The `okosu run …` that applies a verdict's arm; of another command line, that command line."""
    return _joined(file.use(verdict))


def again(file: TryFile) -> str:
    """The `okosu try …` that measures the same arms with the same seed."""
    asked = file.plan.options
    words = ["okosu", "try", "--seed", str(asked.seed)]
    for folder in asked.recipes:
        words += ["--recipes", folder]
    if asked.accept:
        words += ["--accept", ",".join(asked.accept)]
    # Where arms raced, all that applies was to be tried, which is the default.
    if asked.levers and not asked.race:
        words += ["--levers", ",".join(f"{name}={value}" if value else name for name, value in asked.levers.items())]
    elif asked.user_arms and not asked.levers and not asked.versus and not asked.scan:
        words += ["--levers", "none"]
    for name, variables in asked.user_arms.items():
        words += ["--arm", f"{name}=" + shlex.join(f"{key}={value}" for key, value in variables.items())]
    for command in asked.versus:
        words += ["--vs", shlex.join(command)]
    for name, values in asked.scan.items():
        words += ["--scan", f"{name}={','.join(values)}"]
    if not asked.brief:
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
    if asked.precision is not None:
        words += ["--precision", f"{asked.precision * 100:g}%"]
    for key in ("check", "stdin", "prepare", "conclude", "setup", "cleanup"):
        if value := getattr(asked, key):
            words += [f"--{key}", value]
    if asked.warmup:
        words += ["--warmup", str(asked.warmup)]
    if asked.output != "pipe" and not asked.service:
        words += ["--output", asked.output]
    if asked.ignore_failure:
        words.append("--ignore-failure")
    if not asked.children:
        words += ["--children", "0"]
    if not asked.warm:
        words.append("--no-warm")
    if asked.service:
        return shlex.join([*words, "--service", _joined(asked.template or asked.command), *_driven(asked.service)])
    return shlex.join([*words, "--", *(asked.template or asked.command)])


def _joined(command: list[str]) -> str:
    """The command line as shlex.join makes it, but with its placeholders as they were typed: {port}, not '{port}'."""
    return " ".join(word if re.fullmatch(r"[\w@%+=:,./{}-]+", word) else shlex.quote(word) for word in command)


def _driven(service: Service) -> list[str]:
    words = ["--load", service.load]
    for how in service.ready:
        words += ["--ready", how]
    stop = [] if service.stop == "TERM" else ["--stop", service.stop]
    return [*words, "--ready-timeout", f"{service.ready_s:g}s", *stop, "--stop-timeout", f"{service.grace_s:g}s"]


def bench(file: BenchFile) -> str:
    """The `okosu bench …` that measures the same in the same order; "" if the file does not have its options."""
    words = [*file.plan.command, *file.plan.options]
    return shlex.join(words) if words[:2] == ["okosu", "bench"] else ""


def revalidate(path: Path) -> str:
    """The command that measures the recommended arm of a file on fresh rounds."""
    return shlex.join(["okosu", "try", "--revalidate", str(path)])
