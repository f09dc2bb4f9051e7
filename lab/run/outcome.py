# SPDX-License-Identifier: Apache-2.0
"""How a command fared in a guest: the report of the first process, and what the kernel's log says of a failure."""

from __future__ import annotations

import re
import shutil
import tempfile
import weakref
from dataclasses import dataclass, field
from pathlib import Path

from lab import cache
from okosu.errors import LAUNCHER_FAILED, OkosuError

STREAMS = ("stdout", "stderr", "control", "log")

_EXIT = re.compile(rb"^(exit|signal) (\d+) (\d+\.\d+)\n", re.M)
_FAIL = re.compile(rb"^fail (.*)$", re.M)
_PANIC = re.compile(r"Kernel panic - not syncing: (.*)")
# What an exception was, and where: it is printed before the panic that it leads to.
_CAUSE = re.compile(r"\b(?:BUG: .*|Oops: .*|RIP: \S+)")
_CAUSES = 4
_KEPT_LOGS = 20


class GuestError(OkosuError):
    """The command in a guest did not come to its end; `heard` is what came out of the guest until then."""

    def __init__(self, what: str, why: str, fix: str, heard: Heard) -> None:
        super().__init__(what, why, fix, LAUNCHER_FAILED)
        self.heard = heard


@dataclass
class Heard:
    """What came out of a guest: each stream by itself, and all of them but the control line in the order of arrival."""

    streams: dict[str, bytearray] = field(default_factory=lambda: {name: bytearray() for name in STREAMS})
    together: bytearray = field(default_factory=bytearray)

    def add(self, stream: str, data: bytes) -> None:
        self.streams[stream] += data
        if stream != "control":
            self.together += data

    @property
    def started(self) -> bool:
        """Whether the command was started."""
        return self.streams["control"].startswith(b"start\n")

    @property
    def text(self) -> str:
        """All streams but the control line, in the order of arrival."""
        return self.together.decode(errors="replace")

    @property
    def log(self) -> str:
        """The kernel's log, without the carriage returns of a serial line."""
        return self.streams["log"].decode(errors="replace").replace("\r\n", "\n")

    @property
    def ended(self) -> tuple[int, int | None, float] | None:
        """(exit status as a shell has it, signal or None, seconds) once the command has ended, else None."""
        match = _EXIT.search(self.streams["control"])
        if not match:
            return None
        number, seconds = int(match[2]), float(match[3])
        return (128 + number, number, seconds) if match[1] == b"signal" else (number, None, seconds)

    @property
    def failure(self) -> str | None:
        """Why the command could not be run, by the first process or by the kernel's panic; None if neither says."""
        if match := _FAIL.search(self.streams["control"]):
            return match[1].decode(errors="replace")
        if panic := _PANIC.search(self.log):
            return "; ".join([f"kernel panic: {panic[1]}", *_CAUSE.findall(self.log)[:_CAUSES]])
        return None


@dataclass
class Outcome:
    """A command that ran to its end in a guest.

    `status` is its exit status, 128 + N after signal N (then `signal` is N). `stdout` and `stderr` are its bytes,
    `log` the kernel's messages, `console` all three as they came. `boot_seconds` run from the start of the simulator to
    the start of the command by the host's clock, `seconds` from there to its end by the guest's. `files` are what it
    left in its out folder and what the simulator wrote (gmon.out); where the caller named no folder they are removed
    with this object.
    """

    status: int
    signal: int | None
    stdout: bytes
    stderr: bytes
    log: str
    console: str
    boot_seconds: float
    seconds: float
    files: dict[str, Path]

    def remove_with_me(self, folder: Path) -> None:
        """Remove `folder` when this object goes."""
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)


def keep_log(heard: Heard) -> Path:
    """Write what came out of a guest that failed into the cache, where the last few are kept, and return the file."""
    folder = cache.root()
    folder.mkdir(parents=True, exist_ok=True)
    older = sorted(folder.glob("failed-guest-*.log"), key=lambda path: path.stat().st_mtime)
    for path in older[: 1 - _KEPT_LOGS]:
        path.unlink(missing_ok=True)
    with tempfile.NamedTemporaryFile(prefix="failed-guest-", suffix=".log", dir=folder, delete=False) as file:
        file.write(heard.together)
    return Path(file.name)


def last_lines(log: str, count: int = 3) -> str:
    """Return the last lines of a log that are not empty, for an error."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    return "\n       ".join(lines[-count:]) or "the guest said nothing"
