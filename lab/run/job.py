# SPDX-License-Identifier: Apache-2.0
"""The file that tells a guest's first process (guest/init.c) what to run, where, and with which environment."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from okosu.errors import LAUNCHER_FAILED, OkosuError

# The guest mounts empty file systems on these.
HIDDEN = (Path("/tmp"), Path("/run"))
_HIDDEN_PATH = re.compile(r"(?:/tmp|/run)/(?!\.)[^/\s'\"`$;&|<>()=,:]+")

# The out folder's path in a guest where the host's path cannot be used.
OUT_ELSEWHERE = Path("/run/okosu-out")
_ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
    "LANG": "C.UTF-8",
    "TERM": "dumb",
}


@dataclass(frozen=True)
class Job:
    """A command, the folder it runs in, the host's folder that it may write into, and its root (None: the host's).

    With `chroot` the guest's own root is still the host's, and the first process changes to `root`.
    """

    command: list[str]
    cwd: Path
    out: Path
    root: Path | None = None
    chroot: bool = False

    def write(self, folder: Path, init: Path) -> None:
        """Write the job into `folder` and put the first process beside it."""
        (folder / "job").write_bytes(self.encode())
        (folder / "init").symlink_to(init)

    def encode(self) -> bytes:
        """Return the job as NUL-terminated strings; see guest/init.c."""
        words = [*self._surroundings(), *(f"arg={word}" for word in self.command)]
        if not self.command or any("\0" in word for word in words):
            raise OkosuError("no command to run", "", "okosu lab run uml -- COMMAND [ARG...]", LAUNCHER_FAILED)
        return b"".join(os.fsencode(word) + b"\0" for word in words)

    def _surroundings(self) -> Iterator[str]:
        # In another root the host's path need not exist; /run exists in each and can be written.
        inside = self.out if self.root is None else OUT_ELSEWHERE
        yield f"write={inside}"
        yield f"from={self.out}"
        if self.root is None:
            yield from (f"keep={path}" for path in self.kept())
        elif self.chroot:
            yield f"root={self.root.resolve()}"
        yield f"cwd={self.cwd if self.root is None else '/'}"
        for name, value in {**_ENVIRONMENT, "OKOSU_OUT": str(inside)}.items():
            yield f"env={name}={value}"

    def kept(self) -> list[Path]:
        """Return the entries of /tmp and /run that the command names, so that the guest can see them.

        A path is found as a word of its own, which may be relative, and anywhere in a word if it is absolute
        (sh -c 'cat /tmp/x').
        """
        named = [Path(os.path.normpath(self.cwd / word)) for word in (".", *self.command)]
        named += [Path(found[0]) for word in self.command for found in _HIDDEN_PATH.finditer(word)]
        found: dict[Path, None] = {}
        for path in named:
            for hidden in HIDDEN:
                if hidden in path.parents and os.path.lexists(path):
                    found[hidden / path.relative_to(hidden).parts[0]] = None
        return list(found)


def guest_path(folder: Path) -> str:
    """Return the first process's path as the kernel's command line takes it; OkosuError (125) if it cannot."""
    path = str(folder / "init")
    if '"' in path or "\n" in path:
        raise OkosuError(
            f"{folder}: a quotation mark in this path", "the kernel cannot take it", "another TMPDIR", LAUNCHER_FAILED
        )
    return f'"{path}"' if " " in path else path
