# SPDX-License-Identifier: Apache-2.0
"""The memory-hierarchy model on traces whose outcome is worked out by hand."""

from __future__ import annotations

import pytest

from lab.tests import model_tool
from lab.tests.model_tool import found, loads, run

pytestmark = model_tool.needs_gcc

HEAD = "okosu-model 1\n"
# Two sets of two ways of 64 bytes.
SMALL = HEAD + "cache 256 2 64 {} none private\n"


def line(number: int) -> int:
    """Return the address of a line of 64 bytes."""
    return number * 64


def test_a_set_keeps_the_two_lines_used_last() -> None:
    # 0, 2 and 4 share a set; after 0 is used again, 4 replaces 2.
    lines = [0, 2, 0, 4, 0, 2, 1, 3, 1]
    assert found(SMALL.format("lru"), *map(line, lines)) == [0, 0, 1, 0, 1, 0, 0, 0, 1]


def test_bytes_of_one_line_are_one_line() -> None:
    assert found(SMALL.format("lru"), 0, 8, 56, 64) == [0, 1, 1, 0]


def test_pseudo_lru_is_not_lru() -> None:
    # One set of four ways: A B C D, then A. The tree points away from A to the right half, there at C (D came later),
    # so E replaces C; LRU would have replaced B.
    shape = HEAD + "cache 256 4 64 {} none private\n"
    lines = [line(n) for n in (0, 1, 2, 3, 0, 4, 1, 2)]
    assert found(shape.format("plru"), *lines) == [0, 0, 0, 0, 1, 0, 1, 0]
    assert found(shape.format("lru"), *lines) == [0, 0, 0, 0, 1, 0, 0, 0]


def test_a_column_of_a_matrix_hits_one_set() -> None:
    # 8 KiB, 4 ways: a way is 2 KiB, and lines 2 KiB apart share a set. Five of them, round and round, miss always.
    shape = HEAD + "cache 8192 4 64 lru none private\n"
    column = [row * 2048 for row in range(5)]
    assert found(shape, *(column * 3)) == [0] * 15
    assert found(shape, *(column[:4] * 3)) == [0] * 4 + [1] * 8


def test_an_xor_row_takes_the_column_apart() -> None:
    # Bit 0 of the set number is the parity of address bits 6 and 11: lines 2 KiB apart alternate between two sets.
    shape = HEAD + "cache 8192 4 64 lru none private\nrow 0 0x840\n"
    column = [row * 2048 for row in range(8)]
    assert found(shape, *(column * 2)) == [0] * 8 + [1] * 8


def test_a_full_lru_beside_a_cache_misses_what_no_placement_would_keep() -> None:
    shape = HEAD + "cache 64 1 64 lru none private\ncache 256 2 64 lru none private\nfull-lru\n"

    # Lines 0, 2, 4 and 6 share one set of two ways, so that all miss; a fully associative cache would hold them.
    def beside(*numbers: int) -> tuple[int, int]:
        user = run(shape, loads(*map(line, numbers))).regions[0]["user"]
        return user["found"][-1], user["full_lru_misses"][1]

    assert beside(*[0, 2, 4, 6] * 3) == (12, 4)
    assert beside(*[0, 1, 2, 3] * 3) == (4, 4)
    # Five lines in turn do not fit the fully associative cache; of two sets, the one with two lines keeps them.
    assert beside(*[0, 1, 2, 3, 4] * 3) == (11, 15)


TWO = HEAD + "cache 128 2 64 lru none private\ncache 256 4 64 lru {} private\n"


def test_what_leaves_the_first_level_is_found_in_the_second() -> None:
    assert found(TWO.format("none"), *map(line, [0, 1, 2, 0])) == [0, 0, 0, 2]


def test_an_inclusive_level_takes_its_lines_from_the_first() -> None:
    # Line 0 hits in the first level all the time, so that the second sees only 0 1 2 3 4, and replaces 0 by 4.
    lines = [line(n) for n in (0, 1, 0, 2, 0, 3, 0, 4, 0)]
    assert found(TWO.format("none"), *lines)[-1] == 1
    assert found(TWO.format("inclusive"), *lines)[-1] == 0


def test_a_victim_cache_adds_to_the_first_level() -> None:
    # A level of two lines and a victim cache of four hold six lines; with a seventh every access misses.
    six = [line(n) for n in range(6)]
    assert found(TWO.format("victim"), *(six * 2)) == [0] * 6 + [2] * 6
    assert found(TWO.format("victim"), *([*six, line(6)] * 2)) == [0] * 14


