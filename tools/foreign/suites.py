# SPDX-License-Identifier: Apache-2.0
"""Runs suites that others wrote under each lever and compares verdicts: `python tools/foreign/suites.py FOLDER`.

FOLDER/*.toml describe the suites, one a file (`Suite` below); tools/foreign/ holds descriptions, each with the
command that fetches its suite. A suite runs twice without okosu: a test whose verdicts differ there changes by itself
and is blamed on no lever. Then it runs under okosu-run with each lever. What differs is run again with the lever and
without; a test that differs both times, and is the same as ever without, is listed. Exit status 3 if there is one.

A record (--json) that is there already keeps its other suites, so that it can be made a suite at a time.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

import okosu
from lab.run import process
from okosu import machine, native
from okosu.cli._summary import kept_facts
from okosu.errors import OkosuError
from okosu.records import summary
from okosu.records.summary import SUMMARY_SCHEMA, Section, Summary
from okosu.records.types import Tool
from tests.native.stacks import LEVERS

DIFFERENT = 3
END = "(how the suite ended)"
MISSING = "no verdict"
NO_DIFFERENCE = "No lever makes a difference."
_SHOWN = 50

Verdicts = dict[str, str]


class Suite(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A suite that somebody else wrote, as a tester fetched it."""

    name: str
    fetch: str
    """The commands that fetch it."""
    version: list[str]
    """A command whose first line of output is the version."""
    argv: list[str]
    """It gets a temporary folder of its own as TMPDIR and HOME."""
    verdict: str = ""
    """A regular expression with the groups `name` and `verdict`, searched in stdout and stderr, a line or more each;
    without one the exit status is the only verdict."""
    passed: tuple[str, ...] = ("", "ok", "pass", "passed")
    """Verdicts, in lower case, of a test that passed; "" where the group `verdict` found nothing."""
    skipped: tuple[str, ...] = ("skip", "skipped")
    """Likewise of a test that was not run; any other verdict is a failure."""
    folder: str = "."
    """Where it runs, from the folder of the description."""
    timeout_s: float = 1800.0
    """It only ends what hangs."""


@dataclass
class Difference:
    test: str
    lever: str
    without: str
    under: str


@dataclass
class Outcome:
    """What came of one suite, by lever: what differs, what differed in one of two runs, and why a lever is absent."""

    suite: Suite
    version: str
    base: Verdicts
    flaky: set[str]
    differences: dict[str, list[Difference]] = field(default_factory=dict)
    once: dict[str, set[str]] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)


def read(folder: Path) -> list[Suite]:
    """The suites described in the folder, by file name."""
    made = []
    for path in sorted(folder.glob("*.toml")):
        try:
            suite = msgspec.toml.decode(path.read_bytes(), type=Suite)
            if suite.verdict and not {"name", "verdict"} <= re.compile(suite.verdict).groupindex.keys():
                raise ValueError("`verdict` lacks a group `name` or `verdict`")
        except (ValueError, re.error) as error:
            raise OkosuError(f"{path} describes no suite", f"{error}", "see tools/foreign/") from error
        made.append(suite)
    return made


class Runner:
    """Runs suites and says which, on a terminal; keeps the output of every run in a folder where one is named."""

    def __init__(self, folder: Path, logs: Path | None) -> None:
        self.folder, self.logs = folder, logs

    def run(self, suite: Suite, title: str, options: Sequence[str] | None) -> Verdicts:
        """The verdict of each test of the suite; without okosu where there are no options."""
        launcher = [] if options is None else [str(native.find("okosu-run")), "--strict", *options, "--"]
        if sys.stderr.isatty():
            print(f"{suite.name}: {title}", file=sys.stderr, flush=True)
        output = bytearray()
        with tempfile.TemporaryDirectory(prefix="okosu-foreign-", ignore_cleanup_errors=True) as scratch:
            ended = process.run(
                lambda _: [*launcher, *suite.argv],
                ["log"],
                lambda _, data: output.extend(data),
                cwd=self.folder / suite.folder,
                env=os.environ | {"TMPDIR": scratch, "HOME": scratch},
                timeout=suite.timeout_s,
            )
        if self.logs:
            stem = re.sub(r"\W+", "-", f"{suite.name} {title}")
            (self.logs / f"{stem}.txt").write_bytes(output)
        return verdicts(suite, output.decode(errors="replace"), ended.returncode)


