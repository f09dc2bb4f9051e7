# SPDX-License-Identifier: Apache-2.0
"""okosu's copies: each variant against a loop over bytes, the choice, its names and its profiles."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from itertools import combinations, permutations
from pathlib import Path

import copy_tool
import pytest
from copy_tool import X86
from effort import length, some
from hypothesis import given, settings
from hypothesis import strategies as st
from routine_tool import LAST, classes

INCLUDE = Path(__file__).resolve().parents[2] / "native/include"
INLINE, ROUTES = (Path(__file__).parent / f"programs/copy_{name}.c" for name in ("inline", "routes"))
SSE2, AVX2, AVX512, ERMS, FSRM, FP128, INTEL = 1, 1 << 2, 1 << 3, 1 << 4, 1 << 5, 1 << 7, 1 << 8
"""Bits of okosu/cpu.h."""


@pytest.mark.lab
def test_variants_and_entries() -> None:
    """Sizes 0 to 1025 at each byte of a line (in `make test` every fifth such case), thresholds, guard pages, overlaps,
    size 0, forcing, threads.
    """
    done = copy_tool.run(OKOSU_CHECK_STEP=length("5", "1"))
    assert done.returncode == 0, done.stdout
    skipped = {line.split()[1].rstrip(":") for line in done.stdout.splitlines() if line.startswith("skipped")}
    # A skipped variant must need an instruction set that /proc/cpuinfo lacks too.
    assert skipped == copy_tool.lacking()
    there = [row for row in copy_tool.ROWS if row not in skipped]
    wanted = {*there, *(f"{row} (move)" for row in there), "okosu_copy", "okosu_copy_far", "okosu_copy_move", "force"}
    assert {f"ok: {name}" for name in wanted} <= set(done.stdout.splitlines())


@pytest.mark.skipif(not X86, reason="a variant of x86-64")
def test_entries_that_leave_the_rest_to_narrower_vectors() -> None:
    """What the entries hand on is copied right too, and no upper half of a register stays in use behind it: a string
    instruction with one in use takes 400 cycles longer (Zen 3).
    """
    done = copy_tool.run(OKOSU_COPY="sse2", OKOSU_CHECK_STEP="25")
    assert done.returncode == 0, done.stdout


@pytest.mark.skipif(not X86, reason="entries of x86-64")
def test_no_short_leaf_lies_across_two_lines() -> None:
    """What fits into a line of the code, from where it is entered to the return, takes a cycle more across two."""
    listing = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", copy_tool.CHECKER.path], capture_output=True, text=True, check=True
    )
    leaves = 0
    for function in re.split(r"\n\n(?=\w+ <)", listing.stdout):
        if not re.match(r"\w+ <okosu_copy_(?:entry_)?(?:sse2|avx(?:2|512)(?:_intel)?)(?:_\d)?>:", function):
            continue
        code = [(int(at, 16), what) for at, what in re.findall(r"^ *([0-9a-f]+):\t(.*)$", function, re.MULTILINE)]
        targets = {int(to, 16) for _, what in code for to in re.findall(r"^j\w+ +([0-9a-f]+) ", what)}
        starts = [at for at, _ in code if at in targets or at == code[0][0]]
        for at, what in code:
            before = [start for start in starts if start <= at]
            if what.startswith("ret") and at - before[-1] < 64:
                leaves += 1
                assert before[-1] // 64 == at // 64, f"{function.splitlines()[0]} {before[-1]:#x} to {at:#x}"
    assert leaves >= 25 * 5  # each of five variants and of their four entries has at least five


@pytest.mark.parametrize(
    ("compiler", "flags"),
    some(
        [
            ("clang++", "-O0 -mavx2"),
            ("gcc", "-O2"),
            ("gcc", "-O1 -fsanitize=address,undefined"),
            ("g++", "-O2 -mavx512f"),
            ("clang", "-O2 -mavx512f"),
        ]
    ),
)
def test_inline(tmp_path: Path, compiler: str, flags: str) -> None:
    """The copies of fixed size, as C and as C++, with the vectors that the compiler flags allow."""
    if not X86 and "-m" in flags:
        pytest.skip("flags of x86-64")
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler} here")
    width = 64 if "avx512" in flags else 32 if "avx2" in flags else 16
    language = ["-x", "c++"] if compiler.endswith("++") else ["-std=c17"]
    command = [compiler, *flags.split(), *language, "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    subprocess.run([*command, f"-I{INCLUDE}", str(INLINE), "-o", str(tmp_path / "inline")], check=True)
    if "avx512" in flags and "avx512" in copy_tool.lacking():
        return
    done = subprocess.run([tmp_path / "inline"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"ok: vectors of {width} bytes\n")


@pytest.mark.skipif(not X86, reason="features of x86-64")
@pytest.mark.parametrize(
    ("features", "caches", "any_", "near", "far"),
    [
        # A desktop of 2008: SSE2 only, and stores past the caches for copies of which L3 cannot hold both arrays.
        (
            SSE2,
            "0x8000 0x40000 0x800000",
            "4194304 sse2, max nt-sse2",
            "8388608 sse2, max nt-sse2",
            "3640 sse2, max nt-sse2",
        ),
        (SSE2 | AVX2, "0 0 0", "2097152 avx2, max nt-avx2", "4194304 avx2, max nt-avx2", "3640 avx2, max nt-avx2"),
        # Zen 1: vectors of 256 bits by halves.
        (
            SSE2 | AVX2 | FP128,
            "0x8000 0x80000 0x800000",
            "4194304 sse2, max nt-sse2",
            "8388608 sse2, max nt-sse2",
            "3640 sse2, max nt-sse2",
        ),
        (
            SSE2 | AVX2 | ERMS,
            "0x8000 0 0",
            "3640 avx2, 131072 lately-avx2, 699050 sse2, 1398101 rep-line, max nt-avx2",
            "20480 avx2, 131072 lately-avx2, 699050 sse2, 1398101 rep-line, max nt-avx2",
            "1820 avx2, max nt-avx2",
        ),
        (
            SSE2 | AVX2 | AVX512 | ERMS,
            "0xc000 0x100000 0x2000000",
            "12288 avx512, 24576 lately-avx512, 16777216 rep-line, max nt-avx512",
            "24576 avx512, max rep-line",
            "12288 avx512, max nt-avx512",
        ),
        # Zen 3, without AVX and with AVX2, and Zen 5: string copies are fast from the first byte on.
        (
            SSE2 | ERMS | FSRM,
            "0x8000 0x80000 0x2000000",
            "2048 sse2, 16777216 rep-line, max nt-sse2",
            "2048 sse2, max rep-line",
            "1365 sse2, 3640 rep-line, max nt-sse2",
        ),
        (
            SSE2 | AVX2 | ERMS | FSRM,
            "0x8000 0x80000 0x2000000",
            "3640 avx2, 262144 lately-avx2, 5592405 sse2, 11184810 rep-line, max nt-avx2",
            "20480 avx2, 262144 lately-avx2, 5592405 sse2, 11184810 rep-line, max nt-avx2",
            "1820 avx2, max nt-avx2",
        ),
        (
            SSE2 | AVX2 | AVX512 | ERMS | FSRM,
            "0xc000 0x100000 0x2000000",
            "3276 avx512, 24576 lately-avx512, 16777216 rep-line, max nt-avx512",
            "24576 avx512, max rep-line",
            "3276 avx512, 5461 rep-line, max nt-avx512",
        ),
        # Zen 5 as without AVX and as with AVX2.
        (
            SSE2 | ERMS | FSRM,
            "0xc000 0x100000 0x2000000",
            "1536 sse2, 16777216 rep-line, max nt-sse2",
            "1536 sse2, max rep-line",
            "512 sse2, 32768 rep-line, max nt-sse2",
        ),
        (
            SSE2 | AVX2 | ERMS | FSRM,
            "0xc000 0x100000 0x2000000",
            "2048 avx2, 16777216 rep-movsb, max nt-avx2",
            "16384 avx2, max rep-movsb",
            "2048 avx2, max nt-avx2",
        ),
        # Intel's cores without fast short string copies; with them, without AVX, with AVX2 and as Emerald Rapids.
        (SSE2 | INTEL, "0x8000 0x40000 0x800000", "1365 sse2, max libc", "682 sse2, max libc", "1365 sse2, max libc"),
        (
            SSE2 | AVX2 | ERMS | INTEL,
            "0x8000 0x40000 0x800000",
            *["2184 avx2-intel, max libc"] * 2,
            "1024 sse2, 2184 avx2-intel, max libc",
        ),
        (
            SSE2 | ERMS | FSRM | INTEL,
            "0xc000 0x200000 0x12c00000",
            "2048 sse2, 3145728 rep-movsb, max nt-sse2-intel",
            "1024 sse2, 16777216 rep-movsb, max nt-sse2-intel",
            "2048 sse2, 7168 rep-movsb, max nt-sse2-intel",
        ),
        (
            SSE2 | AVX2 | ERMS | FSRM | INTEL,
            "0xc000 0x200000 0x12c00000",
            "3276 avx2-intel, 3145728 rep-movsb, max nt-avx2-intel",
            "3276 avx2-intel, 16777216 rep-movsb, max nt-avx2-intel",
            "1024 sse2, 3276 avx2-intel, 7168 rep-movsb, max nt-avx2-intel",
        ),
        (
            SSE2 | AVX2 | AVX512 | ERMS | FSRM | INTEL,
            "0xc000 0x200000 0x12c00000",
            "3780 avx512-intel, 3145728 rep-movsb, max nt-avx512-intel",
            "20480 avx512-intel, 16777216 rep-movsb, max nt-avx512-intel",
            "1024 sse2, 3276 avx512-intel, 7168 rep-movsb, max nt-avx512-intel",
        ),
    ],
)
def test_choice_of_other_machines(features: int, caches: str, any_: str, near: str, far: str) -> None:
    wanted = {use: classes(text) for use, text in zip(copy_tool.USES, (any_, near, far), strict=True)}
    assert copy_tool.CHECKER.plan(features, caches) == wanted


LATELY = """
#include "copy/lately.h"
#include <stdio.h>
_Thread_local uintptr_t okosu_copy_lately[OKOSU_COPY_LATELY];
int main(void)
{
    unsigned long page, n;
    while (scanf("%lu %lu", &page, &n) == 2)
        putchar(okosu_copy_was_lately((void *)(page << 12 | (n & 4095)), n, 24576) ? 'y' : 'n');
    return 0;
}
"""


@pytest.mark.parametrize(
    ("pages", "n", "guessed"),
    [
        ([5, 5, 5], 24576, "nyy"),
        # The cache holds one such destination, two, four.
        ([4, 5, 4, 5], 12289, "nnnn"),
        ([4, 5, 4, 5], 12288, "nnyy"),
        ([4, 5, 6, 7] * 2, 6145, "nnnnnnnn"),
        ([4, 5, 6, 7] * 2, 6144, "nnnnyyyy"),
        # Memory that is written for the first time.
        (list(range(20, 32)), 4096, "nnnnnnnnnnnn"),
    ],
)
def test_the_guess_that_a_destination_is_cached(
    compiled: Callable[..., Path], pages: list[int], n: int, guessed: str
) -> None:
    program = compiled(LATELY, f"-I{INCLUDE.parent / 'src'}")
    calls = "".join(f"{page} {n}\n" for page in pages)
    assert subprocess.run([program], input=calls, capture_output=True, text=True, check=True).stdout == guessed


@pytest.mark.parametrize("second", ["none", "l", "s"])
def test_what_an_entry_leaves_to_whom_is_what_was_chosen(compiled: Callable[..., Path], second: str) -> None:
    """Of every order of variants and every bound around which sizes are tried, and of all four routes."""
    source = INCLUDE.parent / "src"
    files = [*(source / "choose").glob("*.c"), source / "cpu/features.c"]
    program = compiled(ROUTES.read_text(), f"-I{source}", f"-I{INCLUDE}", "-D_GNU_SOURCE", *map(str, files))
    names = ["own", "lately", "string", "stream"]
    for count in (1, 2, 3, 4):
        for order in permutations(names, count):
            for bounds in combinations([100, 600, 4096, 9000], count - 1):
                words = [str(word) for pair in zip([*bounds, LAST], order, strict=True) for word in pair]
                done = subprocess.run([program, second, *words], capture_output=True, text=True, check=False)
                assert done.returncode == 0, (words, done.stdout)


WORDS = st.sampled_from(["0", "64", "512", "513", "4096", "70000", "18446744073709551615", "max", "-1", "1e3", "0x10"])
NAMES = st.sampled_from([*copy_tool.ROWS, "sse9", "", "REF", "ref ref"])
LINE = st.one_of(
    st.builds("{} {}".format, WORDS, NAMES),
    st.builds("{} {}".format, st.integers(0, 2**65), st.sampled_from(copy_tool.ROWS)),
    st.sampled_from(
        ["[near]", "[far]", " [far]\t", "[any]", "[]", "[near", "[near] max ref", "# [near]", "", "\r", "\t#"]
    ),
    st.text(alphabet="max0 \t#[]ref\r\0é", max_size=12),
)
RISING = st.lists(st.integers(0, 2**40), max_size=17, unique=True).flatmap(
    lambda bounds: st.lists(st.sampled_from(copy_tool.ROWS), min_size=len(bounds) + 1, max_size=len(bounds) + 1).map(
        lambda names: [f"{bound} {name}" for bound, name in zip([*sorted(bounds), "max"], names, strict=True)]
    )
)
FILE = st.one_of(
    st.lists(LINE, max_size=8),
    RISING,
    st.tuples(RISING, RISING, LINE).map(lambda parts: [*parts[0], "[near]", *parts[1], parts[2]]),
)


@settings(max_examples=length(20, 60))
@given(files=st.lists(FILE, min_size=8, max_size=8))
def test_any_profile(tmp_path_factory: pytest.TempPathFactory, files: list[list[str]]) -> None:
    """Any file is accepted or refused exactly as the rules say; a refusal has the three parts."""
    folder = tmp_path_factory.mktemp("profiles")
    texts = ["\n".join(lines).encode() for lines in files]
    for i, text in enumerate(texts):
        (folder / str(i)).write_bytes(text)
    automatic, _ = copy_tool.show("--profile", "/dev/null")
    done = copy_tool.run("--profile", *(str(folder / str(i)) for i in range(len(texts))))
    assert done.returncode == 0, done.stderr
    answers = done.stdout.split("profile ")[1:]
    for i, (text, answer) in enumerate(zip(texts, answers, strict=True)):
        wanted = copy_tool.profile(text)
        first, *lines = answer.splitlines()
        got = {use: [line.split()[1:] for line in lines if line.startswith(f"{use} ")] for use in copy_tool.USES}
        if isinstance(wanted, int):
            assert first == str(-wanted), text
            parts = dict(line.split(" ", 1) for line in lines if line.startswith(("what ", "why ", "fix ")))
            assert parts["what"].startswith(f"{folder / str(i)}: line ")
            assert all(parts.values())
            wanted = {}
        else:
            assert first == "0", text
        for use in copy_tool.USES:
            expected = copy_tool.seen(use, wanted[use]) if wanted.get(use) else automatic[use]
            assert [(int(up_to), variant) for up_to, variant in got[use]] == expected, text
