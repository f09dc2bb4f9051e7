# SPDX-License-Identifier: Apache-2.0
"""A kernel built out of its tree, in the cache, by the hash of everything that went into it."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

import lab.kernel.series
import lab.kernel.source
from lab import cache
from lab.cache import Say, quiet
from lab.kernel import base as bases
from lab.kernel import config, tree
from okosu.errors import LAUNCHER_FAILED, OkosuError

_KIND = "kernel"
_LOG = "build.log"
_META = "okosu.json"
_STEP = re.compile(rb"^  (?:CC|AS|AR|LD) +\S")
_ERROR = re.compile(r"\berror: |undefined reference|can't open|No rule to make|: not found|No such file")
# Progress is said each time this share of the objects has been compiled.
_SAY_EVERY = 0.05
# Debian's names of the packages that the commands of a kernel build come from.
_TOOLS = {
    "make": "make",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
    "git": "git",
    "xz": "xz-utils",
    "ld": "binutils",
}
# With these in the environment the same sources give the same kernel, whoever builds it and when.
_SAME = {
    "KBUILD_BUILD_TIMESTAMP": "2026-01-01T00:00:00Z",
    "KBUILD_BUILD_USER": "okosu",
    "KBUILD_BUILD_HOST": "okosu",
    "KBUILD_BUILD_VERSION": "1",
    "LC_ALL": "C",
}


@dataclass(frozen=True)
class Recipe:
    """What a kernel is built from. `arch` is make's ARCH, `target` the file to make, `kept` what of it is kept.

    `objects` is about how many steps a build has, for the progress. `series` are those of `base`; `source` is a tree of
    the user's in place of the base's own.
    """

    arch: str
    target: str
    kept: tuple[str, ...]
    objects: int
    series: tuple[str, ...]
    fragments: tuple[str, ...]
    cc: str = "gcc"
    kcflags: str = ""
    source: Path | None = None
    base: str = bases.DEFAULT


@dataclass(frozen=True)
class Built:
    """A finished kernel: its folder (the files kept, .config, build.log), the key, and what it was built from."""

    path: Path
    key: str
    version: str
    compiler: str
    series: tuple[str, ...]
    fragments: tuple[str, ...]
    # Whether the kernel sizes the vector registers' state at boot. UML without that cannot run on a host with AMX.
    any_xstate: bool
    base: str = bases.DEFAULT


def build(recipe: Recipe, say: Say = quiet) -> Built:
    """Return the kernel of `recipe`, built where the cache has none; OkosuError (125) says what is wrong."""
    made = _Order.of(recipe, say)

    def fill(folder: Path) -> None:
        source = lab.kernel.source.find(recipe.source, say, recipe.base)
        patched = tree.patched(source, made.series, say)
        (objects := folder / "objects").mkdir(exist_ok=True)
        _configure(patched, objects, recipe, made.config)
        compile_(patched, objects, recipe, say)
        for file in (*recipe.kept, ".config", _LOG):
            shutil.copy2(objects / file, folder / Path(file).name)
        any_xstate = "host_fp_size" in (patched / "arch/x86/um/shared/sysdep/ptrace.h").read_text()
        (folder / _META).write_text(json.dumps({"any_xstate": any_xstate}))
        shutil.rmtree(objects)

    path = cache.made(_KIND, made.key, fill, say, resume=True)
    any_xstate = json.loads((path / _META).read_text())["any_xstate"]
    made_from = (made.version, made.compiler, recipe.series, recipe.fragments)
    return Built(path, made.key, *made_from, any_xstate, recipe.base)


@dataclass(frozen=True)
class Builder:
    """A platform's build(): its recipe, of which the caller may replace parts."""

    recipe: Recipe

    def __call__(
        self,
        series: Sequence[str] | None = None,
        fragments: Sequence[str] | None = None,
        cc: str = "gcc",
        kcflags: str = "",
        source: Path | None = None,
        base: str = bases.DEFAULT,
        say: Say = quiet,
    ) -> Built:
        """Return the kernel with these series and fragments, built where the cache has none; OkosuError (125) if it
        fails. Without `series` it has those of the recipe that there are on `base`."""
        of = self.recipe
        applied = lab.kernel.series.on(base, of.series) if series is None else tuple(series)
        merged = of.fragments if fragments is None else tuple(fragments)
        made_from = replace(of, series=applied, fragments=merged, source=source, base=base)
        return build(replace(made_from, cc=cc, kcflags=kcflags), say)


def plan(recipe: Recipe) -> list[str]:
    """Return what build() would do with `recipe`, a line each, doing none of it."""
    if recipe.source is None and lab.kernel.source.to_be_fetched(recipe.base):
        of = bases.find(recipe.base)
        return [
            f"source: Linux {of.name}, fetched first: {of.package} of {of.suite}; all else is known then",
            f"series: {', '.join(recipe.series) or 'none'}",
        ]
    made = _Order.of(recipe)
    path = cache.root() / _KIND / made.key
    applied = [f"{one.name} ({len(one.patches)} patches)" for one in made.series]
    words = command(Path("SOURCE"), Path("OBJECTS"), recipe, recipe.target)
    return [
        f"source: Linux {made.version} ({recipe.source or bases.find(recipe.base).package})",
        f"series: {', '.join(applied) or 'none'}",
        f"configuration: {len(made.config)} symbols of {', '.join(recipe.fragments)}, on an empty one",
        f"build: {shlex.join(words)}   ({made.compiler})",
        f"kept in: {path} ({'there already' if path.is_dir() else 'not there yet'})",
    ]


def cached(recipe: Recipe) -> bool:
    """Say whether build() would find `recipe` made already; OkosuError (125) as for build()."""
    return (cache.root() / _KIND / _Order.of(recipe).key).is_dir()


