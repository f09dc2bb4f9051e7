# SPDX-License-Identifier: Apache-2.0
"""The series hugetlb-prezero as patches: each builds, and without its options nothing is different: make test-lab."""

from __future__ import annotations

import os
import re

import pytest

from lab.kernel import config, series, source, tree
from lab.tests.long.base import BASE
from lab.tests.long.kernel_commits import Workbench, code, instructions, masked

pytestmark = pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it")

NAME = "hugetlb-prezero"
# What the series changes, and the objects of it that are built with any configuration of the lab's.
CHANGED = (
    *("mm/hugetlb.o", "mm/memfd.o", "mm/memory.o", "mm/memory-failure.o", "fs/hugetlbfs/inode.o"),
    *("mm/migrate.o", "mm/mempolicy.o", "mm/hugetlb_cgroup.o", "arch/x86/mm/hugetlbpage.o"),
    *{
        "6.12": ("mm/userfaultfd.o", "ipc/shm.o", "drivers/dma-buf/udmabuf.o"),
        "7.3": ("mm/hugetlb_sysfs.o", "mm/vmstat.o", "mm/page_alloc.o"),
    }[BASE],
)
COMMITS = {"6.12": 11, "7.3": 6}
USER = "mm/hugetlb_zero_user.o"
# With these the files that wait for zeroing pages before they poison or pin them are compared as well.
WITH = {"X86_MCE": "y", "MEMORY_FAILURE": "y", **({"SYNC_FILE": "y", "UDMABUF": "y"} if BASE == "6.12" else {})}
# A daemon and its ioctls are a part of the series on that base alone.
daemon = pytest.mark.skipif(BASE != "6.12", reason="the series has no daemon on this base")


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    return Workbench(tmp_path_factory.mktemp("prezero"), NAME, "x86")


def objects_of(bench: Workbench, commit: str) -> list[str]:
    """Return the objects of what a commit changes, so far as its Makefiles know them."""
    bench.checkout(commit)
    return bench.objects(bench.changed(commit)) or ["mm/hugetlb.o"]


def test_each_commit_builds_without_a_warning(bench: Workbench) -> None:
    assert len(bench.commits) == COMMITS[BASE] + 1
    for commit in bench.commits[1:]:
        objects = objects_of(bench, commit)
        bench.make({**bench.config("x86"), **WITH}, *objects)


@pytest.mark.skipif(os.environ.get("OKOSU_LAB") != "full", reason="make test-lab-full runs it")
@pytest.mark.parametrize("option", ["y", "n"])
def test_each_commit_builds_as_a_whole(bench: Workbench, option: str) -> None:
    for commit in bench.commits[1:]:
        bench.checkout(commit)
        bench.make(bench.config("x86") if option == "y" else unset(bench), "vmlinux")


def unset(bench: Workbench) -> config.Config:
    """Return the configuration of the tests without any option of the series."""
    options = dict.fromkeys(bench.series.symbols, "n")
    assert "HUGETLB_PREZERO" in options
    return {**bench.config("x86"), **options}


def codes(bench: Workbench) -> dict[str, tuple[str, str]]:
    """Return (code of the kernel without the series, code with it and its options unset) of every changed object."""
    off = {**unset(bench), **WITH}
    found: list[list[str]] = []
    for commit in (bench.commits[0], bench.commits[-1]):
        bench.checkout(commit)
        built = bench.make(off, *CHANGED)
        found.append([masked(built / path) for path in CHANGED])
    return dict(zip(CHANGED, zip(*found, strict=True), strict=True))


def test_without_the_options_the_code_is_the_same(bench: Workbench) -> None:
    found = codes(bench)
    assert len(found["mm/hugetlb.o"][0]) > 100_000
    assert [path for path, (base, off) in found.items() if base != off] == []


def test_all_series_of_the_platform_apply_in_a_row() -> None:
    wanted = [name for name in series.names(BASE) if name != "um-simd"]
    assert NAME in wanted
    patched = tree.patched(source.find(base=BASE), [series.find(name, BASE) for name in wanted])
    assert (patched / "mm/hugetlb_zero.c").is_file()
    assert (patched / "arch/x86/lib/simd_copy.c").is_file() == ("x86-simd-copy" in wanted)


@daemon
def test_the_numbers_of_its_ioctls_are_nobody_else_s(bench: Workbench) -> None:
    bench.checkout(bench.commits[-1])
    uapi = (bench.patched / "include/uapi/linux/hugetlb_zero.h").read_text()
    asked = re.findall(r"_IO\w*\(('.'|0x\w+), (0x\w+)", uapi)
    assert len(asked) == 2
    table = (bench.patched / "Documentation/userspace-api/ioctl/ioctl-number.rst").read_text()
    rows = re.findall(r"^('.'|0x[0-9A-F]{2}) +(all|[0-9A-F]{2}(?:-[0-9A-F]{2})?) +(\S+)", table, re.M)
    assert len(rows) > 200
    for kind, number in asked:
        known = [name for of, span, name in rows if of.lower() == kind.lower() and within(int(number, 16), span)]
        assert known == ["linux/hugetlb_zero.h"], (kind, number, known)


def within(number: int, span: str) -> bool:
    """Return whether a range of the table (all, 10 or 10-1F) holds this number."""
    first, _, last = span.partition("-")
    return span == "all" or int(first, 16) <= number <= int(last or first, 16)


@daemon
def test_a_daemon_may_have_32_bits_and_what_it_chose_is_no_index_for_speculation(bench: Workbench) -> None:
    bench.checkout(bench.commits[-1])
    made = bench.make({**bench.config("x86"), "IA32_EMULATION": "y"}, USER) / USER
    assert "compat_ptr_ioctl" in code(made)
    # By array_index_nospec(): the only way in which this function gets an SBB.
    assert "sbb" in instructions(made, "answer")
