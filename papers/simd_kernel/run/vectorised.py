# SPDX-License-Identifier: Apache-2.0
"""Which loops GCC vectorised, and why not the others: what a build prints with -fopt-info-vec-optimized-missed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

FLAG = "-fopt-info-vec-optimized-missed"
"""What GCC is given, so that parse() has something to read."""
NO_REASON = "no reason given"

_OBJECT = re.compile(r"^  CC +(?:\[M\] +)?(\S+)$")
_SAID = re.compile(r"^(?P<file>[^\s:]+):(?P<line>\d+):(?P<column>\d+): (?P<kind>optimized|missed): +(?P<text>\S.*)$")
_VECTORS = re.compile(r"^(?P<what>loop|basic block part) vectorized using (?P<bytes>\d+) byte vectors$")
_VERSIONED = re.compile(r"^loop versioned for vectorization ")
_GAVE_UP = "couldn't vectorize loop"
_REASON = re.compile(r"^not vectorized: *(?P<reason>\S.*)$")
_OF_ONE_LOOP = re.compile(r"(:|\.?__asm__| \*?\w*_\d| = |(?<=data-type) ).*$", re.DOTALL)
_OTHER_REASON = re.compile(r"^(would need a runtime alias check|versioning for alias .*|bad data .*)")


class Place(NamedTuple):
    """Where a loop stands: its file below the source's root, line and column, both from 1."""

    file: str
    line: int
    column: int


@dataclass
class Vectorised:
    """A loop, or a row of statements (a "block"), that was vectorised in at least one object."""

    place: Place
    kind: Literal["loop", "block"]
    bytes: int
    """Of the widest vectors that it uses anywhere: 16 for SSE2, 8 for halves of them or words in general registers."""
    versioned: bool = False
    """Whether a test when it runs chooses between it and the scalar loop."""
    objects: set[str] = field(default_factory=set)
    """Object files with a copy of it: several for a loop in a header."""


@dataclass
class Log:
    """What a build's log says: what was vectorised, the reason by loop that was not, and the objects compiled."""

    done: dict[tuple[Place, str], Vectorised] = field(default_factory=dict)
    missed: dict[Place, str] = field(default_factory=dict)
    objects: set[str] = field(default_factory=set)

    def loops(self) -> list[Vectorised]:
        """Return the loops in order of their places."""
        return sorted((one for one in self.done.values() if one.kind == "loop"), key=lambda one: one.place)

    def blocks(self) -> list[Vectorised]:
        """Return the rows of statements in order of their places."""
        return sorted((one for one in self.done.values() if one.kind == "block"), key=lambda one: one.place)

    def reasons(self) -> Counter[str]:
        """Return how many loops were given up for each kind of reason; each loop counts once, whatever includes it."""
        vectorised = {one.place for one in self.loops()}
        return Counter(reason for place, reason in self.missed.items() if place not in vectorised)


def parse(lines: Iterable[str], root: str = "") -> Log:
    """Return what the log of a build of the source in folder `root` says; lines of any other kind are passed over.

    The lines of one object must follow its `CC` line, as make prints them with one job or with -Otarget.
    """
    log = Log()
    prefix = root.rstrip("/") + "/" if root else ""
    current, open_loop = "", None
    for line in lines:
        if found := _OBJECT.match(line):
            current, open_loop = found[1], None
            log.objects.add(current)
        elif said := _SAID.match(line):
            place = Place(_below(said["file"], prefix), int(said["line"]), int(said["column"]))
            if said["kind"] == "optimized":
                _optimized(log, place, said["text"], current)
                open_loop = None
            else:
                open_loop = _missed(log, place, said["text"], open_loop)
    return log


def _below(file: str, prefix: str) -> str:
    return (file[len(prefix) :] if prefix and file.startswith(prefix) else file).removeprefix("./")


def _optimized(log: Log, place: Place, text: str, current: str) -> None:
    if found := _VECTORS.match(text):
        kind: Literal["loop", "block"] = "loop" if found["what"] == "loop" else "block"
        one = log.done.setdefault((place, kind), Vectorised(place, kind, 0))
        one.bytes = max(one.bytes, int(found["bytes"]))
        if current:
            one.objects.add(current)
    elif _VERSIONED.match(text) and (place, "loop") in log.done:
        log.done[place, "loop"].versioned = True


def _missed(log: Log, place: Place, text: str, open_loop: Place | None) -> Place | None:
    """Record a line about a loop that was not vectorised; return that loop while its reason is still to come."""
    if text == _GAVE_UP:
        log.missed.setdefault(place, NO_REASON)
        return place
    if open_loop is None:
        return None
    if found := _REASON.match(text):
        log.missed[open_loop] = _kind(found["reason"])
        return None
    if found := _OTHER_REASON.match(text):
        log.missed[open_loop] = _kind(found[0])
        return None
    return open_loop


def _kind(reason: str) -> str:
    """Return a reason without what it says of one loop: "no vectype for stmt: _5 = *_3;" is "no vectype for stmt"."""
    short = re.sub(r"\s+", " ", _OF_ONE_LOOP.sub("", reason))
    return short.strip().rstrip(".").strip() or NO_REASON
