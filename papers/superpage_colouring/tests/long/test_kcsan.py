# SPDX-License-Identifier: Apache-2.0
"""Data races of the series page-colour, as KCSAN sees them in guests: make test-lab-full.

Where the guest is not exact, colouring is on from boot (lab/README.md, "Oops: int3"); it is switched under load in an
exact guest.
"""

from __future__ import annotations

import os

import pytest

from lab.kernel.build import Built
from lab.tests.long import kcsan_races
from lab.tests.long.kcsan_races import COUNTERS, CPUS, TIMEOUT_S, WATCH, Lines, judge
from papers.superpage_colouring.tests.long import colour_guest
from papers.superpage_colouring.tests.long.colour_guest import SYSFS
from papers.superpage_colouring.tests.long.test_kernel import COLORS, CONTROLLER
from papers.superpage_colouring.tests.long.test_switch import LOADS

pytestmark = pytest.mark.skipif(os.environ.get("OKOSU_LAB") != "full", reason="make test-lab-full runs it")

# Colouring is on from boot and stays on.
_ON = 'off() { :; }; colour() { mode "$1"; };'
# Not on every base.
NODES = "/sys/devices/system/node/node*/page_color"
# Every file of the series is read, and some are written, meanwhile.
_COLOUR_FILES = f"""
files=$(ls -d {SYSFS}/* {NODES}/* 2> /dev/null || :)
(while :; do cat $files /proc/vmstat /proc/zoneinfo > /dev/null; done) & readers=$!
(while :; do for near in 1 3; do echo $near > {SYSFS}/near; done; sleep 0.01; done) & writers=$!
"""
_GROUPS = f"""
mkdir -p /run/groups; mount -t cgroup2 none /run/groups
echo +{CONTROLLER} > /run/groups/cgroup.subtree_control
mkdir -p /run/groups/one; echo $$ > /run/groups/one/cgroup.procs
colour mask
(while :; do
    for colours in 0-7 4-11 ""; do echo $colours > /run/groups/one/{COLORS}; done
    cat /run/groups/one/{COLORS}* > /dev/null
    mkdir /run/groups/two; rmdir /run/groups/two
done) & groups=$!
$stress 8 100 400 $turn; $pages 8000 none f0 > /dev/null
kill $groups
"""
COLOUR_LOADS = {name: load for name, load in LOADS.items() if name != "switching"} | {"groups": _GROUPS}


@pytest.fixture(scope="module")
def built() -> Built:
    return kcsan_races.kernel()


@pytest.fixture(scope="module")
def lines(built: Built) -> Lines:
    return Lines(built)


@pytest.mark.parametrize("load", COLOUR_LOADS)
def test_colours_race_with_nothing(built: Built, lines: Lines, load: str) -> None:
    script = f"{_ON} turn=1; {_COLOUR_FILES} {COLOUR_LOADS[load]}\nkill $readers $writers; {COUNTERS}"
    machine = {"cpus": CPUS, "memory": "768M", "exact": False, "timeout": TIMEOUT_S}
    judge(lines, colour_guest.run(built, script, kernel_args=("page_color=16,fold", *WATCH), **machine))


def test_colours_that_are_switched_race_with_nothing(built: Built, lines: Lines) -> None:
    machine = {"cpus": CPUS, "memory": "768M", "timeout": TIMEOUT_S}
    judge(lines, colour_guest.run(built, f"turn=1; {LOADS['switching']}; {COUNTERS}", kernel_args=WATCH, **machine))
