# SPDX-License-Identifier: Apache-2.0
"""The series x86-simd-copy as patches: each builds, and without its option nothing is different: make test-lab."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from lab.kernel import config
from lab.tests.long.kernel_commits import Workbench, code, instructions

pytestmark = pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it")

# The folder that the series adds to, with the routines and their one caller. It is built as a whole: for a single
# object make would enter it twice at once.
CHANGED = "arch/x86/lib/"
ROUTINES = "arch/x86/lib/simd_copy_64.o"
CALLER = "arch/x86/lib/copy_mc.o"
COMMITS = 5


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    return Workbench(tmp_path_factory.mktemp("x86"), "x86-simd-copy", "x86")


def test_each_commit_builds_without_a_warning(bench: Workbench) -> None:
    commits = bench.commits[1:]
    assert len(commits) == COMMITS
    asked = config.fragments(("x86",))
    for commit in commits:
        bench.checkout(commit)
        objects = bench.make(asked, CHANGED)
    assert {path.name for path in (objects / "arch/x86/lib").glob("simd_copy*.o")} == {
        *("simd_copy.o", "simd_copy_64.o", "simd_copy_bench.o", "simd_copy_choice.o", "simd_copy_kunit.o")
    }


@pytest.mark.skipif(os.environ.get("OKOSU_LAB") != "full", reason="make test-lab-full runs it")
@pytest.mark.parametrize("option", ["y", "n"])
def test_each_commit_builds_as_a_whole(bench: Workbench, option: str) -> None:
    for commit in bench.commits[1:]:
        bench.checkout(commit)
        bench.make({**config.fragments(("x86",)), "X86_SIMD_COPY": option}, "vmlinux")


def test_without_the_option_the_code_is_the_same_and_with_it_no_longer(bench: Workbench) -> None:
    base, last = bench.commits[0], bench.commits[-1]
    on = config.fragments(("x86",))
    off = {**on, "X86_SIMD_COPY": "n"}
    found: dict[str, str] = {}
    for name, commit in (("base", base), ("off", last)):
        bench.checkout(commit)
        found[name] = code(bench.make(off, CHANGED) / CALLER)
    assert "copy_mc_to_kernel" in found["base"]
    assert found["base"] == found["off"]
    off_object = bench.make(off, CHANGED) / CALLER
    on_object = bench.make(on, CHANGED) / CALLER
    assert "simd_memcpy" not in code(off_object)
    assert "simd_memcpy" in code(on_object)
    # With the option set but off there is one NOP of two bytes before the code of the base.
    path = instructions(off_object, "copy_mc_to_kernel")
    assert instructions(on_object, "copy_mc_to_kernel")[: len(path) + 1] == ["xchg", *path]


def test_the_routines_are_right_in_user_space(bench: Workbench, tmp_path: Path) -> None:
    bench.checkout(bench.commits[-1])
    built = bench.make(config.fragments(("x86",)), CHANGED) / ROUTINES
    check = Path(__file__).with_name("simd_copy_check.c")
    words = ["gcc", "-std=c17", "-O2", "-z", "noexecstack", "-o", str(tmp_path / "check"), str(check), str(built)]
    subprocess.run(words, check=True)
    done = subprocess.run([tmp_path / "check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    said = dict(line.split() for line in done.stdout.splitlines())
    assert list(said) == ["movsq", "movsb", "movnti", "paper", "sse2", "avx2", "avx512"]
    assert set(said.values()) <= {"ok", "absent"}
