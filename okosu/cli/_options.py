# SPDX-License-Identifier: Apache-2.0
"""The options of `okosu try`, in groups, and the parsing of what they hold: times, shares, levers, arms.

Every refusal says what would be accepted.
"""

from __future__ import annotations

import argparse
import difflib
import itertools
import os
import re
import shlex
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from okosu.errors import usage

if TYPE_CHECKING:
    from okosu.records.recipe import Change
    from okosu.records.types import Metric, Options


VERDICTS = (
    "FASTER",
    "SLOWER",
    "SAME",
    "UNRESOLVED",
    "NOT CONFIRMED",
    "CANNOT MATTER",
    "NOT APPLIED",
    "WRONG OUTPUT",
    "UNAVAILABLE",
)
_UNITS = {"d": 86400.0, "h": 3600.0, "min": 60.0, "m": 60.0, "s": 1.0, "ms": 1e-3}
_PART = r"(\d+(?:\.\d+)?)\s*(ms|min|d|h|m|s)\s*"
UNLIMITED = 2**62
LONGEST_S = 366 * 86400.0
Better = Literal["lower", "higher"]
EXPORTS = ("csv", "md")
RESERVED = frozenset({"base", "placebo"})


def seconds(text: str) -> float:
    """A time in seconds from 90, 90s, 1.5m, 1h30m or 1d. OkosuError (2) for anything else, for zero and for more than
    a year.
    """
    parts = re.findall(_PART, text) if re.fullmatch(rf"\s*(?:{_PART})+", text) else []
    units = [_UNITS[unit] for _, unit in parts]
    if re.fullmatch(r"\d+(\.\d+)?", text.strip()):
        total = float(text)
    elif all(larger > smaller for larger, smaller in itertools.pairwise(units)):
        total = sum(float(number) * unit for (number, _), unit in zip(parts, units, strict=True))
    else:
        total = 0.0
    if total == 0:
        raise usage(
            f"{text!r} is not a time", "a time is a number above 0 with s, m, h or d behind it", "90s, 10m, 1h30m, 1d"
        )
    if total > LONGEST_S:
        raise usage(f"{text!r} is too long", "it is more than a year", "a shorter time: 90s, 10m, 1h30m, 1d")
    return total


def whole(option: str, least: int, most: int = UNLIMITED) -> Callable[[str], int]:
    """A parser of whole numbers for argparse; it raises OkosuError (2) for any other."""

    def parse(text: str) -> int:
        if text.isascii() and text.isdigit() and least <= int(text[:30]) <= most:
            return int(text)
        limits = f"from {least} on" if most >= UNLIMITED else f"from {least} to {most}"
        raise usage(f"{option} {text} makes no sense", f"it takes a whole number {limits}", f"{option} {least + 10}")

    return parse


def share(text: str, option: str = "--min-effect") -> float:
    """A fraction from "1%" or "0.01"; it must lie in [0, 0.5]."""
    try:
        value = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 0.5:
        raise usage(f"{option} {text!r} is not a share", "it takes a share of base from 0% to 50%", "1%, 0.5%, 0.02")
    return value


def lever_list(text: str, levers: Sequence[str], recipes: Sequence[str] = ()) -> dict[str, str]:
    """{lever or recipe: value or ""} from "superpage=thp,pin=list:0,2,retain"; a value may itself contain commas.

    "none" gives no lever at all, only the arms of --arm.
    """
    if text in ("", "none"):
        return {}
    found: dict[str, str] = {}
    last = ""
    for token in text.split(","):
        name, _, value = token.partition("=")
        if name in levers or name in recipes:
            found[name] = value
            last = name
        elif last and found[last] and re.fullmatch(r"\d+(-\d+)?", token):
            found[last] += f",{token}"
        else:
            near = difflib.get_close_matches(name, [*levers, *recipes], 1, 0.5)
            fix = f"did you mean {near[0]}? " if near else ""
            why = f"the levers are {', '.join(levers)}; okosu doctor -- PROGRAM names the recipes for it"
            raise usage(f"no lever or recipe is called {name!r}", why, f"{fix}okosu doctor")
    return found


def user_arm(text: str) -> tuple[str, dict[str, str]]:
    """(name, variables) from the argument of --arm, NAME='VAR=value …'."""
    name, equals, rest = text.partition("=")
    try:
        pairs = [word.partition("=") for word in shlex.split(rest)]
    except ValueError as error:
        raise usage(
            f"--arm {text!r}: its variables cannot be read",
            str(error),
            "--arm jemalloc='LD_PRELOAD=/path/libjemalloc.so.2'",
        ) from error
    if (
        not equals
        or not re.fullmatch(r"[A-Za-z][\w.-]*", name)
        or not pairs
        or any(not p[1] or not p[0] for p in pairs)
    ):
        raise usage(
            f"--arm {text!r} is not NAME='VAR=value …'",
            "an arm is a name and the variables that it sets",
            "--arm jemalloc='LD_PRELOAD=/path/libjemalloc.so.2'",
        )
    if name in RESERVED:
        raise usage(f"--arm cannot be called {name!r}", "that arm is okosu's own", "another name")
    return name, {p[0]: p[2] for p in pairs}


