# SPDX-License-Identifier: Apache-2.0
"""One seed of the placement experiments: frames, misses and speed of a transpose under the model. make test-lab."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from statistics import fmean, median

import pytest

from lab import cache
from lab.kernel.build import Built
from lab.model import machines
from lab.tests.long import x86_guest
from okosu.errors import OkosuError
from papers.superpage_colouring import placement
from papers.superpage_colouring.placement import Placed, Point, Setting

pytestmark = pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it")

CELERON = machines.find("celeron-900")
WAYS = CELERON.cache[1].ways
# A set that fills from 60 to 89 % of the L2.
DIMENSIONS = (70, 77, 80, 83, 85)
SMALL = [Point(dimension) for dimension in DIMENSIONS]
LARGE = [Point(85, pages, layout) for pages in ("thp", "hugetlb") for layout in ("whole", "remainder")]
BESIDE = [Point(50), Point(50, beside="hog")]
BUILD = [Point(2, workload="build")]
# One boot for several tests; points with huge pages, for which the kernel compacts memory, come last.
ALL = [*SMALL, *BESIDE, *BUILD, *LARGE]


@pytest.fixture(scope="module")
def built() -> Built:
    return x86_guest.kernel()


def setting(colour: str, aged: bool = True, seed: int = 1, machine: str = "celeron-900") -> Setting:
    return Setting(machine, colour, aged, seed)


def span(placed: Placed) -> int:
    """Return how many frames lie between the lowest and the highest of the set."""
    return max(placed.frames) - min(placed.frames)


def overfull(placed: Placed) -> int:
    """Return the pages of the set in colours that have more of them than ways."""
    return sum(count for count in placed.colours(CELERON) if count > WAYS)


def stock(built: Built, points: list[Point]) -> list[Placed]:
    """Return what came of these of ALL."""
    placed = placement.measure(built, setting("stock"), ALL)
    return [one for one in placed if one.point in points]


def shades(placed: Placed) -> list[int]:
    return [placement.colour_of(CELERON, frame) for frame in placed.frames]


def conflict_share(placed: Placed) -> float:
    return placed.user.conflicts(2) / sum(placed.user.found)


def test_placement_decides_the_conflicts(built: Built) -> None:
    aged = stock(built, SMALL)
    for one in aged:
        # Only a line of the stack may share a cache set that the matrix fills.
        assert (conflict_share(one) > 0.002) == (overfull(one) > 0), one
    assert sum(map(overfull, aged)) > 0
    assert [one.kernel.instructions for one in aged] == [0] * len(aged)


def test_aged_memory_is_drawn_by_its_seed_and_fresh_memory_is_even(built: Built) -> None:
    one, other = stock(built, SMALL), placement.measure(built, setting("stock", seed=2), SMALL)
    assert set(one[0].frames).isdisjoint(other[0].frames)
    fresh = placement.measure(built, setting("stock", aged=False), SMALL)
    assert max(map(span, fresh)) < 512
    assert min(map(span, [*one, *other])) > 16384


def test_two_runs_are_identical_wherever_they_are_started(
    built: Built, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = placement.measure(built, setting("stock"), ALL)
    # The guest must not see the caller's folder: the hash of a name decides how long its look-up takes.
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    kind = f"placement-again-{os.getpid()}"
    monkeypatch.setattr(placement, "_KIND", kind)
    again = placement.measure(built, setting("stock"), ALL)
    shutil.rmtree(cache.root() / kind)
    assert again == first


def test_large_pages_hold_every_colour_in_aged_memory_too(built: Built) -> None:
    thp, thp_part, pool, pool_part = stock(built, LARGE)
    for whole, part in ((thp, thp_part), (pool, pool_part)):
        assert (whole.huge_bytes, overfull(whole)) == (whole.point.bytes // 64 * 64 + 128, 0)
        assert conflict_share(whole) <= 0.001
        # Half of the set, rounded down to pages, is in a huge page; the rest is in pages of 4 KiB.
        assert part.huge_bytes == whole.huge_bytes // 2 // 4096 * 4096
        assert part.faults > whole.faults
    assert thp.vmstat["thp_fault_alloc"] == 1


def test_large_pages_are_translated_as_such(built: Built) -> None:
    # 65 pages of 4 KiB and the stack's do not fit a TLB of 64; one of 2 MiB does.
    points = [Point(185, pages) for pages in ("4k", "hugetlb")]
    small, large = placement.measure(built, setting("stock", machine="pentium4-1600"), points)
    assert small.user.walks[0] > 1000
    assert large.user.walks == [0, 0]


def test_a_co_runner_s_turns_are_none_of_the_program_s_accesses(built: Built) -> None:
    # With colours its own pages have room enough; with stock's random ones that is chance.
    alone, beside = placement.measure(built, setting("hop"), BESIDE)
    assert beside.user.loads == pytest.approx(alone.user.loads, rel=0.01)
    assert beside.user.misses(2) > 1000 > alone.user.misses(2)


def test_a_build_uses_more_than_any_colouring_could_keep(built: Built) -> None:
    (one,) = stock(built, BUILD)
    assert one.kernel.instructions > 100_000
    assert one.user.full_lru_misses[1] > 4 * one.user.conflicts(2)


def test_hop_leaves_the_stack_s_conflicts_alone(built: Built) -> None:
    plain = [*stock(built, SMALL), *placement.measure(built, setting("stock", seed=2), SMALL)]
    hop = placement.measure(built, setting("hop"), [*SMALL, *LARGE])[: len(SMALL)]
    hop += placement.measure(built, setting("hop", seed=2), SMALL)
    for one in hop:
        counts = one.colours(CELERON)
        assert max(counts) - min(counts) <= 1, one
        assert one.vmstat["page_color_hit"] >= len(one.frames)
        assert one.vmstat["page_color_near"] + one.vmstat["page_color_miss"] == 0
        assert conflict_share(one) <= 0.001
    speed = [[one.megabytes_per_second(CELERON) for one in placed] for placed in (plain, hop)]
    assert all(ours >= 0.98 * theirs for theirs, ours in zip(*speed, strict=True))
    assert median(speed[1]) > 1.3 * median(speed[0])


def test_fold_places_by_address_alone(built: Built) -> None:
    points = [Point(80), Point(80)]
    for seed in (1, 2):
        first, again = placement.measure(built, setting("fold", seed=seed), points)
        assert max(map(conflict_share, (first, again))) <= 0.001
        # Two processes begin at different colours, in the same order.
        turns = {(b - a) % 8 for a, b in zip(*(shades(one) for one in (first, again)), strict=True)}
        assert len(turns) == 1


def test_large_pages_and_colours_join_without_loss(built: Built) -> None:
    # Of the small ones the last, and the large ones, have one dimension.
    small, *large = placement.measure(built, setting("hop"), [*SMALL, *LARGE])[len(SMALL) - 1 :]
    plain = stock(built, LARGE)
    assert max(map(conflict_share, large)) <= 0.001
    best = max(one.megabytes_per_second(CELERON) for one in (small, plain[0]))
    assert min(one.megabytes_per_second(CELERON) for one in large) >= 0.98 * best
    # The part in small pages has conflicts unless it is coloured.
    assert max(conflict_share(plain[1]), conflict_share(plain[3])) > 0.01


@pytest.mark.parametrize(("machine", "dimensions"), [("celeron-900", (80, 85, 87, 88)), ("pentium4-1600", (165, 176))])
def test_fold_is_as_fast_as_hop_up_to_a_full_cache(built: Built, machine: str, dimensions: tuple[int, ...]) -> None:
    of, points = machines.find(machine), [Point(dimension) for dimension in dimensions]
    hop, fold = (placement.measure(built, setting(mode, machine=machine), points) for mode in ("hop", "fold"))
    assert 0.94 < hop[-1].fill(of) < 0.95
    for one, other in zip(hop, fold, strict=True):
        assert other.megabytes_per_second(of) >= 0.98 * one.megabytes_per_second(of), one.point


def test_a_mask_keeps_a_co_runner_out(built: Built) -> None:
    points = [Point(50, beside="hog"), *[Point(50, beside="hog-apart")] * 5, Point(20, mask=0b100)]
    hog, *apart, one = placement.measure(built, setting("mask"), points)
    for each in apart:
        assert [count > 0 for count in each.colours(CELERON)] == [True] * 6 + [False] * 2
    # The number differs from seed to seed (10 to 426 of 12,509 were seen), for a reason that was not found.
    assert fmean(each.user.misses(2) for each in apart) < 0.02 * hog.user.misses(2)
    assert [count > 0 for count in one.colours(CELERON)] == [False, False, True] + [False] * 5


def test_a_kernel_without_the_mode_fails(built: Built) -> None:
    unknown = placement.Setting("celeron-900", "hop", aged=False, seed=1, colours=3)
    with pytest.raises(OkosuError, match="a point of a placement experiment failed"):
        placement.measure(built, unknown, [Point(8)])
