# SPDX-License-Identifier: Apache-2.0
"""okosu/place.h on this machine: pinning as /proc shows it, pages as numa_maps shows them, and every way to fail."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from preload_tool import huge_pages_now, thp_possible

from papers.hpc_programming.tests.place_tool import (
    BIND,
    FIRST_TOUCH,
    HUGE,
    HUGETLB,
    INTERLEAVE,
    MOVE,
    SMALL,
    TOUCH,
    alloc,
    allowed,
    numa,
    run,
)

MIB = 1 << 20
CPUSETS = Path("/sys/fs/cgroup/cpuset")

needs_numa = pytest.mark.skipif(not numa(), reason="memory cannot be bound here")


def pages_by_node(numa_maps: str) -> dict[str, int]:
    """The pages by node of a numa_maps line, which counts in the mapping's own page size, converted to base pages."""
    found = re.search(r"kernelpagesize_kB=(\d+)", numa_maps)
    each = int(found[1]) * 1024 // os.sysconf("SC_PAGESIZE") if found else 1
    return {node: int(count) * each for node, count in re.findall(r" N(\d+)=(\d+)", numa_maps)}


def check_placed(said: dict[str, Any], size: int) -> None:
    """Check that all pages are present, and that move_pages and numa_maps agree on their nodes."""
    assert (said["rc"], said["reason"], said["nonzero"], said["absent"], said["grown"]) == (0, "", 0, 0, 0)
    assert said["pages"] == -(-size // said["base"]) == sum(said["on"].values())
    listed = pages_by_node(said["numa_maps"])
    assert set(listed) == set(said["on"])
    assert sum(listed.values()) == said["mapped"] // said["base"]


def test_pinning_is_what_proc_says_and_is_undone() -> None:
    everything = allowed()
    for cpu in everything:
        said = run("pin", str(cpu))
        assert (said["rc"], said["back"], said["pinned"]) == (0, 0, str(cpu))
        assert said["after"] == said["before"] == said["returned"]
    said = run("pin", ",".join(map(str, everything)))
    assert (said["rc"], said["pinned"]) == (0, said["before"])


def test_pinning_is_all_or_nothing() -> None:
    absent = max(int(name.name[3:]) for name in Path("/sys/devices/system/cpu").glob("cpu[0-9]*")) + 1
    for cpus in (str(absent), f"{allowed()[0]},{absent}"):
        said = run("pin", cpus)
        assert said["rc"] == -errno.ENODEV
        assert said["reason"].startswith(f"CPU {absent} is not online; online: ")
        assert said["pinned"] == said["after"] == said["before"]


def test_pinning_under_a_seccomp_filter() -> None:
    said = run("--deny=sched_setaffinity", "pin", str(allowed()[0]))
    assert said["rc"] == -errno.EPERM
    assert said["reason"].startswith("sched_setaffinity: a seccomp filter forbids it")
    said = run("--deny=sched_getaffinity", "affinity")
    assert (said["rc"], "seccomp" in said["reason"]) == (-errno.EPERM, True)


@pytest.fixture
def one_cpu_cpuset() -> Iterator[tuple[str, ...]]:
    """Make a cpuset with only the first CPU, and yield the command that enters it."""
    group = CPUSETS / f"okosu-test-{os.getpid()}"
    if len(allowed()) < 2 or os.geteuid() or not (CPUSETS / "cpuset.mems").exists():
        pytest.skip("needs root, two CPUs and the cpuset controller of cgroup v1")
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"no cpuset can be made: {error}")
    try:
        (group / "cpuset.cpus").write_text(str(allowed()[0]))
        (group / "cpuset.mems").write_text((CPUSETS / "cpuset.mems").read_text())
        yield ("/bin/sh", "-c", f'echo $$ > {group}/tasks; exec "$0" "$@"')
    finally:
        group.rmdir()


@pytest.mark.privileged
def test_the_cpuset_is_respected_and_named(one_cpu_cpuset: tuple[str, ...]) -> None:
    first, second = allowed()[:2]
    for cpus in (str(second), f"{first},{second}"):
        said = run("pin", cpus, prefix=one_cpu_cpuset)
        assert said["rc"] == -errno.EACCES
        assert said["reason"] == f"CPU {second} is not in the cpuset of this process, which has {first}"
        assert said["pinned"] == said["after"] == str(first)
    assert run("pin", str(first), prefix=one_cpu_cpuset)["rc"] == 0
    said = run("list", "/", prefix=one_cpu_cpuset)
    assert (said["cpus_set"], said["mask"]) == (str(first), str(first))


