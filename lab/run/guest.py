# SPDX-License-Identifier: Apache-2.0
"""The programs that run inside guests: guest/*.c of every room, linked statically so that they start in any root."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from lab import cache, rooms
from lab.cache import Say, quiet
from lab.kernel.build import compiler_version
from okosu.errors import LAUNCHER_FAILED, OkosuError

_KIND = "guest"
_FLAGS = ["-std=c17", "-O2", "-static", "-Wall", "-Wextra", "-Werror"]


def build(say: Say = quiet, cc: str = "gcc") -> Path:
    """Return a folder with one program NAME for each guest/NAME.c, compiled where the cache has none."""
    programs = [program(path.stem, say, cc) for path in rooms.find("guest/*.c")]

    def fill(folder: Path) -> None:
        for path in programs:
            os.link(path, folder / path.name)

    return cache.made(_KIND, cache.key([str(path) for path in programs]), fill, say)


def program(name: str, say: Say = quiet, cc: str = "gcc") -> Path:
    """Return the program of guest/NAME.c, compiled where the cache has none; OkosuError (125) if it fails."""
    source = _source(name)
    # A paper's programs include the lab's headers too.
    folders = [room / "guest" for room in dict.fromkeys((source.parents[1], rooms.rooms()[0]))]
    headers = {path.name: path.read_text() for folder in folders for path in sorted(folder.glob("*.h"))}
    key = cache.key(name, source.read_text(), headers, _FLAGS, compiler_version(cc))

    def fill(to: Path) -> None:
        say(f"compiling {source.name}")
        _compile(source, to / name, cc, folders)

    return cache.made(_KIND, f"{name}-{key}", fill, say) / name


def _source(name: str) -> Path:
    found = rooms.find(f"guest/{name}.c")
    if len(found) != 1:
        why = "it is in " + " and in ".join(str(path.parent) for path in found) if found else "no room has it"
        fix = "each guest program has a name of its own" if found else "guest/NAME.c in a paper's folder or in lab/"
        raise OkosuError(f"no one guest program is called {name!r}", why, fix, LAUNCHER_FAILED)
    return found[0]


def _compile(source: Path, to: Path, cc: str, folders: list[Path]) -> None:
    done = subprocess.run(
        [cc, *_FLAGS, *(f"-I{folder}" for folder in folders), "-o", to, source],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if "error" in line] or [done.stderr.strip()]
        raise OkosuError(f"{source.name} does not compile", errors[0], "apt-get install libc6-dev", LAUNCHER_FAILED)
