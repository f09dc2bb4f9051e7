# SPDX-License-Identifier: Apache-2.0
"""What an ELF file says of itself: its interpreter, the libraries that it needs, its sections and symbols.

Files are read, never run, and damaged ones give less, not an error. ld.so's search for a library is followed as far as
it does not depend on the processor's level (glibc-hwcaps) or on namespaces.
"""

from __future__ import annotations

import functools
import mmap
import os
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

_PT_LOAD, _PT_DYNAMIC, _PT_INTERP = 1, 2, 3
_DT_NEEDED, _DT_STRTAB, _DT_RPATH, _DT_RUNPATH = 1, 5, 15, 29
_MOST_HEADERS = 4096
_MOST_LIBRARIES = 1024
_FOLDERS = ("/lib64", "/usr/lib64", "/lib", "/usr/lib")


@dataclass(frozen=True)
class Elf:
    """One file. `kind` is its class, byte order and machine, the same for all that can be loaded together."""

    kind: bytes
    interpreter: str = ""
    needed: tuple[str, ...] = ()
    rpath: tuple[str, ...] = ()
    runpath: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()
    strings: tuple[tuple[int, int], ...] = field(default=(), repr=False)
    """Offset and size of each table of symbols' names."""


def kind(path: Path) -> bytes:
    """Class, byte order and machine of an ELF file; b"" of any other."""
    try:
        with path.open("rb") as file:
            head = file.read(20)
    except OSError:
        return b""
    return head[4:6] + head[18:20] if head[:4] == b"\x7fELF" and len(head) == 20 else b""


def read(path: Path) -> Elf | None:
    """The file's facts, as far as they can be read; None if it is no ELF file."""
    of = kind(path)
    if not of:
        return None
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as data:
            return _Reader(data, of).elf()
    except (OSError, ValueError):
        return Elf(of)


def has_symbol(path: Path, pattern: str) -> bool:
    """Say whether a name in the file's tables of symbols matches the pattern.

    The names are searched, not the symbols, of which a large program has a million: one that a linker keeps as the end
    of a longer name alone is not found.
    """
    elf = read(path)
    literal = _longest_literal(pattern).encode()
    if elf is None or not elf.strings or not literal:
        return False
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as data:
            ends = [(begin, min(begin + size, len(data))) for begin, size in elf.strings if begin < len(data)]
            return any(_found(data, begin, end, literal, pattern) for begin, end in ends)
    except (OSError, ValueError):
        return False


def libraries(path: Path) -> dict[str, Path | None]:
    """The libraries that a file needs, directly or by way of another, by the names by which they are asked for; None
    where one is not found.
    """
    first = read(path)
    if first is None:
        return {}
    names: dict[str, Path | None] = {}
    seen: set[Path] = set()
    left: list[tuple[Path, Elf, tuple[str, ...]]] = [(path, first, ())]
    while left and len(seen) < _MOST_LIBRARIES:
        at, elf, inherited = left.pop()
        # DT_RPATH holds for what a library's libraries need, too; DT_RUNPATH for its own alone, and puts RPATH aside.
        own = () if elf.runpath else tuple(_expanded(elf.rpath, at))
        for name in elf.needed:
            folders = [*own, *inherited, *_environment(), *_expanded(elf.runpath, at)]
            found = _resolve(name, folders, first.kind)
            names[name] = names.get(name) or found
            if found is not None and found not in seen:
                seen.add(found)
                if (its := read(found)) is not None:
                    left.append((found, its, (*own, *inherited)))
    return names


def _longest_literal(pattern: str) -> str:
    """A part of the pattern that whatever matches it has to hold."""
    return max(re.split(r"[*?]|\[[^]]*\]?", pattern), key=len)


def _found(data: mmap.mmap, begin: int, end: int, literal: bytes, pattern: str) -> bool:
    at = data.find(literal, begin, end)
    while at >= 0:
        start, stop = data.rfind(b"\0", begin, at) + 1 or begin, data.find(b"\0", at, end)
        stop = stop if stop >= 0 else end
        if fnmatchcase(data[start:stop].decode(errors="replace"), pattern):
            return True
        at = data.find(literal, stop, end)
    return False


def _environment() -> list[str]:
    return [folder for folder in os.environ.get("LD_LIBRARY_PATH", "").replace(";", ":").split(":") if folder]


def _expanded(folders: tuple[str, ...], at: Path) -> Iterator[str]:
    origin = str(at.resolve().parent)
    for folder in folders:
        yield folder.replace("${ORIGIN}", origin).replace("$ORIGIN", origin)


