# SPDX-License-Identifier: Apache-2.0
"""okosu's memsets: each variant against a loop over bytes, the choice, its names and its profiles."""

from __future__ import annotations

import errno
import platform
import re
import subprocess
from pathlib import Path

import copy_tool
import pytest
import zero_tool
from effort import length
from routine_tool import avoids_512_bits, classes

LAST = zero_tool.LAST
SSE2, AVX2, AVX512, ERMS, CLZERO, INTEL = 1, 1 << 2, 1 << 3, 1 << 4, 1 << 6, 1 << 8
"""Bits of okosu/cpu.h."""
X86 = platform.machine() == "x86_64"


@pytest.mark.lab
def test_variants_and_entries() -> None:
    """Sizes 0 to 512 at each byte of a line (in `make test` every fifth such case), thresholds, every byte value, guard
    pages, pages, forcing, threads.
    """
    done = zero_tool.run(OKOSU_CHECK_STEP=length("5", "1"))
    assert done.returncode == 0, done.stdout
    # A skipped variant must need an instruction set that /proc/cpuinfo lacks too.
    skipped = {line.split()[1].rstrip(":") for line in done.stdout.splitlines() if line.startswith("skipped")}
    flags = zero_tool.flags()
    needs = {"avx2": "avx2", "avx512": "avx512bw", "clzero": "clzero", "rep-stosb": "erms"} if X86 else {}
    for variant, flag in needs.items():
        assert (variant in skipped) == (flag not in flags), (variant, flag)
    wanted = {"loop8", "okosu_set", "okosu_zero_far"} | ({"sse2", "nt-sse2", "sse2 (entry)"} if X86 else set())
    assert {f"ok: {name}" for name in wanted} <= set(done.stdout.splitlines())


@pytest.mark.skipif(not X86, reason="a variant of x86-64")
def test_entries_that_leave_the_rest_to_narrower_vectors() -> None:
    """What the entries hand on is set right too, and no upper half of a register stays in use behind it."""
    done = zero_tool.run(OKOSU_ZERO="sse2", OKOSU_CHECK_STEP="5")
    assert done.returncode == 0, done.stdout


@pytest.mark.skipif(not X86, reason="entries of x86-64")
def test_aligned_stores_begin_where_their_vectors_are_aligned() -> None:
    """The address of a loop's aligned stores is rounded to their width, also on a machine that cannot execute them."""
    listing = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", zero_tool.CHECKER.path], capture_output=True, text=True, check=True
    )
    width = {"x": 16, "y": 32, "z": 64}
    seen = set()
    for function in re.split(r"\n\n(?=\w+ <)", listing.stdout):
        head = re.match(r"\w+ <okosu_(?:set|zero|zero_set)_(sse2|avx(?:2|512)(?:_intel|_once)?)(?:_\d)?>:", function)
        if not head:
            continue
        stored = {width[v] for v in re.findall(r"\bv?mov(?:aps|dqa(?:64)?) +%([xyz])mm\d+,", function)}
        rounded = {2**64 - int(mask, 16) for mask in re.findall(r"\band +\$0x(ffffffffffff\w+),%r", function)}
        assert stored == rounded, head[0]
        seen.add(head[1])
    assert seen == {"sse2", "avx2", "avx2_intel", "avx512", "avx512_once", "avx512_intel"}


@pytest.mark.skipif(
    not {"avx512bw", "erms"} <= zero_tool.flags() or avoids_512_bits(), reason="needs AVX-512 that is fast, and ERMS"
)
def test_automatic_choice_with_avx512() -> None:
    """Above 2 KiB, if nothing is known of the memory, a variant is chosen that need not read the old lines; on Intel's
    cores from a page on.
    """
    choice, _ = zero_tool.show()
    own = copy_tool.widest()
    assert choice["any"] == [(4095 if own == "avx512-intel" else 2048, own), (LAST, "rep-stosb")]
    assert choice["near"][0][1] == own
    assert choice["far"][-1] == (LAST, "nt-avx512")


