# SPDX-License-Identifier: Apache-2.0
"""The series page-colour in an emulated machine: which frames programs get, mode by mode: make test-lab."""

from __future__ import annotations

import json
import os
import re

import pytest

from lab.kernel.build import Built
from lab.run import qemu
from lab.tests.long import x86_guest
from lab.tests.long.base import BASE
from papers.superpage_colouring.tests.long import colour_guest
from papers.superpage_colouring.tests.long.colour_guest import COLOURS, MODES, SYSFS, counts, pages

pytestmark = pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it")

PAGES = 1024
TESTS = (
    *("counts", "rows", "of_pages", "of_blocks", "split", "split_small", "folds", "fits"),
    *("nodes", "moves", "caches", "stale_mapping"),
)
MASK, ONE = 0x00F0, 0x0020
# So many pages are asked for with MASK, a quarter of the colours, and found by it. Linux 6.12 empties a CPU's lists at
# times, with colours off as well (4,074 pages became 164 while a few programs ran), and fresh memory has hardly any
# other small blocks: what is sure to be found in it there is what one huge page has of these colours.
MASKED = {"fresh": PAGES // 8 if BASE == "6.12" else PAGES, "aged": PAGES}
# What says which colours a control group's tasks may have.
CONTROLLER, COLORS = "cpuset", "cpuset.mems.colors"

# First in fresh memory, then with half of it allocated in a random order.
PLACED = f"""
cd {SYSFS}
for state in fresh aged; do
    echo "== $state before"; grep page_color /proc/vmstat
    for mode in {" ".join(MODES)}; do
        colour $mode; echo "== $state $mode"; $pages {PAGES} none 0
        echo "== $state $mode child"; $pages {PAGES} child 0
    done
    echo "== $state counters"; grep page_color /proc/vmstat
    colour mask
    many={MASKED["fresh"]}; [ $state = fresh ] || many={MASKED["aged"]}
    echo "== $state mask"; $pages $many none {MASK:x}
    echo "== $state one"; $pages {PAGES} none {ONE:x}
    echo "== $state held"; cat held; stat -c %a held
    off; echo "== $state off"; $pages {PAGES} none {ONE:x}
    [ $state = aged ] || {{ mkfifo /tmp/ready; $age aged 1 > /tmp/ready & read said < /tmp/ready; }}
done
"""


@pytest.fixture(scope="module")
def built() -> Built:
    return x86_guest.kernel()


@pytest.fixture(scope="module")
def placed(built: Built) -> dict[str, list[str]]:
    return colour_guest.sections(colour_guest.run(built, PLACED))


def test_the_series_own_tests_pass(built: Built) -> None:
    arguments = (x86_guest.KUNIT, "kunit.filter_glob=page_color")
    log = qemu.run(built, ["true"], kernel_args=arguments, timeout=1800.0).log
    part = re.search(r"# Subtest: page_color\n(.*?)# page_color: pass", log, re.S)
    assert part, log[-4000:]
    assert "not ok" not in part[1]
    assert re.findall(r"\bok \d+ page_color_(\w+)\b", part[1]) == list(TESTS)


@pytest.mark.parametrize("state", ["fresh", "aged"])
@pytest.mark.parametrize("mode", MODES)
def test_a_program_s_pages_have_the_colours_of_the_mode(placed: dict[str, list[str]], state: str, mode: str) -> None:
    found = pages(placed[f"{state} {mode}"])
    assert len(found) == PAGES
    if mode == "hop":
        assert colour_guest.steps([page.before % COLOURS for page in found]) >= 0.98
    else:
        assert colour_guest.agreement(found, colour_guest.fold) >= 0.98
    had = counts([page.before for page in found])
    assert max(had) - min(had) <= 0.02 * PAGES, had


@pytest.mark.parametrize("state", ["fresh", "aged"])
def test_a_page_that_a_child_copies_keeps_its_colour(placed: dict[str, list[str]], state: str) -> None:
    moved, same = colour_guest.kept_colour(pages(placed[f"{state} fold child"]))
    assert moved == PAGES
    assert same >= 0.98 * PAGES


@pytest.mark.parametrize("state", ["fresh", "aged"])
def test_a_mask_is_kept_and_its_colours_are_used_alike(placed: dict[str, list[str]], state: str) -> None:
    had = counts([page.before for page in pages(placed[f"{state} mask"])])
    inside = [count for colour, count in enumerate(had) if MASK >> colour & 1]
    assert sum(had) == MASKED[state]
    assert sum(inside) >= 0.99 * MASKED[state]
    assert max(inside) - min(inside) <= 0.1 * MASKED[state], had
    # Fresh memory has fewer pages of one colour in small blocks than are asked for, and no huge page is broken for it.
    one = counts([page.before for page in pages(placed[f"{state} one"])])
    share = one[ONE.bit_length() - 1] / PAGES
    assert share >= 0.99 if state == "aged" else 0.2 <= share < 0.9, one


@pytest.mark.parametrize("state", ["fresh", "aged"])
def test_what_was_asked_for_is_counted(placed: dict[str, list[str]], state: str) -> None:
    before, after = (dict(line.split() for line in placed[f"{state} {when}"]) for when in ("before", "counters"))
    hit, near, miss = (
        int(after[name]) - int(before[name]) for name in ("page_color_hit", "page_color_near", "page_color_miss")
    )
    assert hit >= 2 * len(MODES) * PAGES
    assert near + miss <= 0.02 * hit
    # Who may ask, and one number: no list is walked for it.
    held, mode = placed[f"{state} held"]
    assert int(held) > 0
    assert mode == "400"


def test_without_colouring_colours_are_what_they_happen_to_be(placed: dict[str, list[str]]) -> None:
    # The tests above can fail: half of memory in a random order has more of some colours than of others.
    found = pages(placed["aged off"])
    had = counts([page.before for page in found])
    assert max(had) - min(had) > 0.02 * PAGES, had
    assert had[ONE.bit_length() - 1] < 0.2 * PAGES
    assert colour_guest.agreement(found, colour_guest.fold) < 0.5


def test_a_control_group_says_which_colours_its_tasks_may_have(built: Built) -> None:
    script = f"""
    mkfifo /tmp/ready; $age aged 1 > /tmp/ready & read said < /tmp/ready
    colour mask
    mount -t cgroup2 none /sys/fs/cgroup; cd /sys/fs/cgroup; mkdir -p some/deeper
    echo +{CONTROLLER} > cgroup.subtree_control; echo +{CONTROLLER} > some/cgroup.subtree_control
    echo 4-7 > some/{COLORS}; echo 6-9 > some/deeper/{COLORS}
    mkdir some/later
    for group in some some/deeper some/later; do
        echo "== $group effective"; cat $group/{COLORS}.effective
    done
    echo $$ > some/deeper/cgroup.procs
    echo "== group"; $pages {PAGES} none 0
    echo > some/deeper/{COLORS}; echo "== taken back"; cat some/deeper/{COLORS}.effective
    echo > some/{COLORS}; echo "== any"; $pages {PAGES} none 0
    """
    found = colour_guest.sections(colour_guest.run(built, script))
    assert (found["some effective"], found["some/deeper effective"]) == (["4-7"], ["6-7"])
    # A control group that is made after its parent's colours were chosen, and has chosen none.
    assert found["some/later effective"] == ["4-7"]
    group = counts([page.before for page in pages(found["group"])])
    assert group[6] + group[7] >= 0.99 * PAGES
    assert abs(group[6] - group[7]) <= 0.1 * PAGES
    assert found["taken back"] == ["4-7"]
    everywhere = counts([page.before for page in pages(found["any"])])
    assert max(everywhere) - min(everywhere) <= 0.02 * PAGES, everywhere


def test_a_colour_that_is_used_up_is_no_end(built: Built) -> None:
    # One colour of sixteen is 4,096 pages of this machine, and half of memory is in use.
    script = f"""
    colour mask; mkfifo /tmp/ready; $age aged 1 > /tmp/ready & read said < /tmp/ready
    echo '== one'; $pages 12000 none {ONE:x}; echo '== all'; $pages 12000 none ffff
    """
    found = colour_guest.sections(colour_guest.run(built, script))
    one = counts([page.before for page in pages(found["one"])])
    assert sum(one) == 12000
    assert one[ONE.bit_length() - 1] >= 1250, one
    everywhere = counts([page.before for page in pages(found["all"])])
    assert min(everywhere) >= 600, everywhere


UNEVEN = 12000
# The mode, and the arguments of colour_blocks for so many pages of one colour, or of any.
NEEDS = {"fold": ("fold", f"{COLOURS} 0"), "mask": ("mask", f"1 {ONE:x}"), "even": ("fold", "1 0")}


def broken(built: Built, setup: str, words: str) -> tuple[int, int, int]:
    """Return how many huge pages of fresh memory a program breaks, how many of its pages have one colour, and how many
    pages the per-CPU lists held by colour before."""
    lines = colour_guest.run(built, f"{setup}; cat {SYSFS}/held; $blocks {UNEVEN} {words}").stdout.splitlines()
    said = json.loads(lines[1])
    return said["before"] - said["after"], said["colour"], int(lines[0])


@pytest.mark.parametrize("need", NEEDS)
def test_who_wants_one_colour_breaks_few_huge_pages_more_than_who_wants_any(built: Built, need: str) -> None:
    mode, words = NEEDS[need]
    off, *_ = broken(built, "off", words)
    on, of_one, held = broken(built, f"colour {mode}", words)
    # 12,000 pages are 23 huge pages, some of them broken already.
    assert 12 <= off <= 23
    # Each of the two zones may keep the rests of two, and the lists what they held and nobody wanted.
    assert on <= off + 4 + held / 512
    # It was asked for: there is more of that colour than chance would give.
    assert need == "even" or of_one > 1.1 * UNEVEN / COLOURS


def test_compaction_and_migration_keep_colours(built: Built) -> None:
    script = """
    for mode in hop fold; do
        colour $mode
        echo "== compact $mode"; $pages 16000 compact 0
        echo "== migrate $mode"; $pages 2000 migrate 0
    done
    """
    found = colour_guest.sections(colour_guest.run(built, script, cpus=2, nodes=2, memory="384M"))
    for mode in ("hop", "fold"):
        moved, same = colour_guest.kept_colour(pages(found[f"compact {mode}"]))
        assert moved >= 50, mode
        # By chance one page in sixteen would keep its colour. Not all do: compaction isolates about as many free pages
        # as it has pages to move, 32 at a time, and their colours may differ, so that late pages find their colour
        # gone. Of 1,781 moves counted in mode fold, 1,510 kept the colour, 183 found no free page of it, and 88 gave
        # up after the 32 pages that are searched. Searching 256 gave 79 % in place of 78 %.
        assert same >= 0.75 * moved, mode
        moved, same = colour_guest.kept_colour(pages(found[f"migrate {mode}"]))
        assert moved == 2000, mode
        assert same >= 0.98 * moved, mode


def test_huge_pages_are_made_as_ever(built: Built) -> None:
    script = "colour fold; echo '== collapse'; $pages 2048 collapse 0; echo '== huge'; $huge 50"
    found = colour_guest.sections(colour_guest.run(built, script))
    frames = [page.after for page in pages(found["collapse"])]
    for start in range(0, 2048, 512):
        assert frames[start] % 512 == 0
        assert frames[start : start + 512] == list(range(frames[start], frames[start] + 512))
    numbers = re.findall(r'"(?:asked|huge|hugetlb)": (\d+)', found["huge"][0])
    assert len(set(numbers)) == 1, found["huge"]
