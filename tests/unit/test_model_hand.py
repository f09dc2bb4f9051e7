# SPDX-License-Identifier: Apache-2.0
"""The memory-hierarchy model on traces whose outcome is worked out by hand."""

from __future__ import annotations

import model_tool
import pytest
from model_tool import found, loads, run

pytestmark = model_tool.needs_gcc

HEAD = "okosu-model 1\n"
# Two sets of two ways of 64 bytes.
SMALL = HEAD + "cache 256 2 64 {} none private\n"
KERNEL = 0xFFFF_8000_0000_0000


def line(number: int) -> int:
    """Return the address of a line of 64 bytes."""
    return number * 64


def test_a_set_keeps_the_two_lines_used_last() -> None:
    # 0, 2, 4 share a set; using 0 again makes 2 the one to go for 4.
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


TWO = HEAD + "cache 128 2 64 lru none private\ncache 256 4 64 lru {} private\n"


def test_what_leaves_the_first_level_is_found_in_the_second() -> None:
    assert found(TWO.format("none"), *map(line, [0, 1, 2, 0])) == [0, 0, 0, 2]


def test_an_inclusive_level_takes_its_lines_from_the_first() -> None:
    # Line 0 is used all the time, but only in the first level; the second sees 0 1 2 3 4 and gives up 0 for 4.
    lines = [line(n) for n in (0, 1, 0, 2, 0, 3, 0, 4, 0)]
    assert found(TWO.format("none"), *lines)[-1] == 1
    assert found(TWO.format("inclusive"), *lines)[-1] == 0


def test_a_victim_cache_adds_to_the_first_level() -> None:
    # Two lines and four: six in all, and a seventh makes every one miss.
    six = [line(n) for n in range(6)]
    assert found(TWO.format("victim"), *(six * 2)) == [0] * 6 + [2] * 6
    assert found(TWO.format("victim"), *([*six, line(6)] * 2)) == [0] * 14


def places(shape: str, *steps: tuple[int, int]) -> list[int]:
    """Return where each load of (CPU, line) finds its line."""
    trace = ["mark 0 4", *(f"access {cpu} user load 0 {number * 64} 8" for cpu, number in steps)]
    return [place for place, _ in run(shape, trace).places]


def test_a_shared_inclusive_level_takes_lines_from_every_cpu() -> None:
    # CPU 0 has line 0; CPU 1 fills the level behind both with four others.
    shape = "okosu-model 1\ncpus 2\ncache 128 2 64 lru none private\ncache 256 4 64 lru {} shared\n"
    steps = [(0, 0), (1, 1), (1, 2), (1, 3), (1, 4), (0, 0)]
    assert places(shape.format("none"), *steps)[-1] == 1
    assert places(shape.format("inclusive"), *steps)[-1] == 0
    # And what one brought the other finds there.
    assert places(shape.format("none"), (0, 0), (1, 0)) == [0, 2]


def test_two_cpus_evict_one_line_to_one_place() -> None:
    # Both have line 0 and lose it, to 1 and to 2. The victim cache has two places: one for it, and one for 5 still.
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


TLB = SMALL.format("lru") + "tlb 1 2 2 lru 4k\ntlb 1 1 1 lru 2m\ntlb 2 4 4 lru 4k\n"


def translated(shape: str, *trace: str) -> list[int]:
    return [level for _, level in run(shape, ["mark 0 4", *trace]).places]


def load(address: int, mode: str = "user") -> str:
    return f"access 0 {mode} load {address} 0 8"


def announce(page: int, count: int, shift: int) -> list[str]:
    """Say so as the guest does: a mark, then seven loads."""
    digits = [n >> 12 * i & 4095 for n in (page, count) for i in range(3)]
    return ["mark 0 3", *(f"access 0 user load {0x7000_0000 + digit} 0 1" for digit in [*digits, shift])]


def test_a_tlb_of_two_levels() -> None:
    pages = [load(page << 12) for page in (0, 1, 2, 0, 0)]
    assert translated(TLB, *pages) == [0, 0, 0, 2, 1]


def test_a_flush_empties_all_levels() -> None:
    assert translated(TLB, load(0), load(0), "flush 0 kernel", load(0)) == [0, 1, 0]


def test_an_announced_page_is_one_entry() -> None:
    # 512 pages of 4 KiB from 2 MiB on.
    trace = [*announce(512, 512, 21), load(2 << 20), load((4 << 20) - 8), load(4 << 20)]
    assert translated(TLB, *trace)[7:] == [0, 1, 0]
    region = run(TLB, ["mark 0 4", *trace]).regions[0]
    assert region["broken"] == 0
    assert region["user"]["walks"] == [1, 1]
    # The message is no access of the program's.
    assert region["user"]["loads"] == 3


def test_pages_are_small_again_when_forgotten() -> None:
    trace = [*announce(512, 512, 21), load(2 << 20), "mark 0 4", load(3 << 20), load((3 << 20) + 4096)]
    assert translated(TLB, *trace)[7:] == [0, 0, 0]