def expectation(text: str) -> tuple[str, str]:
    """(lever, VERDICT) from the argument of --expect, LEVER=verdict."""
    # An arm of --scan has an equals sign in its name.
    lever, _, wanted = text.rpartition("=")
    verdict = wanted.upper().replace("-", " ").replace("_", " ")
    verdict = {"BETTER": "FASTER", "WORSE": "SLOWER"}.get(verdict, verdict)
    if not lever or verdict not in VERDICTS:
        known = ", ".join(v.lower() for v in VERDICTS)
        raise usage(
            f"--expect {text!r} is not LEVER=VERDICT", f"a verdict is one of {known}", "--expect superpage=faster"
        )
    return lever, verdict


def metric(text: str, better: Better | None) -> tuple[Metric, str, Better]:
    """(metric, pattern, better) from --metric and --better."""
    if text in ("wall", "cpu", "rss"):
        if better == "higher":
            raise usage(f"--better higher makes no sense for {text}", "it is a cost", "leave --better out")
        return cast("Metric", text), "", "lower"
    kind, _, pattern = text.partition(":")
    if kind != "regex" or not pattern:
        raise usage(
            f"--metric {text!r} is not known",
            "okosu measures wall, cpu and rss, and finds a number that the program prints by regex:PATTERN",
            "wall, cpu, rss or regex:PATTERN",
        )
    try:
        groups = re.compile(pattern.encode()).groups
    except re.error as error:
        raise usage("--metric: the pattern does not compile", f"{error}", "a Python regular expression") from error
    if groups < 1:
        raise usage("--metric: the pattern has no group", "its first group is the number", r"regex:rate=([\d.]+)")
    if better is None:
        raise usage(
            "a regex metric needs --better",
            "okosu cannot know whether your number is a time or a rate, and would turn every verdict round",
            "--better lower (a time, a cost) or --better higher (a rate, a throughput)",
        )
    return "regex", pattern, better


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `okosu try`, by groups."""
    from okosu.cli import _service

    add = parser.add_argument_group("what to try").add_argument
    add(
        "--levers",
        metavar="LIST",
        help="levers and recipes to try: superpage,pin=compact or none (default: all that apply; with --vs or --scan, "
        "none)",
    )
    add("--recipes", action="append", default=[], metavar="DIR", help="a folder with recipes of your own")
    add(
        "--accept",
        action="append",
        default=[],
        metavar="WHAT",
        help="what a recipe may change and be recommended all the same: numerics, ordering, rules",
    )
    add("--arm", action="append", default=[], metavar="NAME='VAR=…'", help="an arm of your own: variables to set")
    add("--vs", action="append", default=[], metavar="'CMD'", help="another command line, compared with the program")
    add(
        "--scan",
        action="append",
        default=[],
        metavar="NAME=V,V…",
        help="values of a variable, or of {NAME} in the command, each an arm; base has the first value of a {NAME}",
    )
    add("--children", choices=["0", "1"], default="1", help="whether the program's children inherit the levers")

    add = parser.add_argument_group("what to judge by").add_argument
    add("--metric", default="wall", metavar="M", help="wall, cpu, rss or regex:PATTERN (its first group; default wall)")
    add("--better", choices=["lower", "higher"], help="which way a regex metric is better (no default)")
    add("--min-effect", default="1%", metavar="PCT", help="smallest effect of interest (default 1%%)")
    add("--expect", action="append", default=[], metavar="LEVER=VERDICT", help="exit 3 unless it ends so")

    add = parser.add_argument_group("the program and its runs").add_argument
    add("--stdin", default="", metavar="FILE", help="give the program this file as standard input")
    add(
        "--output",
        choices=["null", "pipe", "file"],
        default="pipe",
        help="where its standard output goes: a pipe that is read on the fly (default), a file for programs that want "
        "one, or nowhere, and then outputs are not compared",
    )
    add("--check", default="", metavar="CMD", help="judge the output (on stdin) by a command instead of by its digest")
    add("--ignore-failure", "-i", action="store_true", help="compare runs of a program that fails, each like the first")
    add("--setup", "-s", default="", metavar="CMD", help="run CMD before all runs")
    add("--prepare", "-p", default="", metavar="CMD", help="run CMD untimed before each run")
    add("--conclude", "-C", default="", metavar="CMD", help="run CMD untimed after each run")
    add("--cleanup", "-c", default="", metavar="CMD", help="run CMD after all runs")
    add(
        "--warmup",
        "-w",
        type=whole("--warmup", 0, 1000),
        default=0,
        metavar="N",
        help="run it N times unmeasured first",
    )
    add("--timeout", type=seconds, metavar="TIME", help="give up on a run after this long")
    add("--no-warm", action="store_true", help="do not touch memory before each run where the host backs it lazily")

    add = parser.add_argument_group("how long").add_argument
    add(
        "--budget",
        default="10m",
        metavar="TIME",
        help="time to spend at most: 90s, 10m, 1h30m (default 10m, and 5m where the program takes at most 10 s)",
    )
    add("--min-rounds", type=whole("--min-rounds", 0), default=0, metavar="N", help="rounds at least")
    add("--max-rounds", type=whole("--max-rounds", 1), default=1000, metavar="N", help="rounds at most (default 1000)")
    add("--precision", metavar="PCT", help="half-width of a winner's interval at which it needs no more rounds")
    add("--seed", type=whole("--seed", 0), metavar="N", help="seed of the random order (default: drawn)")
    add("--dry-run", action="store_true", help="print what each arm would run, and run nothing")

    add = parser.add_argument_group("output and records").add_argument
    add("--wide", action="store_true", help="user and system time, page faults and memory in the table too")
    add(
        "--export",
        action="append",
        default=[],
        metavar="csv|md|FILE",
        help="the runs as csv or the table as md to stdout, or to a FILE of that name",
    )
    add("--json", metavar="FILE|-", help="where the records go (default: the state folder)")
    add("--force", action="store_true", help="let --json replace a file that is there")
    add("--resume", metavar="FILE", help="go on with a trial, finished or not; --budget +5m gives it 5 minutes more")
    add("--revalidate", metavar="FILE", help="measure the arm that FILE recommends again, on fresh rounds")

    add = parser.add_argument_group("other machines, by Slurm; --json names a folder that they share").add_argument
    add("--slurm", metavar="NODES", help="one job for each node: n[1-3],gpu2; each: one node of each kind")
    add("--slurm-array", metavar="SPEC", help="one array of jobs, on whatever nodes are free: 1-8, 1-20%%4")
    add("--slurm-option", action="append", default=[], metavar="=OPT", help="an option for sbatch: =--partition=big")
    _service.add_arguments(parser)
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- PROGRAM [ARG…]", help="the program to try")


RESUMED = frozenset({"--resume", "--budget", "--max-rounds", "--precision", "--expect", "--wide", "--export"})
"""The options that may stand beside --resume: all others belong to the trial and are in its file."""


def resumed(args: argparse.Namespace) -> None:
    """Refuse, as OkosuError (2), what cannot be changed of a trial that goes on."""
    if other := sorted(set(args.given) - RESUMED):
        raise usage(
            f"{other[0]} does not go with --resume",
            "a trial goes on as it was planned, with the options in its file",
            f"leave it out, or begin another trial: okosu try {other[0]} … -- PROGRAM",
        )
    if args.command or args.stray:
        raise usage(
            "a program does not go with --resume", "a trial goes on with the program in its file", "leave it out"
        )


def program(args: argparse.Namespace, known: list[str]) -> list[str]:
    """The command line to try. OkosuError (2) where there is none, or where a lever's name stands in its place."""
    command: list[str] = args.command[1:] if args.command[:1] == ["--"] else args.command
    stray = (args.stray or command or [""])[0]
    is_lever = stray.partition("=")[0] in known
    if args.stray:
        fix = (
            f"--levers {','.join(args.stray)} -- PROGRAM [ARG…]"
            if is_lever
            else "okosu try [OPTION…] -- PROGRAM [ARG…]"
        )
        raise usage(f"{stray!r} is no option", "only options stand before --", fix)
    if not command:
        raise usage("no program was given", "nothing stands after --", "okosu try [OPTION…] -- PROGRAM [ARG…]")
    if is_lever and not shutil.which(stray):
        raise usage(f"no program is called {stray!r}", "it is a lever", f"--levers {stray} -- PROGRAM [ARG…]")
    return command


