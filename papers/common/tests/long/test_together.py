# SPDX-License-Identifier: Apache-2.0
"""All series of the platform x86 in one kernel: their own tests, and the tree's with all at work: make test-lab."""

from __future__ import annotations

import os
import re

import pytest

from lab.kernel import series
from lab.kernel.build import Built
from lab.run import qemu
from lab.tests.long import mm_selftests, x86_guest
from lab.tests.long.base import BASE

pytestmark = pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it")
full = pytest.mark.skipif(os.environ.get("OKOSU_LAB") != "full", reason="make test-lab-full runs it")

TIMEOUT_S = 1800.0
PASSED = "0"
# With fewer passes the tests would not really have been run.
AT_LEAST = 25
COLOURS = ("page_color=16,fold",)
# Free huge pages are cleared ahead: by a thread of each node on 7.3, by the engine cpu-nt on 6.12.
POOL = "/sys/kernel/mm/hugepages/hugepages-2048kB"
AHEAD = f"""
    cd {POOL}; half={mm_selftests.PAGES // 2}
    if [ -e prezero_hugepages ]; then echo 100 > prezero_cpu_percent; echo {mm_selftests.PAGES} > prezero_hugepages
    else echo {mm_selftests.PAGES} > zero_target; echo cpu-nt > zero_engine; fi
    until [ $(cat zeroed_hugepages) -ge $half ]; do sleep 0.1; done; cd - > /dev/null
    grep -q '\\[fold\\]' /sys/kernel/mm/page_color/mode
"""


@pytest.fixture(scope="module")
def built() -> Built:
    return x86_guest.kernel()


def suites() -> set[str]:
    """Return the names of the suites of tests that the series add."""
    added = [
        patch.read_text() for name in series.on(BASE, qemu.RECIPE.series) for patch in series.find(name, BASE).patches
    ]
    found = re.findall(r'^\+static struct kunit_suite \w+ = \{\n\+\t\.name = "(\w+)"', "".join(added), re.M)
    return set(found)


def test_one_kernel_has_them_all_and_each_one_s_own_tests_pass_in_it(built: Built) -> None:
    assert set(built.series) == set(series.on(BASE, qemu.RECIPE.series))
    assert {"hugetlb-prezero", "page-colour"} <= set(built.series)
    wanted = suites()
    assert len(wanted) >= 2
    log = qemu.run(built, ["true"], kernel_args=(x86_guest.KUNIT,), timeout=TIMEOUT_S, exact=True).log
    passed = re.findall(r"# (\w+): pass:(\d+) fail:0 ", log)
    assert wanted <= {name for name, count in passed if int(count)}, log[-4000:]
    assert not re.findall(r"^.*\bnot ok \d.*$", log, re.M)
    assert x86_guest.complaints(log) == []


@full
def test_the_tree_s_own_tests_that_pass_without_them_pass_with_all_at_work() -> None:
    x86_guest.kernel()
    programs = mm_selftests.build()
    calls = tuple(dict.fromkeys((*mm_selftests.CALLS, *mm_selftests.HUGETLB)))
    stock = mm_selftests.run(mm_selftests.kernel(()), programs, calls)
    passing = [call for call, status in stock.items() if status == PASSED]
    assert len(passing) >= AT_LEAST, stock
    found = mm_selftests.run(mm_selftests.kernel(qemu.RECIPE.series), programs, passing, COLOURS, AHEAD)
    assert {call: status for call, status in found.items() if status != PASSED} == {}
