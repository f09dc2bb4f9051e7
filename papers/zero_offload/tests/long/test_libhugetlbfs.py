# SPDX-License-Identifier: Apache-2.0
"""libhugetlbfs's own tests where free huge pages are cleared ahead, and that they are really run: make test-lab."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from lab.run import qemu
from lab.tests.long import x86_guest
from papers.zero_offload.tests.long import libhugetlbfs
from papers.zero_offload.tests.long.prezero_guest import DEBUG, POOL

pytestmark = pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it")
given = pytest.mark.skipif(
    os.environ.get("OKOSU_LAB") != "full" or libhugetlbfs.VARIABLE not in os.environ,
    reason=f"make test-lab-full with {libhugetlbfs.VARIABLE}=DIR, a built checkout of libhugetlbfs, runs it",
)

CLEARED_AHEAD = f"""
    echo {libhugetlbfs.PAGES} > {POOL}/zero_target; echo cpu-nt > {POOL}/zero_engine
    until [ $(cat {POOL}/zeroed_hugepages) -ge {libhugetlbfs.PAGES // 2} ]; do sleep 0.1; done
"""
# This test executes a page again after it was cleared. Under QEMU it fails on the stock kernel, and passes where a
# pattern is written to freed pages (hugetlb_zero.debug=1).
EMULATED = "icache-hygiene"
# A stand-in with the layout, calls and output of libhugetlbfs: programs in tests/obj64, called by tests/run_tests.py.
PROGRAMS = {
    "touches": """
        #include <stdio.h>
        #include <sys/mman.h>
        int main(void) {
            char *at = mmap(0, 2 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
            if (at == MAP_FAILED || at[4096]) return 2;
            at[0] = 1;
            puts("libhugetlbfs: a warning\\nPASS");
        }""",
    "refuses": '#include <stdio.h>\nint main(void) { puts("FAIL\\tas it was told"); return 2; }',
    "dies": "#include <stdlib.h>\nint main(void) { abort(); }",
}
RUNNER = """
import subprocess
for name in ("touches", "refuses", "dies"):
    print("VERBOSE=0 " + name + " (2M: 64):\\t", end="", flush=True)
    print(subprocess.run(["obj64/" + name], stdout=subprocess.PIPE).stdout.decode().strip())
print("********** TEST SUMMARY\\n*     Total testcases:     0      3")
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    (objects := tmp_path / "tests/obj64").mkdir(parents=True)
    for name, source in PROGRAMS.items():
        subprocess.run(["gcc", "-x", "c", "-", "-o", objects / name], input=source, text=True, check=True)
    (tmp_path / "tests/run_tests.py").write_text(RUNNER)
    return tmp_path


def test_tests_that_pass_fail_and_die_are_told_apart(small: Path) -> None:
    found = libhugetlbfs.run(x86_guest.kernel(), small, (DEBUG,), CLEARED_AHEAD)
    names = ["touches", "refuses", "dies"]
    said = ["PASS", "FAIL", libhugetlbfs.ENDED]
    assert found == [(f"VERBOSE=0 {name} (2M: 64)", verdict) for name, verdict in zip(names, said, strict=True)]


def judged(found: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(test, verdict) for test, verdict in found if EMULATED not in test]


@given
def test_libhugetlbfs_finds_what_it_finds_on_the_kernel_as_it_is() -> None:
    folder = Path(os.environ[libhugetlbfs.VARIABLE]).resolve()
    series = x86_guest.kernel()
    stock = libhugetlbfs.run(qemu.build(series=()), folder)
    # With fewer results the tests would not really have been run.
    assert sum(verdict == "PASS" for _, verdict in stock) > len(stock) / 2 > 20
    assert judged(libhugetlbfs.run(series, folder, (DEBUG,), CLEARED_AHEAD)) == judged(stock)
