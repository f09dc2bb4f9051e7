# SPDX-License-Identifier: Apache-2.0
"""Reading and writing record files: one JSON envelope, replaced as a whole, so that a crash loses nothing."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import shlex
import stat
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from okosu.errors import OkosuError, usage
from okosu.records.types import COLUMNS, KINDS, BenchFile, Envelope, ReproduceFile, TryFile

_VERSIONS = dict(str(kind.__struct_config__.tag).split("/") for kind in KINDS)
_BYTE = re.compile(r" \(byte (\d+)\)$")
_NAME_LENGTH = 40
_LISTS = ("sources", "state_rounds", "records", "verdicts", "compared", "rows", "body")
"""Lists of which each item has a line."""
_LAST = ("records", "verdicts", "compared", "finished")
File = TryFile | BenchFile | ReproduceFile
F = TypeVar("F", bound=Envelope)


class _Head(msgspec.Struct):
    """As much of a file as tells who wrote it, whatever its version."""

    schema: Any = None
    tool: Any = None


def state_folder() -> Path:
    """Where okosu keeps what it has measured: $XDG_STATE_HOME/okosu."""
    # The XDG specification says to ignore a relative path.
    home = Path(os.environ.get("XDG_STATE_HOME", ""))
    return (home if home.is_absolute() else Path.home() / ".local" / "state") / "okosu"


def cache_folder() -> Path:
    """Where okosu keeps what can be made again: $XDG_CACHE_HOME/okosu."""
    home = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (home if home.is_absolute() else Path.home() / ".cache") / "okosu"


def default_path(kind: str, subject: str) -> Path:
    """A path that does not exist yet, in the state folder: KIND-YYYYmmdd-HHMMSS-NAME.json, in local time.

    `kind` is "try", "bench" or "reproduce"; NAME is the program's name in the command line `subject`.
    """
    try:
        words = shlex.split(subject)
    except ValueError:
        words = subject.split()
    name = re.sub(r"[^A-Za-z0-9._-]+", "_", Path(words[0]).name if words else "")[:_NAME_LENGTH].strip("._")
    stem = f"{kind}-{time.strftime('%Y%m%d-%H%M%S')}-{name or 'program'}"
    paths = (
        state_folder() / f"{stem}{suffix}.json"
        for suffix in itertools.chain([""], (f"-{n}" for n in itertools.count(2)))
    )
    return next(path for path in paths if not os.path.lexists(path))


def destination(json: str | None, kind: str, subject: str) -> Path:
    """Where --json sends the records; default_path where it names no file. OkosuError (2) for an unusable path."""
    if json in (None, "-"):
        return default_path(kind, subject)
    path = Path(str(json))
    if path.is_dir() or not path.parent.is_dir():
        raise usage(
            f"--json {json}: no file can be written there",
            "it is a folder" if path.is_dir() else f"there is no folder {path.parent}",
            "a file in a folder that exists, or -",
        )
    return path


def write(envelope: Envelope, path: Path) -> None:
    """Replace `path` by the envelope (mode 0644) in one step. If that fails, OkosuError, and the old file is unchanged.

    An envelope that could not be read back (a sample that is not a number, columns of different lengths) is refused.
    """
    built: dict[str, Any] = msgspec.to_builtins(envelope)
    # The long lists come last.
    last = {key: built.pop(key) for key in _LAST if key in built}
    data = laid_out(built | last)
    try:
        check_columns(msgspec.json.decode(data, type=type(envelope)))
    except msgspec.ValidationError as error:
        raise OkosuError(
            f"{path} not written",
            f"the records could not be read back: {error}",
            "report this as a bug of okosu, with the command line",
        ) from error
    elsewhere = "name another place with --json FILE, or set XDG_STATE_HOME to a folder with room that you may write to"
    put(path, data, elsewhere)


def put(path: Path, data: bytes, elsewhere: str) -> None:
    """Replace the file by `data`. If that fails, OkosuError, which says `elsewhere` as the way out."""
    try:
        replace(path, data)
    except OSError as error:
        raise OkosuError(f"{path} not written", f"{error.strerror or error}", elsewhere) from error


def put_json(to: str, content: Any) -> None:
    """What --json makes of anything but records: indented JSON in a file, or for "-" on the standard output."""
    text = msgspec.json.format(msgspec.json.encode(content), indent=1) + b"\n"
    if to == "-":
        sys.stdout.write(text.decode())
    else:
        put(destination(to, "", ""), text, "another place after --json")


def encode(envelope: Envelope) -> bytes:
    """The envelope as JSON on one line."""
    return msgspec.json.encode(envelope)


def laid_out(content: Any) -> bytes:
    """The content as indented JSON, in which each record, verdict, comparison and row of a table has one line.

    With one line per sample, a third of a large file would be line breaks and indentation.
    """
    return _text(msgspec.to_builtins(content), 0).encode() + b"\n"


def _text(value: Any, depth: int, key: str = "") -> str:
    indent, last = " " * (depth + 1), " " * depth
    if isinstance(value, dict) and value and depth < 3:
        inside = (f"{indent}{_flat(name)}: {_text(one, depth + 1, name)}" for name, one in value.items())
        return "{\n" + ",\n".join(inside) + f"\n{last}}}"
    if isinstance(value, list) and value and (key == "sections" or key in _LISTS):
        inside = (f"{indent}{_text(one, depth + 1) if key == 'sections' else _flat(one)}" for one in value)
        return "[\n" + ",\n".join(inside) + f"\n{last}]"
    return _flat(value)


def _flat(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def replace(path: Path, data: bytes) -> None:
    """Replace the file by `data` (mode 0644) in one step, making its folder. If that fails, OSError, and nothing is
    left behind.
    """
    # A symbolic link is kept and its target replaced. A device or pipe is refused, because the rename would destroy it.
    path = path.resolve()
    if path.exists() and not stat.S_ISREG(path.stat().st_mode):
        raise OSError(0, "it is there already and is not a regular file")
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name[:100]}.", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), 0o644)
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            Path(name).unlink()
        raise
    # The folder must reach the disk too, or the old file could be back after a power cut.
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def read(path: Path) -> File:
    """What the file holds. OkosuError (status 1) if it is missing, damaged, of another version or not okosu's."""
    data = _bytes(path)
    try:
        head = msgspec.json.decode(data, type=_Head)
        _check_version(path, head)
        envelope: File = msgspec.json.decode(data, type=File)
        check_columns(envelope)
    except msgspec.ValidationError as error:
        raise OkosuError(
            f"{path} does not hold what its schema says",
            f"{error}",
            "use the file as okosu wrote it; if nobody changed it, report this as a bug of okosu",
        ) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _damaged(path, data, error) from error
    return envelope


