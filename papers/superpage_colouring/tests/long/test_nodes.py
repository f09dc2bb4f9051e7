# SPDX-License-Identifier: Apache-2.0
"""The series page-colour where nodes have different caches: each page has a colour of its node's: make test-lab."""

from __future__ import annotations

import os

import pytest

from lab.kernel.build import Built
from lab.tests.long import x86_guest
from papers.superpage_colouring.tests.long import colour_guest
from papers.superpage_colouring.tests.long.colour_guest import MODES, SYSFS, Page, counts, pages

pytestmark = pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it")

PAGES = 1024
# How many colours the two nodes have, and a row of a hashed index that only the second has.
COLOURS = (16, 64)
ROW = 0x1 | 1 << 7
# Colours that both nodes have, and colours that the second has alone.
BOTH, WIDE = 0x00F0, 0xFF << 32
MACHINE: dict[str, object] = {"cpus": 2, "nodes": 2, "memory": "384M"}


def node(number: int, file: str) -> str:
    """Return the path of a node's file."""
    return f"/sys/devices/system/node/node{number}/page_color/{file}"


SHAPES = f"""
off
for file in {node(0, "xor")} {node(1, "xor")}; do echo > $file; done
echo {COLOURS[0]} > {node(0, "ncolors")}; echo {COLOURS[1]} > {node(1, "ncolors")}
"""
# In memory of which half is allocated in a random order, so that frames in a row have any colours.
PLACED = f"""
mkfifo /tmp/ready; $age aged 1 > /tmp/ready & read said < /tmp/ready
{SHAPES}
for at in 0 1; do
    for mode in {" ".join(MODES)}; do
        off; mode $mode
        echo "== $mode $at"; $pages {PAGES} none 0 $((at + 1))
        echo "== $mode from $at"; $pages {PAGES} migrate 0 $((at + 1))
    done
    echo "== both $at"; $pages {PAGES} none {BOTH:x} $((at + 1))
    echo "== wide $at"; $pages {PAGES} none {WIDE:x} $((at + 1))
    echo "== held $at"; cat {node(0, "held")} {node(1, "held")} {SYSFS}/held; stat -c %a {node(0, "held")}
    off; echo "== off $at"; $pages {PAGES} none 0 $((at + 1))
done
echo 0:{ROW:#x} > {node(1, "xor")}; mode hop
for at in 0 1; do echo "== hashed $at"; $pages {PAGES} none 0 $((at + 1)); done
{SHAPES} echo 0 > {node(0, "ncolors")}; mode fold
for at in 0 1; do
    echo "== none before $at"; grep page_color /proc/vmstat
    echo "== none $at"; $pages {PAGES} none 0 $((at + 1))
    echo "== none after $at"; grep page_color /proc/vmstat
done
echo "== none held"; cat {node(0, "held")}
"""


@pytest.fixture(scope="module")
def built() -> Built:
    return x86_guest.kernel()


@pytest.fixture(scope="module")
def placed(built: Built) -> dict[str, list[str]]:
    return colour_guest.sections(colour_guest.run(built, PLACED, **MACHINE))


def hop_steps(found: list[Page], colours: int, row: int = 1) -> float:
    """Return the share of pages whose colour is the one after that of the page before."""
    return colour_guest.steps(
        [page.before % colours & ~1 | (page.before & row).bit_count() % 2 for page in found], colours
    )


def folded(found: list[Page], colours: int) -> float:
    """Return the share of pages that have the colour that the mode fold gives them among so many."""
    return colour_guest.agreement(found, lambda number: colour_guest.fold(number, colours), colours)


@pytest.mark.parametrize("at", [0, 1])
def test_pages_of_a_node_have_its_colours(placed: dict[str, list[str]], at: int) -> None:
    own, others = COLOURS[at], COLOURS[1 - at]
    hop, fold, off = (pages(placed[f"{mode} {at}"]) for mode in ("hop", "fold", "off"))
    assert len(hop) == len(fold) == len(off) == PAGES
    assert hop_steps(hop, own) >= 0.98
    assert folded(fold, own) >= 0.98
    for found in (hop, fold):
        had = counts([page.before for page in found], own)
        assert max(had) - min(had) <= 0.02 * PAGES, had
    # By the other node's number it would be another colour, and with colours off it is any.
    assert folded(fold, others) < 0.7
    if own < others:
        assert hop_steps(hop, others) < 0.7
    assert hop_steps(off, own) < 0.7
    assert folded(off, own) < 0.7


@pytest.mark.parametrize("mode", MODES)
def test_a_page_that_moves_to_another_node_is_dealt_one_of_its_colours(placed: dict[str, list[str]], mode: str) -> None:
    for at in (0, 1):
        found = pages(placed[f"{mode} from {at}"])
        assert all(page.after not in (0, page.before) for page in found)
        # Both nodes have the lower bits of a colour.
        assert sum(page.before % min(COLOURS) == page.after % min(COLOURS) for page in found) >= 0.98 * PAGES
        had = counts([page.after for page in found], COLOURS[1 - at])
        # What is in one colour of 16 may be in any of four of 64, as the frames before were.
        assert max(had) - min(had) <= (0.02 if at else 0.06) * PAGES, had


