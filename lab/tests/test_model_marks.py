# SPDX-License-Identifier: Apache-2.0
"""The memory-hierarchy model's TLBs, regions, messages and counts of instructions, worked out by hand."""

from __future__ import annotations

import pytest

from lab.tests import model_tool
from lab.tests.model_tool import run

pytestmark = model_tool.needs_gcc

# Two sets of two ways of 64 bytes.
SMALL = "okosu-model 1\ncache 256 2 64 {} none private\n"
KERNEL = 0xFFFF_8000_0000_0000
TLB = SMALL.format("lru") + "tlb 1 2 2 lru 4k\ntlb 1 1 1 lru 2m\ntlb 2 4 4 lru 4k\n"


def translated(shape: str, *trace: str) -> list[int]:
    return [level for _, level in run(shape, ["mark 0 4", *trace]).places]


def load(address: int, mode: str = "user") -> str:
    return f"access 0 {mode} load {address} 0 8"


def announce(page: int, count: int, shift: int) -> list[str]:
    """Return the statements by which the guest announces large pages: a mark, then seven loads."""
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
    # The loads of the message are not counted as accesses of the program.
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
        # The kernel's accesses during a message, of an interrupt, are no digits.
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
    # The other CPU's line is not in this CPU's own cache.
    assert (other["loads"], other["load_bytes"], other["found"], other["io"]) == (1, 4, [0, 1], 1)


def test_a_model_that_sleeps_counts_instructions_alone_and_wakes_with_empty_tlbs() -> None:
    trace = [load(0), "mark 0 6", "run 0 user 5", load(0), "flush 0 kernel", "mark 0 4", load(0), load(0)]
    ran = run(TLB, ["mark 0 4", *trace])
    # A load while the model sleeps leaves no trace in the caches.
    assert ran.places == [(0, 0), (0, 0), (1, 0), (1, 1)]
    user = ran.regions[-1]["user"]
    assert (user["instructions"], user["loads"], ran.regions[-1]["kernel"]["flushes"]) == (5, 3, 0)
    assert [r["broken"] for r in run(TLB, ["mark 0 6", "mark 0 1", "mark 0 6", "mark 0 2"]).regions] == [0, 1, 1]


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
