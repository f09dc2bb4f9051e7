# SPDX-License-Identifier: Apache-2.0
"""What the tests compile, once for all processes that share the tests."""

from __future__ import annotations

import atexit
import fcntl
import functools
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

VARIABLE = "TESTS_SHARED_FOLDER"


def share(worker: bool) -> None:
    """Make the folder in the process that starts the others (each a `worker`), which have its name in their
    environment. Tests that a test starts have another, for they may be compiled for another processor.

    It is made now: a test may have a folder for temporary files of its own, in which nothing may be left.
    """
    if not worker:
        os.environ[VARIABLE] = temporary()


def temporary() -> str:
    """A new folder that every user may enter, as some tests start programs as another; it lives as long as this
    process.
    """
    folder = tempfile.mkdtemp(prefix="okosu-made-")
    Path(folder).chmod(0o755)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@functools.cache
def place() -> Path:
    return Path(os.environ.get(VARIABLE) or temporary())


def made(name: str, make: Callable[[Path], object]) -> Path:
    """Return the file `name`, which `make` writes to the path that it is given if no process has made it yet."""
    out, partial = place() / name, place() / f"{name}.new"
    with (place() / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not out.exists():
            make(partial)
            partial.rename(out)
    return out