def read_as(kind: type[F], path: Path) -> F:
    """What the file holds, as `read`; OkosuError also where it is a file of another kind."""
    envelope = read(path)
    if not isinstance(envelope, kind):
        wanted = str(kind.__struct_config__.tag).partition("/")[0].replace(".", " ")
        raise OkosuError(f"{path} is not a file of `{wanted}`", f"its schema is {envelope.schema}", f"one of {wanted}")
    return envelope


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        shown = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
        raise OkosuError(
            f"{path} cannot be read",
            f"{error.strerror or error}",
            f"`okosu try` prints the path of its records when it starts; by default they are in {shown}/okosu",
        ) from error


def _damaged(path: Path, data: bytes, error: Exception) -> OkosuError:
    if not data.strip():
        return OkosuError(
            f"{path} is empty", "it holds not one byte of a record", "restore it from a copy, or measure again"
        )
    at, why = _where(data, error)
    # A file that okosu never wrote is reported as such, not as damaged records.
    if b'"okosu.' not in data[:200]:
        return OkosuError(
            f"{path} is not a records file",
            f"{why} at byte {at}",
            "name a file that `okosu try` or `okosu bench` wrote",
        )
    return OkosuError(
        f"{path} is damaged at byte {at} of {len(data)}",
        f"{why}; okosu replaces a file only as a whole, so something else has changed it",
        "restore it from a copy, or measure again",
    )


def _where(data: bytes, error: Exception) -> tuple[int, str]:
    """The offset in bytes of the damage, and what it is."""
    text = str(error)
    if isinstance(error, RecursionError):
        return 0, "it is nested too deeply"
    if isinstance(error, UnicodeDecodeError):
        return error.start, "it is not UTF-8"
    if "truncated" in text:
        return len(data), "it ends in the middle of a value (cut short, or copied while it was written)"
    found = _BYTE.search(text)
    reason = _BYTE.sub("", text).removeprefix("JSON is malformed: ")
    return (int(found[1]) if found else 0), f"it is not JSON there: {reason}"


def _check_version(path: Path, head: _Head) -> None:
    name, _, version = head.schema.partition("/") if isinstance(head.schema, str) else ("", "", "")
    known = _VERSIONS.get(name)
    if known is None:
        if isinstance(head.schema, str):
            why = f"its schema is {head.schema[:80]!r}, and okosu writes {', '.join(_VERSIONS)}"
        else:
            why = "it names no schema"
        raise OkosuError(f"{path} is not a records file", why, "name a file that `okosu try` or `okosu bench` wrote")
    if version != known:
        tool = head.tool if isinstance(head.tool, dict) else {}
        writer = f"okosu {str(tool['version'])[:40]}" if "version" in tool else "another version of okosu"
        raise OkosuError(
            f"{path} has the schema {head.schema[:80]}, and this okosu reads {name}/{known}",
            f"it was written by {writer}",
            f"read it with {writer if 'version' in tool else 'the version that wrote it'}"
            " (pip install --upgrade okosu for the newest)",
        )


def check_columns(envelope: Envelope) -> None:
    """Raise msgspec.ValidationError with the field's name where columns do not fit together."""
    for index, record in enumerate(envelope.records):
        count = len(record.samples)
        for column in (*COLUMNS, "loads"):
            length = len(getattr(record, column))
            if length not in (0, count):
                raise msgspec.ValidationError(
                    f"Expected {count} values, one for each sample, got {length} - at `$.records[{index}].{column}`"
                )
        if bool(record.lever) == bool(record.variant):
            raise msgspec.ValidationError(
                f"Expected exactly one of `lever` and `variant` to be set - at `$.records[{index}]`"
            )