@pytest.mark.skipif(not X86, reason="features of x86-64")
@pytest.mark.parametrize(
    ("features", "caches", "choice"),
    [
        (
            SSE2,
            "0x8000 0x40000 0x800000",
            {
                "any": "8388608 sse2, max nt-sse2",
                "near": "8388608 sse2, max nt-sse2",
                "far": "2304 sse2, max nt-sse2",
                "page": "max nt-sse2",
            },
        ),
        # Zen 3, without AVX and with AVX2.
        (
            SSE2 | ERMS | CLZERO,
            "0x8000 0x80000 0x2000000",
            {
                "any": "2048 sse2, 16777215 rep-stosb, max nt-sse2",
                "near": "2048 sse2, 16777215 rep-stosb, max nt-sse2",
                "far": "2048 sse2, 2304 rep-stosb, max nt-sse2",
                "page": "max clzero",
            },
        ),
        (
            SSE2 | AVX2 | ERMS | CLZERO,
            "0x8000 0x80000 0x2000000",
            {
                "any": "16777215 avx2, max nt-avx2",
                "near": "16777215 avx2, max nt-avx2",
                "far": "2304 avx2, max nt-avx2",
                "page": "max clzero",
            },
        ),
        # Zen 5, without AVX, with AVX2 and with AVX-512.
        (
            SSE2 | ERMS | CLZERO,
            "0xc000 0x100000 0x2000000",
            {
                "any": "2048 sse2, max rep-stosb",
                "near": "2048 sse2, max rep-stosb",
                "far": "767 sse2, 16384 rep-stosb, max nt-sse2",
                "page": "4096 rep-stosb, max clzero",
            },
        ),
        (
            SSE2 | AVX2 | ERMS | CLZERO,
            "0xc000 0x100000 0x2000000",
            {
                "any": "2048 avx2, max rep-stosb",
                "near": "786432 avx2, max rep-stosb",
                "far": "2048 avx2, 8192 rep-stosb, max nt-avx2",
                "page": "4096 rep-stosb, max clzero",
            },
        ),
        (
            SSE2 | AVX2 | AVX512 | ERMS | CLZERO,
            "0xc000 0x100000 0x2000000",
            {
                "any": "2048 avx512, max rep-stosb",
                "near": "786432 avx512, max rep-stosb",
                "far": "2048 avx512-once, 8192 rep-stosb, max nt-avx512",
                "page": "4096 rep-stosb, max clzero",
            },
        ),
        # Intel's cores, without AVX, with AVX2 and with AVX-512.
        (
            SSE2 | ERMS | INTEL,
            "0xc000 0x200000 0x12c00000",
            {
                **dict.fromkeys(("any", "near"), "2048 sse2, max rep-stosb"),
                "far": "2048 sse2, 6144 rep-stosb, max nt-sse2",
                "page": "4096 rep-stosb, max nt-sse2",
            },
        ),
        *(
            (
                SSE2 | AVX2 | wider | ERMS | INTEL,
                "0 0 0",
                {
                    **dict.fromkeys(("any", "near"), f"4095 {isa}-intel, max rep-stosb"),
                    "far": f"512 sse2, 5120 {isa}-intel, max nt-{isa}",
                    "page": f"4096 {isa}-intel, max nt-{isa}",
                },
            )
            for wider, isa in ((0, "avx2"), (AVX512, "avx512"))
        ),
    ],
)
def test_choice_of_other_machines(features: int, caches: str, choice: dict[str, str]) -> None:
    assert zero_tool.CHECKER.plan(features, caches) == {use: classes(text) for use, text in choice.items()}


@pytest.mark.skipif(not X86, reason="entries of x86-64")
def test_short_sets_are_the_entrys_own() -> None:
    """The entry sets short sizes itself, whatever is forced; except where the compiler's checks rule out IFUNC."""
    choice, _ = zero_tool.show(OKOSU_ZERO="loop8")
    eight = {"sse2": 128, "avx2": 256, "avx2-intel": 256, "avx512": 512, "avx512-once": 512, "avx512-intel": 512}
    isa = copy_tool.widest()
    far = "sse2" if isa.endswith("-intel") else "avx512-once" if isa == "avx512" else isa
    own = {} if b"__asan_init" in zero_tool.CHECKER.path.read_bytes() else {"any": isa, "near": isa, "far": far}
    for use in ("any", "near", "far"):
        assert choice[use] == [*([(eight[own[use]], own[use])] if own else []), (LAST, "loop8")]
    assert choice["page"] == [(LAST, "loop8")]


@pytest.mark.parametrize(
    ("text", "error", "line", "why"),
    [
        ("", errno.EINVAL, 1, "no size class"),
        ("64 loop8\n", errno.EINVAL, 2, "begins with max"),
        ("64 loop8\n[near]\nmax loop8\n", errno.EINVAL, 4, "begins with max"),
        ("64 loop8\n64 loop8\nmax loop8", errno.EINVAL, 2, "do not rise"),
        ("max loop8\nmax loop8", errno.EINVAL, 2, "do not rise"),
        ("sixty loop8\nmax loop8", errno.EINVAL, 1, "no number"),
        ("-1 loop8\nmax loop8", errno.EINVAL, 1, "no number"),
        ("64k loop8\nmax loop8", errno.EINVAL, 1, "no number"),
        ("99999999999999999999 loop8\nmax loop8", errno.EINVAL, 1, "no number"),
        ("max\n", errno.EINVAL, 1, "two words"),
        ("max loop8 loop8\n", errno.EINVAL, 1, "two words"),
        ("[middle]\nmax loop8\n", errno.EINVAL, 1, "no such section"),
        ("[near\nmax loop8\n", errno.EINVAL, 1, "[NAME]"),
        ("[near]\nmax loop8\n[near]\nmax loop8\n", errno.EINVAL, 3, "twice"),
        ("max sse9\n", errno.ENOENT, 1, "none of that name"),
        ("".join(f"{n} loop8\n" for n in range(16)) + "max loop8\n", errno.EINVAL, 17, "more than 16"),
        ("max loop8\0\n", errno.EINVAL, 0, "not text"),
    ],
)
def test_profile_that_is_none(tmp_path: Path, text: str, error: int, line: int, why: str) -> None:
    profile = tmp_path / "zero.profile"
    profile.write_text(text)
    choice, said = zero_tool.show("--profile", str(profile))
    assert said["profile"] == str(-error)
    assert f"{profile}: line {line}" in said["what"]
    assert why in said["why"]
    assert choice == zero_tool.show()[0]
