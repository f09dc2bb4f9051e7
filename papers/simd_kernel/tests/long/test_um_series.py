# SPDX-License-Identifier: Apache-2.0
"""The series um-simd as patches and as object files, without booting: make test-lab."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from lab.tests.long.kernel_commits import Workbench, code

pytestmark = pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it")

PROGRAM = Path(__file__).with_name("um_objects.c")
COPY = "arch/x86/um/copy/"
ORIGINAL = ("arch/x86/lib/memcpy_64.o", "arch/x86/lib/memset_64.o")
# Users of memcpy() and of the structures that the first patch changes.
USERS = ("arch/um/kernel/process.o", "arch/um/os-Linux/registers.o", "arch/x86/um/os-Linux/registers.o", "mm/memory.o")
ROUTINES = ("orig", "movsq", "movsb", "paper", "sse2", "avx2", "avx512")
SERIES = "um-simd"
COMMITS = {"6.12": 9, "7.3": 8}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    return Workbench(tmp_path_factory.mktemp("um"), SERIES, "um")


def test_each_commit_builds_without_a_warning(bench: Workbench) -> None:
    """Built are the objects that a commit can change, in each configuration where it can change them."""
    commits = bench.commits[1:]
    assert len(commits) == COMMITS[bench.base]
    on = bench.config("um")
    off, stats = {**on, "UML_SIMD_COPY": "n"}, {**on, "UML_COPY_STATS": "y"}
    there: set[str] = set()
    for commit in commits:
        changed = {path for path in bench.changed(commit) if not path.startswith("Documentation/")}
        there |= changed
        bench.checkout(commit)
        if {path for path in changed if not path.startswith(COPY) and not path.endswith("/Kconfig")}:
            bench.make(off, *USERS)
        if COPY + "Makefile" in there and changed:
            bench.make(on, *USERS, COPY)
        if COPY + "stats.c" in there and changed:
            bench.make(stats, COPY)
    assert {COPY + "Makefile", COPY + "stats.c"} <= there


@pytest.mark.skipif(os.environ.get("OKOSU_LAB") != "full", reason="make test-lab-full runs it")
@pytest.mark.parametrize("option", ["y", "n"])
def test_each_commit_builds_as_a_whole(bench: Workbench, option: str) -> None:
    for commit in bench.commits[1:]:
        bench.checkout(commit)
        bench.make({**bench.config("um"), "UML_SIMD_COPY": option}, "vmlinux")


def test_without_the_option_the_code_is_the_same_and_only_fixed_lengths_change_callers(bench: Workbench) -> None:
    on = bench.config("um")
    # The state of the vector registers is sized by what the host has before the routines come.
    adds = [COPY + "Makefile" in bench.changed(commit) for commit in bench.commits[1:]]
    settings = {
        "before": (bench.commits[adds.index(True)], on),
        "off": (bench.commits[-1], {**on, "UML_SIMD_COPY": "n"}),
        "on": (bench.commits[-1], on),
        "fixed": (bench.commits[-1], {**on, "UML_COPY_FIXED": "y"}),
    }
    objects = (*USERS, *ORIGINAL)
    found: dict[str, dict[str, str]] = {}
    for name, (commit, asked) in settings.items():
        bench.checkout(commit)
        folder = bench.make(asked, *objects)
        found[name] = {path: code(folder / path) for path in objects}
    assert len(found["before"]["mm/memory.o"]) > 100_000
    assert found["before"] == found["off"] == found["on"]
    assert "memcpy_4096" in found["fixed"]["mm/memory.o"]
    assert "memcpy_4096" not in found["on"]["mm/memory.o"]


def test_the_objects_copy_and_set_what_they_should_and_nothing_else(bench: Workbench, tmp_path: Path) -> None:
    bench.checkout(bench.commits[-1])
    folder = bench.make({**bench.config("um"), "UML_COPY_FIXED": "y"}, COPY, *ORIGINAL)
    objects = [
        *(folder / COPY / f"{name}.o" for name in ("string", "string_fixed", "paper", "sse2", "avx2", "avx512")),
        *(folder / path for path in ORIGINAL),
    ]
    program = tmp_path / "um_objects"
    flags = ["-std=gnu17", "-O2", "-Wall", "-Wextra", "-Werror", "-fno-builtin", "-no-pie", "-Wl,-z,noexecstack"]
    subprocess.run(["gcc", *flags, "-o", program, PROGRAM, *objects], check=True)
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    assert done.returncode == 0, lines[-1:]
    assert [line.split()[1] for line in lines] == list(ROUTINES)
    assert all(line.startswith("ok ") for line in lines[:5])
