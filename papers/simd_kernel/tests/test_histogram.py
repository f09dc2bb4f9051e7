# SPDX-License-Identifier: Apache-2.0
"""The kernel's counters of callers and sizes: read whole or refused, named by the instruction before the return."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.tests import obeys
from okosu.errors import OkosuError
from papers.simd_kernel.commands import profile
from papers.simd_kernel.run import histogram, symbols
from papers.simd_kernel.run.histogram import Caller, Size

NONE = " ".join(["0"] * 11)
CALLERS = f"""\
60001010 copy 30 15360 0 0 0 0 0 0 0 0 0 30 {NONE}
60001018 copy 10 40960 0 0 0 0 0 0 0 0 0 0 0 0 10 0 0 0 0 0 0 0 0
60001100 set 5 5 5 0 0 0 0 0 0 0 0 0 {NONE}
0 copy 2 2 2 0 0 0 0 0 0 0 0 0 {NONE}
"""
SIZES = "copy 512 30\ncopy 4096 10\ncopy 1 2\nset 1 5\n"
FUNCTIONS = symbols.parse("60001000 T pipe_write\n60001010 t pipe_read\n60001100 T clear\n60001200 T end\n")


def test_callers_and_sizes_are_read() -> None:
    callers = histogram.parse_callers(CALLERS)
    assert callers[0] == Caller(0x60001010, "copy", 30, 15360, (*[0] * 9, 30, *[0] * 11))
    assert histogram.parse_sizes(SIZES)[1] == Size("copy", 4096, 10)


def test_a_call_that_ends_its_function_is_not_its_neighbours() -> None:
    sites = histogram.resolve(histogram.parse_callers(CALLERS), FUNCTIONS, lambda wanted: {0x60001017: "fs/pipe.c:9"})
    assert [(site.function, site.offset, site.line) for site in sites] == [
        ("pipe_read", 8, "fs/pipe.c:9"),
        ("pipe_write", 16, ""),
        ("pipe_read", 0xF0, ""),
        ("(others)", 0, ""),
    ]


def test_the_json_has_every_caller_and_size_and_obeys_its_schema() -> None:
    sites = histogram.resolve(histogram.parse_callers(CALLERS), FUNCTIONS, lambda wanted: {0x60001017: "fs/pipe.c:9"})
    told = obeys.its_schema(profile.counted(sites, histogram.parse_sizes(SIZES)))
    assert told["schema"] == "okosu.lab-histogram/1"
    first = told["callers"][0]
    assert (first["address"], first["function"], first["line"]) == ("60001018", "pipe_read", "fs/pipe.c:9")
    assert (first["kind"], first["calls"], first["bytes"], sum(first["classes"])) == ("copy", 10, 40960, 10)
    assert len(told["callers"]) == 4
    assert told["sizes"][1] == {"kind": "copy", "size": 4096, "calls": 10}


def test_classes_add_up_over_callers_of_a_kind() -> None:
    found = histogram.by_class(histogram.parse_callers(CALLERS), "copy")
    assert (found[0], found[9], found[12], sum(found)) == (2, 30, 10, 42)


def test_hot_sizes_come_by_calls() -> None:
    sizes = histogram.parse_sizes(SIZES)
    assert histogram.hot(sizes, "copy", 2) == [Size("copy", 512, 30), Size("copy", 4096, 10)]


def test_the_text_has_sites_classes_and_sizes() -> None:
    sites = histogram.resolve(histogram.parse_callers(CALLERS), FUNCTIONS, lambda wanted: {})
    text = histogram.render(sites, histogram.parse_sizes(SIZES), "copy")
    assert "memcpy: 42 calls, 56322 bytes, 3 call sites" in text
    assert "72.7%" in text
    assert "pipe_read+0x8" in text
    assert "clear" not in text
    assert max(map(len, text.splitlines())) <= 80
    assert histogram.render([], [], "set") == "memset: 0 calls, 0 bytes, 0 call sites"


@pytest.mark.parametrize(
    "line",
    [
        "60001010 copy 30",
        f"60001010 move 0 0 0 0 0 0 0 0 0 0 0 0 {NONE}",
        f"zz copy 0 0 0 0 0 0 0 0 0 0 0 0 {NONE}",
        f"60001010 copy 0 -1 0 0 0 0 0 0 0 0 0 0 {NONE}",
        f"60001010 copy 30 0 0 0 0 0 0 0 0 0 0 0 {NONE}",
    ],
)
def test_another_line_of_callers_is_named(line: str) -> None:
    with pytest.raises(OkosuError, match=r"line 5 of um_copy/callers"):
        histogram.parse_callers(CALLERS + line)


@pytest.mark.parametrize("line", ["copy 512", "copy 4097 1", "move 1 1", "copy x 1", ""])
def test_another_line_of_sizes_is_named(line: str) -> None:
    with pytest.raises(OkosuError, match=r"line 1 of um_copy/sizes"):
        histogram.parse_sizes(line + "\n")


COUNT = st.integers(0, 2**40)


@given(
    st.lists(
        st.tuples(st.integers(1, 2**47), st.sampled_from(histogram.KINDS), st.lists(COUNT, min_size=21, max_size=21))
    )
)
def test_what_was_written_is_read(rows: list[tuple[int, str, list[int]]]) -> None:
    text = "".join(f"{at:x} {kind} {sum(c)} 7 {' '.join(map(str, c))}\n" for at, kind, c in rows)
    there = [Caller(at, kind, sum(c), 7, tuple(c)) for at, kind, c in rows]
    assert histogram.parse_callers(text) == there


@given(st.text(max_size=80))
def test_anything_is_read_or_refused(text: str) -> None:
    for parse in (histogram.parse_callers, histogram.parse_sizes):
        try:
            said = f"line 0 of um_copy/{len(parse(text))}"
        except OkosuError as error:
            said = error.what
        assert "of um_copy/" in said


@pytest.mark.unspaced
@pytest.mark.skipif(not shutil.which("gcc") or not shutil.which("addr2line"), reason="needs gcc and binutils")
def test_a_real_image_gives_names_and_lines(tmp_path: Path) -> None:
    source = "int callee(int x)\n{\n    return x + 1;\n}\nint main(void)\n{\n    return callee(1);\n}\n"
    (tmp_path / "a.c").write_text(source)
    subprocess.run(["gcc", "-g", "-O0", "-no-pie", "-o", "a", "a.c"], cwd=tmp_path, check=True)
    nm = subprocess.run(["nm", tmp_path / "a"], capture_output=True, text=True, check=True).stdout
    main = next(int(line.split()[0], 16) for line in nm.splitlines() if line.endswith(" T main"))
    caller = Caller(main + 5, "copy", 1, 1, (1, *[0] * 20))
    (site,) = histogram.of_image([caller], tmp_path / "a")
    assert site.function == "main"
    assert site.offset == 5
    assert site.line.startswith(f"{tmp_path}/a.c:")
