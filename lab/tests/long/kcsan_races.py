# SPDX-License-Identifier: Apache-2.0
"""Data races that a kernel with KCSAN reports, and whether the series took part in them.

Functions cannot tell: the compiler puts the series' into others and others into the series', and of most functions
that the series change they change a line or two. So each frame of a report is looked up in the kernel's line numbers,
with what was inlined there, and a line is the series' if one of their patches wrote it. An access belongs to

* the first line, outward, that is in no helper (the kernel's headers, lib/, arch/): not list_add(), but who calls it;
* and to the callers further out as long as they are in the same file: a function that is as it was races for the series
  where they call it without its lock.

What is further out does not count, or migration would make each race of the page allocator's the series'. A race is the
series' if one of its two accesses is.

KCSAN sees a race where two CPUs come to one place at once: by chance, and more often where CPUs really run at once. So
the guests of these tests are not exact where that is possible. Two CPUs of this machine have to be idle, or little is
seen.
"""

from __future__ import annotations

import re
import subprocess
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from lab.kernel import series, source, tree
from lab.kernel.build import Built
from lab.run import qemu
from lab.run.outcome import Outcome
from lab.tests.long import x86_guest
from lab.tests.long.base import BASE

TIMEOUT_S = 1800.0
# A place is watched more often than by the kernel's own values (once in 4,000 accesses of a CPU, for 80 us).
WATCH = ("kcsan.skip_watch=500", "kcsan.udelay_task=100")
CPUS = 2
COUNTERS = "cat /sys/kernel/debug/kcsan"
_FEWEST_WATCHED = 10_000

_REPORT = re.compile(r"BUG: KCSAN: (.*)\n((?:.*\n)*?).*Reported by Kernel Concurrency Sanitizer")
_TIME = re.compile(r"^\[ *\d+\.\d+\](?:\[ *\w+\])? ?", re.M)
_ACCESS = re.compile(r"^.*\b(?:read|write|assert).* of \d+ bytes by .*\n((?: .*\n)*)", re.M)
_FRAME = re.compile(r"^ ([\w.]+)\+0x([0-9a-f]+)/0x([0-9a-f]+)$", re.M)
_HELPERS = ("include/", "lib/", "arch/", "kernel/kcsan/")

Line = tuple[str, int]
Frame = tuple[str, int, int]


@dataclass(frozen=True)
class Race:
    """A report: its head, which names the two functions, its text, and the frames of each access that it knows."""

    head: str
    text: str
    accesses: tuple[tuple[Frame, ...], ...]


def races(log: str) -> list[Race]:
    """Return the races that a kernel's log reports."""
    return [
        Race(head, text, tuple(_frames(found) for found in _ACCESS.findall(text)))
        for head, text in _REPORT.findall(_TIME.sub("", log))
    ]


def _frames(text: str) -> tuple[Frame, ...]:
    return tuple((name, int(offset, 16), int(size, 16)) for name, offset, size in _FRAME.findall(text))


class Lines:
    """The lines of a kernel's source by address, and which of them the series wrote."""

    def __init__(self, built: Built) -> None:
        self.image = built.path / "vmlinux"
        self.tree = tree.patched(source.find(base=built.base), [series.find(name, built.base) for name in built.series])

    def of(self, race: Race) -> list[list[Line]]:
        """Return the lines that each of the race's accesses belongs to."""
        return [list(self._belongs(access)) for access in race.accesses]

    def ours(self, race: Race) -> bool:
        """Return whether the series have a part in the race; an access that is not understood is taken for theirs."""
        return any(not lines or not self.written.isdisjoint(lines) for lines in self.of(race))

    def _belongs(self, access: Iterable[Frame]) -> Iterator[Line]:
        file = ""
        for frame in access:
            for line in self._inlined(frame):
                if not file and line[0].startswith(_HELPERS) and line not in self.written:
                    continue
                if file and line[0] != file and line not in self._headers:
                    return
                file = file or line[0]
                yield line

    @cached_property
    def _headers(self) -> set[Line]:
        return {line for line in self.written if line[0].endswith(".h")}

    @cached_property
    def written(self) -> set[Line]:
        """Return the lines that are not in the kernel without the series."""
        base = _output("git", "-C", self.tree, "rev-list", "--max-parents=0", "HEAD").strip()
        found: set[Line] = set()
        path = ""
        for text in _output("git", "-C", self.tree, "diff", "-U0", base, "HEAD").splitlines():
            if text.startswith("+++ "):
                path = text.removeprefix("+++ b/")
            elif hunk := re.match(r"@@ \S+ \+(\d+)(?:,(\d+))? @@", text):
                first = int(hunk[1])
                found.update((path, number) for number in range(first, first + int(hunk[2] or 1)))
        return found

    @cached_property
    def _symbols(self) -> list[tuple[int, str]]:
        rows = [line.split() for line in _output("nm", "--numeric-sort", self.image).splitlines()]
        return [(int(row[0], 16), row[2]) for row in rows if len(row) == 3 and row[1] in "tTwW"]

    def _address(self, frame: Frame) -> int | None:
        """Return where a frame's call is; a name that several functions have is told by its size."""
        name, offset, size = frame
        starts = [start for start, symbol in self._symbols if symbol == name]
        if len(starts) > 1:
            addresses = [start for start, _ in self._symbols]
            starts = [
                start
                for start in starts
                if (after := bisect_right(addresses, start)) < len(addresses) and addresses[after] - start == size
            ]
        # What the stack holds is where the call goes on.
        return starts[0] + offset - 1 if starts else None

    def _inlined(self, frame: Frame) -> list[Line]:
        address = self._address(frame)
        if address is None:
            return []
        said = _output("addr2line", "-i", "-e", self.image, hex(address)).splitlines()
        found = (re.match(r"(\S+):(\d+)", text) for text in said)
        return [(match[1].removeprefix(f"{self.tree}/"), int(match[2])) for match in found if match]


def _output(*words: str | Path) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def kernel() -> Built:
    """Return the kernel with the series that reports data races."""
    x86_guest.kernel()
    return qemu.build(fragments=(*qemu.RECIPE.fragments, "x86-kcsan"), base=BASE)


def judge(lines: Lines, outcome: Outcome) -> None:
    """Expect that many places were watched, and no race of the series'. The command ends with COUNTERS."""
    watched = re.search(rb"setup_watchpoints: (\d+)", outcome.stdout)
    assert watched
    assert int(watched[1]) >= _FEWEST_WATCHED
    found = races(outcome.log)
    # A report that could not be parsed must not pass for none.
    assert len(found) == outcome.log.count("BUG: KCSAN: ")
    ours = [f"{race.text}{lines.of(race)}" for race in found if lines.ours(race)]
    assert not ours, "\n".join(ours)
