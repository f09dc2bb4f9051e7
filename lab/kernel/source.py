# SPDX-License-Identifier: Apache-2.0
"""The kernel's source: Debian's linux-source-6.12, unpacked once, or a tree that the user names."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from lab import cache
from lab.cache import Say, quiet
from okosu.errors import LAUNCHER_FAILED, OkosuError

PACKAGE = "linux-source-6.12"
TARBALL = Path("/usr/src") / f"{PACKAGE}.tar.xz"

# A third of the archive: register tables of graphics cards and device trees, which no kernel of the lab needs. The
# folders of other architectures have to stay: Kconfig files outside arch/ read some of theirs.
_LEFT_OUT = ("drivers/gpu/drm/amd/include", "Documentation/devicetree")


@dataclass(frozen=True)
class Source:
    """A kernel source tree: its folder, the version for keys and messages, and whether the lab unpacked it."""

    path: Path
    version: str
    own: bool


def version(folder: Path | None = None) -> str:
    """Return the version of the tree in `folder`, with a digest of it, or of Debian's package.

    OkosuError (125) if the folder is no kernel's source, or the package is not installed.
    """
    if folder is not None:
        return f"{makefile_version(folder)}-{_digest_of_tree(folder)}"
    if not TARBALL.is_file():
        raise OkosuError(
            f"the kernel's source is missing: {TARBALL}",
            f"the package {PACKAGE} is not installed",
            "make lab-deps (installs what the lab needs), or --kernel-source DIR",
            LAUNCHER_FAILED,
        )
    asked = ["dpkg-query", "-W", "-f", "${Version}", PACKAGE]
    try:
        said = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    except FileNotFoundError:
        said = ""
    return said or _digest_of_file(TARBALL)


def find(folder: Path | None = None, say: Say = quiet) -> Source:
    """Return the tree in `folder`, or Debian's, unpacked where it was not yet (1.2 GB, half a minute)."""
    found = version(folder)
    if folder is not None:
        return Source(folder.resolve(), found, own=False)
    return Source(cache.made("source", found, lambda to: _unpack(to, say), say), found, own=True)


def makefile_version(folder: Path) -> str:
    """Return the version that a kernel tree's Makefile states, such as 6.12.117; OkosuError (125) if it is none."""
    try:
        text = (folder / "Makefile").read_text()
    except OSError:
        text = ""
    numbers = [re.search(rf"^{name} *= *(\d+)$", text, re.M) for name in ("VERSION", "PATCHLEVEL", "SUBLEVEL")]
    if not all(numbers):
        raise OkosuError(
            f"{folder} is not a kernel's source tree",
            "its Makefile does not state VERSION, PATCHLEVEL and SUBLEVEL",
            "--kernel-source DIR with the folder that holds arch/, kernel/ and Makefile",
            LAUNCHER_FAILED,
        )
    return ".".join(number[1] for number in numbers if number)


def _unpack(to: Path, say: Say) -> None:
    say(f"unpacking {TARBALL.name}")
    left_out = [f"--exclude=*/{path}" for path in _LEFT_OUT]
    done = subprocess.run(
        ["tar", "-xJf", TARBALL, "-C", to, "--strip-components=1", *left_out],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        if "No space left" in done.stderr:
            raise cache.full_disk()
        raise OkosuError(
            f"{TARBALL} cannot be unpacked",
            done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"tar ended with {done.returncode}",
            f"apt-get install --reinstall {PACKAGE} xz-utils   (as root)",
            LAUNCHER_FAILED,
        )


def _digest_of_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def _digest_of_tree(folder: Path) -> str:
    """Return a digest of names, sizes and times: reading every byte of a kernel would take longer than building it."""
    found = hashlib.sha256()
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != ".git")
        for file in sorted(files):
            info = os.lstat(f"{place}/{file}")
            found.update(f"{place}/{file}\0{info.st_size}\0{info.st_mtime_ns}\n".encode())
    return found.hexdigest()[:16]
