# SPDX-License-Identifier: Apache-2.0
"""One measurement at a time on a machine, whichever command makes it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path


def path() -> Path:
    """Return the file that is locked while a command measures."""
    return Path(tempfile.gettempdir()) / "okosu-measuring.lock"


@contextlib.contextmanager
def measuring() -> Iterator[None]:
    """Hold the machine's measurement lock: two measurements at once would measure each other. Waits for its turn."""
    try:
        fd = os.open(path(), os.O_RDONLY | os.O_CREAT, 0o666)
    except PermissionError:
        # Sticky folders refuse O_CREAT on another user's file; the lock needs no more than a descriptor.
        fd = os.open(path(), os.O_RDONLY)
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("another okosu is measuring on this machine; waiting for it to end", file=sys.stderr)
            fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)
