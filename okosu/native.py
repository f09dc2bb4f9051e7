# SPDX-License-Identifier: Apache-2.0
"""Where the native programs are (checkout, wheel or OKOSU_NATIVE), and what they say of themselves."""

from __future__ import annotations

import functools
import os
import shutil
import sysconfig
from pathlib import Path

from okosu.errors import OkosuError

PACKAGE = Path(__file__).resolve().parent

# Below a build tree each program lies in the folder of its sources; in a wheel some are scripts, the rest is data.
_BUILD_PLACES = {
    "okosu-run": "native/launch/okosu-run",
    "okosu-measure": "native/measure/okosu-measure",
    "okosu-warm": "native/measure/okosu-warm",
    "okosu-zerod": "native/zerod/okosu-zerod",
    "libokosu-preload.so": "native/preload/libokosu-preload.so",
}

_SCRIPTS = frozenset({"okosu-run", "okosu-zerod"})

# Every microbenchmark okosu-bench-NAME is native/bench/NAME.c, so that a new one needs no row above.
BENCH = "okosu-bench-"
_BENCH_FOLDER = "native/bench"
# Every listing okosu-paper-FOLDER-NAME is papers/FOLDER/listings/NAME.c; a folder's name has no hyphen.
PAPER = "okosu-paper-"
_PAPERS_FOLDER = "papers"


def _build_place(name: str) -> str:
    if name.startswith(PAPER):
        return f"{_PAPERS_FOLDER}/{name.removeprefix(PAPER).partition('-')[0]}/listings/{name}"
    return f"{_BENCH_FOLDER}/{name}" if name.startswith(BENCH) else _BUILD_PLACES[name]


def _candidates(name: str) -> list[Path]:
    found = []
    if override := os.environ.get("OKOSU_NATIVE"):
        found += [Path(override) / _build_place(name), Path(override) / name]
    found.append(PACKAGE.parent / "build" / _build_place(name))
    schemes = [s for s in ("posix_prefix", "posix_user", "posix_local") if s in sysconfig.get_scheme_names()]
    # PACKAGE.parent is the prefix of `pip install --target`.
    if name in _SCRIPTS:
        found += [Path(sysconfig.get_path("scripts", s)) / name for s in schemes]
        found.append(PACKAGE.parent / "bin" / name)
        if on_path := shutil.which(name):
            found.append(Path(on_path))
    else:
        found += [Path(sysconfig.get_path("data", s)) / "share" / "okosu" / name for s in schemes]
        found.append(PACKAGE.parent / "share" / "okosu" / name)
    return found


@functools.cache
def find(name: str) -> Path:
    """Return the path of the native program or library `name`; OkosuError (125) if it was never built."""
    for path in _candidates(name):
        if path.is_file():
            return path
    raise OkosuError(
        f"{name} not found",
        "the native part is neither in the installed package nor in build/ of this checkout",
        "make build (in a checkout) or pip install okosu",
        status=125,
    )


def benches() -> list[str]:
    """Return the names of the microbenchmarks that are there, in alphabetical order; OkosuError (125) if none is."""
    for folder in {path.parent: None for path in _candidates(f"{BENCH}x")}:
        names = {path.name.removeprefix(BENCH) for path in folder.glob(f"{BENCH}*") if os.access(path, os.X_OK)}
        # Meson keeps the objects of a program beside it, in NAME.p.
        if found := sorted(name for name in names if (folder / f"{BENCH}{name}").is_file()):
            return found
    find(f"{BENCH}NAME")
    return []
