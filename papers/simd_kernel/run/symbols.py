# SPDX-License-Identifier: Apache-2.0
"""The functions of a kernel image by address, as nm lists them, to resolve samples and call sites."""

from __future__ import annotations

import bisect
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from okosu.errors import OkosuError

CODE = frozenset("tTwWi")


@dataclass(frozen=True)
class Symbols:
    """Functions in the order of their addresses; `names[i]` covers [starts[i], ends[i])."""

    starts: list[int]
    ends: list[int]
    names: list[str]

    def at(self, address: int) -> tuple[str, int] | None:
        """Return the function that an address lies in, and how far from its start; None outside all."""
        i = bisect.bisect_right(self.starts, address) - 1
        if i < 0 or address >= self.ends[i]:
            return None
        return self.names[i], address - self.starts[i]

    def between(self, low: int, high: int) -> list[tuple[str, int]]:
        """Return the functions that [low, high) overlaps, each with the bytes of the overlap."""
        found = []
        i = max(bisect.bisect_right(self.starts, low) - 1, 0)
        while i < len(self.starts) and self.starts[i] < high:
            if (bytes_ := min(high, self.ends[i]) - max(low, self.starts[i])) > 0:
                found.append((self.names[i], bytes_))
            i += 1
        return found


def parse(text: str) -> Symbols:
    """Return the functions of the output of `nm` or of a System.map (address, type, name; any order).

    A function ends where the next one begins; the last has one byte. Of several names of one address a global one is
    taken before a local one, then one without a leading underscore, then the first in the alphabet.
    """
    best: dict[int, tuple[bool, bool, str]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if len(words) == 2 and words[0] in ("U", "w", "v"):
            continue
        if len(words) < 3:
            raise OkosuError(
                f"line {number} of the symbol list is {line[:60]!r}", "address, type and name are expected"
            )
        address, kind, name = words[:3]
        if kind not in CODE:
            continue
        try:
            at = int(address, 16)
        except ValueError as error:
            raise OkosuError(f"line {number} of the symbol list is {line[:60]!r}", "no address") from error
        candidate = (kind.islower(), name.startswith("_"), name)
        best[at] = min(best.get(at, candidate), candidate)
    starts = sorted(best)
    ends = [*starts[1:], starts[-1] + 1] if starts else []
    return Symbols(starts, ends, [best[at][2] for at in starts])


def of_image(image: Path) -> Symbols:
    """Return the functions of an ELF image; OkosuError where nm is missing or refuses it."""
    return parse(_output(["nm", "--defined-only", str(image)]))


def lines(image: Path, addresses: Iterable[int]) -> dict[int, str]:
    """Return "file:line" of addresses, for those that the image's debugging information has."""
    wanted = sorted(set(addresses))
    if not wanted:
        return {}
    text = _output(["addr2line", "-e", str(image), *(f"{at:#x}" for at in wanted)])
    found = zip(wanted, text.splitlines(), strict=True)
    return {at: line.split(" ")[0] for at, line in found if not line.startswith("??") and ":?" not in line}


def _output(argv: list[str]) -> str:
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise OkosuError(f"{argv[0]} not found", "it reads the kernel's symbols", "apt-get install binutils") from error
    if done.returncode:
        raise OkosuError(f"{argv[0]} failed on {argv[-1]}", done.stderr.strip())
    return done.stdout
