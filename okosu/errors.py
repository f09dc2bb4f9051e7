# SPDX-License-Identifier: Apache-2.0
"""The three-part error of every okosu command: what happened, why, and what to do about it."""

from __future__ import annotations

TOOL_ERROR = 1
USAGE_ERROR = 2
EXPECT_NOT_MET = 3
LAUNCHER_FAILED = 125
NOT_EXECUTABLE = 126
NOT_FOUND = 127
INTERRUPTED = 130


class Stopped(KeyboardInterrupt):
    """SIGINT, SIGTERM or SIGHUP has arrived; `number` says which."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class OkosuError(Exception):
    """A failure that a person can act on.

    `what`, `why` and `fix` are single sentences without a final stop; `status` is the exit status of the command.
    """

    def __init__(self, what: str, why: str = "", fix: str = "", status: int = TOOL_ERROR) -> None:
        super().__init__(what)
        self.what, self.why, self.fix, self.status = what, why, fix, status

    def __str__(self) -> str:
        lines = [f"okosu: {self.what}"]
        if self.why:
            lines.append(f"  why: {self.why}")
        if self.fix:
            lines.append(f"  fix: {self.fix}")
        return "\n".join(lines)


def usage(what: str, why: str = "", fix: str = "") -> OkosuError:
    """The error of a command line that makes no sense."""
    return OkosuError(what, why, fix, USAGE_ERROR)


def told(printed: str) -> dict[str, str]:
    """The parts ("okosu", "why", "fix") of the last such error that a native program printed; {} where it did not."""
    found: dict[str, str] = {}
    for line in printed.splitlines():
        # A progress display that was cut off may stand on the same line, before the message.
        key, colon, text = line.removeprefix("\033[K").strip().partition(": ")
        if colon and key == "okosu":
            found = {key: text}
        elif colon and found and key in ("why", "fix"):
            found[key] = text
    return found
