# SPDX-License-Identifier: Apache-2.0
"""A series' commits one by one: a tree to check them out in, and single objects built from it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

import pytest

from lab import cache
from lab.kernel import build, config, llvm, series, source, tree
from lab.tests.long.base import BASE

_FIXED = ("-s", "LOCALVERSION=", "KCFLAGS=-Werror")
# GCC's W=1, and sparse of every file, whether it has to be compiled or not.
_STRICT = ("W=1", "C=2", "KCFLAGS=")
# What GCC and sparse say of a line, or smatch, which names the function first.
_COMPLAINT = re.compile(r"^(\S+?):[\d:]+ ((?:\S+\(\) )?(?:warn|warning|error): .*)$", re.M)
# Debian has no package of it: a program that was built somewhere is named by OKOSU_SMATCH.
SMATCH = os.environ.get("OKOSU_SMATCH") or shutil.which("smatch")
NEEDS_SMATCH = pytest.mark.skipif(not SMATCH, reason="smatch is missing: build it and name the program by OKOSU_SMATCH")


class Workbench:
    """A series' commits in a tree of their own, and objects built from any of them, which the lab's cache keeps."""

    def __init__(self, folder: Path, name: str, arch: str, base: str = BASE) -> None:
        self.folder, self.arch, self.base = folder, arch, base
        self.series = series.find(name, base)
        self.source = source.find(base=base)
        self.patched = tree.patched(self.source, [self.series])
        self.commits = _git(self.patched, "rev-list", "--reverse", "HEAD").split()
        self.commit = self.commits[-1]

    def config(self, *fragments: str) -> config.Config:
        """Return what the fragments ask for on the bench's base."""
        return config.fragments(fragments, self.base)

    def checkout(self, commit: str) -> None:
        """Choose the commit to build from; the first of `commits` is the kernel without the series."""
        self.commit = commit

    def changed(self, commit: str) -> list[str]:
        """Return the files that a commit changes."""
        return _git(self.patched, "show", "--name-only", "--format=", commit).split()

    def objects(self, paths: Iterable[str]) -> list[str]:
        """Return the objects of those of `paths` that the kernel of the commit checked out compiles: not of programs
        in tools/, and not of sources that others of `paths` include."""
        sources = {path for path in paths if path.endswith(".c") and not path.startswith("tools/")}
        included = {
            str(Path(path).parent / name)
            for path in sources
            for name in re.findall(r'^#include "(.*\.c)"$', _git(self.patched, "show", f"{self.commit}:{path}"), re.M)
        }
        return sorted(f"{path[:-2]}.o" for path in sources - included)

    def files(self) -> set[str]:
        """Return those files of the commit checked out that any commit of the series touches."""
        return set(_git(self.patched, "ls-tree", "-r", "--name-only", self.commit).split())

    def complaints(self, asked: Mapping[str, str], *targets: str) -> Counter[str]:
        """Return what GCC's W=1 and sparse say of the objects' sources: FILE: MESSAGE, and how often."""
        objects = self._configured(asked)
        return self._said(objects, _STRICT, targets)

    def smatch(self, asked: Mapping[str, str], *targets: str) -> Counter[str]:
        """Return what smatch says of the objects' sources, as `complaints` does."""
        objects = self._configured(asked)
        # smatch speaks on stdout, which make -s throws away.
        checker = self.folder / "smatch"
        checker.write_text(f'#!/bin/sh\nexec {SMATCH} -p=kernel "$@" >&2\n')
        checker.chmod(0o755)
        return self._said(objects, ("C=2", "KCFLAGS=", f"CHECK={checker}"), targets)

    def _said(self, objects: Path, words: Sequence[str], targets: Sequence[str]) -> Counter[str]:
        # Output about what make builds before the targets is left out.
        self._make(objects, "prepare")
        # One at a time: what is in arch/x86/lib make comes upon twice, and two of it at once delete each other's files.
        found = _COMPLAINT.findall(self._make(objects, "-j1", *words, *targets))
        # A line's number changes with each line that is added.
        return Counter(
            f"{path.removeprefix(f'{self.tree}/')}: {re.sub(r'lines? [0-9,]+', 'line', said)}" for path, said in found
        )

    def make(self, asked: Mapping[str, str], *targets: str, words: Sequence[str] = ()) -> Path:
        """Build `targets` (objects, or folders of them) in the configuration `asked`; return the folder they are in.

        `words` are further ones for make.
        """
        content = _git(self.patched, "rev-parse", f"{self.commit}^{{tree}}").strip()
        clang = next((word for word in words if word.startswith("LLVM=")), None)
        compiler = llvm.version(clang) if clang else build.compiler_version("gcc")
        fixed = (*_FIXED, *words)
        name = cache.key(self.source.version, content, self.arch, sorted(asked.items()), targets, fixed, compiler)
        return cache.made("objects", name, lambda to: self._fill(to, asked, targets, words))

    def _fill(self, to: Path, asked: Mapping[str, str], targets: Sequence[str], words: Sequence[str]) -> None:
        objects = self._configured(asked, words)
        # Symbols of later commits are unknown to this one, and make ignores them.
        self._make(objects, *words, *targets)
        for target in targets:
            for path in sorted((objects / target).glob("*.o")) if target.endswith("/") else [objects / target]:
                kept = to / path.relative_to(objects)
                kept.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, kept)

    def _configured(self, asked: Mapping[str, str], words: Sequence[str] = ()) -> Path:
        """Check the commit out, and return a folder for its objects in the configuration `asked`, made with `words`."""
        _git(self.tree, "checkout", "--quiet", self.commit)
        objects = self.folder / f"objects-{cache.key(sorted(asked.items()), words)}"
        objects.mkdir(exist_ok=True)
        wanted = objects / "asked.config"
        wanted.write_text(config.text(dict(asked)))
        self._make(objects, *words, f"KCONFIG_ALLCONFIG={wanted}", "allnoconfig")
        return objects

    @cached_property
    def tree(self) -> Path:
        """Return a tree to check commits out in. Hard links: what git checks out and make writes are new files."""
        made = self.folder / "tree"
        subprocess.run(["cp", "-al", f"{self.patched}/.", made], check=True)
        return made

    def _make(self, objects: Path, *words: str) -> str:
        jobs = len(os.sched_getaffinity(0))
        fixed = [f"O={objects}", f"ARCH={self.arch}", f"-j{jobs}", *_FIXED]
        done = subprocess.run(["make", "-C", self.tree, *fixed, *words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
        return done.stderr


def _git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", folder, *words], capture_output=True, text=True, check=True).stdout


def code(obj: Path) -> str:
    """Return an object's instructions, relocations and data, of every section that is loaded."""
    heads = _objdump("-hw", obj)
    loaded = [
        words[1] for line in heads.splitlines() if "CONTENTS" in line and "ALLOC" in line if (words := line.split())
    ]
    assert ".text" in loaded
    chosen = [word for name in loaded for word in ("-j", name)]
    return _objdump("-drs", "--no-show-raw-insn", *chosen, obj).partition("\n\n")[2]


def masked(obj: Path) -> str:
    """Return `code()` without the numbers that the compiler and __LINE__ put into names."""
    names = r"\b([A-Za-z_]\w*)\.\d+\b|(__UNIQUE_ID_\w*?)\d+\b|(__initcall__kmod_\w+?__)\d+_\d+(?=_)"
    return re.sub(names, r"\1\2\3", code(obj))


def _objdump(*words: str | Path) -> str:
    return subprocess.run(["objdump", *words], capture_output=True, text=True, check=True).stdout


def instructions(obj: Path, function: str) -> list[str]:
    """Return the mnemonics of one function's code in order."""
    words = ["objdump", "-d", "--no-show-raw-insn", "-j", ".text", f"--disassemble={function}", str(obj)]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return re.findall(r"^ +[0-9a-f]+:\t(\S+)", said, re.M)