def _resolve(name: str, folders: list[str], of: bytes) -> Path | None:
    if "/" in name:
        return Path(name) if kind(Path(name)) == of else None
    places = [f"{folder}/{name}" for folder in folders]
    places += _cached().get(name, [])
    places += [f"{folder}/{name}" for folder in _FOLDERS]
    return next((Path(place) for place in places if kind(Path(place)) == of), None)


@functools.cache
def _cached(cache: str = "/etc/ld.so.cache") -> dict[str, list[str]]:
    """The paths in ldconfig's cache by file name. Old and new forms of the cache hold them as texts that end in NUL."""
    try:
        data = Path(cache).read_bytes()
    except OSError:
        return {}
    found: dict[str, list[str]] = {}
    for text in data.split(b"\0"):
        if text.startswith(b"/"):
            path = text.decode(errors="replace")
            found.setdefault(path.rpartition("/")[2], []).append(path)
    return found


class _Reader:
    """Walks the headers of one mapped file. ValueError where they point outside of it."""

    def __init__(self, data: mmap.mmap, of: bytes) -> None:
        self.data, self.kind = data, of
        self.wide, self.order = of[0] == 2, ">" if of[1] == 2 else "<"
        self.word = "Q" if self.wide else "I"

    def elf(self) -> Elf:
        segments = list(self._segments())
        interpreter = ""
        tags: list[tuple[int, int]] = []
        for what, offset, _, size in segments:
            if what == _PT_INTERP and not interpreter:
                interpreter = self._text(offset, min(offset + size, offset + 4096))
            elif what == _PT_DYNAMIC:
                tags = list(self._dynamic(offset, size))
        table = self._offset(next((value for tag, value in tags if tag == _DT_STRTAB), 0), segments)

        def named(tag: int) -> list[str]:
            return [self._text(table + value) for its, value in tags if its == tag] if table else []

        rpath, runpath = (tuple(":".join(named(tag)).split(":")) for tag in (_DT_RPATH, _DT_RUNPATH))
        try:
            sections = list(self._sections())
        except ValueError:
            # What strips a file may leave headers of sections that are not there; nothing that is loaded needs them.
            sections = []
        return Elf(
            self.kind,
            interpreter,
            tuple(named(_DT_NEEDED)),
            tuple(filter(None, rpath)),
            tuple(filter(None, runpath)),
            tuple(name for name, _, _ in sections),
            tuple((at, size) for name, at, size in sections if name in (".dynstr", ".strtab")),
        )

    def _unpack(self, form: str, offset: int) -> tuple[int, ...]:
        try:
            return struct.unpack_from(self.order + form, self.data, offset)
        except (struct.error, OverflowError) as error:
            raise ValueError("a header lies outside of the file") from error

    def _text(self, begin: int, end: int | None = None) -> str:
        if begin > len(self.data):
            raise ValueError("a text lies outside of the file")
        stop = self.data.find(b"\0", begin, len(self.data) if end is None else min(end, len(self.data)))
        return self.data[begin : stop if stop >= 0 else begin].decode(errors="replace")

    def _segments(self) -> Iterator[tuple[int, int, int, int]]:
        """Type, offset, address and size in the file of each segment."""
        (table,) = self._unpack(self.word, 32 if self.wide else 28)
        size, count = self._unpack("HH", 54 if self.wide else 42)
        for i in range(min(count, _MOST_HEADERS)):
            at = table + i * size
            if self.wide:
                what, _, offset, address, _, length = self._unpack("IIQQQQ", at)
            else:
                what, offset, address, _, length = self._unpack("IIIII", at)
            yield what, offset, address, length

    def _dynamic(self, offset: int, size: int) -> Iterator[tuple[int, int]]:
        step = 16 if self.wide else 8
        for at in range(offset, min(offset + size, len(self.data)) - step + 1, step):
            tag, value = self._unpack(2 * self.word, at)
            if tag == 0:
                return
            yield tag, value

    def _offset(self, address: int, segments: list[tuple[int, int, int, int]]) -> int:
        for what, offset, begin, size in segments:
            if what == _PT_LOAD and begin <= address < begin + size:
                return address - begin + offset
        return 0

    def _sections(self) -> Iterator[tuple[str, int, int]]:
        """Name, offset and size of each section."""
        (table,) = self._unpack(self.word, 40 if self.wide else 32)
        size, count, names = self._unpack("HHH", 58 if self.wide else 46)
        if not table or not count:
            return

        def header(i: int) -> tuple[int, int, int]:
            at = table + i * size
            (name,) = self._unpack("I", at)
            offset, length = self._unpack(2 * self.word, at + (24 if self.wide else 16))
            return name, offset, length

        strings = header(names)[1]
        for i in range(min(count, _MOST_HEADERS)):
            name, offset, length = header(i)
            yield self._text(strings + name), offset, length
