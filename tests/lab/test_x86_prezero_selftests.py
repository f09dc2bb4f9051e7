# SPDX-License-Identifier: Apache-2.0
"""The kernel's own tests of huge pages, on Debian's kernel and with pages cleared ahead: make test-lab-full."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
import x86_guest
from prezero_guest import POOL

from okosu.lab import qemu, source
from okosu.lab.build import Built

pytestmark = pytest.mark.skipif(os.environ.get("OKOSU_LAB") != "full", reason="make test-lab-full runs it")

# tools/testing/selftests/mm; those that need no option that the lab's kernels are without.
TESTS = (
    *("hugepage-mmap", "hugepage-mremap", "hugepage-shm", "map_hugetlb", "hugetlb-madvise"),
    *("hugetlb_fault_after_madv", "hugetlb_madv_vs_map", "hugetlb_dio", "thuge-gen"),
)
PAGES = 160


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    to = tmp_path_factory.mktemp("selftests")
    tests = source.find().path / "tools/testing/selftests/mm"
    includes = [f"-I{tests / up}" for up in ("../../../include/uapi", "../../../..", "..")]
    for name in TESTS:
        files = [f"{tests}/{name}.c", f"{tests}/vm_util.c"]
        words = ["gcc", "-O1", "-w", "-static", "-D_GNU_SOURCE=", *includes, "-o", f"{to}/{name}", *files]
        subprocess.run([*words, "-lpthread", "-lrt"], check=True)
    return to


def statuses(built: Built, programs: Path, before: str) -> dict[str, str]:
    """Return each test's exit status."""
    runs = "; ".join(
        f"echo {PAGES} > {POOL}/nr_hugepages; timeout 60 {programs}/{name} > /dev/null 2>&1; echo {name} $?"
        for name in TESTS
    )
    outcome = qemu.run(built, ["sh", "-c", f"{before} {runs}"], memory="768M", cpus=2, timeout=900.0)
    assert outcome.status == 0, outcome.console
    return dict(line.split() for line in outcome.stdout.decode().splitlines())


def test_they_end_as_on_stock(programs: Path) -> None:
    stock = statuses(qemu.build(series=()), programs, "")
    assert stock["map_hugetlb"] == "0"
    before = f"echo {PAGES} > {POOL}/zero_target; echo cpu-nt > {POOL}/zero_engine;"
    assert statuses(x86_guest.kernel(), programs, before) == stock
