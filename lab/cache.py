# SPDX-License-Identifier: Apache-2.0
"""What the lab keeps between runs: $XDG_CACHE_HOME/okosu/lab/KIND/KEY, each made once and put in place by a rename."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from okosu.errors import LAUNCHER_FAILED, OkosuError
from okosu.records import files

if TYPE_CHECKING:
    from collections.abc import Iterator

Say = Callable[[str], None]

_PARTIAL = ".partial"
_LOCKS = "locks"


def quiet(_: str) -> None:
    """The `say` of a caller that shows no progress."""


def root() -> Path:
    """Return the lab's folder in the user's cache; it need not exist."""
    return files.cache_folder() / "lab"


def key(*parts: object) -> str:
    """Return a name of 16 hexadecimal digits for what is made from `parts`, which are anything that JSON can hold."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def made(kind: str, name: str, fill: Callable[[Path], None], say: Say = quiet, resume: bool = False) -> Path:
    """Return the folder KIND/NAME, letting `fill(folder)` make it where it is missing.

    Two processes that want the same one do not both make it: the second waits. With `resume` what an interrupted `fill`
    left is given to the next one; without, it is removed first. OkosuError (125) where the disk is full.
    """
    final = root() / kind / name
    if final.is_dir():
        return final
    with full_disk_said(), locked(f"{kind}-{name}", say):
        if final.is_dir():
            return final
        partial = final.with_name(name + _PARTIAL)
        if partial.exists() and not resume:
            shutil.rmtree(partial)
        partial.mkdir(parents=True, exist_ok=True)
        fill(partial)
        partial.rename(final)
    return final


@contextmanager
def locked(name: str, say: Say = quiet) -> Iterator[None]:
    """Hold the lock `name` of the lab's folder. The kernel releases it when the process ends, however that happens."""
    folder = root() / _LOCKS
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / name).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another okosu is making the same: waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def full_disk_said() -> Iterator[None]:
    """Turn ENOSPC and EDQUOT into the OkosuError of full_disk()."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise full_disk() from error


def full_disk() -> OkosuError:
    return OkosuError(
        "the lab's cache cannot be written: no space left",
        f"a kernel's source needs 1.2 GB below {root()}, each build up to 1 GB while it is made",
        "okosu lab cache --clear, or XDG_CACHE_HOME=/somewhere/larger",
        LAUNCHER_FAILED,
    )


def sizes() -> list[tuple[str, int]]:
    """Return (KIND/NAME, bytes on disk) of everything kept; a file that several hold by hard links counts once."""
    seen: set[tuple[int, int]] = set()
    found = []
    for folder in sorted(path for path in root().glob("*/*") if path.is_dir()):
        total = 0
        for place, _, names in os.walk(folder):
            for file in names:
                info = os.lstat(f"{place}/{file}")
                if (info.st_dev, info.st_ino) not in seen:
                    seen.add((info.st_dev, info.st_ino))
                    total += info.st_blocks * 512
        found.append((str(folder.relative_to(root())), total))
    return found


def clear() -> None:
    """Remove everything that is kept, logs of failures too; what another okosu is making goes once it is finished."""
    for log in root().glob("failed-*.log"):
        log.unlink(missing_ok=True)
    for folder in [path for path in root().glob("*/*") if path.is_dir()]:
        name = folder.name.removesuffix(_PARTIAL)
        with locked(f"{folder.parent.name}-{name}"):
            shutil.rmtree(folder)
