# SPDX-License-Identifier: Apache-2.0
"""Vector routines: each variant against integers and plain loops, the planted bugs, and the choice of a variant."""

from __future__ import annotations

import platform
import shutil
import subprocess
from pathlib import Path

import pytest
from effort import length, some

from papers.hpc_programming.tests import vec_tool

ROOT = Path(__file__).resolve().parents[3]
INCLUDES = [f"-I{ROOT / folder}" for folder in ("native/include", "papers/hpc_programming/vec")]

BROKEN = {
    "drops-tail": "dsum n=9 ",
    "reads-on": "fault at",
    "reads-before": "fault at",
    "writes-on": "after the array changed",
    "depends-on-address": "sdot",
    "fuses-all-but-last": "daxpy",
    "adds-masked": "ddot",
    "overflows": "dnrm2",
    "skips-zero": "sscal",
    "from-the-near-end": "ddot_strided",
    "at-once": "saxpy_strided",
    "forgets-far": "dot n=400007",
}


@pytest.mark.lab
def test_every_variant() -> None:
    """Sizes 0 to 512 at each pair of addresses in a line (a part of them in `make test`), guard pages, special values,
    strides.
    """
    done = vec_tool.run("vec-check", *length(["--quick"], []))
    assert done.returncode == 0, done.stderr
    lines = dict(line.split(": ") for line in done.stdout.splitlines())
    assert {name for name, said in lines.items() if said == "ok"} == {v.name for v in vec_tool.variants()}
    assert set(lines.values()) <= {"ok", "not on this CPU"}


@pytest.mark.parametrize("row", BROKEN)
def test_planted_bugs_are_found(row: str) -> None:
    done = vec_tool.run("vec-check", "--quick", "--broken", row)
    assert done.returncode == 1
    assert done.stderr.startswith(f"vec_check: {row} ")
    assert BROKEN[row] in done.stderr


def test_a_row_that_is_not_there() -> None:
    assert vec_tool.run("vec-check", "--only", "nonesuch").returncode == 2


def test_choice_and_forcing() -> None:
    """First calls by many threads, forcing, unknown names, variants for other CPUs, forcing while other threads
    call.
    """
    done = vec_tool.run("vec-dispatch")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "ok\n"


def test_the_environment_names_the_variant() -> None:
    names = [v.name for v in vec_tool.variants()]
    assert names[-1] == "ref"
    assert vec_tool.run("vec-dispatch", "chosen").stdout.strip() == names[0]
    for name in names:
        assert vec_tool.run("vec-dispatch", "chosen", env={"OKOSU_VEC": name}).stdout.strip() == name
    for name in ("", "nonesuch", "REF", "ref "):
        assert vec_tool.run("vec-dispatch", "chosen", env={"OKOSU_VEC": name}).stdout.strip() == names[0]


@pytest.mark.parametrize("options", some(["base", "avx2", "avx512"], 1))
def test_inlined_forms(options: str) -> None:
    """Inlined lengths and the calls that replace longer ones, under the compiler options that this machine can run."""
    if options != "base" and platform.machine() != "x86_64":
        pytest.skip("options for x86-64")
    done = vec_tool.run(f"vec-inline-{options}")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "ok\n" or (options != "base" and done.stdout == "not on this CPU\n")


def undefined(compiler: str, source: str, folder: Path, *options: str) -> set[str]:
    """The undefined symbols of the compiled source."""
    path = folder / f"user.{'c' if compiler.endswith('cc') else 'cpp'}"
    path.write_text(source)
    built = folder / "user.o"
    subprocess.run([compiler, "-O2", "-Wall", "-Werror", *options, *INCLUDES, "-c", path, "-o", built], check=True)
    listed = subprocess.run(["nm", "-u", built], capture_output=True, text=True, check=True)
    return {line.split()[-1] for line in listed.stdout.splitlines()}


USER = """
#include <okosu/vec_inline.h>
double fixed(const double *x, const double *y) { return okosu_vec_inline_ddot(x, y, 13); }
void update(float *y, const float *x) { okosu_vec_inline_saxpy(2, x, y, 64); okosu_vec_inline_sscal(3, y, 7); }
"""
LONGER = "double more(const double *x) { return okosu_vec_inline_dsum(x, 65); }\n"


def test_a_known_length_needs_no_library(tmp_path: Path) -> None:
    assert undefined("cc", USER, tmp_path) <= {"_GLOBAL_OFFSET_TABLE_"}
    assert "okosu_vec_dsum" in undefined("cc", USER + LONGER, tmp_path)
    assert "okosu_vec_ddot" in undefined("cc", USER, tmp_path, "-O0")


@pytest.mark.skipif(shutil.which("c++") is None, reason="needs a C++ compiler")
def test_the_headers_are_for_cplusplus_too(tmp_path: Path) -> None:
    assert undefined("c++", USER, tmp_path, "-Wextra", "-std=c++17") <= {"_GLOBAL_OFFSET_TABLE_"}
    assert "okosu_vec_dsum" in undefined("c++", USER + LONGER, tmp_path)
