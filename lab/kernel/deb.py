# SPDX-License-Identifier: Apache-2.0
"""Debian packages of a kernel with series, made by its own bindeb-pkg on a whole configuration, in the cache."""

from __future__ import annotations

import contextlib
import json
import shlex
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

import lab.kernel.series
import lab.kernel.source
from lab import cache
from lab.cache import Say, quiet
from lab.kernel import base as bases
from lab.kernel import build, config, tree, whole
from lab.kernel.build import Recipe
from okosu.errors import LAUNCHER_FAILED, OkosuError

FRAGMENT = "package"
_KIND = "deb"
_META = "okosu.json"
# The packages that are kept; linux-libc-dev, which is made too, would replace the system's own.
_KEPT = ("linux-image-", "linux-headers-")
# The packages of the commands that bindeb-pkg needs beyond those of a kernel's build.
_TOOLS = {"dpkg-buildpackage": "dpkg-dev", "dh_builddeb": "debhelper", "depmod": "kmod", "rsync": "rsync"}
RECIPE = Recipe(arch="x86", target="bindeb-pkg", kept=(), objects=0, series=(), fragments=(FRAGMENT,))
"""What a package is made from; the series and the rest are the caller's, and how much there is to compile follows from
the configuration."""
# A build's steps for each symbol that is set: 2.3 to 2.7 were counted with configurations of the lab's.
_STEPS = 2.5


@dataclass(frozen=True)
class Packaged:
    """A packaged kernel: its folder, the key, what it was built from, the name that uname -r says, and the packages,
    the kernel's first."""

    path: Path
    key: str
    version: str
    compiler: str
    series: tuple[str, ...]
    fragments: tuple[str, ...]
    base: str
    config: Path
    release: str
    packages: tuple[Path, ...]


def packageable(base: str) -> tuple[str, ...]:
    """Return the series of `base` of which a packaged kernel has something: those whose options config/package.fragment
    of some room sets."""
    asked = {name for name, value in config.fragments((FRAGMENT,), base).items() if value != "n"}
    names = lab.kernel.series.names(base)
    return tuple(name for name in names if asked & lab.kernel.series.find(name, base).symbols)


def make(recipe: Recipe, named: str, say: Say = quiet) -> Packaged:
    """Return the packages of the kernel of `recipe` on the configuration that `named` means (see whole.read), made
    where the cache has none; OkosuError (125) says what is wrong."""
    made = _Order.of(recipe, named, say)

    def fill(folder: Path) -> None:
        # What the lab's kernels do without is what this driver is made of.
        everything = made.merged.get("DRM_AMDGPU", "n") != "n"
        source = lab.kernel.source.find(recipe.source, say, recipe.base, whole=everything)
        patched = tree.patched(source, made.series, say)
        (objects := folder / "objects").mkdir(exist_ok=True)
        (objects / ".config").write_text(config.text(made.merged))
        got = build.configured(patched, objects, recipe, "olddefconfig")
        # An empty text is as good as a symbol that is not there: its feature may be off.
        config.check({name: value for name, value in made.asked.items() if value != '""'}, got, recipe.series)
        steps = round(_STEPS * sum(value in ("y", "m") for value in got.values()))
        version = f"KDEB_PKGVERSION={made.package_version}"
        log = build.compile_(patched, objects, replace(recipe, objects=steps), say, version)
        packages = _kept(folder)
        release = (objects / "include/config/kernel.release").read_text().strip()
        for file in (objects / ".config", log):
            shutil.copy2(file, folder / file.name)
        (folder / _META).write_text(json.dumps({"release": release, "packages": packages}))
        shutil.rmtree(objects)

    path = cache.made(_KIND, made.key, fill, say, resume=True)
    meta = json.loads((path / _META).read_text())
    packages = tuple(path / name for name in meta["packages"])
    made_from = (made.version, made.compiler, recipe.series, recipe.fragments, recipe.base)
    return Packaged(path, made.key, *made_from, made.whole.path, meta["release"], packages)


