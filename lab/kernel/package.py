# SPDX-License-Identifier: Apache-2.0
"""A package of Debian's archive in the lab's cache: nothing of it, and nothing of what apt learns, gets into the
system."""

from __future__ import annotations

import getpass
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from lab import cache
from lab.cache import Say, quiet
from lab.kernel.base import Base
from okosu.errors import LAUNCHER_FAILED, OkosuError

ARCHIVE = "http://deb.debian.org/debian"
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_KIND = "package"
_VERSION = "version"


@dataclass(frozen=True)
class Package:
    """A kernel source that was fetched: the archive with it, and the version of the package that it is from."""

    tarball: Path
    version: str


def there(base: Base) -> bool:
    """Say whether the source of `base` is in the cache."""
    return _there(base, base.package)


def configurations_there(base: Base) -> bool:
    """Say whether the configurations of Debian's kernels of `base` are in the cache."""
    return _there(base, base.configurations.name)


def fetch(base: Base, say: Say = quiet) -> Package:
    """Return the source of `base`, fetched from its suite where the cache has it not (170 MB); OkosuError (125) says
    why it cannot be had.

    Of the versions that the archive has it is the one that the series were made on, or, where that has gone, the
    newest. apt verifies the suite's signature by Debian's keyring and the package by the digest that is signed.
    """
    folder = _made(base, base.package, base.tarball, say)
    return Package(folder / base.tarball.name, (folder / _VERSION).read_text().strip())


def fetch_configurations(base: Base, say: Say = quiet) -> Path:
    """Return the folder with the configurations of Debian's kernels of `base`, had as fetch() has the source (1 MB)."""
    name = base.configurations.name
    return _made(base, name, base.configurations, say) / name


def _made(base: Base, package: str, wanted: Path, say: Say) -> Path:
    return cache.made(_KIND, _name(base, package), lambda to: _fetch(to, base, package, wanted, say), say)


def _there(base: Base, package: str) -> bool:
    return (cache.root() / _KIND / _name(base, package)).is_dir()


def _name(base: Base, package: str) -> str:
    return f"{package}_{base.version}"


def _fetch(to: Path, base: Base, package: str, wanted: Path, say: Say) -> None:
    """Put what `package` installs as `wanted` into the folder `to`, with the version of the package."""
    for tool in ("apt-get", "dpkg-deb"):
        if not shutil.which(tool):
            raise _failed(base, package, f"{tool} is missing: this system is not Debian's")
    own = to / "apt"
    for folder in ("lists/partial", "cache/archives/partial", "deb"):
        (own / folder).mkdir(parents=True)
    (own / "list").write_text(f"deb [signed-by={KEYRING}] {ARCHIVE} {base.suite} main\n")
    say(f"fetching {package} of {base.suite}")
    _apt(base, package, own, "update", "--error-on=any")
    try:
        _apt(base, package, own, "download", f"{package}={base.version}")
    except OkosuError:
        _apt(base, package, own, "download", package)
    (file,) = (own / "deb").glob("*.deb")
    _run(base, package, ["dpkg-deb", "-x", str(file), str(own / "root")], to)
    shutil.move(str(own / "root" / wanted.relative_to("/")), to / wanted.name)
    version = _run(base, package, ["dpkg-deb", "-f", str(file), "Version"], to)
    (to / _VERSION).write_text(f"{version.strip()}\n")
    shutil.rmtree(own)


def _apt(base: Base, package: str, own: Path, *words: str) -> None:
    """Run apt-get with lists, archives and sources in the folder `own`, as whoever runs it."""
    places = {
        "Dir::Etc::sourcelist": own / "list",
        "Dir::Etc::sourceparts": "-",
        "Dir::State::lists": own / "lists",
        "Dir::State::status": "/dev/null",
        "Dir::Cache": own / "cache",
        "APT::Sandbox::User": getpass.getuser(),
        "Acquire::Languages": "none",
    }
    options = [word for name, value in places.items() for word in ("-o", f"{name}={value}")]
    _run(base, package, ["apt-get", "-qq", *options, *words], own / "deb")


def _run(base: Base, package: str, words: list[str], where: Path) -> str:
    done = subprocess.run(words, cwd=where, capture_output=True, text=True, check=False)
    if done.returncode:
        if "No space left" in done.stderr or "enough free space" in done.stderr:
            raise cache.full_disk()
        said = [line for line in done.stderr.splitlines() if line.startswith("E: ")] or done.stderr.splitlines()
        why = said[0].removeprefix("E: ") if said else f"{words[0]} ended with {done.returncode}"
        raise _failed(base, package, why)
    return done.stdout


def _failed(base: Base, package: str, why: str) -> OkosuError:
    return OkosuError(
        f"{package} cannot be fetched from Debian's archive",
        why,
        f"install it where it is a package of the system, or --kernel-source DIR with a tree of Linux {base.name}",
        LAUNCHER_FAILED,
    )
