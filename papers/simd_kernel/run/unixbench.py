# SPDX-License-Identifier: Apache-2.0
"""UnixBench's own programs as workloads, from a checkout of byte-unixbench that the user points at (--unixbench DIR).

Its programs run for a given time and count, so that runs compare by their rate and not by wall seconds; they are
started directly, without its perl script. Nothing of it is in this repository.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.run.outcome import Outcome
from okosu.errors import USAGE_ERROR, OkosuError

FOLDER = "pgms"
_COUNT = re.compile(r"^COUNT\|(?P<count>\d+(?:\.\d*)?)\|(?P<base>[0-9.]+)\|(?P<unit>[^|\n]+)", re.M | re.A)


@dataclass(frozen=True)
class Test:
    """One of UnixBench's tests: its program, arguments before and after the seconds, and the seconds that it has."""

    name: str
    program: str
    before: tuple[str, ...] = ()
    seconds: int = 10
    after: tuple[str, ...] = ()

    def command(self, folder: Path, share: float = 1.0) -> list[str]:
        """Return the argv for a checkout, with `share` of the seconds, at least one."""
        seconds = max(1, round(self.seconds * share))
        return [str(folder / FOLDER / self.program), *self.before, str(seconds), *self.after]


TABLE = (
    Test("pipe", "pipe"),
    Test("fstime-256", "fstime", ("-c", "-t"), 30, ("-d", "/tmp", "-b", "256", "-m", "500")),
    Test("fstime-1024", "fstime", ("-c", "-t"), 30, ("-d", "/tmp", "-b", "1024", "-m", "2000")),
    Test("fstime-4096", "fstime", ("-c", "-t"), 30, ("-d", "/tmp", "-b", "4096", "-m", "8000")),
    Test("syscall", "syscall"),
    Test("context1", "context1"),
    Test("spawn", "spawn", (), 30),
    Test("execl", "execl", (), 30),
)
"""The file copies go to the guest's /tmp, which is in memory."""


@dataclass(frozen=True)
class Rate:
    """Operations in a second (or in `base` seconds divided by them, as UnixBench has it), and their unit."""

    value: float
    unit: str


def check(folder: Path) -> Path:
    """Return the checkout's absolute path; OkosuError (2) where it is none, or was not built."""
    for place in (folder, folder / "UnixBench"):
        if (place / FOLDER).is_dir() or (place / "Run").is_file():
            folder = place.resolve()
            break
    else:
        raise OkosuError(
            f"--unixbench {folder}: no checkout of UnixBench",
            f"it has no folder {FOLDER} and no file Run",
            "git clone https://github.com/kdlucas/byte-unixbench, and DIR is its folder UnixBench",
            USAGE_ERROR,
        )
    programs = dict.fromkeys(test.program for test in TABLE)
    if missing := [name for name in programs if not os.access(folder / FOLDER / name, os.X_OK)]:
        raise OkosuError(
            f"--unixbench {folder}: not built",
            f"{FOLDER} lacks {', '.join(missing)}",
            f"make -C {folder} UB_GCC_OPTIONS='-O2'",
            USAGE_ERROR,
        )
    return folder


def parse(text: str) -> Rate:
    """Read what a test prints, lines COUNT|N|BASE|UNIT; OkosuError where there is none that counted something.

    BASE 1 means that N is a rate; 0 that N is given in full, 60 that it is counted by the minute. fstime -c prints the
    rates of its preparations before that of its copies, and context1's child a 0 after its parent's: the last that is
    not 0 is the test's.
    """
    counted = [match for match in _COUNT.finditer(text) if float(match["count"])]
    if not counted:
        raise OkosuError("a test of UnixBench printed no line COUNT|… of something", text.strip()[-200:])
    return Rate(float(counted[-1]["count"]), counted[-1]["unit"].strip())


def run(folder: Path, boot: Callable[[Sequence[str]], Outcome], share: float = 1.0) -> list[tuple[str, Rate, Outcome]]:
    """Run each test in a boot of its own; returns its rate and how the boot went. OkosuError names one that fails."""
    found = []
    for test in TABLE:
        outcome = boot(["env", f"UB_BINDIR={folder / FOLDER}", *test.command(folder, share)])
        said = (outcome.stdout + outcome.stderr).decode(errors="replace")
        if outcome.status:
            raise OkosuError(f"UnixBench's {test.name} ended with status {outcome.status}", said.strip()[-200:])
        found.append((test.name, parse(said), outcome))
    return found
