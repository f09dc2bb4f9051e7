# SPDX-License-Identifier: Apache-2.0
"""The kernel's source: that of a base, which is a package of Debian's, unpacked once, or a tree that the user names."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lab import cache
from lab.cache import Say, quiet
from lab.kernel import base as bases
from lab.kernel import package
from lab.kernel.base import Base
from lab.kernel.package import Package
from okosu.errors import LAUNCHER_FAILED, OkosuError

# A third of the archive: register tables of graphics cards and device trees, which no kernel that the lab boots needs.
# The folders of other architectures have to stay: Kconfig files outside arch/ read some of theirs.
_LEFT_OUT = ("drivers/gpu/drm/amd/include", "Documentation/devicetree")


@dataclass(frozen=True)
class Source:
    """A kernel source tree: its folder, the version for keys and messages, and whether the lab unpacked it."""

    path: Path
    version: str
    own: bool


def version(folder: Path | None = None, base: str = bases.DEFAULT, say: Say = quiet) -> str:
    """Return the version of the tree in `folder`, with a digest of it, or of the base's package.

    OkosuError (125) if the folder is no kernel's source, or the package is neither installed nor to be had.
    """
    if folder is not None:
        return f"{makefile_version(folder)}-{_digest_of_tree(folder)}"
    return _package(bases.find(base), say).version


def find(folder: Path | None = None, say: Say = quiet, base: str = bases.DEFAULT, whole: bool = False) -> Source:
    """Return the tree in `folder`, or the base's, unpacked where it was not yet (1.2 GB, half a minute).

    With `whole` nothing of the base's archive is left out, which is another tree, and a larger one.
    """
    if folder is not None:
        return Source(folder.resolve(), version(folder), own=False)
    of = bases.find(base)
    found = _package(of, say)
    name, left_out = (f"{found.version}-whole", ()) if whole else (found.version, _LEFT_OUT)
    path = cache.made("source", name, lambda to: _unpack(to, of, found.tarball, left_out, say), say)
    return Source(path, name, own=True)


def to_be_fetched(base: str) -> bool:
    """Say whether the source of `base` is neither installed nor in the cache, but can be had from Debian's archive."""
    of = bases.find(base)
    return bool(of.suite) and not of.tarball.is_file() and not package.there(of)


def _package(base: Base, say: Say) -> Package:
    """Return the package of `base`: the installed one, or else that which the lab fetched, or fetches now."""
    if base.tarball.is_file():
        return Package(base.tarball, _installed_version(base) or _digest_of_file(base.tarball))
    if base.suite:
        return package.fetch(base, say)
    raise OkosuError(
        f"the kernel's source is missing: {base.tarball}",
        f"the package {base.package} is not installed",
        "make lab-deps (installs what the lab needs), or --kernel-source DIR",
        LAUNCHER_FAILED,
    )


def _installed_version(base: Base) -> str:
    asked = ["dpkg-query", "-W", "-f", "${Version}", base.package]
    try:
        return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    except FileNotFoundError:
        return ""


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


def _unpack(to: Path, base: Base, tarball: Path, left_out: Sequence[str], say: Say) -> None:
    say(f"unpacking {tarball.name}")
    done = subprocess.run(
        ["tar", "-xJf", tarball, "-C", to, "--strip-components=1", *(f"--exclude=*/{path}" for path in left_out)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        if "No space left" in done.stderr:
            raise cache.full_disk()
        raise OkosuError(
            f"{tarball} cannot be unpacked",
            done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"tar ended with {done.returncode}",
            _again(base, tarball),
            LAUNCHER_FAILED,
        )


def _again(base: Base, tarball: Path) -> str:
    """Return what to do about an archive that is broken."""
    if tarball == base.tarball:
        return f"apt-get install --reinstall {base.package} xz-utils   (as root)"
    return f"rm -r {tarball.parent}: the next try fetches it again"


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
