# SPDX-License-Identifier: Apache-2.0
"""Whole configurations, which a kernel that a user boots is built on: Debian's, the running kernel's, or a file."""

from __future__ import annotations

import gzip
import lzma
import os
from dataclasses import dataclass
from pathlib import Path

from lab.cache import Say, quiet
from lab.kernel import base as bases
from lab.kernel import config, package
from okosu.errors import LAUNCHER_FAILED, OkosuError

CLOUD, RUNNING = "cloud-amd64", "running"
_OF_DEBIAN = "config.amd64_none_cloud-amd64.xz"
_EXPANDED = {".gz": gzip.decompress, ".xz": lzma.decompress}


@dataclass(frozen=True)
class Whole:
    """A configuration: where it was read, and its symbols."""

    path: Path
    config: config.Config


def to_be_fetched(named: str, base: str) -> bool:
    """Say whether read() would fetch the configuration from Debian's archive."""
    of = bases.find(base)
    there = (of.configurations / _OF_DEBIAN).is_file() or package.configurations_there(of)
    return named == CLOUD and bool(of.suite) and not there


def read(named: str, base: str, say: Say = quiet) -> Whole:
    """Return the configuration that `named` means: CLOUD is that of Debian's kernel for virtual machines, of the same
    Linux as `base`, RUNNING that of this machine's kernel, and anything else a file, which may be compressed.

    OkosuError (125) where there is none.
    """
    path = _of_debian(base, say) if named == CLOUD else running() if named == RUNNING else Path(named).absolute()
    try:
        data = path.read_bytes()
        found = config.parse((_EXPANDED[path.suffix](data) if path.suffix in _EXPANDED else data).decode())
        why = "" if found else "no line of it sets a symbol: CONFIG_NAME=VALUE"
    except (OSError, EOFError, lzma.LZMAError, UnicodeDecodeError) as error:
        why = (error.strerror if isinstance(error, OSError) else "") or str(error)
    if why:
        raise _failed(f"{path} is no kernel's configuration", why)
    return Whole(path, found)


def _of_debian(base: str, say: Say) -> Path:
    of = bases.find(base)
    if (installed := of.configurations / _OF_DEBIAN).is_file():
        return installed
    if of.suite:
        return package.fetch_configurations(of, say) / _OF_DEBIAN
    raise OkosuError(
        f"Debian's configuration is missing: {installed}",
        f"the package {of.configurations.name} is not installed",
        "make lab-deps (installs what the lab needs), or --config FILE",
        LAUNCHER_FAILED,
    )


def running() -> Path:
    """Return the file with the running kernel's configuration; OkosuError (125) where there is none."""
    release = os.uname().release
    places = (Path(f"/boot/config-{release}"), Path("/proc/config.gz"))
    for path in places:
        if path.is_file():
            return path
    why = f"there is neither {' nor '.join(map(str, places))}"
    raise _failed(f"the configuration of the running kernel, {release}, is not to be had", why)


def _failed(what: str, why: str) -> OkosuError:
    return OkosuError(what, why, f"--config {CLOUD}, or the .config of another kernel", LAUNCHER_FAILED)
