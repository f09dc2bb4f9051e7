# SPDX-License-Identifier: Apache-2.0
"""Where the native programs are (checkout, wheel or OKOSU_NATIVE), and what they say of themselves."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sysconfig
from pathlib import Path

from okosu.errors import OkosuError

PACKAGE = Path(__file__).resolve().parent

# Below a build tree each program lies in the folder of its sources; in a wheel okosu-run is a script, the rest is data.
_BUILD_PLACES = {
    "okosu-run": "native/launch/okosu-run",
    "okosu-measure": "native/measure/okosu-measure",
    "okosu-warm": "native/measure/okosu-warm",
    "libokosu-preload.so": "native/preload/libokosu-preload.so",
}


def _candidates(name: str) -> list[Path]:
    found = []
    if override := os.environ.get("OKOSU_NATIVE"):
        found += [Path(override) / _BUILD_PLACES[name], Path(override) / name]
    found.append(PACKAGE.parent / "build" / _BUILD_PLACES[name])
    schemes = [s for s in ("posix_prefix", "posix_user", "posix_local") if s in sysconfig.get_scheme_names()]
    # PACKAGE.parent is the prefix of `pip install --target`.
    if name == "okosu-run":
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


@functools.cache
def describe() -> list[dict[str, object]]:
    """Return the launcher's table of levers: a list of {name, values: [{value, doc}], doc, default}."""
    out = subprocess.run([find("okosu-run"), "--describe"], check=True, capture_output=True, text=True)
    table: list[dict[str, object]] = json.loads(out.stdout)["levers"]
    return table
