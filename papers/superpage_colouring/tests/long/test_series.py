# SPDX-License-Identifier: Apache-2.0
"""The series page-colour as patches: each builds, and without its option nothing is different: make test-lab."""

from __future__ import annotations

import os
import subprocess

import pytest

from lab.kernel import llvm, series, source, tree
from lab.run import qemu
from lab.tests.long.base import BASE
from lab.tests.long.kernel_commits import Workbench, masked
from lab.tests.long.series_figures import WITH

pytestmark = pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it")
FULL = os.environ.get("OKOSU_LAB") == "full"
full = pytest.mark.skipif(not FULL, reason="make test-lab-full runs it")

NAME = "page-colour"
FOLDERS = ("mm/", "kernel/", "lib/", "fs/")
# Folders that are built whole for each commit; of others, the objects of the files that it changes.
WHOLE = ("mm/",) if FULL else ()
OPTIONS = ("PAGE_COLOR", "PAGE_COLOR_KUNIT_TEST")
# The smallest configuration that compiles everything that the series touches, without line numbers in the objects.
TINY = dict.fromkeys(
    (
        *("EXPERT", "64BIT", "SMP", "NUMA", "PCI", "ACPI", "SYSFS", "PROC_FS", "BLOCK", "SHMEM", "SWAP", "KUNIT"),
        *("COMPACTION", "MIGRATION", "TRANSPARENT_HUGEPAGE", "VM_EVENT_COUNTERS", "JUMP_LABEL", "CGROUPS"),
        *("CPUSETS", "PROC_PAGE_MONITOR", "KSM", "MEMORY_HOTPLUG", "MEMORY_HOTREMOVE", "CMA"),
        # Linux 6.12 does not know it, and has the code that it stands for with NUMA.
        "NUMA_MIGRATION",
    ),
    "y",
)
ON = {**TINY, **dict.fromkeys(OPTIONS, "y"), "KUNIT_DEFAULT_ENABLED": "n"}
OFF = {**ON, "PAGE_COLOR": "n"}
# Where others' configurations differ from the lab's. Without NUMA there is no colouring.
ELSEWHERE = {
    "no huge pages": {"TRANSPARENT_HUGEPAGE": "n"},
    "no control groups": {"CGROUPS": "n", "CPUSETS": "n"},
    "no hotplug": {"MEMORY_HOTPLUG": "n", "MEMORY_HOTREMOVE": "n"},
    "machine checks": {"X86_MCE": "y", "MEMORY_FAILURE": "y"},
    "no NUMA": {"NUMA": "n", "PAGE_COLOR": "n"},
}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    return Workbench(tmp_path_factory.mktemp("colour"), NAME, "x86")


def changed_objects(bench: Workbench, commits: list[str], whole: tuple[str, ...] = WHOLE) -> list[str]:
    """Return the objects whose sources these commits change, but those of the folders that are built by their name."""
    paths = {path for commit in commits for path in bench.changed(commit)}
    return sorted(f"{path[:-2]}.o" for path in paths if path.endswith(".c") and not path.startswith(whole))


def test_the_series_of_x86_apply_one_after_the_other() -> None:
    asked = [series.find(name, BASE) for name in series.on(BASE, qemu.RECIPE.series)]
    assert [one.name for one in asked] == sorted(one.name for one in asked)
    assert NAME in {one.name for one in asked}
    made = tree.patched(source.find(base=BASE), asked)
    said = subprocess.run(["git", "-C", made, "log", "--oneline"], capture_output=True, text=True, check=True).stdout
    assert len(said.splitlines()) == 1 + sum(len(one.patches) for one in asked)


