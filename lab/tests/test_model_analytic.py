# SPDX-License-Identifier: Apache-2.0
"""The memory-hierarchy model where theory knows the answer: random pages, random accesses, stack distance."""

from __future__ import annotations

import random
from collections import Counter
from math import comb, sqrt

import pytest
from effort import length, some

from lab.model import machines
from lab.tests import model_tool

pytestmark = model_tool.needs_gcc

PAGE = 4096


def overfull(pages: int, colours: int, ways: int) -> float:
    """Return the share of `pages`, placed at random, that lie in a colour of more pages than ways: each page's colour
    has 1 + Binomial(pages - 1, 1 / colours)."""
    below = sum(comb(pages - 1, k) * (colours - 1) ** (pages - 1 - k) for k in range(ways))
    return 1 - below / colours ** (pages - 1)


def misses_of_walks(shape: str, frames: list[int], rounds: int) -> int:
    """Return the misses of walking one line of each page frame in turn, in the rounds after the first two."""
    addresses = [frame * PAGE for frame in frames]
    return model_tool.found(shape, *(addresses * rounds))[2 * len(frames) :].count(0)


@pytest.mark.parametrize(
    ("ways", "colours", "fill", "published"),
    some(
        [
            # Rounded figures for the Celeron's 128 KiB of 4 ways, the Pentium 4's 512 KiB of 8 and 1 MiB of 16.
            (4, 8, 0.75, 0.32),
            (4, 8, 1.0, 0.55),
            (8, 16, 0.75, 0.24),
            (8, 16, 1.0, 0.54),
            (16, 16, 0.75, 0.14),
            (16, 16, 1.0, 0.53),
        ]
    ),
)
def test_conflicts_of_random_placement_are_binomial(ways: int, colours: int, fill: float, published: float) -> None:
    pages, seeds, rounds = round(ways * colours * fill), length(10, 30), 4
    expected = overfull(pages, colours, ways)
    assert expected == pytest.approx(published, abs=0.015)
    shape = f"okosu-model 1\ncache {ways * colours * PAGE} {ways} 64 lru none private\n"
    shares = []
    for seed in range(seeds):
        frames = random.Random(seed).sample(range(1 << 16), pages)
        counts = Counter(frame % colours for frame in frames)
        # Lines accessed in turn under LRU: those in an overfull set miss every time, the others never.
        conflicting = sum(count for count in counts.values() if count > ways)
        assert misses_of_walks(shape, frames, rounds) == conflicting * (rounds - 2)
        shares.append(conflicting / pages)
    mean = sum(shares) / seeds
    spread = sqrt(sum((share - mean) ** 2 for share in shares) / (seeds - 1) / seeds)
    assert abs(mean - expected) < 4 * spread


def test_pages_of_distinct_colours_never_miss_in_the_paper_s_machines() -> None:
    for name in ("celeron-900", "pentium4-1600"):
        machine = machines.find(name)
        level = machine.cache[1]
        shape = f"okosu-model 1\ncache {level.bytes} {level.ways} {level.line} {level.replacement} none private\n"
        full = list(range(level.bytes // PAGE))
        assert misses_of_walks(shape, full, 4) == 0


@pytest.mark.parametrize("policy", ["lru", "plru", "random"])
def test_random_accesses_hit_as_often_as_the_cache_is_large(policy: str) -> None:
    # Random accesses to N lines, of which any policy holds C: the share of hits is C / N, nearly binomial.
    lines, ways, count = 128, 64, 20000
    shape = f"okosu-model 1\ncache {ways * 64} {ways} 64 {policy} none private\n"
    rng = random.Random(3)
    found = model_tool.found(shape, *(rng.randrange(lines) * 64 for _ in range(count)))[1000:]
    share = found.count(1) / len(found)
    assert abs(share - ways / lines) < 5 * sqrt(0.25 / len(found))


def test_lru_hits_where_fewer_lines_than_ways_were_between() -> None:
    ways = 40
    shape = f"okosu-model 1\ncache {ways * 64} {ways} 64 lru none private\n"
    rng = random.Random(5)
    walk = [min(int(rng.expovariate(0.03)), 199) for _ in range(4000)]
    found = model_tool.found(shape, *(line * 64 for line in walk))
    last: dict[int, int] = {}
    for time, (line, place) in enumerate(zip(walk, found, strict=True)):
        near = line in last and len(set(walk[last[line] + 1 : time])) < ways
        assert (place == 1) == near
        last[line] = time
