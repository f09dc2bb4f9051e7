# SPDX-License-Identifier: Apache-2.0
"""How `okosu bench` runs: which programs, with which arguments, what is kept while they run and what is shown."""

from __future__ import annotations

import argparse
import difflib
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from okosu import machine, native, plugins
from okosu.bench import drive, profile, rows
from okosu.bench.rows import Result
from okosu.cli import _bench_table
from okosu.cli._lock import measuring
from okosu.cli._lock import path as lock_path
from okosu.cli.bench import ALL
from okosu.errors import INTERRUPTED, TOOL_ERROR, USAGE_ERROR, usage
from okosu.records import files
from okosu.records.types import BenchFile, BenchPlan, begin

ROUNDS = 15
"""Enough for an interval at 95 % that is corrected over 819 comparisons; 11 are enough for 51."""
PROFILE_ROUNDS = 7
"""A profile needs no interval: where two variants differ by less than the noise, either will do."""
PROFILE_SECONDS = 20
"""Where all rounds would take longer, there are fewer. Three rounds of the largest points take up to 8 s more."""
WRITE_EVERY_S = 2.0
QUIET = 30.0
"""Times as long as writing took, nothing is written: it uses memory bandwidth that is being measured."""
PEERS = Path(os.environ.get("OKOSU_PEERS") or native.PACKAGE.parent / ".peers")
"""The libraries to compare with, where no others are named."""


def wanted(args: argparse.Namespace) -> list[str]:
    """The benchmarks that the options ask for; OkosuError (2) where the options contradict each other."""
    names = native.benches()
    if args.bench == ALL:
        for option in ("only", "variant", "sizes", "profile"):
            if getattr(args, option) not in (None, ""):
                raise usage(f"--{option} needs one benchmark", "each has its own", f"one of {', '.join(names)}")
        return names
    if args.bench not in names:
        near = difflib.get_close_matches(args.bench, names, 1)
        hint = f"did you mean {near[0]}? " if near else ""
        why = "" if plugins.load("okosu.programs") else "the papers' benchmarks are in a checkout of okosu alone"
        raise usage(f"no benchmark is called {args.bench!r}", why, f"{hint}they are {', '.join(names)} and {ALL}")
    if args.profile is not None and args.bench not in profile.BENCHES:
        raise usage(f"bench {args.bench} has no profile", "", f"one of {', '.join(profile.BENCHES)}")
    if args.profile is not None and args.smoke:
        raise usage("--profile with --smoke", "two rounds are no measurement", "leave one of them out")
    return [args.bench]


def show_list(names: list[str]) -> int:
    """Print the routines and variants of the benchmarks."""
    print("\n\n".join(_bench_table.listing(drive.run(name, ["--list"])) for name in names))
    return 0


def dry_run(names: list[str], args: argparse.Namespace) -> int:
    """Print what would be run, and which files would be written."""
    words = arguments(args, args.seed if args.seed is not None else 0)
    for name in names:
        print(f"{name}: {' '.join(drive.command(name, words, _loader(args)))}")
    if args.seed is None:
        print("seed: drawn anew (shown: 0)")
    print(f"environment: {' '.join(f'{name}={value}' for name, value in drive.ONE_THREAD.items())}, where not set")
    print("system calls of note: sched_setaffinity (one CPU), mmap, madvise and mbind of its own memory")
    print(f"files: a lock on {lock_path()}; records in {_destination(args.json, names)}")
    return 0


def _loader(args: argparse.Namespace) -> list[str]:
    return drive.on_libc(Path(args.libc)) if args.libc else []


def arguments(args: argparse.Namespace, seed: int) -> list[str]:
    """The options that okosu passes to the benchmark programs."""
    peers = args.peers or ([str(PEERS)] if PEERS.is_dir() else [])
    for folder in peers:
        if not Path(folder).is_dir():
            raise usage(f"--peers {folder}: no such folder", "", "make peers puts them into .peers")
    given = {"rounds": args.rounds, "cpu": args.cpu, "only": args.only, "variant": args.variant, "sizes": args.sizes}
    learns = args.profile is not None and not (args.only or args.variant or args.sizes)
    if args.rounds is None and not args.smoke:
        given["rounds"] = PROFILE_ROUNDS if learns else ROUNDS
    given["seed"] = seed
    made = [word for name, value in given.items() if value is not None for word in (f"--{name}", str(value))]
    made += ["--seconds", str(PROFILE_SECONDS), *profile.points(args.bench)] if learns else []
    # A profile is made of okosu's own variants and the C library's.
    made += [word for folder in ([] if learns else peers) for word in ("--peers", folder)]
    return [*made, *(["--smoke"] if args.smoke else [])]


