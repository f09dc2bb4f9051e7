# SPDX-License-Identifier: Apache-2.0
"""okosu/cpu.h: the features it finds are those that the kernel lists, and names are written as snprintf would."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import routine_tool

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = (f"-I{ROOT / 'native' / 'include'}", str(ROOT / "native" / "src" / "cpu" / "features.c"))

PROGRAM = """
#include <okosu/cpu.h>
#include <stdio.h>
#include <string.h>
int main(void)
{
    char text[256] = "untouched", cut[8] = "xxxxxxx", none[1] = "x";
    int length = okosu_cpu_names(okosu_cpu_features(), text, sizeof(text));
    printf("%s\\n%d\\n", text, length == (int)strlen(text));
    printf("%d\\n", okosu_cpu_names(okosu_cpu_features(), NULL, 0) == length);
    printf("%d", okosu_cpu_names(OKOSU_CPU_AVX512 | OKOSU_CPU_SSE2, cut, sizeof(cut)));
    printf(" %s %d\\n", cut, okosu_cpu_names(~UINT64_C(0), none, 1) > 40 && none[0] == 0);
    printf("%d\\n", okosu_cpu_features() >> 63 == 0 && okosu_cpu_names(0, text, 256) == 0 && !*text);
    return 0;
}
"""

# The names of /proc/cpuinfo, which omits features whose registers the kernel does not save.
NEEDS = {
    "sse2": {"sse2"},
    "sse3": {"pni"},
    "avx2": {"avx", "avx2", "fma"},
    "avx512": {"avx", "avx2", "fma", "avx512f", "avx512vl", "avx512bw", "avx512dq"},
    "erms": {"erms"},
    "fsrm": {"fsrm"},
    "clzero": {"clzero"},
}


@pytest.mark.parametrize(("widest", "without"), [(512, set()), (256, {"avx512f"}), (128, {"avx2", "avx512f"})])
def test_features_are_the_kernels(compiled: Callable[..., Path], widest: int, without: set[str]) -> None:
    program = compiled(PROGRAM, *INCLUDE, f"-DOKOSU_WIDEST={widest}")
    done = subprocess.run([program], capture_output=True, text=True, check=True)
    names, *rest = done.stdout.splitlines()
    assert rest == ["1", "1", "11 sse2 av 1", "1"]
    listed = routine_tool.listed() - without
    if platform.machine() == "x86_64":
        expected = {name for name, needs in NEEDS.items() if needs <= listed}
        expected |= {"intel"} if routine_tool.intel() else set()
        expected |= {"fp128"} if "avx2" in expected and routine_tool.splits_vectors() else set()
    else:
        expected = {"neon", "dczva"} if "asimd" in listed else set()
        length = Path("/proc/sys/abi/sve_default_vector_length")
        if "sve" in listed and length.exists():
            expected |= {f"sve{8 * int(length.read_text())}"} & {f"sve{bits}" for bits in (256, 512) if bits <= widest}
    assert set(names.split()) == expected or expected - set(names.split()) <= {"dczva", "fp128"}


ISA = """
#include <string.h>
#define __builtin_cpu_init()
#define __builtin_cpu_supports(feature) (!strstr(LACKS, feature))
#define __builtin_cpu_is(name) (!strcmp(CPU, name) || !strcmp(MAKER, name))
#include <cpuid.h>
#define __get_cpuid(leaf, a, b, c, d) ((leaf) == 0x8000001a && PATHS >= 0 ? (*(a) = PATHS, 1) : 0)
#include "choose/isa.h"
int main(void)
{
    return okosu_isa_here() << 6 | okosu_isa_sets() << 3 | okosu_isa_copies();
}
"""


def isa(compiled: Callable[..., Path], cpu: str, lacks: str = "", paths: int = -1, **defined: int) -> tuple[int, ...]:
    """The widest vectors of such a processor, and what sets and copies take: 0 (SSE2), 1 (AVX2), 2 (AVX-512), 3 and 4
    (AVX2 and AVX-512 as suit Intel).
    """
    maker = "amd" if cpu.startswith(("zn", "bd")) else "intel"
    defines = [f'-DCPU="{cpu}"', f'-DMAKER="{maker}"', f'-DLACKS="{lacks}"', f"-DPATHS={paths}"]
    defines += [f"-D{name}={value}" for name, value in defined.items()]
    program = compiled(ISA, f"-I{ROOT / 'native/src'}", *defines)
    said = subprocess.run([program], check=False).returncode
    return said >> 6, said >> 3 & 7, said & 7


@pytest.mark.skipif(platform.machine() != "x86_64", reason="vectors of x86-64")
@pytest.mark.parametrize(
    ("cpu", "lacks", "widest", "moves"),
    [
        ("znver4", "", 2, 2),
        ("sapphirerapids", "", 2, 4),
        ("sapphirerapids", "avx512vl", 1, 3),
        ("znver3", "avx512f", 1, 1),
        # 512 bits lower their clock.
        ("skylake-avx512", "", 1, 3),
        ("cascadelake", "", 1, 3),
        ("cooperlake", "", 1, 3),
        ("haswell", "avx512f", 1, 3),
        ("nehalem", "avx2 fma avx512f", 0, 0),
    ],
)
def test_the_widest_vectors_that_are_used_unasked(
    compiled: Callable[..., Path], cpu: str, lacks: str, widest: int, moves: int
) -> None:
    assert isa(compiled, cpu, lacks) == (widest, moves, moves)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="vectors of x86-64")
@pytest.mark.parametrize(
    ("cpu", "paths", "copies"),
    [
        # What leaf 8000_001Ah says: MOVU and FP128, or MOVU and FP256, whatever model a hypervisor tells.
        ("znver1", 3, 0),
        ("znver2", 6, 1),
        ("znver1", 6, 1),
        # A hypervisor hides it, or there is none.
        ("znver1", 0, 0),
        ("bdver4", -1, 0),
        ("znver3", 0, 1),
    ],
)
def test_where_vectors_go_by_halves_copies_take_shorter_ones(
    compiled: Callable[..., Path], cpu: str, paths: int, copies: int
) -> None:
    assert isa(compiled, cpu, "avx512f", paths) == (1, 1, copies)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="vectors of x86-64")
@pytest.mark.parametrize(("bits", "widest"), [(512, 2), (256, 1), (128, 0)])
def test_a_build_for_tests_uses_none_that_are_wider(compiled: Callable[..., Path], bits: int, widest: int) -> None:
    assert isa(compiled, "znver5", OKOSU_WIDEST=bits) == (widest, widest, widest)
