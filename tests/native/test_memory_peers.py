# SPDX-License-Identifier: Apache-2.0
"""What okosu bench copy and zero measure beside okosu's own: routines of a user's library, and another glibc."""

from __future__ import annotations

import platform
import shutil
import subprocess
from pathlib import Path

import pytest

from okosu.bench import drive
from okosu.bench.rows import Result
from okosu.errors import OkosuError

ONE = ["--smoke", "--sizes", "64"]
LIBRARY = """\
#include <stddef.h>
#include <stdio.h>
#include <string.h>

void *memcpy(void *restrict dst, const void *restrict src, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ((volatile char *)dst)[i] = ((const char *)src)[i];
    return dst;
}
"""
USER = "#include <string.h>\nvoid *use(void *to, const void *from) { return memcpy(to, from, 1000); }\n"


@pytest.fixture
def peers(tmp_path: Path) -> Path:
    """A folder with a library that has a memcpy, one that only calls it, and one that is none."""
    folder = tmp_path / "peers" / "memory"
    folder.mkdir(parents=True)
    for name, text in (("slow", LIBRARY), ("user", USER)):
        source = tmp_path / f"{name}.c"
        source.write_text(text)
        subprocess.run(
            ["cc", "-O1", "-fno-builtin", "-shared", "-fPIC", "-o", folder / f"{name}.so", source], check=True
        )
    (folder / "none.so").write_text("no library\n")
    return folder.parent


def mapped(part: str) -> Path:
    """The first file in this process's memory whose path holds `part`."""
    lines = Path("/proc/self/maps").read_text().split("\n")
    return next(Path(line.split()[-1]) for line in lines if part in line)


def measured(result: Result) -> set[str]:
    return {row.variant for row in result.rows}


def test_the_routine_of_a_users_library_is_measured_beside_okosus(peers: Path) -> None:
    result = drive.run("copy", [*ONE, "--only", "copy", "--peers", str(peers)])
    assert {"slow", "glibc", "okosu_copy"} <= measured(result)
    absent = {line.variant: line.why for line in result.absent}
    assert absent["user"] == "it has no memcpy of its own"
    assert "none.so" in absent["none"]
    assert {"user", "none"}.isdisjoint(measured(result))


def test_a_library_without_memset_is_told_as_absent_by_the_benchmark_of_sets(peers: Path) -> None:
    result = drive.run("zero", [*ONE, "--only", "set", "--peers", str(peers)])
    assert {line.variant for line in result.absent} >= {"slow", "user", "none"}
    assert "slow" not in measured(result)


def test_a_benchmark_runs_on_the_glibc_that_is_named(tmp_path: Path) -> None:
    """The system's own glibc, under other names, stands for another one."""
    (tmp_path / "lib").mkdir()
    loader, libc = mapped("/ld-linux"), mapped("/libc.so.6")
    for path in (loader, libc):
        shutil.copy(path, tmp_path / "lib" / path.name)
    start = drive.on_libc(tmp_path)
    assert start == [str(tmp_path / "lib" / loader.name), "--library-path", str(tmp_path / "lib")]
    result = drive.run("copy", [*ONE, "--only", "copy"], loader=start)
    (version,) = {row.library for row in result.rows if row.variant == "glibc"}
    assert version == f"glibc {platform.libc_ver()[1]}"


@pytest.mark.parametrize(("there", "lacks"), [("libc.so.6", "no loader"), ("ld-linux-x86-64.so.2", "no libc.so.6")])
def test_a_folder_without_a_glibc_is_refused(tmp_path: Path, there: str, lacks: str) -> None:
    (tmp_path / there).touch()
    with pytest.raises(OkosuError, match=lacks) as told:
        drive.on_libc(tmp_path)
    assert told.value.status == 2
