# SPDX-License-Identifier: Apache-2.0
"""A guest's file system in memory, packed from host files: the same bytes for the same contents, at any time."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from okosu.errors import LAUNCHER_FAILED, OkosuError

# Folders that are links on the host (to usr/bin and so on) are links in the guest.
_TOP_LINKS = tuple(Path(name) for name in ("/bin", "/sbin", "/lib", "/lib32", "/lib64"))
# The first process's PATH, for a program that is named without a folder.
_PATH = "/bin:/usr/bin"
_MOUNT_POINTS = ("/dev", "/proc", "/sys", "/tmp", "/run", "/root", "/mnt")


@dataclass
class Archive:
    """Files by their absolute path in the guest; the folders above them are added with them."""

    entries: dict[str, tuple[int, bytes]] = field(default_factory=dict)

    def add(self, path: str, data: bytes, mode: int = 0o644) -> None:
        """Put a file with these contents at an absolute path."""
        self._put(path, stat.S_IFREG | mode, data)

    def link(self, path: str, target: str) -> None:
        """Put a symbolic link at an absolute path."""
        self._put(path, stat.S_IFLNK | 0o777, target.encode())

    def folder(self, path: str) -> None:
        """Put a folder at an absolute path."""
        self._put(path, stat.S_IFDIR | 0o755, b"")

    def copy(self, source: Path, path: str | None = None) -> None:
        """Put a host file at `path`, or at its own path on the host with links resolved."""
        try:
            runnable = source.stat().st_mode & 0o111
            self.add(path or str(_real_place(source)), source.read_bytes(), 0o755 if runnable else 0o644)
        except OSError as error:
            raise OkosuError(
                f"{source} cannot be packed for the guest",
                error.strerror or str(error),
                "name a file that this user can read",
                LAUNCHER_FAILED,
            ) from error

    def pack(self) -> bytes:
        """Return the archive in the kernel's format (cpio newc): sorted, dated 1970, owned by root."""
        entries = enumerate(sorted(self.entries.items()), 1)
        parts = [_entry(number, path.lstrip("/"), mode, data) for number, (path, (mode, data)) in entries]
        return b"".join([*parts, _entry(0, "TRAILER!!!", 0, b"")])

    def _put(self, path: str, mode: int, data: bytes) -> None:
        for parent in reversed(Path(path).parents):
            if str(parent) != "/":
                self.entries.setdefault(str(parent), (stat.S_IFDIR | 0o755, b""))
        self.entries[path] = (mode, data)


def _entry(number: int, name: str, mode: int, data: bytes) -> bytes:
    links = 2 if stat.S_ISDIR(mode) else 1
    fields = (number, mode, 0, 0, links, 0, len(data), 0, 0, 0, 0, len(os.fsencode(name)) + 1, 0)
    head = b"070701" + b"".join(b"%08X" % value for value in fields) + os.fsencode(name) + b"\0"
    return _padded(head) + _padded(data)


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 4)


def _real_place(path: Path) -> Path:
    """Return the path with the links above its last part resolved: the guest has that folder under that name alone."""
    return path.parent.resolve() / path.name


def libraries(program: Path) -> list[Path]:
    """Return the shared libraries and the loader that a program is linked with; none for a static one or a script."""
    said = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
    return sorted({Path(path) for path in re.findall(r"(/\S+) \(0x", said.stdout)})


def packed(init: Path, job: bytes, command: Sequence[str], cwd: Path, files: Mapping[str, Path]) -> bytes:
    """Return the file system of a guest that runs `command` from memory alone.

    It holds the first process and its job, busybox under its own name and those of its commands, the command's program
    with its libraries, every other file of the host that a word of the command names, and `files`: {absolute path
    in the guest: program of the host}.
    """
    archive = Archive()
    for path in (*_MOUNT_POINTS, str(cwd)):
        archive.folder(path)
    for top in _TOP_LINKS:
        if top.is_symlink():
            archive.link(str(top), str(top.readlink()))
    archive.copy(init.resolve(), "/init")
    archive.add("/job", job)
    _add_busybox(archive)
    program = command[0] if "/" in command[0] else shutil.which(command[0], path=_PATH)
    for word in (program or "", *command[1:]):
        # A script may be longer than a name can be: Path.is_file() raises for that.
        if os.path.isfile(cwd / word):  # noqa: PTH113
            _add_program(archive, Path(os.path.normpath(cwd / word)))
    for name, source in files.items():
        _add_program(archive, source, name)
    return archive.pack()


def _add_program(archive: Archive, program: Path, path: str | None = None) -> None:
    archive.copy(program, path)
    for library in libraries(program):
        archive.copy(library)


def _add_busybox(archive: Archive) -> None:
    found = shutil.which("busybox")
    if not found:
        raise OkosuError(
            "busybox is missing",
            "a guest that runs from memory alone has its commands from it",
            "make lab-deps, or apt-get install busybox-static   (as root)",
            LAUNCHER_FAILED,
        )
    busybox = Path(found)
    for library in libraries(busybox):
        archive.copy(library)
    home = _real_place(busybox)
    said = subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True).stdout
    for name in said.split():
        archive.link(str(home.parent / name), home.name)
    # Last: it is among its own commands.
    archive.copy(busybox)