def test_each_commit_builds_without_a_warning(bench: Workbench) -> None:
    commits = bench.commits[1:]
    assert len(commits) == len(bench.series.patches)
    for commit in commits:
        bench.checkout(commit)
        if targets := [*WHOLE, *changed_objects(bench, [commit])]:
            bench.make(ON, *targets)
    made = bench.make(ON, *WHOLE, *changed_objects(bench, commits))
    assert {path.name for path in (made / "mm").glob("page_color*.o")} >= {"page_color.o", "page_color_kunit.o"}


@pytest.mark.parametrize("options", ELSEWHERE)
def test_it_builds_as_others_configure_it(bench: Workbench, options: str) -> None:
    bench.checkout(bench.commits[-1])
    asked = {**ON, **ELSEWHERE[options]}
    on = asked["PAGE_COLOR"] == "y"
    left_out = (() if on else ("page_color", "mempolicy", "drivers/base/node")) + (
        ("cpuset",) if asked.get("CPUSETS") == "n" else ()
    )
    objects = [path for path in changed_objects(bench, bench.commits[1:]) if not any(name in path for name in left_out)]
    made = bench.make(asked, *WHOLE, *objects)
    assert (made / "mm/page_color.o").is_file() == on
    assert (made / "mm/page_alloc.o").is_file()


@full
def test_clang_builds_it_without_a_warning(bench: Workbench) -> None:
    clang = llvm.new_enough(bench.patched)
    assert clang, f"Linux {BASE} wants LLVM {llvm.least(bench.patched)}, here is {llvm.families() or 'none'}"
    bench.checkout(bench.commits[-1])
    made = bench.make(ON, *WHOLE, *changed_objects(bench, bench.commits[1:]), words=(clang,))
    assert (made / "mm/page_color.o").is_file()


@full
@pytest.mark.parametrize("option", ["y", "n"])
def test_each_commit_builds_as_a_whole(bench: Workbench, option: str) -> None:
    for commit in bench.commits[1:]:
        bench.checkout(commit)
        bench.make({**TINY, "PAGE_COLOR": option}, *FOLDERS)
        bench.make({**bench.config("x86"), "PAGE_COLOR": option}, "vmlinux")


def test_without_the_option_the_code_is_the_same_and_with_it_no_longer(bench: Workbench) -> None:
    base, last = bench.commits[0], bench.commits[-1]
    objects = changed_objects(bench, bench.commits[1:])
    found: dict[str, dict[str, str]] = {}
    for name, commit, asked in (("base", base, OFF), ("off", last, OFF), ("on", last, ON)):
        bench.checkout(commit)
        # An object of the series alone does not exist in the base.
        made = bench.make(asked, *WHOLE, *(path for path in objects if "page_color" not in path))
        # Objects without code are left out.
        paths = [path for path in sorted(made.rglob("*.o")) if path.name not in ("built-in.o", "init-mm.o")]
        found[name] = {str(path.relative_to(made)): masked(path) for path in paths}
    assert len(found["base"]["mm/page_alloc.o"]) > 100_000
    assert set(found["base"]) == set(found["off"])
    assert [path for path, text in found["base"].items() if text != found["off"][path]] == []
    assert found["on"]["mm/page_alloc.o"] != found["off"]["mm/page_alloc.o"]


def test_without_the_option_the_lab_s_own_kernel_has_the_same_code_too(bench: Workbench) -> None:
    # What the compiler inlines where depends on the configuration, and changes with as little as a branch that is never
    # taken.
    base, last = bench.commits[0], bench.commits[-1]
    objects = [path for path in changed_objects(bench, bench.commits[1:], ()) if "page_color" not in path]
    found: list[dict[str, str]] = []
    for commit in (base, last):
        bench.checkout(commit)
        made = bench.make({**bench.config("x86"), **WITH, **dict.fromkeys(OPTIONS, "n")}, *objects)
        found.append({path: masked(made / path) for path in objects if (made / path).is_file()})
    assert "mm/page_alloc.o" in found[0]
    assert found[0].keys() == found[1].keys()
    assert [path for path, text in found[0].items() if text != found[1][path]] == []
