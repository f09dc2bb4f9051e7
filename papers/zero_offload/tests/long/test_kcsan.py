# SPDX-License-Identifier: Apache-2.0
"""Data races of the series hugetlb-prezero, as KCSAN sees them in guests: make test-lab-full."""

from __future__ import annotations

import os

import pytest

from lab.kernel.build import Built
from lab.tests.long import kcsan_races
from lab.tests.long.base import BASE
from lab.tests.long.kcsan_races import COUNTERS, CPUS, TIMEOUT_S, WATCH, Lines, judge
from papers.zero_offload.tests.long import prezero_guest
from papers.zero_offload.tests.long.prezero_guest import CHANNEL, ENGINES

pytestmark = pytest.mark.skipif(os.environ.get("OKOSU_LAB") != "full", reason="make test-lab-full runs it")

# Every file of the series is read, and what bounds the clearing is changed, meanwhile.
_BOUND, _VALUES = {"6.12": ("zero_rate", "0 100000"), "7.3": ("prezero_cpu_percent", "100 4")}[BASE]
_PREZERO_FILES = f"""
(while :; do cat $P/*zero* $P/*_hugepages /sys/devices/system/node/node*/hugepages/*/zero*; done > /dev/null) &
(while :; do for value in {_VALUES}; do echo $value > $P/{_BOUND}; done; sleep 0.01; done) &
"""


@pytest.fixture(scope="module")
def built() -> Built:
    return kcsan_races.kernel()


@pytest.fixture(scope="module")
def lines(built: Built) -> Lines:
    return Lines(built)


@pytest.mark.parametrize("name", ENGINES)
def test_clearing_ahead_races_with_nothing(built: Built, lines: Lines, name: str) -> None:
    engine, before = ENGINES[name]
    args = (CHANNEL, *WATCH)
    machine = {"cpus": CPUS, "memory": "1G", "timeout": TIMEOUT_S}
    ways = " ".join(prezero_guest.WAYS)
    script = f"{_PREZERO_FILES} {before} $BIN/zero_check {engine} 1 {ways}; {prezero_guest.SETTLE}; {COUNTERS}"
    judge(lines, prezero_guest.run(built, script, *args, **machine))  # type: ignore[arg-type]