@pytest.mark.parametrize(
    ("trace", "broken"),
    [
        (announce(511, 512, 21), 1),
        (announce(512, 511, 21), 1),
        (announce(512, 512, 30), 1),
        (announce((1 << 35) - 512, 1024, 21), 1),
        (["mark 0 3", load(0)], 1),
        ([*announce(512, 512, 21)[:5], "access 0 user load 0 0 1"], 1),
        ([*announce(512, 512, 21)[:5], "access 0 user store 0x70000000 0 1"], 1),
        ([*announce(512, 512, 21)[:5], "mark 0 4"], 1),
        (["mark 0 2", "mark 0 1", "mark 0 1", "mark 0 99"], 3),
        # An interrupt in the midst of a message is no part of it.
        ([*announce(512, 512, 21)[:5], load(KERNEL, "kernel"), *announce(512, 512, 21)[5:]], 0),
    ],
)
def test_a_message_that_makes_no_sense_is_counted(trace: list[str], broken: int) -> None:
    assert run(TLB, trace).regions[-1]["broken"] == broken


def test_kernel_addresses_have_the_kernel_s_page_size() -> None:
    trace = [load(KERNEL, "kernel"), load(KERNEL + (1 << 20), "kernel")]
    assert translated(TLB + "kernel-pages 2m\n", *trace) == [0, 1]
    assert translated(TLB + "kernel-pages 4k\n", *trace) == [0, 0]


def label(number: int) -> list[str]:
    digits = [number >> 12 * i & 4095 for i in range(3)] + [0] * 4
    return ["mark 0 5", *(f"access 0 user load {0x7000_0000 + digit} 0 1" for digit in digits)]


def test_counts_belong_to_the_region_the_mode_and_the_cpu() -> None:
    shape = SMALL.format("lru") + "cpus 2\n"
    trace = ["run 0 user 5", *label(181), "run 0 kernel 7", "mark 0 1", "run 0 user 11", "access 0 user store 0 0 8"]
    trace += [
        "run 1 kernel 13",
        "access 1 kernel load 0 0 4",
        "io 1 kernel",
        "run 0 user 1",
        "mark 0 2",
        "run 1 user 3",
    ]
    regions = run(shape, trace).regions
    assert [(r["what"], r["label"], r["cpu"]) for r in regions] == [
        *[("outside", 181, cpu) for cpu in (0, 1)],
        *[("region", 181, cpu) for cpu in (0, 1)],
        *[("outside", 181, cpu) for cpu in (0, 1)],
    ]
    instructions = [[r[mode]["instructions"] for mode in ("user", "kernel")] for r in regions]
    assert instructions == [[5, 7], [0, 0], [12, 0], [0, 13], [0, 0], [3, 0]]
    inside = regions[2]["user"]
    assert (inside["stores"], inside["store_bytes"], inside["loads"], inside["found"]) == (1, 8, 0, [0, 1])
    other = regions[3]["kernel"]
    # Its own cache: the other CPU's line is not in it.
    assert (other["loads"], other["load_bytes"], other["found"], other["io"]) == (1, 4, [0, 1], 1)


def test_a_region_without_an_end_is_said_so() -> None:
    assert [r["what"] for r in run(SMALL.format("lru"), ["mark 0 1"]).regions] == ["outside", "unfinished"]


def test_a_repeated_string_instruction_is_one_and_moves_lines() -> None:
    trace = ["mark 0 4"]
    for byte in range(130):
        trace += ["string 0 kernel 0x1000", f"move 0 kernel store {KERNEL + byte} {byte} 1"]
    counts = run(SMALL.format("lru"), trace).regions[0]["kernel"]
    assert (counts["instructions"], counts["stores"], counts["store_bytes"]) == (1, 3, 130)
    assert counts["found"] == [0, 3]


def test_a_string_instruction_counts_again_after_another_instruction() -> None:
    trace = ["mark 0 4", "string 0 user 16", "string 0 user 16", "run 0 user 1", "string 0 user 16", "string 0 user 32"]
    assert run(SMALL.format("lru"), trace).regions[0]["user"]["instructions"] == 4


@pytest.mark.parametrize(
    ("code", "meaning"),
    [
        ("0x0f 0x1f 0x80 0x01 0x00 0x6b 0x6f", "mark 1"),
        ("0x0f 0x1f 0x80 0x01 0x00 0x6b 0x6e", "plain 0"),
        ("0x0f 0x1f 0x80 0x00 0x00 0x00 0x00", "plain 0"),
        ("0xf3 0xaa", "string 0"),
        ("0xf3 0x48 0xa5", "string 0"),
        ("0xf2 0xae", "string 0"),
        ("0x66 0xf3 0xab", "string 0"),
        ("0xaa", "plain 0"),
        ("0xf3 0x0f 0xb8 0xc0", "plain 0"),
        ("0x0f 0x22 0xd8", "flush 0"),
        ("0x41 0x0f 0x22 0xdc", "flush 0"),
        ("0x0f 0x22 0xe0", "flush 0"),
        ("0x0f 0x22 0xc0", "flush 0"),
        ("0x0f 0x22 0xd0", "plain 0"),
        ("0x0f 0x20 0xd8", "plain 0"),
        ("0x0f 0x01 0x38", "flush 0"),
        ("0x0f 0x01 0xf8", "plain 0"),
        ("0x66 0x0f 0x38 0x82 0x01", "flush 0"),
        ("0xf3", "plain 0"),
        ("0x0f 0x22", "plain 0"),
    ],
)
def test_instructions_are_known_by_their_bytes(code: str, meaning: str) -> None:
    assert run(SMALL.format("lru"), [f"decode {code}"]).other == [meaning]


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
        (SMALL.format("lru") + "tlb 2 4 4 lru 4k\n", "in order"),
        (TLB + "tlb 2 4 4 lru 4k+2m\n", "one TLB for a page size"),
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
