# SPDX-License-Identifier: Apache-2.0
"""One measurement at a time on a machine, whichever command and whichever user makes it.

Each user has a lock that no other can open, and thus none can hold, in the folder of temporary files. Whether another
user holds theirs is read in /proc/locks; of two that begin at once the one with the lower number of user goes first.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pwd
import shlex
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from okosu.errors import OkosuError

_LOOK_AGAIN_S = 0.5
_SHOWN = 100


def path(user: int | None = None) -> Path:
    """The lock of that user, or of this process's."""
    return Path(tempfile.gettempdir()) / f"okosu-measuring-{os.geteuid() if user is None else user}.lock"


@contextlib.contextmanager
def measuring() -> Iterator[None]:
    """Hold the machine's measurement lock, waiting for it: two measurements at once would disturb each other."""
    fd = _open()
    told: set[int] = set()
    try:
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                _tell(os.geteuid(), told)
                fcntl.flock(fd, fcntl.LOCK_EX)
            others = _others()
            if not others:
                break
            for user in others:
                _tell(user, told)
            if min(others) < os.geteuid():
                fcntl.flock(fd, fcntl.LOCK_UN)
            time.sleep(_LOOK_AGAIN_S)
        yield
    finally:
        os.close(fd)


def _open() -> int:
    """A descriptor of this user's lock, made if it is not there. No link is followed, and no other's file is used."""
    try:
        fd = os.open(path(), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, 0o600)
    except OSError as error:
        raise _unusable(error.strerror or str(error)) from error
    about = os.fstat(fd)
    if not stat.S_ISREG(about.st_mode) or about.st_uid != os.geteuid() or about.st_nlink != 1:
        os.close(fd)
        raise _unusable("it is not a file of this user's alone")
    os.fchmod(fd, 0o600)
    return fd


def _unusable(why: str) -> OkosuError:
    return OkosuError(
        f"the lock {path()} cannot be had, which keeps two measurements apart",
        why,
        "remove what is there, or name a folder of your own in TMPDIR",
    )


def _holder(user: int) -> int | None:
    """The process that holds that user's lock (0: one that cannot be seen from here), or None."""
    try:
        about = path(user).lstat()
        locks = Path("/proc/locks").read_text()
    except OSError:
        return None
    if not stat.S_ISREG(about.st_mode) or about.st_uid != user or about.st_mode & 0o077:
        return None
    file = f"{os.major(about.st_dev):02x}:{os.minor(about.st_dev):02x}:{about.st_ino}"
    held = (line.split() for line in locks.splitlines())
    return next((max(int(words[4]), 0) for words in held if words[1] == "FLOCK" and words[5] == file), None)


def _others() -> list[int]:
    """The other users who are measuring."""
    found = path().parent.glob("okosu-measuring-*.lock")
    users = {int(file.stem.rpartition("-")[2]) for file in found if file.stem.rpartition("-")[2].isdecimal()}
    return [user for user in users - {os.geteuid()} if _holder(user) is not None]


def _command(process: int) -> str:
    """What the process was started as, from its word `okosu` on; "" if that cannot be read."""
    try:
        words = Path(f"/proc/{process}/cmdline").read_text(errors="replace").rstrip("\0").split("\0")
    except OSError:
        return ""
    names = [Path(word).name for word in words]
    line = shlex.join(["okosu", *words[names.index("okosu") + 1 :]] if "okosu" in names else words)
    return line if len(line) <= _SHOWN else line[: _SHOWN - 3] + "..."


def _tell(user: int, told: set[int]) -> None:
    if user in told:
        return
    told.add(user)
    process = _holder(user)
    who = f"process {process}" if process else "a process"
    if user != os.geteuid():
        try:
            who += f" of {pwd.getpwuid(user).pw_name}"
        except KeyError:
            who += f" of user {user}"
    if process and (command := _command(process)):
        who += f": {command}"
    print(f"another okosu is measuring on this machine ({who}); waiting for it to end", file=sys.stderr, flush=True)