def verdicts(suite: Suite, output: str, status: int | None) -> Verdicts:
    """The verdicts that the output states, and how the run ended; of a name that comes twice the worse counts."""
    found: Verdicts = {}
    for match in re.finditer(suite.verdict, output, re.MULTILINE) if suite.verdict else ():
        word = (match["verdict"] or "").lower()
        said = "passed" if word in suite.passed else "skipped" if word in suite.skipped else "failed"
        # failed, passed, skipped: the worse comes first in the alphabet.
        found[match["name"]] = min(found.get(match["name"], said), said)
    if status is None:
        found[END] = f"hung ({suite.timeout_s:g} s)"
    elif status < 0:
        found[END] = f"killed by {signal.Signals(-status).name}"
    else:
        found[END] = f"exit status {status}" if status else "passed"
    return found


def differing(one: Verdicts, other: Verdicts) -> set[str]:
    """The tests whose verdicts differ, or that only one of them has."""
    return {name for name in one.keys() | other.keys() if one.get(name) != other.get(name)}


def version(suite: Suite, folder: Path) -> str:
    try:
        told = subprocess.run(suite.version, capture_output=True, text=True, check=True, cwd=folder / suite.folder)
        return (told.stdout + told.stderr).strip().splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError) as error:
        raise OkosuError(f"{suite.name} is not here", f"{error}", suite.fetch) from error


def unavailable(options: Sequence[str]) -> str:
    """Why these levers cannot be applied here; "" where they can."""
    tried = subprocess.run(
        [native.find("okosu-run"), "--strict", *options, "--", "true"], capture_output=True, text=True, check=False
    )
    return "" if tried.returncode == 0 else tried.stderr.strip() or f"exit status {tried.returncode}"


def compare(runner: Runner, suite: Suite, levers: Mapping[str, Sequence[str]]) -> Outcome:
    """Run the suite without okosu and under each lever."""
    stated = version(suite, runner.folder)
    base = runner.run(suite, "without", None)
    made = Outcome(suite, stated, base, differing(base, runner.run(suite, "without, again", None)))
    for lever, options in levers.items():
        if why := unavailable(options):
            made.absent[lever] = why
            continue
        under = runner.run(suite, lever, options)
        found = differing(base, under) - made.flaky
        if found:
            again = runner.run(suite, f"{lever}, again", options)
            made.flaky |= differing(base, runner.run(suite, f"without, after {lever}", None))
            found -= made.flaky
            made.once[lever] = found - differing(base, again)
            found -= made.once[lever]
        made.differences[lever] = [
            Difference(name, lever, base.get(name, MISSING), under.get(name, MISSING)) for name in sorted(found)
        ]
    return made


def tables(outcomes: Sequence[Outcome], levers: Sequence[str]) -> list[Section]:
    """The table of the suites, and below it what differs."""
    body, rows, notes = [], [], []
    for one in outcomes:
        counts = Counter(verdict for name, verdict in one.base.items() if name != END or not one.suite.verdict)
        failed = sum(counts.values()) - counts["passed"] - counts["skipped"]
        without = f"{counts['passed']} / {failed} / {counts['skipped']}"
        cells = [str(len(one.differences[lever])) if lever in one.differences else "n/a" for lever in levers]
        body.append([one.suite.name, one.version, str(sum(counts.values())), without, str(len(one.flaky)), *cells])
        found = [each for lever in levers for each in one.differences.get(lever, [])]
        rows += [[one.suite.name, each.lever, _code(each.test), each.without, each.under] for each in found[:_SHOWN]]
        notes += [f"{one.suite.name}: {len(found) - _SHOWN} more"] if len(found) > _SHOWN else []
        notes += [f"{one.suite.name}: {lever} could not be applied: {why}" for lever, why in one.absent.items()]
        notes += [
            f"{one.suite.name}: under {lever} differed in one of two runs: {_code(*names)}"
            for lever, names in one.once.items()
            if names
        ]
        notes += [f"{one.suite.name}: changed without okosu: {_code(*one.flaky)}"] if one.flaky else []
    head = ["suite", "version", "tests", "passed / failed / skipped without", "flaky", *levers]
    listed = ["suite", "lever", "test", "without", "under it"]
    about = "" if rows else NO_DIFFERENCE
    return [
        Section(id="suites", head=head, body=body, notes=notes),
        Section(id="differences", about=about, head=listed, body=rows),
    ]


