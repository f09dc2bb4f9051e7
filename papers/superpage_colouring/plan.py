# SPDX-License-Identifier: Apache-2.0
"""What is run for superpage-colouring: machines, ways to place pages, dimensions and seeds of each experiment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from papers.superpage_colouring.placement import Point, Setting

SEEDS = 30
"""Machines whose memory was aged in different ways: as many as a target is about."""
FEW = 10
"""Seeds of the experiments that no target is judged on."""
CELERON, PENTIUM4, HASHED = "celeron-900", "pentium4-1600", "zen5-9950x"
STOCK, COLOUR, FOLD, SUPER, BOTH = "stock", "hop", "fold", "thp", "thp+hop"
"""Arms: the kernel as it is; the paper's order of colours; the series' default; super pages; super and colour."""
ARMS = {STOCK: ("4k", "thp"), COLOUR: ("4k", "thp"), FOLD: ("4k",)}
"""The boots of the figures: how colours are given, and with which pages."""
TABLE2 = (43, 45, 47, 49, 85, 87, 89, 91, 93, 95)
LAST = {CELERON: 199, PENTIUM4: 299}
"""The last dimension of the paper's panels (a) of Figure 9 and (b) of Figure 12; it has the odd ones."""
BEYOND = {CELERON: tuple(range(219, 600, 20)), PENTIUM4: tuple(range(329, 1000, 30))}
"""Dimensions of the wide panels, whose ends the paper does not say."""
ABLATION = {CELERON: (61, 75, 85, 89, 91), PENTIUM4: (125, 151, 171, 181, 185)}
PAPERS_COLOURS = {CELERON: 32, PENTIUM4: 128}
"""The paper's number of colours, the cache's size over a page's; a cache with several ways has fewer."""
ONE_COLOUR = (43, 45, 47, 49, 85)
PITCHES = (256, 512, 1024, 2048)
"""Elements from row to row: 2 to 16 KiB, of which the last three leave the pages of a column far apart."""
COLUMNS = {CELERON: (12, 16), PENTIUM4: (48, 64)}
"""Rows of such a matrix: both together touch twice as many pages."""
WIDE = (176, 208, 224, 240, 248, 256, 264)
"""Dimensions on the machine whose L2, of 1 MiB, has a hashed index: 256 fills it."""
UNITS = 20
"""Units of the workload like a kernel's build."""
_BOOT_S, _ACCESS_S = 5.0, 45e-9
"""Seconds of one core: for a boot with its ageing, and for an access under the model."""


class Boot(NamedTuple):
    """One boot, and what runs in it, in this order."""

    setting: Setting
    points: tuple[Point, ...]


def setting(machine: str, colour: str, seed: int, aged: bool = True, colours: int = 0, hashed: bool = False) -> Setting:
    """Return a boot of that machine, colours given in that way."""
    return Setting(machine=machine, colour=colour, aged=aged, seed=seed, colours=colours, hashed=hashed)


def odd(last: int) -> tuple[int, ...]:
    """Return the odd dimensions up to `last`."""
    return tuple(range(1, last + 1, 2))


def points(dimensions: Iterable[int], pages: Sequence[str] = ("4k",), **more: str | int) -> tuple[Point, ...]:
    """Return a point for each dimension and size of pages, the small pages first: for huge ones the kernel
    compacts memory."""
    return tuple(Point(dimension=n, pages=each, **more) for each in pages for n in dimensions)  # type: ignore[arg-type]


def figures(machine: str, dimensions: Sequence[int], seeds: int, aged: bool = True) -> list[Boot]:
    """Return the boots of the paper's figures, seed by seed."""
    return [
        Boot(setting(machine, colour, seed, aged), points(dimensions, pages))
        for seed in range(1, seeds + 1)
        for colour, pages in ARMS.items()
    ]


def colours(seeds: int = FEW, step: int = 2) -> list[Boot]:
    """Return boots with the paper's number of colours."""
    return [
        Boot(setting(machine, "hop", seed, colours=count), points(odd(LAST[machine])[::step]))
        for machine, count in PAPERS_COLOURS.items()
        for seed in range(1, seeds + 1)
    ]


