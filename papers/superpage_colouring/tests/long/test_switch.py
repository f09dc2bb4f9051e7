# SPDX-License-Identifier: Apache-2.0
"""The series page-colour: its switches, and that no page is lost whatever happens while it is on: make test-lab."""

from __future__ import annotations

import os

import pytest

from lab.kernel.build import Built
from lab.tests.long import x86_guest
from papers.superpage_colouring.tests.long import colour_guest
from papers.superpage_colouring.tests.long.colour_guest import COLOURS, SYSFS

pytestmark = pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it")

# Pages that the kernel uses without saying for what vary by a few.
SLACK_PAGES = 48


@pytest.fixture(scope="module")
def built() -> Built:
    return x86_guest.kernel()


def read(name: str) -> str:
    return f"cat {SYSFS}/{name}"


# Whether it is on, in words that say the mode, and 0 or 1.
STATE = f"{read('mode')}; grep -q '\\[off\\]' {SYSFS}/mode && echo 0 || echo 1"


def test_it_is_off_unless_asked_for(built: Built) -> None:
    script = f'echo "== now"; {STATE}; {read("ncolors")}; $pages 10 none 0 > /dev/null;'
    found = colour_guest.sections(colour_guest.run(built, script + " grep page_color_ /proc/vmstat"))["now"]
    assert found[0].split() == ["[off]", "hop", "fold"]
    assert found[1] == "0"
    assert [line.split()[1] for line in found[3:]] == ["0", "0", "0"]


def test_the_number_of_colours_is_that_of_the_cache(built: Built) -> None:
    cache = "/sys/devices/system/cpu/cpu0/cache"
    script = f"""
    for index in {cache}/index*; do
        if [ $(cat $index/type) = Instruction ]; then continue; fi
        echo "== $(cat $index/level)"; cat $index/number_of_sets $index/coherency_line_size
    done
    echo "== level"; {read("level")}; echo "== ncolors"; {read("ncolors")}
    """
    found = colour_guest.sections(colour_guest.run(built, script))
    sets, line = map(int, found[found["level"][0]][:2])
    assert int(found["ncolors"][0]) == sets * line // 4096


def test_the_kernel_s_command_line_switches_it_on(built: Built) -> None:
    script = f'echo "== now"; {STATE}; {read("ncolors")}'
    found = colour_guest.sections(colour_guest.run(built, script, kernel_args=("page_color=32,hop",)))["now"]
    assert "[hop]" in found[0]
    assert found[1] == "1"
    assert found[2] == "32"


@pytest.mark.parametrize("mode", ["hop", "fold"])
def test_the_kernel_s_command_line_may_leave_the_number_out(built: Built, mode: str) -> None:
    outcome = colour_guest.run(built, f'echo "== now"; {STATE}', kernel_args=(f"page_color=,{mode}",))
    found = colour_guest.sections(outcome)["now"]
    assert f"[{mode}]" in found[0]
    assert found[1] == "1"
    assert "page_color= does not know" not in outcome.log


@pytest.mark.parametrize(
    ("file", "value"),
    [
        *[("ncolors", "12"), ("ncolors", "1024"), ("mode", "nonsense"), ("mode", "linear")],
        *[("xor", "0:0x2"), ("level", "4")],
    ],
)
def test_nonsense_is_refused(built: Built, file: str, value: str) -> None:
    script = f"""
    before=$({read(file)}); if echo "{value}" | cat > {SYSFS}/{file}; then exit 9; fi
    [ "$before" = "$({read(file)})" ]
    """
    said = colour_guest.run(built, script).stderr.decode()
    # There is no cache of that level.
    assert ("No such device" if file == "level" else "Invalid argument") in said


def test_what_colours_are_is_fixed_while_it_is_on(built: Built) -> None:
    script = f"""
    colour hop
    for file in ncolors level; do if cat {SYSFS}/$file > {SYSFS}/$file; then exit 9; fi; done
    if echo 0:0x11 | cat > {SYSFS}/xor; then exit 9; fi
    """
    assert colour_guest.run(built, script).stderr.decode().count("busy") == 3


def test_a_hashed_index_has_the_colours_of_its_rows(built: Built) -> None:
    rows = (0x1 | 1 << 9, 0x2 | 1 << 10 | 1 << 12, 0x4 | 1 << 4, 0x8)
    words = " ".join(f"{bit}:{row:#x}" for bit, row in enumerate(rows))
    script = f"""
    echo {COLOURS} > {SYSFS}/ncolors; echo "{words}" > {SYSFS}/xor; mode hop
    echo "== pages"; $pages 1024 none 0
    """
    found = colour_guest.pages(colour_guest.sections(colour_guest.run(built, script))["pages"])
    colours = [sum((page.before & row).bit_count() % 2 << bit for bit, row in enumerate(rows)) for page in found]
    assert colour_guest.steps(colours) >= 0.98


LOADS = {
    "switching": f"SWITCH={SYSFS} $stress 4 40 400 $turn",
    "on": "colour hop; $stress 4 300 400 $turn",
    "fork storm": "colour fold; $stress 48 12 60 $turn",
    "one colour": "colour mask; $pages 20000 none 1 > /dev/null; $stress 4 100 400 $turn",
    "out of memory": "echo 1 > /proc/sys/vm/overcommit_memory; colour fold;"
    " (echo 1000 > /proc/self/oom_score_adj; exec $pages 200000 none 0) || [ $? = 137 ]",
    "compaction": "colour hop; $pages 16000 compact 0 > /dev/null",
    "huge pages": "colour fold; $huge 80",
}


# Switching under a load takes the emulator half a minute: each switch stops both CPUs.
LONG = ("switching", "on")
FULL = os.environ.get("OKOSU_LAB") == "full"


@pytest.mark.parametrize("load", [load for load in LOADS if FULL or load not in LONG])
def test_no_page_is_lost(built: Built, load: str) -> None:
    script = f"""
    settle() {{ off; echo 3 > /proc/sys/vm/drop_caches; sleep 1; echo "== $1"; $free; }}
    for turn in 1 2 3; do
        echo "== load"
        {LOADS[load]}
        settle $turn
    done
    """
    # The two CPUs take turns. On CPUs that run at once QEMU may execute the int3 of a static key that memory no longer
    # has (lab/README.md, "Oops: int3"), so that switching there is not tested.
    outcome = colour_guest.run(built, script, cpus=2)
    found = colour_guest.sections(outcome)
    turns = [colour_guest.memory(found[turn]) for turn in "123"]
    for turn in turns:
        # A page may be allocated or freed between the two readings.
        assert abs(turn["buddy"] - turn["free"]) <= SLACK_PAGES, turn
    assert turns[2]["rest"] - turns[0]["rest"] <= SLACK_PAGES, turns
    for word in ("WARNING", "BUG", "Bad page", "rcu_sched detected stalls", "list_del corruption"):
        assert word not in outcome.log
    if load == "switching":
        switches = [int(line.split()[2]) for line in found["load"] if line.startswith("ok")]
        assert len(switches) == 3
        # The program ends after the third switch; how many more there are is chance.
        assert min(switches) >= 3
    if load == "out of memory":
        assert outcome.log.count("Out of memory: Killed") == 3
