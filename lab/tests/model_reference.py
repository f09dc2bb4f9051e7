# SPDX-License-Identifier: Apache-2.0
"""A second implementation of the memory-hierarchy model, for its tests: written from the description, slow, plain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

WORD = (1 << 64) - 1
HALF = 1 << 47


@dataclass
class Ways:
    """One set: what each way holds."""

    policy: str
    places: list[int | None]
    recent: list[int] = field(default_factory=list)
    older_right: dict[tuple[int, int], bool] = field(default_factory=dict)

    def use(self, way: int) -> None:
        if way in self.recent:
            self.recent.remove(way)
        self.recent.append(way)
        low, high = 0, len(self.places)
        while self.policy == "plru" and high - low > 1:
            middle = (low + high) // 2
            self.older_right[low, high] = way < middle
            low, high = (low, middle) if way < middle else (middle, high)

    def oldest(self) -> int:
        if self.policy == "lru":
            return self.recent[0]
        low, high = 0, len(self.places)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.older_right.get((low, high), False) else (low, middle)
        return low


class Store:
    """A set-associative store of keys."""

    def __init__(self, sets: int, ways: int, policy: str, state: int) -> None:
        self.policy, self.state = policy, state
        self.sets = [Ways(policy, [None] * ways) for _ in range(sets)]

    def has(self, index: int, key: int) -> bool:
        ways = self.sets[index]
        if key not in ways.places:
            return False
        ways.use(ways.places.index(key))
        return True

    def put(self, index: int, key: int) -> int | None:
        ways = self.sets[index]
        if None in ways.places:
            way = ways.places.index(None)
        elif self.policy == "random":
            way = self._random() % len(ways.places)
        else:
            way = ways.oldest()
        gone, ways.places[way] = ways.places[way], key
        ways.use(way)
        return gone

    def drop(self, index: int, key: int) -> None:
        ways = self.sets[index]
        if key in ways.places:
            way = ways.places.index(key)
            ways.places[way] = None
            ways.recent.remove(way)

    def clear(self) -> None:
        for ways in self.sets:
            ways.places = [None] * len(ways.places)
            ways.recent, ways.older_right = [], {}

    def _random(self) -> int:
        x = self.state
        x ^= x << 13 & WORD
        x ^= x >> 7
        x ^= x << 17 & WORD
        self.state = x
        return x >> 32


@dataclass(frozen=True)
class Cache:
    """A level of cache as the shape's text has it."""

    size: int
    ways: int
    line: int
    policy: str
    fill: str
    shared: bool
    rows: tuple[tuple[int, int], ...] = ()
    full_lru: bool = False

    @property
    def sets(self) -> int:
        return self.size // self.ways // self.line

    def index(self, address: int) -> int:
        bits = [address // self.line >> bit & 1 for bit in range(self.sets.bit_length() - 1)]
        for bit, mask in self.rows:
            bits[bit] = bin(address & mask).count("1") % 2
        return sum(value << bit for bit, value in enumerate(bits))


@dataclass(frozen=True)
class Tlb:
    """A TLB as the shape's text has it."""

    level: int
    entries: int
    ways: int
    policy: str
    pages: str


@dataclass(frozen=True)
class Shape:
    """What is simulated."""

    seed: int
    cpus: int
    kernel_pages: str
    caches: tuple[Cache, ...]
    tlbs: tuple[Tlb, ...]

    def text(self) -> str:
        lines = ["okosu-model 1", f"seed {self.seed}", f"cpus {self.cpus}", f"kernel-pages {self.kernel_pages}"]
        for c in self.caches:
            sharing = "shared" if c.shared else "private"
            lines.append(f"cache {c.size} {c.ways} {c.line} {c.policy} {c.fill} {sharing}")
            lines += [f"row {bit} {mask:#x}" for bit, mask in c.rows]
            lines += ["full-lru"] if c.full_lru else []
        lines += [f"tlb {t.level} {t.entries} {t.ways} {t.policy} {t.pages}" for t in self.tlbs]
        return "\n".join(lines)


class Model:
    """The reference. Levels count from 1 in what it returns, 0 is memory or a walk."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.huge: set[int] = set()
        self.stores: dict[tuple[int, int], Store] = {}
        self.full: dict[tuple[int, int], Store] = {}
        self.full_misses = [0] * len(shape.caches)
        self.tlbs: dict[tuple[int, int], Store] = {}
        for cpu in range(shape.cpus):
            for level, cache in enumerate(shape.caches):
                if not (cache.shared and cpu):
                    self.stores[cpu, level] = Store(cache.sets, cache.ways, cache.policy, self._state(cpu * 8 + level))
                    self.full[cpu, level] = Store(1, cache.size // cache.line, "lru", 1)
            for number, tlb in enumerate(shape.tlbs):
                state = self._state(64 * 8 + cpu * 8 + number)
                self.tlbs[cpu, number] = Store(tlb.entries // tlb.ways, tlb.ways, tlb.policy, state)

    def _state(self, number: int) -> int:
        return ((self.shape.seed + 1) * 0x9E3779B97F4A7C15 + number) & WORD or 1

    def _store(self, cpu: int, level: int) -> Store:
        return self.stores[0 if self.shape.caches[level].shared else cpu, level]

    def line(self, cpu: int, address: int) -> int:
        """Access one line of a physical address."""
        caches = self.shape.caches
        where = len(caches)
        for level, cache in enumerate(caches):
            beside = self.full[0 if cache.shared else cpu, level]
            if cache.full_lru and not beside.has(0, address // cache.line):
                beside.put(0, address // cache.line)
                self.full_misses[level] += 1
            if self._store(cpu, level).has(cache.index(address), address // cache.line):
                where = level
                break
        if 0 < where < len(caches) and caches[where].fill == "victim":
            self._store(cpu, where).drop(caches[where].index(address), address // caches[where].line)
        for level in reversed(range(where)):
            if caches[level].fill != "victim":
                self._fill(cpu, level, address)
        return where + 1 if where < len(caches) else 0

    def _fill(self, cpu: int, level: int, address: int) -> None:
        cache = self.shape.caches[level]
        gone = self._store(cpu, level).put(cache.index(address), address // cache.line)
        if gone is None:
            return
        start = gone * cache.line
        if cache.fill == "inclusive":
            for inner, of in self._before(cpu, level):
                small = self.shape.caches[inner]
                for part in range(start, start + cache.line, small.line):
                    self._store(of, inner).drop(small.index(part), part // small.line)
        if level + 1 < len(self.shape.caches) and self.shape.caches[level + 1].fill == "victim":
            behind = self.shape.caches[level + 1]
            if not self._store(cpu, level + 1).has(behind.index(start), gone):
                self._fill(cpu, level + 1, start)

    def _before(self, cpu: int, level: int) -> Iterator[tuple[int, int]]:
        for inner in range(level):
            everyone = self.shape.caches[level].shared
            yield from ((inner, of) for of in (range(self.shape.cpus) if everyone else [cpu]))

    def translate(self, cpu: int, address: int) -> int:
        """Translate an address."""
        program = "2m" if address >> 21 in self.huge else "4k"
        size = self.shape.kernel_pages if address >= HALF else program
        page = address >> (12 if size == "4k" else 21)
        levels = sorted({tlb.level for tlb in self.shape.tlbs})
        holders = {t.level: (t, self.tlbs[cpu, n]) for n, t in enumerate(self.shape.tlbs) if size in t.pages}
        where = 0
        for level in levels:
            if level in holders:
                tlb, store = holders[level]
                if store.has(page % (tlb.entries // tlb.ways), page * 2 + (size == "2m")):
                    where = level
                    break
        for level in levels:
            if level in holders and (level < where or not where):
                tlb, store = holders[level]
                store.put(page % (tlb.entries // tlb.ways), page * 2 + (size == "2m"))
        return where

    def flush(self, cpu: int) -> None:
        for (of, _), store in self.tlbs.items():
            if of == cpu:
                store.clear()
