# SPDX-License-Identifier: Apache-2.0
"""The memory-hierarchy model compared with the one in model_reference.py, on random shapes and traces."""

from __future__ import annotations

import random
from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from lab.tests import model_tool
from lab.tests.model_reference import Cache, Model, Shape, Tlb

pytestmark = model_tool.needs_gcc

POLICIES = ("lru", "plru", "random")
KERNEL = 0xFFFF_8880_0000_0000
# Page numbers, of 2 MiB, that the trace announces as large.
HUGE = 1 << 21


@st.composite
def caches(draw: st.DrawFn) -> tuple[Cache, ...]:
    """Draw one to three levels, small, so that sets overflow."""
    found: list[Cache] = []
    for level in range(draw(st.integers(1, 3))):
        policy = draw(st.sampled_from(POLICIES))
        ways = draw(st.sampled_from((1, 2, 4, 8, 32) if policy == "plru" else (1, 2, 3, 5, 8, 20)))
        sets = draw(st.sampled_from((1, 2, 4, 16)))
        fill = draw(st.sampled_from(("none", "inclusive", "victim") if level else ("none", "inclusive")))
        line = found[-1].line if level else draw(st.sampled_from((32, 64)))
        line *= draw(st.sampled_from((1, 2))) if level and fill != "victim" else 1
        shared = bool(level and found[-1].shared) or draw(st.booleans())
        bits = draw(st.lists(st.integers(0, 3), max_size=2, unique=True))
        masks = st.integers(1, 255).map(lambda n, line=line: n * line)
        rows = tuple((bit, draw(masks)) for bit in bits if 1 << bit < sets)
        beside = bool(level) and draw(st.booleans())
        found.append(Cache(sets * ways * line, ways, line, policy, fill, shared, rows, beside))
    return tuple(found)


@st.composite
def tlbs(draw: st.DrawFn) -> tuple[Tlb, ...]:
    """Draw up to two levels, with one TLB for both sizes, one each, or one for one size alone."""
    found = []
    for level in range(1, draw(st.integers(0, 2)) + 1):
        for pages in draw(st.sampled_from((("4k+2m",), ("4k", "2m"), ("4k",), ("2m",)))):
            policy = draw(st.sampled_from(POLICIES))
            ways = draw(st.sampled_from((1, 2, 4, 32) if policy == "plru" else (1, 3, 4, 24)))
            found.append(Tlb(level, ways * draw(st.sampled_from((1, 2, 4))), ways, policy, pages))
    return tuple(found)


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    seed, cpus = draw(st.integers(0, (1 << 64) - 1)), draw(st.integers(1, 3))
    return Shape(seed, cpus, draw(st.sampled_from(("4k", "2m"))), draw(caches()), draw(tlbs()))


def steps_of(seed: int, shape: Shape) -> Iterator[tuple[int, str, str, int, int, int, int, int] | int]:
    """Make a trace: CPUs to flush, and accesses (CPU, mode, kind, 2 MiB, page in it, offset, frame, size).

    It has few pages and few lines of each, so that sets overflow and evicted lines are accessed again.
    """
    rng = random.Random(seed)
    frames, pages = rng.choice((3, 8, 40)), rng.choice((2, 6, 30))
    for _ in range(400):
        cpu = rng.randrange(shape.cpus)
        if rng.random() < 0.02:
            yield cpu
            continue
        mode, kind = rng.choice(("user", "user", "kernel")), rng.choice(("load", "store"))
        offset = rng.choice((0, 32, 60, 64, 128, 192, 4090))
        place = (rng.randrange(3), rng.randrange(pages), offset, rng.randrange(frames))
        yield (cpu, mode, kind, *place, rng.choice((1, 2, 4, 8)))


@given(shapes(), st.integers(0, 1 << 32))
def test_both_find_every_line_and_page_in_the_same_place(shape: Shape, seed: int) -> None:
    reference = Model(shape)
    reference.huge.add(1)
    digits = (512, 0, 0, 512, 0, 0, 21)
    trace = ["mark 0 3", *(f"access 0 user load {0x7000_0000 + digit} 0 1" for digit in digits)]
    expected = []
    lines, walks = 0, 0
    for step in steps_of(seed, shape):
        if isinstance(step, int):
            reference.flush(step)
            trace.append(f"flush {step} kernel")
            continue
        cpu, mode, kind, large, small, offset, frame, size = step
        address = (KERNEL if mode == "kernel" else 0) + large * HUGE + small * 4096 + offset
        physical = frame * 4096 + offset
        trace.append(f"access {cpu} {mode} {kind} {address} {physical} {size}")
        translated = reference.translate(cpu, address)
        walks += translated == 0
        within = min(physical + size, frame * 4096 + 4096)
        line = shape.caches[0].line
        touched = range(physical // line * line, within, line)
        places = [reference.line(cpu, part) for part in touched]
        lines += len(places)
        expected.append((places, translated))
    ran = model_tool.run(shape.text(), trace)
    # Of an access of two lines the nearer level is printed; memory is the farthest.
    near = [(min(places, key=lambda place: place or 9), translated) for places, translated in expected]
    assert ran.places[7:] == near
    counts = [region[mode] for region in ran.regions for mode in ("user", "kernel")]
    assert sum(sum(count["found"]) for count in counts) == lines
    beside = [count["full_lru_misses"] for count in counts]
    assert [sum(level) for level in zip(*beside, strict=True)] == reference.full_misses
    assert sum(count["translated"][-1] for count in counts) == walks == sum(sum(count["walks"]) for count in counts)
    for level in range(len(shape.caches) + 1):
        wanted = level + 1 if level < len(shape.caches) else 0
        assert sum(count["found"][level] for count in counts) == sum(places.count(wanted) for places, _ in expected)