def merged(made: Sequence[Section], earlier: Sequence[Section], now: Collection[str]) -> list[Section]:
    """The sections with what the earlier ones hold of suites that were not run now."""
    joined = []
    for section, old in zip(made, earlier, strict=True):
        if section.head != old.head:
            told = f"it has the columns {', '.join(old.head)}; this run has {', '.join(section.head)}"
            raise OkosuError("the record cannot be added to", told, "name another file, or run the same levers")
        body = section.body + [row for row in old.body if row[0] not in now]
        notes = section.notes + [note for note in old.notes if note.partition(": ")[0] not in now]
        about = NO_DIFFERENCE if section.id == "differences" and not body else ""
        # A suite's rows and notes keep their order, for sorting is stable.
        body.sort(key=lambda row: row[0])
        notes.sort(key=lambda note: note.partition(": ")[0])
        joined.append(Section(id=section.id, about=about, head=section.head, body=body, notes=notes))
    return joined


def _code(*names: str) -> str:
    """The names in Markdown, fit for a cell of a table."""
    shown = [f"`{name}`".replace("|", "\\|") for name in sorted(names)[:_SHOWN]]
    return ", ".join(shown) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


def main(argv: Sequence[str] | None = None) -> int:
    """Print the tables; exit status 3 if a lever makes a difference."""
    here = [name for name, options in LEVERS.items() if options]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--levers", default=",".join(here), help="of %(default)s", metavar="NAME,…")
    parser.add_argument("--suite", action="append", help="only this one (again for more)", metavar="NAME")
    parser.add_argument(
        "--json",
        type=Path,
        help="write a summary (okosu.summary/1) there, beside the suites that it holds already",
        metavar="FILE",
    )
    parser.add_argument("--logs", type=Path, help="keep the output of each run in this folder", metavar="FOLDER")
    asked = parser.parse_args(argv)
    levers = asked.levers.split(",")
    if unknown := [name for name in levers if name not in here]:
        parser.error(f"no such lever: {', '.join(unknown)} (of {', '.join(here)})")
    # Suites wait for signals that nohup and a shell's "&" leave ignored; what is caught here, exec resets.
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)
    started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    try:
        suites = [suite for suite in read(asked.folder) if not asked.suite or suite.name in asked.suite]
        if not suites:
            parser.error(f"no such suite is described in {asked.folder}")
        if asked.logs:
            asked.logs.mkdir(parents=True, exist_ok=True)
        runner = Runner(asked.folder, asked.logs)
        earlier = summary.read(asked.json).sections if asked.json and asked.json.exists() else []
        if earlier:
            merged(tables([], levers), earlier, ())  # refuses a record of other levers before anything runs
        own = ["python", "tools/foreign/suites.py", str(asked.folder)]
        own += ["--levers", asked.levers] if levers != here else []
        made = Summary(
            schema=SUMMARY_SCHEMA,
            sources=[],
            # The one that makes the whole record, which may be made a suite at a time.
            command=shlex.join([*own, "--json", str(asked.json)]),
            tool=Tool("okosu", okosu.__version__, started),
            machine=kept_facts(machine.facts(machine.read())),
        )
        outcomes: list[Outcome] = []
        for suite in suites:
            outcomes.append(compare(runner, suite, {name: LEVERS[name] for name in levers}))
            made.sections = tables(outcomes, levers)
            if earlier:
                made.sections = merged(made.sections, earlier, {one.suite.name for one in outcomes})
            if asked.json:
                summary.write(made, asked.json)
    except OkosuError as error:
        print(error, file=sys.stderr)
        return 1
    print("\n".join(summary.markdown(section) for section in made.sections))
    return DIFFERENT if any(found for one in outcomes for found in one.differences.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