@needs_numa
@pytest.mark.parametrize("size", [1, 4096, 4097, 1000000, 5 * MIB + 1])
@pytest.mark.parametrize("flags", [TOUCH, TOUCH | SMALL, TOUCH | HUGE])
def test_bound_memory_is_where_it_was_asked_for(size: int, flags: int) -> None:
    said = alloc(BIND, "0", size, flags)
    check_placed(said, size)
    assert set(said["on"]) == {"0"}
    assert said["numa_maps"].split()[1] == "bind:0"
    assert said["at"] % said["page"] == 0
    assert 0 <= said["mapped"] - size < said["page"]
    if flags & SMALL:
        assert said["huge"] == 0


@needs_numa
def test_untouched_memory_is_nowhere() -> None:
    said = alloc(BIND, "0", 10 * 4096)
    assert (said["rc"], said["on"], said["absent"]) == (0, {}, said["pages"])
    assert pages_by_node(said["numa_maps"]) == {}


@needs_numa
@pytest.mark.skipif(not thp_possible(), reason="this kernel gives no huge pages")
def test_huge_pages_are_had_and_aligned() -> None:
    huge = int(Path("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size").read_text())
    said = alloc(BIND, "0", 4 * huge, TOUCH | HUGE)
    check_placed(said, 4 * huge)
    assert said["at"] % huge == 0
    if not said["huge"] and not huge_pages_now(4 * huge >> 20):
        pytest.skip("the kernel has no free huge pages")
    assert said["huge"] >= huge


@needs_numa
def test_interleaved_memory() -> None:
    for nodes in ("", "0"):
        said = alloc(INTERLEAVE, nodes, MIB, TOUCH)
        check_placed(said, MIB)
        assert said["numa_maps"].split()[1].startswith("interleave:0")


@needs_numa
def test_first_touch_by_threads_on_their_cpus() -> None:
    cpus = allowed()
    for touching in ([cpus[0]], cpus, cpus * 3):
        said = alloc(FIRST_TOUCH, "", 1000003, 0, ",".join(map(str, dict.fromkeys(touching))))
        check_placed(said, 1000003)
        assert said["numa_maps"].split()[1] == "local"
    assert alloc(FIRST_TOUCH, "", 1, 0, ",".join(map(str, cpus)))["absent"] == 0


def test_a_toucher_that_cannot_be_pinned_is_an_error() -> None:
    said = alloc(FIRST_TOUCH, "", MIB, 0, f"{allowed()[0]},8000")
    assert (said["rc"], said["reason"].split(";")[0]) == (-errno.ENODEV, "CPU 8000 is not online")


@needs_numa
def test_memory_that_exists_can_be_bound() -> None:
    for flags in (0, MOVE):
        said = run("bind", "0", str(flags))
        assert (said["rc"], said["numa_maps"].split()[1]) == (0, "bind:0")
        assert (said["absent"], sum(said["on"].values())) == (said["pages"] - 123, 123)


@needs_numa
@pytest.mark.parametrize(
    ("nodes", "size", "flags", "error", "words"),
    [
        ("77", 4096, 0, errno.ENODEV, "there is no node 77; online: 0"),
        ("0,77", 4096, 0, errno.ENODEV, "there is no node 77; online: 0"),
        ("0", 0, 0, errno.EINVAL, "the size is 0 or overflows"),
        ("0", 2**64 - 1, 0, errno.EINVAL, "the size is 0 or overflows"),
        ("0", 2**64 - 4096, HUGE, errno.EINVAL, "the size overflows"),
        ("0", 4096, HUGE | SMALL, errno.EINVAL, "flags that do not go together"),
        ("0", 4096, MOVE, errno.EINVAL, "flags that do not go together"),
        ("0", 4096, 64, errno.EINVAL, "flags that do not go together"),
        ("0", 2**62, 0, errno.ENOMEM, "mmap of 4398046511104 MiB: Cannot allocate memory"),
    ],
)
def test_what_cannot_be_allocated(nodes: str, size: int, flags: int, error: int, words: str) -> None:
    said = alloc(BIND, nodes, size, flags)
    assert said["rc"] == -error
    assert said["reason"].startswith(words)
    assert ("left" in said, said["grown"]) == (False, 0)


