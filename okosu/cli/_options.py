# SPDX-License-Identifier: Apache-2.0
"""Parsing what is typed after `okosu try`: times, shares, levers, arms. Every refusal says what would be accepted."""

from __future__ import annotations

import argparse
import difflib
import os
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from okosu.errors import USAGE_ERROR, OkosuError

if TYPE_CHECKING:
    from okosu.records.types import Metric, Options


VERDICTS = ("FASTER", "SLOWER", "SAME", "UNRESOLVED", "NOT CONFIRMED", "NOT APPLIED", "WRONG OUTPUT", "UNAVAILABLE")
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
Better = Literal["lower", "higher"]
RESERVED = frozenset({"base", "placebo"})


def usage(what: str, why: str = "", fix: str = "okosu try --help") -> OkosuError:
    return OkosuError(what, why, fix, USAGE_ERROR)


def seconds(text: str) -> float:
    """A time in seconds from 90, 90s, 1.5m or 2h. OkosuError (2) for anything else and for zero."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(s|m|min|h|)", text.strip())
    if not found or float(found[1]) == 0:
        raise usage(f"{text!r} is not a time", "", "a number with s, m or h behind it: 90s, 10m, 2h")
    return float(found[1]) * _UNITS[found[2]]


def share(text: str) -> float:
    """A fraction from "1%" or "0.01"; it must lie in [0, 0.5]."""
    try:
        value = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 0.5:
        raise usage(f"--min-effect {text!r} is not a share", "", "a share from 0% to 50%: 1%, 0.5%, 0.02")
    return value


def lever_list(text: str, known: list[str]) -> dict[str, str]:
    """{lever: value or ""} from "superpage=thp,pin=list:0,2,retain"; a value may itself contain commas.

    "none" gives no lever at all, only the arms of --arm.
    """
    if text in ("", "none"):
        return {}
    found: dict[str, str] = {}
    last = ""
    for token in text.split(","):
        name, _, value = token.partition("=")
        if name in known:
            found[name] = value
            last = name
        elif last and found[last] and re.fullmatch(r"\d+(-\d+)?", token):
            found[last] += f",{token}"
        else:
            near = difflib.get_close_matches(name, known, 1, 0.5)
            fix = f"did you mean {near[0]}? " if near else ""
            raise usage(f"no lever is called {name!r}", "", f"{fix}the levers are {', '.join(known)}")
    return found


def user_arm(text: str) -> tuple[str, dict[str, str]]:
    """(name, variables) from the argument of --arm, NAME='VAR=value …'."""
    name, equals, rest = text.partition("=")
    try:
        pairs = [word.partition("=") for word in shlex.split(rest)]
    except ValueError as error:
        raise usage(f"--arm {text!r}: {error}", "", "--arm jemalloc='LD_PRELOAD=/path/libjemalloc.so.2'") from error
    if (
        not equals
        or not re.fullmatch(r"[A-Za-z][\w.-]*", name)
        or not pairs
        or any(not p[1] or not p[0] for p in pairs)
    ):
        raise usage(
            f"--arm {text!r} is not NAME='VAR=value …'", "", "--arm jemalloc='LD_PRELOAD=/path/libjemalloc.so.2'"
        )
    if name in RESERVED:
        raise usage(f"--arm cannot be called {name!r}", "that arm is okosu's own", "another name")
    return name, {p[0]: p[2] for p in pairs}


def expectation(text: str) -> tuple[str, str]:
    """(lever, VERDICT) from the argument of --expect, LEVER=verdict."""
    lever, _, wanted = text.partition("=")
    verdict = wanted.upper().replace("-", " ").replace("_", " ")
    if not lever or verdict not in VERDICTS:
        raise usage(f"--expect {text!r} is not LEVER=VERDICT", "", f"one of {', '.join(v.lower() for v in VERDICTS)}")
    return lever, verdict


def metric(text: str, better: Better | None) -> tuple[Metric, str, Better]:
    """(metric, pattern, better) from --metric and --better."""
    if text in ("wall", "cpu", "rss"):
        if better == "higher":
            raise usage(f"--better higher makes no sense for {text}", "it is a cost", "leave --better out")
        return cast("Metric", text), "", "lower"
    kind, _, pattern = text.partition(":")
    if kind != "regex" or not pattern:
        raise usage(f"--metric {text!r} is not known", "", "wall, cpu, rss or regex:PATTERN")
    try:
        groups = re.compile(pattern.encode()).groups
    except re.error as error:
        raise usage(f"--metric: the pattern does not compile: {error}", "", "a Python regular expression") from error
    if groups < 1:
        raise usage("--metric: the pattern has no group", "its first group is the number", r"regex:rate=([\d.]+)")
    if better is None:
        raise usage(
            "a regex metric needs --better",
            "okosu cannot know whether your number is a time or a rate, and would turn every verdict round",
            "--better lower (a time, a cost) or --better higher (a rate, a throughput)",
        )
    return "regex", pattern, better


def parse(args: argparse.Namespace) -> Options:
    """The Options of a new trial. OkosuError (2) for any mistake, before anything runs."""
    from okosu import levers
    from okosu.records.types import Options

    command = args.command[1:] if args.command[:1] == ["--"] else args.command
    if not command:
        raise usage("no program was given", "", "okosu try [OPTION…] -- PROGRAM [ARG…]")
    known = list(levers.load())
    kind, pattern, better = metric(args.metric, args.better)
    if args.stdin and not Path(args.stdin).is_file():
        raise usage(f"--stdin {args.stdin}: no such file", "", "a file that can be read")
    arms = dict(user_arm(text) for text in args.arm)
    chosen = dict.fromkeys(known, "") if args.levers is None else lever_list(args.levers, known)
    clash = arms.keys() & set(known)
    if clash:
        raise usage(f"--arm cannot be called {clash.pop()!r}", "that is a lever", "another name")
    return Options(
        command=command,
        metric=kind,
        pattern=pattern,
        better=better,
        min_effect=share(args.min_effect),
        budget_s=seconds(args.budget),
        min_rounds=args.min_rounds,
        max_rounds=args.max_rounds,
        timeout_s=args.timeout,
        seed=args.seed if args.seed is not None else int.from_bytes(os.urandom(4)),
        stdin=str(Path(args.stdin).resolve()) if args.stdin else "",
        check=args.check,
        prepare=args.prepare,
        conclude=args.conclude,
        warm=not args.no_warm,
        children=args.children == "1",
        levers=chosen,
        user_arms=arms,
    )
