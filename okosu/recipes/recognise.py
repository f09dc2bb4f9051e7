# SPDX-License-Identifier: Apache-2.0
"""Whether a recipe is for a program, read from its files without running it, and confirmed by what base's pilot run
mapped.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Protocol

from okosu.machine import elf
from okosu.machine.program import Program
from okosu.records.recipe import Recognise

_MOST_IMAGES = 64
_FEWEST_HEAPS = 2
"""With one heap there is nothing that arenas would share."""
_has_symbol = functools.lru_cache(1024)(elf.has_symbol)


class Recognisable(Protocol):
    """What recipes ask of a program's files."""

    @property
    def names(self) -> Collection[str]: ...
    @property
    def needed(self) -> Collection[str]: ...
    @property
    def sections(self) -> Collection[str]: ...
    def has_symbol(self, pattern: str) -> bool: ...


class Facts:
    """What a program's files say of it. Each is read when it is asked for."""

    def __init__(self, program: Program) -> None:
        self.image = Path(program.script or program.path)
        paths = {Path(path) for path in (program.path, program.script) if path}
        self.names = frozenset(name for path in paths for name in (path.name, path.resolve().name))

    @functools.cached_property
    def _libraries(self) -> dict[str, Path | None]:
        return elf.libraries(self.image)

    @property
    def needed(self) -> frozenset[str]:
        return frozenset(self._libraries)

    @functools.cached_property
    def mapped(self) -> frozenset[str]:
        """The files that the program will map when it starts, by their names before and after symbolic links."""
        found = [path for path in (self.image, *self._libraries.values()) if path]
        return frozenset(name for path in found for name in (str(path), str(path.resolve())))

    @functools.cached_property
    def sections(self) -> tuple[str, ...]:
        found = elf.read(self.image)
        return found.sections if found else ()

    def has_symbol(self, pattern: str) -> bool:
        return _has_symbol(self.image, pattern)


class Seen:
    """What the processes of a run, whatever started them, say by the files that they mapped."""

    def __init__(self, files: Iterable[str]) -> None:
        libraries = {path for path in files if ".so" in Path(path).name}
        self.needed = frozenset(Path(path).name for path in libraries)
        self.images = [path for name in sorted({*files} - libraries) if elf.kind(path := Path(name))][:_MOST_IMAGES]
        self.names = frozenset(path.name for path in self.images)

    @functools.cached_property
    def sections(self) -> tuple[str, ...]:
        return tuple(name for path in self.images if (found := elf.read(path)) for name in found.sections)

    def has_symbol(self, pattern: str) -> bool:
        return any(_has_symbol(path, pattern) for path in self.images)


@functools.lru_cache(8)
def facts(program: Program) -> Facts:
    """The facts of a program; those of the last few are kept."""
    return Facts(program)


@functools.lru_cache(2)
def seen(files: tuple[str, ...]) -> Seen:
    """What a run mapped; that of the last few is kept."""
    return Seen(files)


def fits(names: Iterable[str], patterns: Sequence[str]) -> str:
    """The first name that matches a pattern; "" if none does."""
    return next((name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns)), "")


def by_files(asked: Recognise, of: Recognisable) -> bool:
    """Say whether the program's files match; a recipe that names nothing of them may be for any program."""
    if not (asked.names or asked.needed or asked.sections or asked.symbols):
        return True
    return bool(
        fits(of.names, asked.names)
        or (asked.needed and fits(of.needed, asked.needed))
        or (asked.sections and fits(of.sections, asked.sections))
        or any(of.has_symbol(pattern) for pattern in asked.symbols)
    )


def excepted(asked: Recognise, of: Iterable[Recognisable]) -> str:
    """Why the recipe is not for programs that it would match, as its file says; "" where it says nothing of these."""
    every = list(of)
    for one in asked.excepted:
        for facts in every:
            if fits(facts.names, one.names) or any(facts.has_symbol(pattern) for pattern in one.symbols):
                return one.why
    return ""


def by_variables(asked: Recognise, present: Mapping[str, str]) -> bool:
    """Say whether the variables of the environment leave something to try."""
    if asked.set and not any(_is_set(condition, present) for condition in asked.set):
        return False
    return not any(_is_set(condition, present) for condition in asked.unless)


def expected(asked: Recognise, of: Facts) -> bool:
    """Say whether a run of the program can be expected to show that the recipe is for it."""
    if fits(of.names, asked.expect):
        return True
    if asked.heaps_mib:
        return False
    tells = asked.names or asked.needed or asked.sections or asked.symbols
    return by_files(asked, of) if tells else bool(fits(of.mapped, asked.mapped))


def by_mapped(asked: Recognise, mapped: Sequence[str]) -> bool:
    """Say whether base's pilot run mapped what it has to."""
    return not asked.mapped or bool(fits(mapped, asked.mapped))


def by_heaps(asked: Recognise, heaps: int, heaps_kb: int) -> bool:
    """Say whether base's pilot run had as much memory in heaps of arenas as it has to have."""
    return not asked.heaps_mib or (heaps >= _FEWEST_HEAPS and heaps_kb >= asked.heaps_mib << 10)


def _is_set(condition: str, present: Mapping[str, str]) -> bool:
    """Whether NAME=PATTERN or NAME holds. An empty variable counts as one that is not set."""
    name, equals, pattern = condition.partition("=")
    value = present.get(name, "")
    return bool(value) and (not equals or fnmatchcase(value, pattern))
