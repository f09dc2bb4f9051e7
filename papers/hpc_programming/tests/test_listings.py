# SPDX-License-Identifier: Apache-2.0
"""The listings of the HA8000 tutorial: they do what the paper says, and their loops give the library's numbers."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
from collections.abc import Callable
from fractions import Fraction
from math import fsum
from pathlib import Path
from typing import Any

import pytest

from okosu import native
from papers import common

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="the paper's listings are for x86-64")
SOURCES = native.PACKAGE.parent / "papers" / "hpc_programming" / "listings"


def run(name: str, *args: str) -> subprocess.CompletedProcess[str]:
    program = native.find(f"okosu-paper-hpc_programming-{name}")
    return subprocess.run([program, *args], capture_output=True, text=True, check=False)


def lines(name: str, *args: str) -> list[dict[str, Any]]:
    done = run(name, *args)
    assert done.returncode == 0, done.stdout + done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_every_listing_that_is_run_was_built() -> None:
    for experiment in common.load()["hpc-programming"].experiments():
        if experiment.program.startswith("okosu-paper-"):
            assert native.find(experiment.program).is_file()


# Section 2.


def test_the_counter_runs_on_and_ten_additions_take_time() -> None:
    done = run("ticks", "0")
    found = re.findall(r"CPU Clock=(\d+) /N=([\d.]+)", done.stdout)
    assert len(found) == 2
    assert all(int(clock) > 10000 for clock, _ in found)
    for clock, each in found:
        assert float(each) == pytest.approx(int(clock) / 10000, abs=0.051)


@pytest.mark.parametrize("mode", ["-m64", "-m32"])
def test_both_forms_of_the_macro_compile_each_for_its_mode(mode: str, tmp_path: Path) -> None:
    use = "unsigned long long now(void) { unsigned long long t; RDTSC(t); return t; }"
    source = f"#include <hpc_programming/listings/rdtsc.h>\n{use}"
    command = ["cc", "-std=gnu17", mode, "-O2", "-S", "-x", "c", "-", "-I", str(SOURCES.parents[1]), "-o", "-"]
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    if "not supported" in done.stderr or "unrecognized" in done.stderr:
        pytest.skip(f"this compiler has no {mode}")
    assert done.returncode == 0, done.stderr
    assert "rdtsc" in done.stdout
    assert ("orq" in done.stdout) == (mode == "-m64")


def compiles(source: str, *flags: str) -> bool:
    command = ["cc", "-std=gnu17", "-c", "-x", "c", "-", "-o", "/dev/null", *flags]
    return subprocess.run(command, input=source, capture_output=True, text=True, check=False).returncode == 0


def test_what_is_disputed_of_the_listings_is_so_with_this_compiler() -> None:
    macro = (
        'void f(void) {{ unsigned long long t; asm volatile ("rdtsc;shlq $32,{};orq %%rdx,%%rax":"=a"(t)::"%rdx"); }}'
    )
    assert compiles(macro.format("%%rdx"))
    assert not compiles(macro.format("%rdx"))
    use = "#include <{}>\n__m128d f(double s, double t) {{ return {}(s, t); }}"
    assert compiles(use.format("pmmintrin.h", "_mm_setr_pd"), "-msse3")
    assert not compiles(use.format("pmmintrin.h", "_mm_setr_sd"), "-msse3")
    assert not compiles(use.format("pmmmintrin.h", "_mm_setr_pd"), "-msse3")
    assert not compiles(use.format("pmmintrin.h", "_mm_setr_pd").replace("__m128d", "_m128d"), "-msse3")
    count = '#include <sys/sysinfo.h>\nint main(void) { int n; n = get_nprocs(); printf("%d", n); }'
    assert not compiles(count, "-Werror=implicit-function-declaration")


def test_two_variables_are_not_joined_by_movapd_alone() -> None:
    source = "#include <pmmintrin.h>\n__m128d f(double s, double t) { return _mm_set_pd(s, t); }"
    command = ["cc", "-O2", "-msse3", "-S", "-x", "c", "-", "-o", "-"]
    text = subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout
    assert re.search(r"\bunpcklpd|\bmovhpd|\bmovlhps|\bmovddup", text)


# Sections 3 and 4.


def test_a_program_is_pinned_to_a_cpu_that_is_there() -> None:
    cpu = max(os.sched_getaffinity(0))
    (said,) = lines("affinity", str(cpu))
    assert (said["rv"], said["allowed"], said["on"]) == (0, 1, cpu)


def test_a_cpu_that_is_not_there_is_refused_and_nothing_changes() -> None:
    (said,) = lines("affinity", "1023")
    assert (said["rv"], said["errno"]) == (-1, 22)
    assert said["allowed"] == len(os.sched_getaffinity(0))


def test_nprocs_counts_the_online_cpus() -> None:
    # glibc 2.34 alone counted those of the mask.
    counts = (os.cpu_count(), len(os.sched_getaffinity(0)))
    assert run("nprocs").stdout in [f"The number of CPUs = {count}\n" for count in counts]


def test_a_million_bytes_lie_on_node_0_and_the_kernel_reads_one_bit_less_than_maxnode() -> None:
    (said,) = lines("bind")
    if said["errno"] in (1, 38):
        pytest.skip("mbind is not allowed here")
    assert (said["rv"], said["elsewhere"], said["aligned"]) == (0, 0, 1)
    assert said["pages"] == -(-1000000 // said["page"])
    assert (said["maxnode_1"], said["maxnode_2"], said["unaligned"]) == (22, 0, 22)


def test_writing_to_a_node_prints_two_bandwidths_as_the_paper_does() -> None:
    cpu = max(os.sched_getaffinity(0))
    done = run("node_write", str(cpu), "0", "4194304")
    found = re.findall(r"cpu=\s*(\d+) MemoryNode=0 Memory Bandwidth=\s*(\d+) MB/s", done.stdout)
    assert [int(number) for number, _ in found] == [cpu, cpu]
    assert all(int(rate) > 0 for _, rate in found)


def test_a_node_that_is_not_there_is_told_where_the_papers_program_is_silent() -> None:
    done = run("node_write", str(max(os.sched_getaffinity(0))), "6", "65536")
    if Path("/sys/devices/system/node/node6").exists():
        pytest.skip("there is a node 6")
    assert "mbind" in done.stderr
    assert "MemoryNode=6" in done.stdout


# Section 5.


def test_every_row_of_tables_1_and_2_does_what_it_says() -> None:
    rows = lines("intrinsics")
    assert [sum(row["table"] == table for row in rows) for table in (1, 2)] == [20, 5]
    assert len({row["name"] for row in rows}) == 25
    wanted = {
        "_mm_loadr_pd": (5, 3), "_mm_loadh_pd": (7, 3), "_mm_loadl_pd": (3, 11), "_mm_load_sd": (3, 0),
        "_mm_set_pd": (23, 19), "_mm_setr_sd": (19, 23), "_mm_move_sd": (13, 11), "_mm_store_sd": (7, -1),
        "_mm_addsub_pd": (-6, 28), "_mm_hadd_pd": (18, 30), "_mm_hsub_pd": (-4, -4), "_mm_movedup_pd": (7, 7),
    }  # fmt: skip
    found = {row["name"]: (row["x0"], row["x1"]) for row in rows}
    assert {name: found[name] for name in wanted} == wanted
    assert all(row["holds"] for row in rows)


def number(i: int) -> float:
    """Return the numbers that the program compares on."""
    return (i * 2654435761 % 2**32) / 2**32 - 0.5


@pytest.mark.parametrize("n", [8, 64, 1000, 4096])
def test_the_listings_and_the_library_give_the_exact_sum_within_the_bound(n: int) -> None:
    x = [number(i + 1) for i in range(n)]
    y = [number(i + 7 * n) for i in range(n)]
    exact = {
        "dsum": fsum(x),
        "dsumsq": float(sum(Fraction(v) ** 2 for v in x)),
        "ddot": float(sum(Fraction(a) * Fraction(b) for a, b in zip(x, y, strict=True))),
    }
    rows = lines("compare", str(n))
    assert len(rows) == 10
    for row in rows:
        assert row["holds"], row
        routine = row["name"].partition("_")[0]
        if routine != "daxpy":
            assert abs(row["listing"] - exact[routine]) <= row["bound"]
            assert abs(row["library"] - exact[routine]) <= row["bound"]


def test_a_length_that_the_listings_do_not_take_is_refused() -> None:
    assert run("compare", "12").returncode == 2


def test_the_comparison_notices_a_wrong_kernel(compiled: Callable[..., Path]) -> None:
    """The same program with a listing that forgets an element must fail."""
    folders = (SOURCES.parents[1], SOURCES.parent / "vec", native.PACKAGE.parent / "native/include")
    include = [f"-I{folder}" for folder in folders]
    stubs = """
    #include <okosu/vec.h>
    #define EACH(from) for (size_t i = from; i < n; i++)
    double okosu_vec_dsum(const double *x, size_t n) { double s = 0; EACH(1) s += x[i]; return s; }
    double okosu_vec_dsumsq(const double *x, size_t n) { double s = 0; EACH(0) s += x[i] * x[i]; return s; }
    double okosu_vec_ddot(const double *x, const double *y, size_t n)
    { double s = 0; EACH(0) s += x[i] * y[i]; return s; }
    void okosu_vec_daxpy(double a, const double *x, double *y, size_t n) { EACH(0) y[i] += a * x[i]; }
    """
    parts = [str(SOURCES / f"{name}.c") for name in ("compare", "axpy", "dot", "sum", "sumsq")]
    program = compiled(stubs, "-x", "c", "-msse3", "-D_GNU_SOURCE", *include, *parts, "-lm")
    done = subprocess.run([program, "64"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    wrong = {row["name"] for row in map(json.loads, done.stdout.splitlines()) if not row["holds"]}
    assert wrong == {"dsum", "dsum_sse_1", "dsum_sse_4"}