@dataclass(frozen=True)
class _Order:
    """All that decides what a kernel will be; reading it builds nothing."""

    version: str
    series: list[lab.kernel.series.Series]
    config: config.Config
    compiler: str
    key: str

    @staticmethod
    def of(recipe: Recipe, say: Say = quiet) -> _Order:
        check_tools(recipe.cc)
        version = lab.kernel.source.version(recipe.source, recipe.base, say)
        applied = [lab.kernel.series.find(name, recipe.base) for name in recipe.series]
        asked = config.fragments(recipe.fragments, recipe.base)
        compiler = compiler_version(recipe.cc)
        how = [recipe.arch, recipe.target, recipe.kept, recipe.kcflags, compiler]
        return _Order(version, applied, asked, compiler, cache.key(version, [s.digest for s in applied], asked, how))


def check_tools(cc: str, more: Mapping[str, str] | None = None) -> None:
    """Raise OkosuError (125) that names the packages whose commands are missing; `more` is {command: package} too."""
    path = environment()["PATH"]
    missing = [package for tool, package in (_TOOLS | dict(more or {})).items() if not shutil.which(tool, path=path)]
    if not shutil.which(cc.split()[-1]):
        missing.append(cc.split()[-1])
    if missing:
        raise OkosuError(
            f"a kernel cannot be built: {', '.join(missing)} missing",
            "the commands of these packages are not on the PATH",
            f"make lab-deps, or apt-get install {' '.join(missing)}   (as root)",
            LAUNCHER_FAILED,
        )


def compiler_version(cc: str) -> str:
    """Return the first line of what the compiler says to --version."""
    said = subprocess.run([*cc.split(), "--version"], capture_output=True, text=True, check=False).stdout
    return said.partition("\n")[0]


def command(base: Path, objects: Path, recipe: Recipe, *words: str) -> list[str]:
    """Return the make command for `words` in the tree `base`, with `objects` as its output folder."""
    flags = [f"KCFLAGS={recipe.kcflags}"] if recipe.kcflags else []
    jobs = len(os.sched_getaffinity(0))
    # LOCALVERSION empty, or the git repository of a patched tree would add a "+".
    fixed = [f"ARCH={recipe.arch}", f"CC={recipe.cc}", "LOCALVERSION=", *flags]
    # -Otarget keeps what the compiler says of an object together, behind the object's own line in the log.
    return ["make", "-C", str(base), f"O={objects}", f"-j{jobs}", "-Otarget", *fixed, *words]


def _configure(base: Path, objects: Path, recipe: Recipe, asked: config.Config) -> None:
    wanted = objects / "okosu.config"
    wanted.write_text(config.text(asked))
    config.check(asked, configured(base, objects, recipe, f"KCONFIG_ALLCONFIG={wanted}", "allnoconfig"), recipe.series)


def configured(base: Path, objects: Path, recipe: Recipe, *words: str) -> config.Config:
    """Let make configure the kernel, by the target among `words`, and return what came of it."""
    words_of_make = command(base, objects, recipe, *words)
    done = subprocess.run(words_of_make, env=environment(), capture_output=True, text=True, check=False)
    if done.returncode:
        raise _failed("the kernel could not be configured", (done.stdout + done.stderr).encode())
    return config.parse((objects / ".config").read_text())


def compile_(base: Path, objects: Path, recipe: Recipe, say: Say, *more: str) -> Path:
    """Make the recipe's target, with `more` words for make; return the log. OkosuError (125) says what failed."""
    log = objects / _LOG
    before = log.stat().st_size if log.exists() else 0
    say(f"compiling Linux ({recipe.arch}), about {recipe.objects} objects")
    words = command(base, objects, recipe, recipe.target, *more)
    # The build ends with this process, also when that is ended by SIGKILL.
    child = subprocess.Popen(
        ["setpriv", "--pdeathsig", "TERM", "--", *words],
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    started = time.monotonic()
    try:
        assert child.stdout is not None
        # The log is appended to: an interrupted build goes on where it stopped.
        with log.open("ab", buffering=0) as kept:
            _follow(child.stdout, kept, recipe.objects, say)
        child.wait()
    finally:
        if child.returncode is None:
            os.killpg(child.pid, signal.SIGTERM)
            child.wait()
    if child.returncode:
        raise _failed("the kernel does not compile", log.read_bytes()[before:])
    say(f"compiled in {time.monotonic() - started:.0f} s")
    return log


def _follow(lines: IO[bytes], log: IO[bytes], about: int, say: Say) -> None:
    done, said = 0, 0
    for line in lines:
        log.write(line)
        if _STEP.match(line):
            done += 1
            if done - said >= about * _SAY_EVERY:
                said = done
                say(f"compiled {done} of about {max(about, done)}")


def environment() -> dict[str, str]:
    """Return what make and its children have in their environment."""
    kept = {name: value for name, value in os.environ.items() if name in ("HOME", "TMPDIR", "CCACHE_DIR")}
    # depmod, which packages want, is where only root's PATH leads.
    return {**kept, **_SAME, "PATH": f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"}


def _failed(what: str, said: bytes) -> OkosuError:
    if b"No space left on device" in said:
        return cache.full_disk()
    lines = said.decode(errors="replace").splitlines()
    errors = [line for line in lines if _ERROR.search(line)] or [line for line in lines if "***" in line] or lines[-5:]
    kept = cache.root() / f"failed-{_LOG}"
    kept.write_bytes(said)
    return OkosuError(what, "\n       ".join(errors[:5]), f"all of it is in {kept}", LAUNCHER_FAILED)