def wide(seeds: int = 3) -> list[Boot]:
    """Return boots for dimensions beyond the panels that reach to 199 and 299."""
    return [
        Boot(boot.setting, boot.points)
        for machine, dimensions in BEYOND.items()
        for boot in figures(machine, dimensions, seeds)
        if boot.setting.colour in ("stock", "hop")
    ]


def fresh(seeds: int = FEW) -> list[Boot]:
    """Return the figures' boots on memory that nothing has used yet, at fewer dimensions."""
    return [boot for machine, some in ABLATION.items() for boot in figures(machine, some, seeds, aged=False)]


def baselines(seeds: int = FEW) -> list[Boot]:
    """Return boots to compare with: the allocator shuffled at boot, and the heap in hugetlb pages."""
    ways = (("shuffle", ("4k",)), ("stock", ("hugetlb",)))
    return [
        Boot(setting(machine, colour, seed), points(some, pages))
        for machine, some in ABLATION.items()
        for seed in range(1, seeds + 1)
        for colour, pages in ways
    ]


def remainder(seeds: int = FEW) -> list[Boot]:
    """Return boots with sets that begin in a huge page and end beyond it, in pages of 4 KiB."""
    return [
        Boot(setting(machine, colour, seed), points(some, ("4k", "thp"), layout="remainder"))
        for machine, some in ABLATION.items()
        for seed in range(1, seeds + 1)
        for colour in ("stock", "hop", "fold")
    ]


def strides(seeds: int = FEW) -> list[Boot]:
    """Return boots with rows a power of two apart."""
    return [
        Boot(
            setting(machine, colour, seed),
            tuple(point for pitch in PITCHES for point in points(some, pitch=pitch)),
        )
        for machine, some in COLUMNS.items()
        for seed in range(1, seeds + 1)
        for colour in ("stock", "hop", "fold")
    ]


def beside(seeds: int = FEW) -> list[Boot]:
    """Return boots with another program on the same cache: in the same colours, and kept to its own."""
    ways = {"stock": ("", "hog"), "hop": ("", "hog"), "mask": ("", "hog-apart")}
    some = (31, 43, 61)
    return [
        Boot(
            setting(CELERON, colour, seed),
            tuple(point for one in others for point in points(some, beside=one)),
        )
        for seed in range(1, seeds + 1)
        for colour, others in ways.items()
    ]


def one_colour(seeds: int = FEW) -> list[Boot]:
    """Return boots of a program whose pages are all of one colour, the worst placement there is."""
    return [Boot(setting(CELERON, "mask", seed), points(ONE_COLOUR, mask=1)) for seed in range(1, seeds + 1)]


def hashed(seeds: int = FEW) -> list[Boot]:
    """Return boots on a machine whose L2 hashes its index, in plain rows and in rows a power of two apart.

    Colours are given as if its index were plain, and by a kernel that knows the hash.
    """
    chosen = (*points(WIDE), *points((64, 128), pitch=512), *points((64, 128), pitch=1024))
    ways = (("stock", False), ("hop", False), ("hop", True), ("fold", True))
    return [
        Boot(setting(HASHED, colour, seed, hashed=known), chosen)
        for seed in range(1, seeds + 1)
        for colour, known in ways
    ]


def build(seeds: int = FEW) -> list[Boot]:
    """Return boots of a workload like a kernel's build."""
    only = (Point(workload="build", dimension=UNITS),)
    return [
        Boot(setting(machine, colour, seed), only)
        for machine in LAST
        for seed in range(1, seeds + 1)
        for colour in ("stock", "hop", "fold")
    ]


def core_seconds(boots: Sequence[Boot]) -> float:
    """Return about how long the boots take one core."""
    accesses = sum(2 * (point.rounds + 3) * point.dimension**2 for boot in boots for point in boot.points)
    return _BOOT_S * len(boots) + _ACCESS_S * accesses