@needs_numa
def test_more_than_the_node_has_is_refused_before_the_touch() -> None:
    total = run("list", "/")["nodes"][0]["total"]
    said = alloc(BIND, "0", total, TOUCH)
    assert (said["rc"], said["grown"]) == (-errno.ENOMEM, 0)
    # A kernel that does not overcommit refuses the mapping itself.
    assert re.match(r"node 0 has \d+ MiB, \d+ are wanted$|mmap of ", said["reason"])


def test_a_pool_without_pages_is_refused() -> None:
    pool = Path("/proc/meminfo").read_text()
    found = re.search(r"HugePages_Free: +(\d+)", pool)
    if not found:
        assert alloc(BIND, "0", 1, HUGETLB)["rc"] == -errno.ENOSYS
        return
    overcommit = Path("/proc/sys/vm/nr_overcommit_hugepages")
    if not overcommit.exists() or int(overcommit.read_text()):
        pytest.skip("the pool grows by itself")
    said = alloc(BIND, "0", (int(found[1]) + 1) * (2 * MIB), HUGETLB)
    assert (said["rc"], "pool of" in said["reason"]) == (-errno.ENOMEM, True)


@needs_numa
def test_the_pool_is_used_where_it_has_pages() -> None:
    more = Path("/proc/sys/vm/nr_hugepages")
    if (
        os.geteuid()
        or not os.access(more, os.W_OK)
        or "Hugepagesize:       2048 kB" not in Path("/proc/meminfo").read_text()
    ):
        pytest.skip("needs root and a pool of 2 MiB pages")
    before = more.read_text()
    try:
        more.write_text(str(int(before) + 3))
        if int(more.read_text()) < int(before) + 3:
            pytest.skip("the kernel found no free huge pages")
        said = alloc(BIND, "0", 5 * MIB, HUGETLB)
        check_placed(said | {"mapped": 6 * MIB}, 5 * MIB)
        assert (said["page"], said["mapped"]) == (2 * MIB, 6 * MIB)
        assert "huge" in said["numa_maps"].split()
    finally:
        more.write_text(before)


@needs_numa
def test_seccomp_filters_are_named() -> None:
    for flag, error, words in (("--deny", errno.EPERM, "forbids it"), ("--hide", errno.ENOSYS, "hides it")):
        said = alloc(BIND, "0", MIB, TOUCH, deny=f"{flag}=mbind")
        assert (said["rc"], f"mbind: a seccomp filter {words}" in said["reason"]) == (-error, True)
        assert ("left" in said, said["grown"]) == (False, 0)
        said = alloc(BIND, "0", MIB, TOUCH, deny=f"{flag}=move_pages")
        assert (said["rc"], f"move_pages: a seccomp filter {words}" in said["reason"]) == (-error, True)
        assert pages_by_node(said["numa_maps"]) == {"0": 256}
    said = alloc(FIRST_TOUCH, "", MIB, TOUCH, deny="--deny=mbind")
    one = len(run("list", "/")["nodes"]) == 1
    assert (said["rc"], said["reason"] == "") == ((0, True) if one else (-errno.EPERM, False))


@needs_numa
def test_mistakes_are_errors() -> None:
    said = run("broken")
    invalid, fault = -errno.EINVAL, -errno.EFAULT
    assert said == {
        "verify hole": fault,
        "verify wrap": invalid,
        "verify nothing": 0,
        "read": 0,
        "verify read": 0,
        "absent": 1,
        "verify one": 0,
        "pages": 1,
        "bind hole": fault,
        "bind odd": invalid,
        "bind policy": invalid,
        "bind flags": invalid,
        "bind nobody": invalid,
        "bind beyond": invalid,
        "alloc beyond": invalid,
        "pin beyond": -errno.ENODEV,
        "pin nobody": invalid,
        "rc": 0,
        "reason": "no CPU was named",
    }
