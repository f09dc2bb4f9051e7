# SPDX-License-Identifier: Apache-2.0
"""Kernel configurations: fragments, merged onto an empty configuration and checked.

The fragment NAME is what config/NAME.fragment says in all rooms that have such a file. So a paper whose series adds
options to the platform's configuration sets them in a fragment of its own that is called as the platform's is. What
config/BASE/NAME.fragment says is merged after that where the kernel is of that base: symbols that there are not there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from lab import rooms
from lab.kernel import base as bases
from lab.kernel.series import on_every_base
from okosu.errors import LAUNCHER_FAILED, OkosuError

_SET = re.compile(r"^CONFIG_(\w+)=(\S.*)$")
_UNSET = re.compile(r"^# CONFIG_(\w+) is not set$")

Config = dict[str, str]


def parse(text: str) -> Config:
    """Return {symbol without CONFIG_: value} of a .config or a fragment; "n" for what is said to be unset."""
    found: Config = {}
    for line in text.splitlines():
        if match := _SET.match(line):
            found[match[1]] = match[2]
        elif match := _UNSET.match(line):
            found[match[1]] = "n"
    return found


def fragments(wanted: Sequence[str], base: str = bases.DEFAULT) -> Config:
    """Return what the fragments ask for on `base`; a later one overrules an earlier."""
    merged: Config = {}
    for name in wanted:
        found = rooms.find(f"config/{name}.fragment")
        if not found:
            there = sorted({path.stem for path in rooms.find("config/*.fragment")})
            raise OkosuError(
                f"no configuration fragment is called {name!r}",
                f"there is {', '.join(there) or 'none'}",
                "--fragment NAME with one of them",
                LAUNCHER_FAILED,
            )
        for path in [*found, *rooms.find(f"config/{base}/{name}.fragment")]:
            merged.update(parse(path.read_text()))
    return merged


def text(config: Config) -> str:
    """Return `config` as the lines of a .config."""
    return "".join(
        f"# CONFIG_{name} is not set\n" if value == "n" else f"CONFIG_{name}={value}\n"
        for name, value in config.items()
    )


def check(asked: Config, made: Config, applied: Iterable[str] = ()) -> None:
    """Raise OkosuError (125) that names the symbols asked for and not in the configuration made.

    A symbol that a series defines may be missing where that series is not among those `applied`.
    """
    missing = {name: value for name, value in asked.items() if made.get(name, "n") != value}
    if missing:
        elsewhere = [series.symbols for series in on_every_base() if series.name not in set(applied)]
        missing = {name: value for name, value in missing.items() if not any(name in symbols for symbols in elsewhere)}
    if missing:
        listed = ", ".join(f"CONFIG_{name}={value}" for name, value in sorted(missing.items()))
        raise OkosuError(
            f"the kernel's configuration does not take {listed}",
            "the symbol is unknown in this source, or another symbol that it depends on is not set",
            "add what it depends on to the fragment, or take it out",
            LAUNCHER_FAILED,
        )
