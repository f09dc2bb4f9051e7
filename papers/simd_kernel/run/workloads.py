# SPDX-License-Identifier: Apache-2.0
"""The workload set: fixed work for a kernel, one program of guest/ each, whose source says what it stresses.

It has the shape of the tests of UnixBench that the paper simd-kernel ran: pipe with 512 bytes, file copy with 256, 1024
and 4096, process creation, execl, context switch, system call; and fork with copy-on-write and reads from the page
cache beside.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from okosu.errors import USAGE_ERROR, OkosuError


@dataclass(frozen=True)
class Workload:
    """One workload: a program of guest/ and its arguments, the last of which is the number of repetitions."""

    name: str
    program: str
    sizes: tuple[int, ...]
    repetitions: int

    def command(self, folder: Path, scale: float = 1.0) -> list[str]:
        """Return the argv in `folder`, with `scale` times the repetitions, at least one."""
        reps = max(1, round(self.repetitions * scale))
        return [str(folder / self.program), *map(str, self.sizes), str(reps)]


@dataclass(frozen=True)
class Result:
    """What a workload prints: operations, wall seconds, bytes that it asked the kernel to copy."""

    ops: int
    seconds: float
    bytes: int


TABLE = (
    Workload("pipe-512", "work_pipe", (512,), 30000),
    Workload("copy-256", "work_filecopy", (256, 500), 60),
    Workload("copy-1024", "work_filecopy", (1024, 2000), 15),
    Workload("copy-4096", "work_filecopy", (4096, 8000), 4),
    Workload("page-read", "work_pageread", (262144, 1), 140000),
    Workload("page-read-4M", "work_pageread", (4194304, 1), 8750),
    Workload("fork-cow", "work_fork", (256,), 70),
    Workload("exec", "work_exec", (), 400),
    Workload("spawn", "work_spawn", (), 1000),
    Workload("switch", "work_switch", (), 15000),
    Workload("syscall", "work_syscall", (), 60000),
)
"""Each takes a second or so with UML's own memcpy, as UnixBench gives each of its tests the same time; but the two
page-reads, which read the same number of bytes, take longer. Under User-Mode Linux a system call costs 15 to 60 µs in
ptrace and a copy of 4096 bytes 0.1: only whole files in one read give memcpy the second in each boot by which ten
boots, at 100 Hz, have the 1,000 samples that a total needs."""


def find(names: list[str]) -> tuple[Workload, ...]:
    """Return the workloads of these names in the table's order, all where none is named; OkosuError (2)."""
    known = [one.name for one in TABLE]
    for name in names:
        if name not in known:
            raise OkosuError(
                f"no workload is called {name!r}", f"they are {', '.join(known)}", "one of these", USAGE_ERROR
            )
    return tuple(one for one in TABLE if not names or one.name in names)


def parse(line: str) -> Result:
    """Read the line that a workload prints; OkosuError where it is another."""
    try:
        said = json.loads(line)
        result = Result(int(said["ops"]), float(said["seconds"]), int(said["bytes"]))
    except (ValueError, KeyError, TypeError) as error:
        raise OkosuError(
            f"a workload printed {line[:60]!r}", 'expected {"ops": …, "seconds": …, "bytes": …}'
        ) from error
    if result.ops < 1 or not result.seconds > 0:
        raise OkosuError(f"a workload printed {line[:60]!r}", "no operation, or no time")
    return result
