# SPDX-License-Identifier: Apache-2.0
"""Profiles by the sampled program counter: gmon.out in, seconds by function out.

libc counts in a bin for every few bytes of code where SIGPROF finds the program counter, at 100 Hz of the process's own
CPU time, and writes gmon.out when the kernel halts (format: binutils, gprof/gmon_out.h). Only the image's own code has
bins: what User-Mode Linux spends in libc and its system calls (ptrace above all) is in no gmon.out, and in no total.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from okosu.errors import OkosuError
from papers.simd_kernel.run.symbols import Symbols

HEADER = struct.Struct("<4si12x")
HISTOGRAM = struct.Struct("<QQii15sc")
ARC_BYTES = 8 + 8 + 4
BLOCK_BYTES = 8 + 8
VERSION = 1
RATE_HZ = 100
ENOUGH = 1000
"""The least samples of a total that is compared: the standard error of 1,000 is 3 %."""

Bins = dict[tuple[int, int], int]
"""Samples by [low, high) address; ranges without samples are not there."""


@dataclass(frozen=True)
class Profile:
    """The samples of a gmon.out: bins, and samples in a second."""

    bins: Bins
    rate: int = RATE_HZ


@dataclass(frozen=True)
class Row:
    """One function, or group of functions. Samples are no whole number where functions share a bin."""

    function: str
    samples: float
    seconds: float
    share: float


@dataclass
class Table:
    """Rows, most samples first, and the total: shares are of all samples, also those outside of all functions."""

    rows: list[Row] = field(default_factory=list)
    samples: float = 0.0
    seconds: float = 0.0

    def row(self, function: str) -> Row:
        """Return a function's row; one of no samples where it has none."""
        return next((row for row in self.rows if row.function == function), Row(function, 0.0, 0.0, 0.0))


def parse(data: bytes) -> Profile:
    """Read a gmon.out of a 64-bit little-endian program; OkosuError says what is wrong with it and where."""
    if len(data) < HEADER.size:
        raise _broken(0, "it ends in its header")
    magic, version = HEADER.unpack_from(data)
    if magic != b"gmon" or version != VERSION:
        raise _broken(0, f"it begins with {magic!r}, version {version}; expected b'gmon', version {VERSION}")
    bins: Bins = {}
    rate = 0
    at = HEADER.size
    while at < len(data):
        tag = data[at]
        at += 1
        if tag == 0:
            at, rate = _histogram(data, at, bins)
        elif tag == 1:
            at = _skip(data, at, ARC_BYTES)
        elif tag == 2:
            end = _skip(data, at, 4)
            at = _skip(data, end, BLOCK_BYTES * int.from_bytes(data[at:end], "little"))
        else:
            raise _broken(at - 1, f"a record of kind {tag}; 0, 1 and 2 are known")
    if not rate:
        raise _broken(at, "it holds no histogram: the program did not sample")
    return Profile(bins, rate)


def _histogram(data: bytes, at: int, bins: Bins) -> tuple[int, int]:
    """Add a histogram's samples to `bins`; returns where it ends and its samples in a second."""
    begin = _skip(data, at, HISTOGRAM.size)
    low, high, count, rate, *_ = HISTOGRAM.unpack_from(data, at)
    if high <= low or count <= 0 or rate <= 0:
        raise _broken(at, f"a histogram of {count} bins over {low:#x}-{high:#x} at {rate} Hz")
    end = _skip(data, begin, 2 * count)
    for i, (samples,) in enumerate(struct.iter_unpack("<H", data[begin:end])):
        if samples:
            place = (low + (high - low) * i // count, low + (high - low) * (i + 1) // count)
            bins[place] = bins.get(place, 0) + samples
    return end, rate


def total(parts: Iterable[Bins]) -> Bins:
    """Return the sum of samples, for example of several boots of one image."""
    found: Bins = {}
    for bins in parts:
        for place, count in bins.items():
            found[place] = found.get(place, 0) + count
    return found


def table(
    bins: Mapping[tuple[int, int], int],
    symbols: Symbols,
    group: Callable[[str], str] = lambda name: name,
    rate: int = RATE_HZ,
) -> Table:
    """Return seconds and share by function, as in Tables 2 and 3 of the paper simd-kernel.

    A bin that several functions share is divided by the bytes that each has of it, as gprof does. `group` gives the
    name of the row that a function's samples go to.
    """
    by_name: dict[str, float] = {}
    for (low, high), count in bins.items():
        for name, bytes_ in symbols.between(low, high):
            row = group(name)
            by_name[row] = by_name.get(row, 0.0) + count * bytes_ / (high - low)
    samples = float(sum(bins.values()))
    ordered = sorted(by_name.items(), key=lambda item: (-item[1], item[0]))
    rows = [Row(name, count, count / rate, count / samples) for name, count in ordered]
    return Table(rows, samples, samples / rate)


def _skip(data: bytes, at: int, size: int) -> int:
    if at + size > len(data):
        raise _broken(at, f"{size} bytes are expected there, and {len(data) - at} are left")
    return at + size


def _broken(at: int, why: str) -> OkosuError:
    return OkosuError(
        f"gmon.out cannot be read at byte {at}", why, "let the kernel halt: it is written then, and cut off by a kill"
    )