@pytest.mark.parametrize("at", [0, 1])
def test_a_mask_is_of_the_colours_that_the_node_has(placed: dict[str, list[str]], at: int) -> None:
    for mask, name in ((BOTH, "both"), (WIDE, "wide")):
        had = counts([page.before for page in pages(placed[f"{name} {at}"])], COLOURS[at])
        # The colours of the mask that the node has, or all.
        of = [count for colour, count in enumerate(had) if mask >> colour & 1] or had
        assert sum(of) >= 0.99 * PAGES, had
        assert max(of) - min(of) <= 0.1 * PAGES, had
    lists = placed[f"held {at}"]
    held = [int(count) for count in lists[:3]]
    assert held[at] > 0
    assert sum(held[:2]) == held[2]
    assert lists[3] == "400"


def test_a_hashed_index_is_one_node_s(placed: dict[str, list[str]]) -> None:
    found = [pages(placed[f"hashed {at}"]) for at in (0, 1)]
    assert hop_steps(found[0], COLOURS[0]) >= 0.98
    assert hop_steps(found[1], COLOURS[1], ROW) >= 0.98
    assert hop_steps(found[0], COLOURS[0], ROW) < 0.7
    assert hop_steps(found[1], COLOURS[1]) < 0.7


def test_a_node_without_colours_is_left_alone(placed: dict[str, list[str]]) -> None:
    hits = {}
    for at in (0, 1):
        before, after = (
            sum(int(line.split()[1]) for line in placed[f"none {when} {at}"]) for when in ("before", "after")
        )
        hits[at] = after - before
    had = counts([page.before for page in pages(placed["none 0"])])
    assert max(had) - min(had) > 0.02 * PAGES, had
    assert folded(pages(placed["none 1"]), COLOURS[1]) >= 0.98
    # A program's own pages, its shell's and its libraries', come from the node that it runs on.
    assert hits[1] >= PAGES
    assert hits[0] < PAGES // 2
    assert placed["none held"] == ["0"]


def test_the_command_line_says_it_for_single_nodes(built: Built) -> None:
    script = f'echo "== now"; cat {SYSFS}/mode {node(0, "ncolors")} {node(1, "ncolors")} {SYSFS}/ncolors'
    for words, expected in {
        "page_color=8,1:128,hop": ["off [hop] fold", "8", "128", "128"],
        "page_color=0:4,1:0,fold": ["off hop [fold]", "4", "0", "4"],
    }.items():
        outcome = colour_guest.run(built, script, kernel_args=(words,), **MACHINE)
        assert colour_guest.sections(outcome)["now"] == expected
        assert "page_color" not in outcome.log.replace(words, "")
    outcome = colour_guest.run(built, script, kernel_args=("page_color=0:12,9:16,1:8x,fold",), **MACHINE)
    for said in ("0:12 names no node", "9:16 names no node", 'does not know "1:8x"'):
        assert f"page_color: page_color={said}" in outcome.log or f"page_color= {said}" in outcome.log, said


def test_what_the_machine_s_files_say_is_for_all_nodes_or_none(built: Built) -> None:
    rows = f"0:{ROW:#x} 5:{1 << 5 | 1 << 9:#x}"
    script = f"""
    both() {{ echo "== $1"; cat {node(0, "ncolors")} {node(1, "ncolors")} {node(0, "xor")} {node(1, "xor")}; }}
    refused() {{ if echo "$1" 2> /dev/null > $2; then exit 9; fi; }}
    both found; echo 32 > {SYSFS}/ncolors; echo "0:{ROW:#x}" > {SYSFS}/xor; both all
    {SHAPES} both apart
    # The first node has no bit 5, and then the second has none either.
    refused "{rows}" {SYSFS}/xor; refused "0:{ROW:#x} 1:0x1" {SYSFS}/xor; both refused
    echo "{rows}" > {node(1, "xor")}; both own; echo "== read"; cat {SYSFS}/ncolors {SYSFS}/xor
    mode fold; for at in 0 1; do refused 8 /sys/devices/system/node/node$at/page_color/ncolors; done; off
    cat {SYSFS}/level > {SYSFS}/level; both taken
    for at in 0 1; do echo 0 > /sys/devices/system/node/node$at/page_color/ncolors; done
    refused hop {SYSFS}/mode
    """
    found = colour_guest.sections(colour_guest.run(built, script, **MACHINE))
    one = f"0:{ROW:#x}"
    assert found["all"] == ["32", "32", one, one]
    assert found["apart"] == ["16", "64"]
    assert found["refused"] == ["16", "64"]
    assert found["own"] == ["16", "64", *rows.split()]
    assert found["read"] == ["64", *rows.split()]
    # QEMU's CPUs have the same caches.
    assert found["found"][0] == found["found"][1] != "0"
    assert found["taken"] == found["found"]