def places(shape: str, *steps: tuple[int, int]) -> list[int]:
    """Return where each load of (CPU, line) finds its line."""
    trace = ["mark 0 4", *(f"access {cpu} user load 0 {number * 64} 8" for cpu, number in steps)]
    return [place for place, _ in run(shape, trace).places]


def test_a_shared_inclusive_level_takes_lines_from_every_cpu() -> None:
    # CPU 0 has line 0; CPU 1 fills the shared level with four others.
    shape = "okosu-model 1\ncpus 2\ncache 128 2 64 lru none private\ncache 256 4 64 lru {} shared\n"
    steps = [(0, 0), (1, 1), (1, 2), (1, 3), (1, 4), (0, 0)]
    assert places(shape.format("none"), *steps)[-1] == 1
    assert places(shape.format("inclusive"), *steps)[-1] == 0
    # A line that one CPU brought is found in the shared level by the other.
    assert places(shape.format("none"), (0, 0), (1, 0)) == [0, 2]


def test_two_cpus_evict_one_line_to_one_place() -> None:
    # Both CPUs evict line 0, for 1 and for 2. It takes one of the two places of the victim cache; 5 keeps the other.
    shape = "okosu-model 1\ncpus 2\ncache 64 1 64 lru none private\ncache 128 2 64 lru victim shared\n"
    assert places(shape, (0, 5), (0, 0), (1, 0), (0, 1), (1, 2), (1, 5)) == [0, 0, 0, 0, 0, 2]


def test_longer_lines_behind_bring_their_neighbours() -> None:
    shape = HEAD + "cache 128 2 64 lru none private\ncache 1024 4 128 lru none private\n"
    assert found(shape, *map(line, [0, 1])) == [0, 2]


def test_an_access_over_the_end_of_a_line_is_two() -> None:
    region = run(SMALL.format("lru"), [*loads(60), *loads(64)[1:]]).regions[0]["user"]
    assert (region["loads"], region["load_bytes"], region["found"]) == (2, 16, [1, 2])


def test_an_access_over_the_end_of_a_page_is_cut() -> None:
    region = run(SMALL.format("lru"), loads(4096 - 4)).regions[0]["user"]
    assert (region["crossings"], region["load_bytes"], region["found"]) == (1, 8, [0, 1])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "the first statement"),
        ("okosu-model 2\n", "the first statement"),
        (HEAD, "there is no cache"),
        (HEAD + "cache 384 2 64 lru none private\n", "power of two"),
        (HEAD + "cache 256 2 48 lru none private\n", "BYTES WAYS LINE"),
        (HEAD + "cache 192 3 64 plru none private\n", "plru"),
        (HEAD + "cache 256 2 64 fifo none private\n", "replacement"),
        (HEAD + "cache 256 2 64 lru victim private\n", "first level"),
        (SMALL.format("lru") + "cache 256 2 32 lru none private\n", "at least as long"),
        (SMALL.format("lru") + "cache 256 2 128 lru victim private\n", "victim cache has the lines"),
        (HEAD + "cache 256 2 64 lru none shared\ncache 256 2 64 lru none private\n", "is shared"),
        (HEAD + "row 0 64\n", "belongs to"),
        (SMALL.format("lru") + "row 1 64\n", "BIT"),
        (SMALL.format("lru") + "row 0 32\n", "BIT"),
        (SMALL.format("lru") + "row 0 64\nrow 0 128\n", "one row"),
        (SMALL.format("lru") + "full-lru\n", "beyond the first"),
        (SMALL.format("lru") + "tlb 2 4 4 lru 4k\n", "in order"),
        (SMALL.format("lru") + "tlb 1 2 2 lru 4k\ntlb 1 4 4 lru 4k+2m\n", "one TLB for a page size"),
        (SMALL.format("lru") + "tlb 1 6 2 lru 4k\n", "power of two"),
        (SMALL.format("lru") + "cpus 65\n", "cpus"),
        (SMALL.format("lru") + "cpus -1\n", "cpus"),
        (SMALL.format("lru") + "seed x\n", "seed"),
        (SMALL.format("lru") + "kernel-pages 1g\n", "kernel-pages"),
        (SMALL.format("lru") + "colour 3\n", "no statement"),
        (SMALL.format("lru") + "x" * 2000, "too long"),
    ],
)
def test_a_shape_that_cannot_be_is_refused(text: str, why: str) -> None:
    done = model_tool.raw(text.encode(), b"")
    assert done.returncode == 2
    assert why in done.stderr.decode()
