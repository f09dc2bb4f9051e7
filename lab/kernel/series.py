# SPDX-License-Identifier: Apache-2.0
"""Patch series: folders of `git format-patch` files, series/NAME of any room, applied in order of their names.

Those are of the default base. What the series consists of on another base lies in series/NAME/BASE; a patch that is the
same on both is a symbolic link there. The file `platform` beside the patches holds one word, the platform whose kernels
get the series by default. A series without that file is applied where --series names it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from lab.kernel import base as bases
from lab.rooms import find as find_files
from okosu.errors import LAUNCHER_FAILED, OkosuError

_TOUCHED = re.compile(rb"^(?:--- a|\+\+\+ b|rename from |rename to )/?(\S.*)$", re.M)
# git's version at the end of a mail. No line of a change begins like its second line.
_SIGNATURE = re.compile(rb"\n-- \n[^ +\-@\\\n].*\n*\Z")
_DEFINED = re.compile(rb"^\+\s*(?:menu)?config (\w+)$", re.M)


@dataclass(frozen=True)
class Series:
    """A series as it is on a base; `patches` are in the order of applying them."""

    name: str
    patches: tuple[Path, ...]
    base: str = bases.DEFAULT

    @cached_property
    def digest(self) -> str:
        """The hash of what the patches change. Their messages are left out: another message gives the same kernel."""
        found = hashlib.sha256()
        for patch in self.patches:
            found.update(changes(patch.read_bytes()))
        return found.hexdigest()

    @cached_property
    def touched(self) -> frozenset[str]:
        """The paths of the files that the patches change, add or remove."""
        return frozenset(path for patch in self.patches for path in touched(patch.read_bytes()))

    @cached_property
    def symbols(self) -> frozenset[str]:
        """The configuration symbols, without CONFIG_, that the patches define."""
        return frozenset(found.decode() for patch in self.patches for found in _DEFINED.findall(patch.read_bytes()))


def touched(patch: bytes) -> set[str]:
    """Return the paths that one patch names as old or new files."""
    return {path.rstrip(b"\r\t ").decode(errors="surrogateescape") for path in _TOUCHED.findall(patch)}


def changes(patch: bytes) -> bytes:
    """Return a patch without its message and without the line with git's version at its end."""
    return _SIGNATURE.sub(b"", patch[patch.find(b"\ndiff --git ") + 1 :])


def names(base: str = bases.DEFAULT) -> list[str]:
    """Return the names of the series that there are on `base`."""
    if base == bases.DEFAULT:
        return sorted({path.parent.name for path in find_files("series/*/*.patch")})
    return sorted({path.parent.parent.name for path in find_files(f"series/*/{base}/*.patch")})


def on_every_base() -> list[Series]:
    """Return every series of every base."""
    return [find(name, base) for base in bases.names() for name in names(base)]


def on(base: str, wanted: Iterable[str]) -> tuple[str, ...]:
    """Return those of the series `wanted` that there are on `base`."""
    return tuple(name for name in wanted if name in names(base))


def of_platform(platform: str) -> tuple[str, ...]:
    """Return the series that a kernel of `platform` gets by default, in alphabetical order, which is that of applying
    them."""
    said = {path.parent.name: path.read_text().strip() for path in find_files("series/*/platform")}
    return tuple(name for name in names() if said.get(name) == platform)


def find(name: str, base: str = bases.DEFAULT) -> Series:
    """Return the series called `name` as it is on `base`; OkosuError (125) if there is none, or nothing in it."""
    folder = f"series/{name}" if base == bases.DEFAULT else f"series/{name}/{base}"
    patches = tuple(find_files(f"{folder}/*.patch"))
    if not patches:
        raise OkosuError(
            f"no series of Linux {base} is called {name!r}",
            f"there is {', '.join(names(base)) or 'none'}",
            "--series NAME with one of them, or --stock for Debian's kernel as it is",
            LAUNCHER_FAILED,
        )
    folders = sorted({path.parent for path in patches})
    if len(folders) > 1:
        why = f"it is in {' and in '.join(map(str, folders))}"
        raise OkosuError(f"two series are called {name!r}", why, "each series has a name of its own", LAUNCHER_FAILED)
    return Series(name, patches, base)