def _unreadable(path: str) -> str:
    if Path(path).is_dir():
        return "it is a folder"
    return "its permissions do not allow it" if Path(path).exists() else "there is no such file"


def exports(texts: Sequence[str], json: str | None = None) -> list[tuple[str, Path | None]]:
    """(format, file) of each --export, None for stdout. OkosuError (2) where it names neither, or cannot be written."""
    found: list[tuple[str, Path | None]] = []
    for text in texts:
        kind = text if text in EXPORTS else text.rpartition(".")[2]
        to = None if text in EXPORTS else Path(text)
        if kind not in EXPORTS:
            raise usage(
                f"--export {text!r} is not known", "it writes csv or md", "csv, md, or a FILE that ends in .csv or .md"
            )
        if to is not None and not (os.access(to if to.exists() else to.parent, os.W_OK) and not to.is_dir()):
            raise usage(
                f"--export {text}: it cannot be written",
                "it is a folder" if to.is_dir() else "there is no such folder, or you may not write to it",
                "a file in a folder that you may write to",
            )
        found.append((kind, to))
    if sum(to is None for _, to in found) + (json == "-") > 1:
        raise usage(
            "two of --export and --json - do not go together",
            "both would fill standard output",
            "a FILE for one of them",
        )
    return found


def accepted(texts: Sequence[str]) -> list[Change]:
    """What --accept names, in lists with commas. OkosuError (2) for what no recipe may change."""
    from okosu.records.recipe import CHANGES

    found = dict.fromkeys(word for text in texts for word in text.split(","))
    for word in found:
        if word not in CHANGES:
            raise usage(
                f"--accept {word!r} is not known", f"a recipe changes {', '.join(CHANGES)}", "--accept ordering"
            )
    return [what for what in CHANGES if what in found]


