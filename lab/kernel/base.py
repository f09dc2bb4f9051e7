# SPDX-License-Identifier: Apache-2.0
"""The kernels that series are made on: bases/NAME.toml of the lab's room, each a package of Debian's."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec

from lab import rooms
from okosu.errors import USAGE_ERROR, OkosuError

DEFAULT = "6.12"
SOURCES = Path("/usr/src")
"""Where Debian's packages put kernel sources."""


class Said(msgspec.Struct, forbid_unknown_fields=True):
    """What the file of a base says: its package, the version of it that series were made on, and, where the machine's
    own Debian need not have that package, the suite of Debian's archive that does."""

    package: str
    version: str
    suite: str = ""


@dataclass(frozen=True)
class Base:
    """A kernel that series are made on; the fields are those of `Said`."""

    name: str
    package: str
    version: str
    suite: str

    @property
    def tarball(self) -> Path:
        """Where the package puts the source when it is installed."""
        return SOURCES / f"{self.package}.tar.xz"

    @property
    def configurations(self) -> Path:
        """Where the package of that name puts the configurations of Debian's own kernels of this base."""
        return SOURCES / f"linux-config-{self.name}"


def names() -> list[str]:
    """Return the names of all bases, such as 6.12, the default first."""
    found = {path.stem for path in _folder().glob("*.toml")}
    return sorted(found, key=lambda name: (name != DEFAULT, name))


def find(name: str = DEFAULT) -> Base:
    """Return the base called `name`; OkosuError (2) if there is none."""
    path = _folder() / f"{name}.toml"
    if name not in names():
        raise OkosuError(
            f"no base is called {name!r}",
            f"there is {', '.join(names())}",
            "--base NAME with one of them, or --kernel-source DIR",
            USAGE_ERROR,
        )
    said = msgspec.toml.decode(path.read_bytes(), type=Said)
    return Base(name, said.package, said.version, said.suite)


def _folder() -> Path:
    return rooms.rooms()[0] / "kernel" / "bases"
