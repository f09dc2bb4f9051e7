# SPDX-License-Identifier: Apache-2.0
"""Data races of the series page-colour and hugetlb-prezero, as KCSAN sees them in guests: make test-lab-full.

KCSAN sees a race where two CPUs come to one place at once: by chance, and more often where CPUs really run at once. So
these guests are not exact, and colouring is on since they booted (lab/README.md, "Oops: int3"); what switches it under
load runs in an exact one. Two CPUs of this machine have to be idle, or little is seen. Whose a race is: kcsan_races.py.
"""

from __future__ import annotations

import os
import re

import pytest

from lab import qemu
from lab.build import Built
from lab.outcome import Outcome
from lab.tests.long import x86_guest
from papers.common.tests.long.kcsan_races import Lines, races
from papers.superpage_colouring.tests.long import colour_guest
from papers.superpage_colouring.tests.long.colour_guest import SYSFS
from papers.superpage_colouring.tests.long.test_switch import LOADS
from papers.zero_offload.tests.long import prezero_guest
from papers.zero_offload.tests.long.test_debug import BEFORE, CHANNEL

pytestmark = pytest.mark.skipif(os.environ.get("OKOSU_LAB") != "full", reason="make test-lab-full runs it")

TIMEOUT_S = 1800.0
# A place is watched more often than by the kernel's own values (once in 4,000 accesses of a CPU, for 80 us).
WATCH = ("kcsan.skip_watch=500", "kcsan.udelay_task=100")
FEWEST_WATCHED = 10_000
CPUS = 2
_COUNTERS = "cat /sys/kernel/debug/kcsan"

# It is on from the start, and stays on.
_ON = f"off() {{ :; }}; colour() {{ echo $1 > {SYSFS}/mode; }};"
# All that the series print, read and set meanwhile.
_COLOUR_FILES = f"""
(while :; do cat {SYSFS}/* /proc/vmstat /proc/zoneinfo > /dev/null; done) & readers=$!
(while :; do for near in 1 3; do echo $near > {SYSFS}/near; done; sleep 0.01; done) & writers=$!
"""
_GROUPS = """
mkdir -p /run/groups; mount -t cgroup2 none /run/groups
echo +page_color > /run/groups/cgroup.subtree_control
mkdir -p /run/groups/one; echo $$ > /run/groups/one/cgroup.procs
colour mask
(while :; do
    for colours in 0-7 4-11 ""; do echo $colours > /run/groups/one/page_color.colors; done
    cat /run/groups/one/page_color.colors* > /dev/null
    mkdir /run/groups/two; rmdir /run/groups/two
done) & groups=$!
$stress 8 100 400 $turn; $pages 8000 none f0 > /dev/null
kill $groups
"""
COLOUR_LOADS = {name: load for name, load in LOADS.items() if name != "switching"} | {"groups": _GROUPS}
_PREZERO_FILES = """
(while :; do cat $P/zero* $P/*_hugepages /sys/devices/system/node/node*/hugepages/*/zero*; done > /dev/null) &
(while :; do for rate in 0 100000; do echo $rate > $P/zero_rate; done; sleep 0.01; done) &
"""


@pytest.fixture(scope="module")
def built() -> Built:
    x86_guest.kernel()
    return qemu.build(fragments=(*qemu.RECIPE.fragments, "x86-kcsan"))


@pytest.fixture(scope="module")
def lines(built: Built) -> Lines:
    return Lines(built)


def judge(lines: Lines, outcome: Outcome) -> None:
    """Expect that many places were watched, and no race of the series'."""
    watched = re.search(rb"setup_watchpoints: (\d+)", outcome.stdout)
    assert watched
    assert int(watched[1]) >= FEWEST_WATCHED
    found = races(outcome.log)
    # A report that is not understood must not pass for none.
    assert len(found) == outcome.log.count("BUG: KCSAN: ")
    ours = [f"{race.text}{lines.of(race)}" for race in found if lines.ours(race)]
    assert not ours, "\n".join(ours)


@pytest.mark.parametrize("load", COLOUR_LOADS)
def test_colours_race_with_nothing(built: Built, lines: Lines, load: str) -> None:
    script = f"{_ON} turn=1; {_COLOUR_FILES} {COLOUR_LOADS[load]}\nkill $readers $writers; {_COUNTERS}"
    machine = {"cpus": CPUS, "memory": "768M", "exact": False, "timeout": TIMEOUT_S}
    judge(lines, colour_guest.run(built, script, kernel_args=("page_color=16,fold", *WATCH), **machine))


def test_colours_that_are_switched_race_with_nothing(built: Built, lines: Lines) -> None:
    machine = {"cpus": CPUS, "memory": "768M", "timeout": TIMEOUT_S}
    judge(lines, colour_guest.run(built, f"turn=1; {LOADS['switching']}; {_COUNTERS}", kernel_args=WATCH, **machine))


@pytest.mark.parametrize("engine", BEFORE)
def test_clearing_ahead_races_with_nothing(built: Built, lines: Lines, engine: str) -> None:
    args = (CHANNEL, *WATCH)
    machine = {"cpus": CPUS, "memory": "1G", "timeout": TIMEOUT_S}
    ways = " ".join(prezero_guest.WAYS)
    script = f"{_PREZERO_FILES} {BEFORE[engine]} $BIN/zero_check {engine} 1 {ways}; {prezero_guest.SETTLE}; {_COUNTERS}"
    judge(lines, prezero_guest.run(built, script, *args, **machine))  # type: ignore[arg-type]
