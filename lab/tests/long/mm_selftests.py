# SPDX-License-Identifier: Apache-2.0
"""The tree's own tests of memory management, tools/testing/selftests/mm: built for this machine, run in a guest."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from lab import cache
from lab.kernel import series, source
from lab.kernel import tree as patched_tree
from lab.kernel.build import Built, compiler_version
from lab.run import qemu
from lab.tests.long import x86_guest
from lab.tests.long.base import BASE

TIMEOUT_S = 3600.0
# The time-out of each test, in seconds, on an emulated machine: two need 120 where the host is busy.
EACH_S = 300
# Huge pages that are reserved before each test.
PAGES = 128

# What run_vmtests.sh of Linux 7.3 calls otherwise than that of 6.12, has no more, and has besides.
_RENAMED = {"hugepage-mmap": "hugetlb-mmap", "hugepage-mremap": "hugetlb-mremap", "hugepage-shm": "hugetlb-shm"}
_GONE = ("hugepage-vmemmap", "map_hugetlb")
_NEW = ("folio_split_race_test", "guard-regions", "merge", "pfnmap", "process_madv", "soft-dirty")


def _on_base(calls: Sequence[str], more: Sequence[str] = ()) -> tuple[str, ...]:
    """Return those of 6.12's `calls` that the base has, as it calls them, and `more` of 7.3's."""
    if BASE != "7.3":
        return tuple(calls)
    return (*(_RENAMED.get(call, call) for call in calls if call not in _GONE), *more)


# Calls as in run_vmtests.sh; where they depend on the size of the machine, those for 1 GiB.
_CALLS = (
    "compaction_test",
    "cow",
    "droppable",
    "hugepage-mmap",
    "hugepage-mremap",
    "hugepage-shm",
    "hugepage-vmemmap",
    "hugetlb-madvise",
    "hugetlb_fault_after_madv",
    "hugetlb_madv_vs_map",
    "khugepaged all:anon",
    "ksm_functional_tests",
    "ksm_tests -M -p 10",
    "ksm_tests -U",
    "ksm_tests -Z -p 10 -z 0",
    "ksm_tests -Z -p 10 -z 1",
    "ksm_tests -N -m 1",
    "ksm_tests -N -m 0",
    "madv_populate",
    "map_fixed_noreplace",
    "map_hugetlb",
    "map_populate",
    "mdwe_test",
    "migration",
    "mkdirty",
    "mlock-random-test",
    "mlock2-tests",
    "mremap_dontunmap",
    "mremap_test",
    "mrelease_test",
    "mseal_test",
    "on-fault-limit",
    "pagemap_ioctl",
    "split_huge_page_test",
    "thuge-gen",
    "transhuge-stress -d 5",
    "uffd-stress anon 20 4",
    "uffd-stress shmem 20 4",
    "uffd-unit-tests",
)
CALLS = _on_base(_CALLS, _NEW)

# The calls that need pages of hugetlbfs. Those that need pages of 1 GiB or poison memory cannot run in this machine.
_HUGETLB = (
    "hugepage-mmap",
    "hugepage-mremap",
    "hugepage-shm",
    "hugetlb-madvise",
    "hugetlb_dio",
    "hugetlb_fault_after_madv",
    "hugetlb_madv_vs_map",
    "map_hugetlb",
    "thuge-gen",
    "uffd-stress hugetlb 64 4",
    "uffd-stress hugetlb-private 64 4",
    "uffd-unit-tests",
)
HUGETLB = _on_base(_HUGETLB)

# khugepaged.c of 6.12.117 uses this macro without including its definition.
_FORGOTTEN = "CPPFLAGS=-DKSFT_SKIP=4"

_SCRIPT = """
cd "$0"
for file in enabled defrag; do echo madvise > /sys/kernel/mm/transparent_hugepage/$file; done
mount -t tmpfs tmpfs /mnt
mkdir /tmp/huge; mount -t hugetlbfs hugetlbfs /tmp/huge
echo PAGES > /proc/sys/vm/nr_hugepages
eval "$1"; shift
for call in "$@"; do
    [ -x "${call%% *}" ] || { echo "missing: $call"; continue; }
    status=0
    echo PAGES > /proc/sys/vm/nr_hugepages
    timeout SECONDS ./$call > /tmp/said 2>&1 < /dev/null || status=$?
    echo "$status: $call"
done
""".replace("SECONDS", str(EACH_S)).replace("PAGES", str(PAGES))


def build() -> Path:
    """Return the folder with the programs of the base's tests; those whose libraries are missing here are left out."""
    tree = source.find(base=BASE)
    key = cache.key("mm", tree.version, compiler_version("gcc"), _FORGOTTEN)

    def fill(folder: Path) -> None:
        # make goes on where a program needs a library that is missing.
        _make(tree.path, folder, "-k", _FORGOTTEN, "all")

    return cache.made("selftests", key, fill)


def kernel(applied: Sequence[str]) -> Built:
    """Return the base's kernel with the series `applied` for these tests: without uffd-unregister the tests of events
    in uffd-unit-tests fail now and then, on the kernel as it is too."""
    return qemu.build(series=(*series.on(BASE, applied), "uffd-unregister"), base=BASE)


def program(name: str, of: series.Series) -> Path:
    """Return one of the tests that a series adds to the tree, built."""
    tree = source.find(base=of.base)
    patched = patched_tree.patched(tree, [of])
    key = cache.key(name, tree.version, of.digest, compiler_version("gcc"))

    def fill(folder: Path) -> None:
        said = _make(patched, folder, "LDFLAGS=-static", f"{folder}/{name}")
        assert (folder / name).is_file(), said

    return cache.made("selftests", key, fill) / name


def _make(tree: Path, folder: Path, *words: str) -> str:
    """Have make build in `folder` what the words say of the tests in `tree`; return what it said of errors."""
    headers = folder / "usr"
    common = ["make", "-s", f"-j{len(os.sched_getaffinity(0))}"]
    asked = ["headers_install", "ARCH=x86", f"O={folder / 'objects'}", f"INSTALL_HDR_PATH={headers}"]
    (folder / "objects").mkdir(exist_ok=True)
    subprocess.run([*common, "-C", tree, *asked], check=True, capture_output=True)
    # make writes local_config.* into the sources' folder.
    sources = folder / "tree"
    for part in ("tools", "mm"):
        sources.joinpath(part).parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cp", "-al", tree / part, sources / part], check=True)
    tests = sources / "tools/testing/selftests/mm"
    flags = [f"OUTPUT={folder}", f"KHDR_INCLUDES=-isystem {headers}/include"]
    done = subprocess.run([*common, "-C", tests, *flags, *words], check=False, capture_output=True, text=True)
    return done.stderr


def run(
    built: Built,
    programs: Path,
    calls: Sequence[str] = CALLS,
    kernel_args: Sequence[str] = (),
    before: str = ":",
) -> dict[str, str]:
    """Return {call: exit status, or "missing"} of one boot of `built`, in which the script `before` is run first."""
    command = ["bash", "-c", _SCRIPT, str(programs), before, *calls]
    outcome = qemu.run(built, command, kernel_args=kernel_args, memory="1G", cpus=2, nodes=2, timeout=TIMEOUT_S)
    rows = (line.split(": ", 1) for line in outcome.stdout.decode().splitlines())
    found = {call: status for status, call in rows}
    assert set(found) == set(calls), outcome.console[-3000:]
    assert x86_guest.complaints(outcome.log) == []
    return found
