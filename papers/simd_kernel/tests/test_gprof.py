# SPDX-License-Identifier: Apache-2.0
"""gmon.out and symbols: what is read is what was written, gprof itself agrees, and broken files are refused."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from okosu.errors import OkosuError
from papers.simd_kernel.run import gprof, symbols
from papers.simd_kernel.run.profiling import group
from papers.simd_kernel.run.symbols import Symbols

HEADER = b"gmon" + struct.pack("<i12x", 1)


def histogram(low: int, high: int, counts: list[int], rate: int = 100) -> bytes:
    head = struct.pack("<QQii15sc", low, high, len(counts), rate, b"seconds".ljust(15, b"\0"), b"s")
    return b"\0" + head + struct.pack(f"<{len(counts)}H", *counts)


def arc(caller: int = 1, callee: int = 2, count: int = 3) -> bytes:
    return b"\1" + struct.pack("<QQI", caller, callee, count)


def blocks(count: int) -> bytes:
    return b"\2" + struct.pack("<I", count) + b"x" * 16 * count


ADDRESSES = st.integers(0, 2**63)
COUNTS = st.lists(st.integers(0, 65535), min_size=1, max_size=40)


@given(ADDRESSES, COUNTS, st.integers(1, 64), st.lists(st.sampled_from([arc(), blocks(0), blocks(3)]), max_size=5))
def test_what_was_written_is_read(low: int, counts: list[int], width: int, others: list[bytes]) -> None:
    data = HEADER + b"".join(others) + histogram(low, low + width * len(counts), counts) + arc()
    profile = gprof.parse(data)
    there = {(low + width * i, low + width * (i + 1)): n for i, n in enumerate(counts) if n}
    assert profile == gprof.Profile(there, 100)


@given(st.binary(max_size=200))
def test_anything_is_read_or_refused(data: bytes) -> None:
    for whole in (data, HEADER + data, HEADER + b"\0" + data):
        try:
            profile = gprof.parse(whole)
        except OkosuError as error:
            said = error.what
        else:
            said = f"gmon.out of {profile.rate} Hz"
        assert said.startswith("gmon.out")


@given(st.integers(0, 10**6))
def test_a_file_cut_anywhere_within_a_record_is_refused(at: int) -> None:
    data = HEADER + histogram(0x60000000, 0x60000040, [1, 2, 3, 4])
    cut = at % len(data)
    with pytest.raises(OkosuError, match=r"gmon\.out cannot be read at byte"):
        gprof.parse(data[:cut])


def test_a_program_that_did_not_sample_is_refused() -> None:
    with pytest.raises(OkosuError) as raised:
        gprof.parse(HEADER + arc())
    assert "no histogram" in raised.value.why


def test_two_histograms_add_up() -> None:
    one = histogram(0x1000, 0x1010, [1, 0, 2, 0])
    assert gprof.parse(HEADER + one + one).bins == {(0x1000, 0x1004): 2, (0x1008, 0x100C): 4}


SYMBOLS = symbols.parse("1000 T first\n1010 t second\n1018 T third\n2000 T end\n")


def test_a_bin_that_functions_share_is_divided_by_bytes() -> None:
    table = gprof.table({(0x1000, 0x1010): 10, (0x100C, 0x101C): 8}, SYMBOLS)
    assert [(row.function, row.samples) for row in table.rows] == [("first", 12.0), ("second", 4.0), ("third", 2.0)]
    assert table.samples == 18
    assert table.rows[0].seconds == pytest.approx(0.12)
    assert table.rows[0].share == pytest.approx(12 / 18)


def test_samples_outside_all_functions_count_in_the_total_only() -> None:
    table = gprof.table({(0x10, 0x20): 5, (0x1000, 0x1004): 5}, SYMBOLS)
    assert [(row.function, row.share) for row in table.rows] == [("first", 0.5)]
    assert table.row("absent").samples == 0


def test_no_samples_are_an_empty_table() -> None:
    assert gprof.table({}, SYMBOLS).rows == []


def test_boots_of_one_image_add_up() -> None:
    assert gprof.total([{(1, 2): 3}, {(1, 2): 4, (2, 3): 1}]) == {(1, 2): 7, (2, 3): 1}


@pytest.mark.parametrize(
    ("function", "row"),
    [
        ("memcpy", "memcpy"),
        ("__memcpy", "memcpy"),
        ("memcpy_orig", "memcpy"),
        ("um_copy_sse2", "memcpy"),
        ("um_copy_avx512", "memcpy"),
        ("um_copy_movsb", "memcpy"),
        ("um_copy_4096_avx2", "memcpy"),
        ("memcpy_512", "memcpy"),
        ("um_set_stosq", "memset"),
        ("memset_orig", "memset"),
        ("um_copy_choose", "um_copy_choose"),
        ("um_copy_time", "um_copy_time"),
        ("memcpy_fromio", "memcpy_fromio"),
        ("memmove", "memmove"),
        ("userspace", "userspace"),
    ],
)
def test_rows_that_are_summed(function: str, row: str) -> None:
    assert group(function) == row


def test_one_name_of_an_address_is_chosen() -> None:
    found = symbols.parse(
        "10 t local\n10 T __memcpy\n10 W memcpy\n20 D data\n30 T end\n                 U libc_function\n"
    )
    assert found == Symbols([0x10, 0x30], [0x30, 0x31], ["memcpy", "end"])


def test_addresses_are_resolved_within_functions_only() -> None:
    assert SYMBOLS.at(0x1017) == ("second", 7)
    assert SYMBOLS.at(0xFFF) is None
    assert SYMBOLS.at(0x2001) is None
    assert symbols.parse("").at(5) is None


@pytest.mark.parametrize("line", ["nonsense", "xyz T name", "1000 T"])
def test_a_list_that_is_no_symbol_list_is_refused(line: str) -> None:
    with pytest.raises(OkosuError, match="line 1 of the symbol list"):
        symbols.parse(line)


BUSY = """
#include <stdio.h>
#include <time.h>
#define TURNS(x, n, f) for (long i = 0; i < (n); i++) (x) = (x) * (f) + 1
__attribute__((noinline)) unsigned long much(unsigned long x) { TURNS(x, 30000000, 3); return x; }
__attribute__((noinline)) unsigned long little(unsigned long x) { TURNS(x, 9000000, 5); return x; }
int main(void)
{
    unsigned long x = 1;
    clock_t end = clock() + CLOCKS_PER_SEC / 2;
    while (clock() < end)
        x = little(much(x));
    return printf("%lu\\n", x) < 0;
}
"""


@pytest.mark.skipif(not shutil.which("gcc") or not shutil.which("gprof"), reason="needs gcc and gprof")
def test_gprof_itself_agrees(tmp_path: Path) -> None:
    (tmp_path / "busy.c").write_text(BUSY)
    subprocess.run(["gcc", "-pg", "-O1", "-no-pie", "-o", "busy", "busy.c"], cwd=tmp_path, check=True)
    subprocess.run(["./busy"], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    said = subprocess.run(
        ["gprof", "-b", "-p", "busy", "gmon.out"], cwd=tmp_path, check=True, capture_output=True, text=True
    ).stdout
    rows = [line.split() for line in said.splitlines() if line.strip().endswith(("much", "little", "main"))]
    oracle = {row[-1]: float(row[2]) for row in rows}
    profile = gprof.parse((tmp_path / "gmon.out").read_bytes())
    table = gprof.table(profile.bins, symbols.of_image(tmp_path / "busy"), rate=profile.rate)
    ours = {name: table.row(name).seconds for name in oracle}
    assert oracle["much"] > 0
    assert ours == pytest.approx(oracle, abs=0.006)