def plan(recipe: Recipe, named: str) -> list[str]:
    """Return what make() would do, a line each, doing none of it."""
    of = bases.find(recipe.base)
    wanted = [of.package] if recipe.source is None and lab.kernel.source.to_be_fetched(recipe.base) else []
    wanted += [of.configurations.name] if whole.to_be_fetched(named, recipe.base) else []
    if wanted:
        return [
            f"fetched first: {' and '.join(wanted)} of {of.suite}; all but the series is known then",
            f"series: {', '.join(recipe.series) or 'none'}",
        ]
    made = _Order.of(recipe, named)
    path = cache.root() / _KIND / made.key
    applied = [f"{one.name} ({len(one.patches)} patches)" for one in made.series]
    version = f"KDEB_PKGVERSION={made.package_version}"
    words = build.command(Path("SOURCE"), Path("OBJECTS"), recipe, recipe.target, version)
    return [
        f"source: Linux {made.version} ({recipe.source or of.package})",
        f"series: {', '.join(applied) or 'none'}",
        f"configuration: {made.whole.path}, and on it {len(made.asked)} symbols of {', '.join(recipe.fragments)}",
        f"build: {shlex.join(words)}   ({made.compiler})",
        f"kept in: {path} ({'there already' if path.is_dir() else 'not there yet'})",
    ]


@dataclass(frozen=True)
class _Order:
    """All that decides what the packages will be; reading it builds nothing."""

    version: str
    series: list[lab.kernel.series.Series]
    whole: whole.Whole
    asked: config.Config
    merged: config.Config
    compiler: str
    key: str

    @property
    def package_version(self) -> str:
        """The version of the packages: the source's, and the key, so that each content has a version of its own."""
        return f"{self.version}+okosu{self.key[:8]}"

    @staticmethod
    def of(recipe: Recipe, named: str, say: Say = quiet) -> _Order:
        build.check_tools(recipe.cc, _TOOLS)
        version = lab.kernel.source.version(recipe.source, recipe.base, say)
        applied = [lab.kernel.series.find(name, recipe.base) for name in recipe.series]
        found = whole.read(named, recipe.base, say)
        defined = frozenset[str]().union(*(one.symbols for one in applied))
        elsewhere = {name for one in lab.kernel.series.on_every_base() for name in one.symbols} - defined
        asked = {
            name: value
            for name, value in config.fragments(recipe.fragments, recipe.base).items()
            if name not in elsewhere
        }
        merged = found.config | asked
        compiler = build.compiler_version(recipe.cc)
        how = [recipe.arch, recipe.target, recipe.kept, recipe.kcflags, compiler]
        key = cache.key(version, [one.digest for one in applied], merged, how)
        return _Order(version, applied, found, asked, merged, compiler, key)


def _kept(folder: Path) -> list[str]:
    """Remove what bindeb-pkg left beside the objects but the packages that a user installs; return these, the kernel's
    first."""
    found = [path for path in folder.iterdir() if path.is_file()]
    packages = [path for prefix in _KEPT for path in found if path.name.startswith(prefix) and path.suffix == ".deb"]
    for path in found:
        if path not in packages:
            path.unlink()
    return [path.name for path in packages]


def put(packaged: Packaged, folder: Path) -> list[Path]:
    """Copy the packages into `folder`, which is made where it is missing, each in one step; return their paths there.

    A file of the same name is replaced: the key in it says that okosu wrote that. OkosuError (125) where the folder
    cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in packaged.packages:
            _put(path, folder / path.name)
    except OSError as error:
        why = error.strerror or str(error)
        raise OkosuError(f"{folder} cannot be written", why, "--out with another folder", LAUNCHER_FAILED) from error
    return [folder / path.name for path in packaged.packages]


def _put(source: Path, to: Path) -> None:
    new = to.with_name(f".{to.name}.tmp")
    with contextlib.ExitStack() as undo:
        undo.callback(new.unlink, missing_ok=True)
        shutil.copyfile(source, new)
        new.replace(to)
