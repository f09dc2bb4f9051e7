# SPDX-License-Identifier: Apache-2.0
"""Finds the native programs: in OKOSU_NATIVE, a checkout's build tree, or an installed wheel."""

from __future__ import annotations

import functools
import os
import shutil
import sysconfig
from pathlib import Path

from okosu import plugins
from okosu.errors import OkosuError

PACKAGE = Path(__file__).resolve().parent

# In a build tree each program lies in the folder of its sources. In a wheel some are scripts, and the rest is data.
_BUILD_PLACES = {
    "okosu-run": "native/launch/okosu-run",
    "okosu-measure": "native/measure/okosu-measure",
    "okosu-warm": "native/measure/okosu-warm",
    "okosu-textcache": "native/launch/okosu-textcache",
    "okosu-zerod": "native/zerod/okosu-zerod",
    "libokosu-preload.so": "native/preload/libokosu-preload.so",
}

_SCRIPTS = frozenset({"okosu-run", "okosu-textcache", "okosu-zerod"})

BENCH = "okosu-bench-"


def _build_places(name: str) -> list[str]:
    if name in _BUILD_PLACES:
        return [_BUILD_PLACES[name]]
    # The product's microbenchmark okosu-bench-NAME is built from native/bench/NAME.c. A paper's benchmarks and other
    # programs lie in the folders that the paper registers.
    folders = ["native/bench"] if name.startswith(BENCH) else []
    folders += [folder for registered in plugins.load("okosu.programs").values() for folder in registered()]
    return [f"{folder}/{name}" for folder in folders]


def _candidates(name: str) -> list[list[Path]]:
    """The places where `name` may be, grouped by build tree or installation."""
    found = []
    if override := os.environ.get("OKOSU_NATIVE"):
        found += [[Path(override) / place for place in _build_places(name)], [Path(override) / name]]
    found.append([PACKAGE.parent / "build" / place for place in _build_places(name)])
    schemes = [s for s in ("posix_prefix", "posix_user", "posix_local") if s in sysconfig.get_scheme_names()]
    # PACKAGE.parent is the prefix of `pip install --target`.
    if name in _SCRIPTS:
        found += [[Path(sysconfig.get_path("scripts", s)) / name] for s in schemes]
        found.append([PACKAGE.parent / "bin" / name])
        if on_path := shutil.which(name):
            found.append([Path(on_path)])
    else:
        found += [[Path(sysconfig.get_path("data", s)) / "share" / "okosu" / name] for s in schemes]
        found.append([PACKAGE.parent / "share" / "okosu" / name])
    return found


@functools.cache
def find(name: str) -> Path:
    """The path of the native program or library `name`. OkosuError (125) if it was never built."""
    for together in _candidates(name):
        for path in together:
            if path.is_file():
                return path
    raise OkosuError(
        f"{name} not found",
        "the native part is neither in the installed package nor in build/ of this checkout",
        "make build (in a checkout) or pip install okosu",
        status=125,
    )


def benches() -> list[str]:
    """The names of the microbenchmarks found, in alphabetical order. OkosuError (125) if there is none."""
    for together in _candidates(f"{BENCH}x"):
        programs = [path for place in together for path in place.parent.glob(f"{BENCH}*")]
        # Meson keeps the objects of a program beside it, in NAME.p.
        names = [path.name for path in programs if os.access(path, os.X_OK) and path.is_file()]
        if names:
            return sorted(name.removeprefix(BENCH) for name in names)
    find(f"{BENCH}NAME")
    return []