def parse(args: argparse.Namespace) -> Options:
    """The Options of a new trial. OkosuError (2) for any mistake, before anything runs."""
    from okosu import levers, recipes
    from okosu.cli import _arms, _service
    from okosu.records.types import Options

    compiled, every = list(levers.load()), recipes.known(args.recipes)
    driven = _service.parse(args)
    command = shlex.split(args.service) if driven else program(args, list(every))
    exports(args.export, args.json)
    if args.min_rounds > args.max_rounds:
        raise usage(
            f"--min-rounds {args.min_rounds} is more than --max-rounds {args.max_rounds}",
            "a trial cannot run fewer rounds than it must",
            f"--max-rounds {args.min_rounds}",
        )
    if args.check and args.output == "null":
        raise usage(
            "--check does not go with --output null", "it reads the output, which is thrown away", "leave --output out"
        )
    kind, pattern, better = metric(args.metric, args.better)
    if args.stdin and not (Path(args.stdin).is_file() and os.access(args.stdin, os.R_OK)):
        raise usage(f"--stdin {args.stdin} cannot be read", _unreadable(args.stdin), "a file that can be read")
    arms = dict(user_arm(text) for text in args.arm)
    if len(arms) < len(args.arm):
        raise usage("two arms of --arm have one name", "each is an arm of its own", "another name for one of them")
    versus = _arms.versus(args.vs)
    scanned = _arms.scan(args.scan, command)
    chosen, unasked = dict[str, str](), list[str]()
    if args.levers is not None:
        chosen = lever_list(args.levers, compiled, [name for name in every if name not in compiled])
    elif not versus and not scanned.values:
        unasked = [name for name in recipes.unasked(every) if name not in arms]
        chosen = dict.fromkeys([*compiled, *unasked], "")
    clash = arms.keys() & {*compiled, *chosen}
    if clash:
        raise usage(f"--arm cannot be called {clash.pop()!r}", "that is a lever", "another name")
    if versus and (taken := [name for name in arms if name.partition("-")[0] == "vs"]):
        raise usage(f"--arm cannot be called {taken[0]!r}", "that is the arm of --vs", "another name")
    return Options(
        command=scanned.command,
        metric=kind,
        pattern=pattern,
        better=better,
        min_effect=share(args.min_effect),
        budget_s=seconds(args.budget),
        brief="--budget" not in args.given,
        min_rounds=args.min_rounds,
        max_rounds=args.max_rounds,
        precision=None if args.precision is None else share(args.precision, "--precision"),
        timeout_s=args.timeout,
        seed=args.seed if args.seed is not None else int.from_bytes(os.urandom(4)),
        output="file" if driven else args.output,
        ignore_failure=args.ignore_failure,
        stdin=str(Path(args.stdin).resolve()) if args.stdin else "",
        check=args.check,
        prepare=args.prepare,
        conclude=args.conclude,
        setup=args.setup,
        cleanup=args.cleanup,
        warmup=args.warmup,
        warm=not args.no_warm,
        children=args.children == "1",
        levers=chosen,
        race=args.levers is None,
        unasked=unasked,
        recipes=[str(Path(folder).resolve()) for folder in args.recipes],
        accept=accepted(args.accept),
        user_arms=arms,
        versus=versus,
        scan=scanned.values,
        template=scanned.template,
        service=driven,
    )
