# SPDX-License-Identifier: Apache-2.0
"""How soon and how narrowly `okosu try` answers, beside an earlier version, on programs that a lever helps and on some
that none can help; and whether it plans long programs in the place of refusing them.

Prints a table and writes it, with every trial, to FOLDER/acceptance.json. A trial that is there already is not run
again. The exit status is 1 where a target is missed. Run it alone on the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

from okosu import machine
from okosu.cli._summary import kept_facts
from okosu.records import summary
from okosu.records.summary import SUMMARY_SCHEMA, Section, Summary, table

ROOT = Path(__file__).resolve().parents[2]
TEXT = Path("/tmp/okosu-acceptance.txt")
BEFORE = "f7e7f4d"
"""The last commit of version 1 of okosu try."""


@dataclass(frozen=True)
class Program:
    """What is tried, with the targets of the new version: of runs, of seconds, of their share of the seconds that the
    version before took, and of the largest gain that is left open where no arm wins. Each is judged at the answer and
    at the end.

    The answer is what the trial tells first: which arm wins, or, where none does, its last line. The version before
    told nothing until its end.
    """

    argv: list[str]
    most_runs: int | None = None
    most_share: float | None = None
    most_seconds: float | None = None
    most_bound: float | None = None


def examples(name: str, *argv: str) -> list[str]:
    return [str(ROOT / "build/examples" / name), *argv]


THIRD = 1 / 3
PROGRAMS = {
    "chase": Program(examples("chase", "1G"), most_runs=20, most_share=THIRD),
    "churn": Program(examples("churn"), most_share=THIRD),
    "relay": Program(examples("relay", "500K"), most_share=THIRD),
    "numpy-arrays": Program([str(ROOT / "examples/real/numpy-arrays.py")], most_share=THIRD),
    "gzip": Program(["gzip", "-c", str(TEXT)], most_seconds=60, most_bound=0.03),
    "sort": Program(["sort", "--parallel=1", "--key=3,3", str(TEXT)], most_seconds=60, most_bound=0.03),
    "awk": Program(["awk", "{ sum += $10 } END { print sum }", str(TEXT)], most_seconds=60, most_bound=0.03),
    "python-sum": Program(
        ["/usr/bin/python3", "-c", "print(sum(i * i for i in range(5000000)))"], most_seconds=60, most_bound=0.03
    ),
}
LONG = {"20 s": 20, "60 s": 60, "5 min": 300}
HEAD = [
    "program",
    "version",
    "trials",
    "rounds",
    "runs to the answer",
    "runs",
    "time to the answer",
    "time",
    "bound",
    "answers",
]
KNOWN = "known after round"
"""How the line begins by which the new version tells the answer, before it goes on to measure it better."""
PLANNED = "base takes"
"""How the line begins that says what a trial will do."""


@dataclass
class Trial:
    """One trial of one version. `answer_runs`: runs until the recommended arm was first known to win; `answer_seconds`:
    seconds until some arm was, which the version before did not tell.
    """

    program: str
    version: str
    number: int
    seconds: float
    rounds: int
    runs: int
    status: int
    answer: str = ""
    answer_runs: int | None = None
    answer_seconds: float | None = None
    bound: float | None = None
    said: str = ""

    @property
    def runs_told(self) -> int:
        """The runs until the answer, whichever it is."""
        return self.runs if self.answer_runs is None else self.answer_runs

    @property
    def seconds_told(self) -> float:
        """The seconds until the answer, whichever it is."""
        return self.seconds if self.answer_seconds is None else self.answer_seconds


@dataclass
class Outcome:
    """All that was measured; the content of acceptance.json."""

    before: str
    trials: list[Trial] = field(default_factory=list)
    long: dict[str, str] = field(default_factory=dict)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "records" / date.today().isoformat())
    parser.add_argument(
        "--before", metavar="COMMIT", default=BEFORE, help=f"default {BEFORE}; none: only the new version"
    )
    parser.add_argument("--trials", metavar="N", type=int, default=5, help="trials of each program (default 5)")
    parser.add_argument("--summary", type=Path, metavar="FILE", help="write the table as a summary for docs/METHOD.md")
    parser.add_argument("--only", metavar="NAME,…", help=f"of {', '.join(PROGRAMS)}, long")
    return parser.parse_args()


def built(commit: str) -> Path:
    """The worktree of an earlier commit, with its native programs; built at the first use, and kept."""
    tree = ROOT / "build" / f"before-{commit}"
    if not tree.exists():
        subprocess.run(["git", "worktree", "add", "--detach", str(tree), commit], cwd=ROOT, check=True)
    # meson and ninja lie beside the Python of the virtual environment, which need not be activated.
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    steps = [["ninja", "-C", "build"]]
    if not (tree / "build/build.ninja").exists():
        steps.insert(0, ["meson", "setup", "build"])
    for step in steps:
        subprocess.run(step, cwd=tree, env=environment, check=True, stdout=subprocess.DEVNULL)
    return tree


def make_text() -> None:
    """The input of gzip, sort and awk: 28 MB that are the same everywhere."""
    if not TEXT.exists():
        partial = TEXT.with_suffix(f".{os.getpid()}")
        with partial.open("wb") as out:
            subprocess.run(
                ["awk", "-v", "lines=400000", "-f", str(ROOT / "examples/real/text.awk")], stdout=out, check=True
            )
        partial.rename(TEXT)


def okosu(tree: Path, *argv: str) -> tuple[list[str], dict[str, Any]]:
    """The command line that runs the okosu of a tree, and how to start it."""
    environment = {**os.environ, "PYTHONPATH": str(tree), "LC_ALL": "C.UTF-8"}
    return [sys.executable, "-m", "okosu", *argv], {"cwd": tree, "env": environment}


def tried(name: str, version: str, tree: Path, number: int, folder: Path) -> Trial:
    """Run the default `okosu try` on a program, with the number as its seed."""
    record = folder / f"{name}-{version}-{number}.json"
    record.unlink(missing_ok=True)
    argv, how = okosu(tree, "try", "--seed", str(number), "--json", str(record), "--", *PROGRAMS[name].argv)
    begun, told, notes = time.monotonic(), None, list[str]()
    with tempfile.TemporaryFile("w+") as out:
        with subprocess.Popen(argv, stdout=out, stderr=subprocess.PIPE, text=True, **how) as process:
            assert process.stderr is not None
            for line in process.stderr:
                notes.append(line.strip())
                if told is None and line.startswith(KNOWN):
                    told = time.monotonic() - begun
        seconds = time.monotonic() - begun
        out.seek(0)
        lines = out.read().splitlines()
    # A trial that fails tells why on stderr, behind its notes.
    said = next(iter(lines or [line for line in notes if line.startswith("okosu:")]), "")
    trial = Trial(name, version, number, seconds, 0, 0, process.returncode, answer_seconds=told, said=said)
    if process.returncode == 0:
        read(trial, json.loads(record.read_text()))
    return trial


def read(trial: Trial, held: dict[str, Any]) -> None:
    """Fill in what the record of a trial says; versions 2 and 3 of its schema."""
    judged = [r for r in held["records"] if r["metric"] == "wall"]
    base = [r for r in judged if r["lever"] == "base" and r["stage"] != "pilot"]
    trial.runs = sum(len(r["samples"]) for r in judged)
    trial.rounds = sum(len(set(r.get("rounds", []))) for r in base)
    verdicts = [v for v in held["verdicts"] if v["arm"] != "placebo"]
    for v in verdicts:
        if v.get("headline"):
            trial.answer = f"{v['arm']} {1 / v['ratio']:.2f}x"
            if decided := v.get("decided"):
                early = [1 for r in judged for n in r.get("rounds", []) if r["stage"] == "pilot" or n < decided]
                trial.answer_runs = len(early)
    open_ = [left_open(v) for v in verdicts]
    trial.bound = max((gain for gain in open_ if gain is not None), default=0.0)


def left_open(v: dict[str, Any]) -> float | None:
    """The largest gain that a verdict does not exclude; None for an arm that cannot be had here, or whose gain is
    known, or which was not judged because nobody accepted what it changes: it is none that could be recommended.
    """
    if v["verdict"] == "UNRESOLVED" and v.get("why", "").endswith("what it changes was not accepted"):
        return None
    if v["verdict"] == "CANNOT MATTER":
        return float(v["bound"])
    if v["verdict"] in ("FASTER", "NOT APPLIED", "WRONG OUTPUT", "UNAVAILABLE"):
        return None
    if v["verdict"] == "UNRESOLVED" and v.get("bound"):
        return 1 - float(v["bound"])
    return 1 - float(v["interval"][0]) if v.get("interval") else 1.0


def planned(seconds: int) -> str:
    """The first lines of `okosu try` on a program that takes so long, until it says its plan; then it is stopped."""
    argv, how = okosu(ROOT, "try", "--seed", "1", "--", "sh", "-c", f"sleep {seconds}; echo done")
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **how) as process:
        assert process.stderr is not None
        # The plan is due after the first run of base; a second one and a minute are allowed for.
        watch = threading.Timer(2 * seconds + 60, process.send_signal, [signal.SIGINT])
        watch.start()
        lines = []
        for line in process.stderr:
            lines.append(line.strip())
            if line.startswith(PLANNED):
                process.send_signal(signal.SIGINT)
                break
        watch.cancel()
        process.stderr.read()
    return lines[-1] if lines else ""


def middle(trials: list[Trial], what: str) -> float | None:
    values = [value for t in trials if t.status == 0 and (value := getattr(t, what)) is not None]
    return float(median(values)) if values else None


def shown(value: float | None, form: str) -> str:
    return "–" if value is None else form.format(value)


def compare(outcome: Outcome) -> tuple[list[list[str]], list[str]]:
    """The rows of the table, and the targets that were missed."""
    rows, missed = [], []
    for name, program in PROGRAMS.items():
        by = {
            version: [t for t in outcome.trials if t.program == name and t.version == version]
            for version in ("before", "now")
        }
        seconds = {version: middle(trials, "seconds") for version, trials in by.items()}
        for version, trials in by.items():
            if not trials:
                continue
            answers = sorted({t.answer.split(" ")[0] or ("refused" if t.status else "undecided") for t in trials})
            rows.append(
                [
                    name,
                    version,
                    str(len(trials)),
                    shown(middle(trials, "rounds"), "{:.0f}"),
                    shown(middle(trials, "answer_runs"), "{:.0f}"),
                    shown(middle(trials, "runs"), "{:.0f}"),
                    shown(middle(trials, "answer_seconds"), "{:.0f} s"),
                    shown(seconds[version], "{:.0f} s"),
                    shown(middle(trials, "bound"), "{:.1%}"),
                    ", ".join(answers),
                ]
            )
        if by["now"]:
            missed += missing(name, program, by["now"], seconds["before"])
    for name, line in outcome.long.items():
        rows.append([f"sleep {name}", "now", "1", *["–"] * 6, line])
        if not line.startswith(PLANNED):
            missed.append(f"sleep {name}: no plan was told")
    return rows, missed


def missing(name: str, program: Program, now: list[Trial], before: float | None) -> list[str]:
    """The targets that a program misses. One that is refused misses all."""
    if not any(trial.status == 0 for trial in now):
        return [f"{name}: every trial was refused"]
    told, whole = middle(now, "seconds_told"), middle(now, "seconds")
    limits = [
        ("runs to the answer", middle(now, "runs_told"), program.most_runs, "{:.0f}"),
        ("seconds to the answer", told, program.most_seconds, "{:.0f}"),
        ("share of the time before", told / before if told and before else None, program.most_share, "{:.2f}"),
        ("bound", middle([t for t in now if not t.answer], "bound"), program.most_bound, "{:.1%}"),
        ("runs in all", middle(now, "runs"), program.most_runs, "{:.0f}"),
        ("seconds in all", whole, program.most_seconds, "{:.0f}"),
        (
            "share of the time before, in all",
            whole / before if whole and before else None,
            program.most_share,
            "{:.2f}",
        ),
    ]
    answered = sum(t.answer != "" for t in now)
    # What has a share of the time before to keep to is a program that a lever helps.
    silent = (
        [f"{name}: an answer in {answered} of {len(now)} trials"]
        if program.most_share and 2 * answered <= len(now)
        else []
    )
    return silent + [
        f"{name}: {what} {form.format(value)}, at most {form.format(most)} asked"
        for what, value, most, form in limits
        if value is not None and most is not None and value > most
    ]


def write(outcome: Outcome, path: Path) -> tuple[list[list[str]], list[str]]:
    """Write what was measured so far; return the rows of the table and the targets that were missed."""
    rows, missed = compare(outcome)
    content = {
        "before": outcome.before,
        "trials": [vars(t) for t in outcome.trials],
        "long": outcome.long,
        "head": HEAD,
        "rows": rows,
        "missed": missed,
    }
    path.write_text(json.dumps(content, indent=1) + "\n")
    return rows, missed


def main() -> int:
    asked = arguments()
    chosen = asked.only.split(",") if asked.only else [*PROGRAMS, "long"]
    if unknown := set(chosen) - {*PROGRAMS, "long"}:
        sys.exit(f"unknown: {', '.join(sorted(unknown))}")
    asked.folder.mkdir(parents=True, exist_ok=True)
    path = asked.folder.resolve() / "acceptance.json"
    outcome = Outcome(asked.before)
    if path.exists():
        held = json.loads(path.read_text())
        outcome = Outcome(held["before"], [Trial(**t) for t in held["trials"]], held["long"])
    trees = {"now": ROOT} if asked.before == "none" else {"before": built(asked.before), "now": ROOT}
    if {"gzip", "sort", "awk"} & set(chosen):
        make_text()

    done = {(t.program, t.version, t.number) for t in outcome.trials}
    # One trial of every program and version before the second of any: an interrupted run has something of all.
    for number in range(1, asked.trials + 1):
        for name in [name for name in chosen if name in PROGRAMS]:
            for version, tree in trees.items():
                if (name, version, number) not in done:
                    trial = tried(name, version, tree, number, path.parent)
                    outcome.trials.append(trial)
                    write(outcome, path)
                    print(
                        f"{name}, {version}, {number}: {trial.seconds:.0f} s: {trial.said}", file=sys.stderr, flush=True
                    )
    # A shell starts what it puts into the background with SIGINT ignored, and a trial would inherit that.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if "long" in chosen:
        outcome.long = {name: planned(seconds) for name, seconds in LONG.items()}
    rows, missed = write(outcome, path)
    if asked.summary:
        made = Summary(
            schema=SUMMARY_SCHEMA,
            sources=[summary.source(path, path.read_bytes())],
            command="tools/acceptance.sh",
            machine=kept_facts(machine.facts(machine.read())),
            sections=[Section(id="acceptance", head=HEAD, body=rows, notes=missed)],
        )
        summary.write(made, asked.summary)
    print("\n".join([*table(HEAD, rows), "", *(missed or ["every target is met"])]))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
