# SPDX-License-Identifier: Apache-2.0
"""Files below a replaceable root. Reading never raises, never leaves the root, and can be recorded for a capture."""

from __future__ import annotations

import os
import re
from pathlib import Path

MOST_BYTES = 1 << 18
"""More than this of one file is never read: the largest that matters is a status file of 10 KiB."""


class Tree:
    """The files below `root`, named by their absolute path inside it ("/proc/stat")."""

    def __init__(self, root: Path = Path("/"), *, record: bool = False) -> None:
        self.root = Path(os.path.realpath(root))
        self.live = self.root == Path("/")
        """Whether this is the running system, of which system calls may be asked too."""
        self.record = record
        self.files: dict[str, bytes] = {}
        """Where `record` is set, what was read or seen so far: path to content, empty where its presence is all."""
        self.folders: set[str] = set()
        self._parents: dict[str, bool] = {}

    def _place(self, path: str) -> str | None:
        place = f"{'' if self.live else self.root}{path}"
        if self.live:
            return place
        # A link in a captured tree must not lead to this machine's files. The check is made once per folder, because
        # large machines have many.
        parent = os.path.dirname(place)  # noqa: PTH120 (a Path for each of thousands of files would double the time)
        if parent not in self._parents:
            self._parents[parent] = self._inside(parent)
        if not self._parents[parent] or (os.path.islink(place) and not self._inside(place)):  # noqa: PTH114
            return None
        return place

    def _inside(self, place: str) -> bool:
        real = os.path.realpath(place)
        return real == str(self.root) or real.startswith(f"{self.root}/")

    def text(self, path: str) -> str:
        """The file's text, "" where it is missing, unreadable or not a plain file."""
        place = self._place(path)
        if place is None:
            return ""
        try:
            # Reading a FIFO or device in a tree would block for ever.
            fd = os.open(place, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                content = _read(fd)
            finally:
                os.close(fd)
        except (OSError, ValueError):
            return ""
        if self.record:
            self.files[path] = content
        return content.decode(errors="replace")

    def line(self, path: str) -> str:
        """The file's text without surrounding white space."""
        return self.text(path).strip()

    def has(self, path: str) -> bool:
        place = self._place(path)
        if place is None or not os.path.exists(place):  # noqa: PTH110
            return False
        if self.record:
            self._saw(path, place)
        return True

    def names(self, folder: str, pattern: str) -> list[str]:
        """The names in `folder` that match `pattern` entirely, in natural order (node2 before node10)."""
        place = self._place(folder)
        if place is None:
            return []
        try:
            found = [name for name in os.listdir(place) if re.fullmatch(pattern, name)]  # noqa: PTH208
        except OSError:
            return []
        if self.record:
            self.folders.add(folder)
            for name in found:
                self._saw(f"{folder}/{name}", f"{place}/{name}")
        return sorted(found, key=_natural)

    def _saw(self, path: str, place: str) -> None:
        if os.path.isdir(place):  # noqa: PTH112
            self.folders.add(path)
        else:
            self.files.setdefault(path, b"")


def _read(fd: int) -> bytes:
    parts: list[bytes] = []
    left = MOST_BYTES
    while left > 0 and (part := os.read(fd, min(left, 1 << 16))):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _natural(name: str) -> list[tuple[int, str]]:
    return [(int(p), "") if p.isdecimal() and p.isascii() else (-1, p) for p in re.split(r"([0-9]+)", name)]
