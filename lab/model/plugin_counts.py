# SPDX-License-Identifier: Apache-2.0
"""What the model counted, and what that costs on a machine: cycles, seconds, MB/s. Pure functions of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from lab.model.machines import Machine

INSIDE = "region"


class Counts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one CPU did in one mode (model/core/model.h): `found` by level of cache and memory, `translated` by level of
    TLB and walk, `walks` by page size, 4 KiB first. `full_lru_misses`, by level, are what a fully associative LRU of
    its size would have missed; it is not counted for the first level."""

    instructions: int
    loads: int
    stores: int
    load_bytes: int
    store_bytes: int
    flushes: int
    crossings: int
    io: int
    found: list[int]
    full_lru_misses: list[int]
    translated: list[int]
    walks: list[int]

    @property
    def bytes(self) -> int:
        """The bytes loaded and stored."""
        return self.load_bytes + self.store_bytes

    def misses(self, level: int) -> int:
        """Return how many accesses by lines missed level `level` (from 1)."""
        return sum(self.found[level:])

    def conflicts(self, level: int) -> int:
        """Return the misses of level `level` (from 2) beyond those of a fully associative LRU of its size.

        It is negative where the replacement does better than LRU on a set that does not fit.
        """
        return self.misses(level) - self.full_lru_misses[level - 1]

    def cycles(self, machine: Machine) -> float:
        """Return the cycles that this takes on `machine`: nothing overlaps but instructions with each other.

        Every instruction takes its share of a cycle at the machine's width; every access by a line what its level
        takes, loads and stores alike; every translation what its level or its walk adds.
        """
        levels = [*(cache.cycles for cache in machine.cache), machine.memory.cycles]
        added = {tlb.level: tlb.cycles for tlb in machine.tlb}
        total = self.instructions / machine.instructions_per_cycle
        total += sum(count * cycles for count, cycles in zip(self.found, levels, strict=True))
        total += sum(count * added[level] for level, count in enumerate(self.translated[:-1], 1))
        return total + self.walks[0] * machine.walk.cycles_4k + self.walks[1] * machine.walk.cycles_2m


def total(parts: Sequence[Counts]) -> Counts:
    """Return the sum of counts of one machine; `parts` is not empty."""
    sums: dict[str, Any] = {}
    for name in Counts.__struct_fields__:
        values = [getattr(part, name) for part in parts]
        lists = isinstance(values[0], list)
        sums[name] = [sum(column) for column in zip(*values, strict=True)] if lists else sum(values)
    return Counts(**sums)


class Region(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one CPU did between two marks: `what` is region, outside (of any), or unfinished (a region without an end).

    `label` is the program's, 0 where it gave none; `broken` counts the malformed messages to the model up to then.
    """

    what: str
    label: int
    cpu: int
    broken: int
    user: Counts
    kernel: Counts

    def cycles(self, machine: Machine) -> float:
        return self.user.cycles(machine) + self.kernel.cycles(machine)

    def seconds(self, machine: Machine) -> float:
        return self.cycles(machine) / machine.hertz

    def megabytes_per_second(self, machine: Machine) -> float:
        """Return the 10^6 bytes that the program loaded and stored in a second; 0 where no time passed."""
        seconds = self.seconds(machine)
        return self.user.bytes / seconds / 1e6 if seconds else 0.0


def read(data: bytes) -> list[Region]:
    """Return the regions of the plugin's file, in the order in which they ended; ValueError if it is not one."""
    return [msgspec.json.decode(line, type=Region) for line in data.splitlines()]


def inside(regions: list[Region]) -> list[Region]:
    """Return those of the regions that a program marked, without the rest of the run."""
    return [region for region in regions if region.what == INSIDE]
