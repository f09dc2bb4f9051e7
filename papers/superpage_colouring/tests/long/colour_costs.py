# SPDX-License-Identifier: Apache-2.0
"""What the series page-colour costs, as tables: no test, run by hand (half an hour):

    [OKOSU_BASE=7.3] python -m papers.superpage_colouring.tests.long.colour_costs [calls|holds|folios|cpus|blocks ...]

Columns: unset (the same sources with CONFIG_PAGE_COLOR=n), off (with it, as it boots), and the modes hop and fold
switched on. What the series adds to structures and code: series_figures.py.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from statistics import fmean

from lab.kernel.build import Built
from lab.run import guest, qemu
from lab.tests.long.base import BASE
from papers.superpage_colouring import kernel_cost
from papers.superpage_colouring.tests.long import colour_guest, lock_hold

COLOURS = colour_guest.COLOURS
HOLDING = '"$0" map 16384 4 1; "$0" cow 256 10 1; "$0" exec 1 10 1'
UNEVEN = 12000


def variants() -> dict[str, tuple[Built, tuple[str, ...]]]:
    """Return {name of the column: kernel, its arguments}."""
    unset = qemu.build(fragments=(*qemu.RECIPE.fragments, "x86-colour-unset"), base=BASE)
    built = qemu.build(base=BASE)
    found: dict[str, tuple[Built, tuple[str, ...]]] = {"unset": (unset, ()), "off": (built, ())}
    return found | {mode: (built, (f"page_color={COLOURS},{mode}",)) for mode in ("hop", "fold")}


def table(head: str, rows: dict[str, dict[str, float]]) -> Iterator[str]:
    """Yield a table of numbers, and beside each its ratio to the first column's."""
    columns = list(next(iter(rows.values())))
    yield f"| {head} | " + " | ".join(columns) + " |"
    yield "|---" * (len(columns) + 1) + "|"
    for name, row in rows.items():
        base = row[columns[0]]
        cells = [f"{value:,.0f} ({value / base - 1:+.2%})" if base else f"{value:,.0f}" for value in row.values()]
        yield f"| {name} | " + " | ".join(cells) + " |"


def costs(kernel: Built, args: Sequence[str] = ()) -> dict[str, float]:
    """Return {name of the work: instructions of an operation} of the kernel with these arguments."""
    return {name: fmean(each) for name, each in kernel_cost.from_each_beginning(kernel, args).items()}


def calls() -> Iterator[str]:
    """Yield the kernel's instructions for an operation of each kind."""
    found = {name: costs(built, args) for name, (built, args) in variants().items()}
    rows = {work.name: {name: each[work.name] for name, each in found.items()} for work in kernel_cost.WORKS}
    yield from table("instructions of the kernel", rows)


def cpus() -> Iterator[str]:
    """Yield a page's instructions in mmap, first write and munmap by so many CPUs at once."""
    works = (kernel_cost.Work("map", "map", 2048, 4),)
    rows: dict[str, dict[str, float]] = {}
    for count in (1, 2, 4, 8):
        rows[f"{count} CPUs"] = {
            name: kernel_cost.measure(built, kernel_args=args, cpus=count, works=works, memory="512M")["map"].each
            for name, (built, args) in variants().items()
        }
    yield from table("mmap, write, munmap: instructions a page", rows)


def holds() -> Iterator[str]:
    """Yield how often and how long zone->lock was held."""
    command = ["sh", "-c", HOLDING, str(guest.program("colour_cost"))]
    found = {name: lock_hold.measure(built, command, kernel_args=args) for name, (built, args) in variants().items()}
    quantities: dict[str, Callable[[lock_hold.Holds], float]] = {
        "holds": lambda one: one.number,
        "median": lambda one: one.quantile(0.5),
        "p99": lambda one: one.quantile(0.99),
        "most": lambda one: one.longest,
        "all together": lambda one: sum(took * times for took, times in one.counts.items()),
    }
    yield from table(
        "instructions under zone->lock", {what: {n: of(h) for n, h in found.items()} for what, of in quantities.items()}
    )


def folios() -> Iterator[str]:
    """Yield how often eight CPUs took zone->lock for folios of several pages."""
    rows: dict[str, dict[str, float]] = {}
    for size in (16, 32):
        work = f'echo always > /sys/kernel/mm/transparent_hugepage/hugepages-{size}kB/enabled; "$0" map 4096 4 8'
        command = ["sh", "-c", work, str(guest.program("colour_cost"))]
        rows[f"{size} KiB"] = {
            name: lock_hold.measure(built, command, kernel_args=args, cpus=8, memory="512M").number
            for name, (built, args) in variants().items()
        }
    yield from table("folios of 131,072 pages on 8 CPUs: holds", rows)


def blocks() -> Iterator[str]:
    """Yield how many free blocks of 2 MiB programs break that want few colours, or all."""
    built, pages, count = qemu.build(base=BASE), UNEVEN, colour_guest.COLOURS
    needs = {
        "any": {"off": "1 0", "hop": "1 0", "fold": "1 0"},
        "one colour by its addresses": {"off": f"{count} 0", "hop": f"{count} 0", "fold": f"{count} 0"},
        "one colour by its mask": {"off": "1 0", "mask": "1 20"},
    }
    yield f"| 2 MiB blocks broken for {pages:,} pages of | off | hop | fold | mask |"
    yield "|---" * 5 + "|"
    for name, by_mode in needs.items():
        cells = []
        for mode in ("off", "hop", "fold", "mask"):
            if words := by_mode.get(mode):
                switch = "off" if mode == "off" else f"colour {mode}"
                said = json.loads(colour_guest.run(built, f"{switch}; $blocks {pages} {words}").stdout)
                cells.append(f"{said['before'] - said['after']}")
            else:
                cells.append("")
        yield f"| {name} | " + " | ".join(cells) + " |"


PARTS = {part.__name__: part for part in (calls, holds, folios, cpus, blocks)}


def main() -> None:
    """Print the parts named, or all."""
    for name in sys.argv[1:] or PARTS:
        print("\n".join(PARTS[name]()), flush=True)
        print(flush=True)


if __name__ == "__main__":
    main()