def measure(names: list[str], args: argparse.Namespace) -> int:
    """Run the benchmarks one after the other, keep what they measure, and print their tables. Returns the exit
    status.
    """
    seed = args.seed if args.seed is not None else int.from_bytes(os.urandom(4))
    words = arguments(args, seed)
    loader = _loader(args)
    session = Session(names, words, seed, _destination(args.json, names))
    table = sys.stderr if args.json == "-" else sys.stdout
    status = 0
    with measuring():
        try:
            for name in names:
                if not _one(session, name, words, loader):
                    status = TOOL_ERROR
                print(_bench_table.render(session.results[name]), file=table, flush=True)
        except KeyboardInterrupt:
            status = INTERRUPTED
            print(_bench_table.render(session.results[name]), file=table, flush=True)
        session.end(status == 0)
    if args.profile is not None and status == 0:
        _write_profile(session.results[names[0]], args.profile)
        print(_bench_table.learned(session.results[names[0]]), file=table, end="", flush=True)
    if args.json == "-":
        print(files.encode(session.envelope).decode())
    print(f"records: {session.path}", file=sys.stderr)
    if status == INTERRUPTED:
        print("interrupted: the records hold what was measured until then", file=sys.stderr)
    elif not args.smoke:
        print(f"with plots: okosu report {session.path}", file=sys.stderr)
    return status


def _one(session: Session, name: str, words: list[str], loader: list[str]) -> bool:
    """Run one benchmark; say whether it finished. OkosuError where nothing could be run at all."""
    session.results[name] = Result(name)
    try:
        session.list(drive.run(name, ["--list"]))
        with _display(session, name) as seen:
            seen(drive.run(name, words, seen, loader))
    except drive.BenchError as error:
        if error.status == USAGE_ERROR:
            raise
        session.take(error.result)
        session.write()
        print(error, file=sys.stderr)
        return False
    session.write()
    return True


class Session:
    """The records file of a run while it grows."""

    def __init__(self, names: list[str], words: list[str], seed: int, path: Path) -> None:
        self.path = path
        self.results: dict[str, Result] = {}
        here = machine.read()
        command = ["okosu", "bench", names[0] if len(names) == 1 else ALL]
        plan = BenchPlan(command=command, options=words, seed=seed)
        self.envelope = begin(BenchFile, machine.facts(here), plan=plan)
        self._machine = here.id
        self._listed: dict[str, Result] = {}
        self._next = 0.0
        self._written = -1

    def list(self, listed: Result) -> None:
        """Add the routines and variants that a benchmark lists."""
        self._listed[listed.name] = listed

    def take(self, result: Result) -> None:
        """Add what a benchmark has measured so far."""
        if listed := self._listed.get(result.name):
            result.routines, result.variants = listed.routines, listed.variants
        self.results[result.name] = result

    def seen(self, result: Result) -> None:
        """Add what a benchmark has measured so far, and write the file from time to time."""
        self.take(result)
        if time.monotonic() > self._next and self._rows() > self._written:
            self.write()

    def _rows(self) -> int:
        return sum(len(found) for one in self.results.values() for found in (one.rows, one.absent, one.notes))

    def write(self) -> None:
        """Write the file with everything measured so far."""
        begun = time.monotonic()
        self._written = self._rows()
        self.envelope.records = [r for result in self.results.values() for r in rows.records(result, self._machine)]
        for name, result in self.results.items():
            about: dict[str, object] = {
                "header": result.header,
                "routines": result.routines,
                "variants": result.variants,
            }
            about |= {"absent": result.absent, "notes": result.notes, "finished": result.finished}
            self.envelope.plan.benches[name] = msgspec.to_builtins(about)
        files.write(self.envelope, self.path)
        now = time.monotonic()
        self._next = now + max(WRITE_EVERY_S, QUIET * (now - begun))

    def end(self, finished: bool) -> None:
        """Write the file for the last time; `finished` says whether every benchmark finished."""
        self.envelope.finished = finished
        self.envelope.machine["state_after"] = machine.state()
        self.write()


@contextmanager
def _display(session: Session, name: str) -> Iterator[drive.Progress]:
    """Show on a terminal how far a benchmark is; yields a function to be called with the result after every line."""
    terminal = sys.stderr.isatty()
    begun = time.monotonic()

    def seen(result: Result) -> None:
        session.seen(result)
        if terminal:
            last = result.rows[-1] if result.rows else None
            where = f"{last.routine} n={last.n} {last.mode}" if last else "measures the clock"
            spent = int(time.monotonic() - begun)
            text = f"{name}: {len(result.rows)} rows in {spent // 60}:{spent % 60:02}, {where}"
            print(f"\r\033[K{text[:100]}", end="", file=sys.stderr, flush=True)

    if terminal:
        print(f"{name} …", end="", file=sys.stderr, flush=True)
    try:
        yield seen
    finally:
        if terminal:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def _write_profile(result: Result, name: str) -> None:
    """Write the profile to the file of that name, or, where it is empty, to where the lever `copy` looks for it."""
    assert result.header is not None
    path = Path(name) if name else profile.learned(result.name, result.header.model)
    files.put(path, profile.text(result).encode(), "another place after --profile")
    used = f"OKOSU_{result.name.upper()}_PROFILE={path}" if name else "okosu run --copy=profile"
    print(f"profile: {path} ({used} uses it)", file=sys.stderr)


def _destination(json: str | None, names: list[str]) -> Path:
    return files.destination(json, "bench", names[0] if len(names) == 1 else ALL)
