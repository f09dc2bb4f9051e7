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
    return Path(tempfile.gettempdir()) / "okosu-measuring.lock"


@contextlib.contextmanager
def measuring() -> Iterator[None]:
    """Hold the machine's measurement lock, waiting for it: two measurements at once would disturb each other."""
    try:
        fd = os.open(path(), os.O_RDONLY | os.O_CREAT, 0o666)
    except PermissionError:
        # In a sticky folder the kernel refuses O_CREAT on another user's file, and a lock needs only a descriptor.
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
