# SPDX-License-Identifier: Apache-2.0
"""A kernel of the cache as one file where a user says, and beside it a record by which the next one may replace it."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import msgspec

from lab.formats import InstallFile
from lab.kernel.build import Built
from okosu.errors import LAUNCHER_FAILED, OkosuError

NAME = "linux.okosu"


def target(place: str) -> Path:
    """Return the absolute path of the file that `place`, a folder or a file, means; OkosuError (125) if there is no
    such folder."""
    path = Path(place).absolute()
    folder = path if path.is_dir() or place.endswith("/") else path.parent
    if not folder.is_dir():
        why = "it is a file" if folder.exists() else "there is no such folder"
        raise _failed(f"nothing can be installed in {folder}", why, "a folder that exists, or a file in one")
    return path / NAME if folder == path else path


def record(file: Path) -> Path:
    """Return the path of the record that stands beside an installed kernel."""
    return file.with_name(file.name + ".json")


def check(file: Path) -> None:
    """Raise OkosuError (125) unless `file` may be written: nothing is there, or what was installed there, unchanged."""
    beside = record(file)
    if not os.access(file.parent, os.W_OK | os.X_OK):
        raise _failed(f"{file} cannot be installed", f"{file.parent} cannot be written", "a folder of your own")
    if not os.path.lexists(file) and not os.path.lexists(beside):
        return
    why = _foreign(file, beside)
    if why:
        raise _failed(
            f"{file} is not replaced", why, f"remove {file} and {beside.name}, or name another file or folder"
        )


def put(built: Built, file: Path, described: Callable[[str], InstallFile]) -> InstallFile:
    """Install the kernel as `file`, and beside it the record that `described` makes with its digest; return that.

    Each is replaced in one step, once both are on the disk. OkosuError (125) where they cannot be written.
    """
    content = (built.path / "linux").read_bytes()
    written = described(hashlib.sha256(content).hexdigest())
    text = msgspec.json.format(msgspec.json.encode(written), indent=2) + b"\n"
    with contextlib.ExitStack() as undo:
        try:
            new = [_beside(undo, path, data) for path, data in ((file, content), (record(file), text))]
            mask = os.umask(0)
            os.umask(mask)
            new[0].chmod(0o777 & ~mask)
            new[1].chmod(0o666 & ~mask)
            new[0].replace(file)
            new[1].replace(record(file))
        except OSError as error:
            raise _failed(f"{file} cannot be installed", error.strerror or str(error), "another folder") from error
    return written


def _foreign(file: Path, beside: Path) -> str:
    """Return why the two files are not what an installation left; "" if they are."""
    for path in (file, beside):
        if path.is_symlink() or (path.exists() and not path.is_file()):
            return f"{path} is not a file that okosu wrote"
    if not beside.is_file():
        return f"okosu did not write it: {beside.name}, the record of what it wrote, is not beside it"
    try:
        told = msgspec.json.decode(beside.read_bytes(), type=InstallFile)
    except (msgspec.ValidationError, msgspec.DecodeError):
        return f"{beside} is not the record of a kernel that okosu wrote"
    if file.is_file() and told.sha256 != hashlib.sha256(file.read_bytes()).hexdigest():
        return f"it is not the kernel that okosu wrote there: {beside.name} has another digest"
    return ""


def _beside(undo: contextlib.ExitStack, path: Path, data: bytes) -> Path:
    """Write `data` to a new file in the folder of `path`, which `undo` removes where it is still there."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    undo.callback(Path(name).unlink, missing_ok=True)
    with os.fdopen(handle, "wb") as written:
        written.write(data)
        written.flush()
        os.fsync(written.fileno())
    return Path(name)


def _failed(what: str, why: str, fix: str) -> OkosuError:
    return OkosuError(what, why, fix, LAUNCHER_FAILED)
