# SPDX-License-Identifier: Apache-2.0
"""What the series page-colour costs, as tables: no test, run by hand (half an hour; pahole, of Debian's dwarves):

    python tests/lab/colour_costs.py [calls|holds|cpus|code|structs ...]

Columns: unset (the same sources with CONFIG_PAGE_COLOR=n), off (with it, as it boots), and the modes hop and fold
switched on.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import colour_guest

from okosu.lab import config, guest, kernel_cost, lock_hold, qemu, series, source, tree
from okosu.lab.build import Built

NAME = "page-colour"
COLOURS = colour_guest.COLOURS
STRUCTS = ("zone", "per_cpu_pages", "task_struct", "mm_struct", "page")
HOLDING = '"$0" map 16384 4 1; "$0" cow 256 10 1; "$0" exec 1 10 1'


def variants() -> dict[str, tuple[Built, tuple[str, ...]]]:
    """Return {name of the column: kernel, its arguments}."""
    unset = qemu.build(fragments=(*qemu.RECIPE.fragments, "x86-colour-unset"))
    built = qemu.build()
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


def calls() -> Iterator[str]:
    """Yield the kernel's instructions for an operation of each kind."""
    found = {name: kernel_cost.measure(built, kernel_args=args) for name, (built, args) in variants().items()}
    rows = {work.name: {name: costs[work.name].each for name, costs in found.items()} for work in kernel_cost.WORKS}
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


def code() -> Iterator[str]:
    """Yield bloat-o-meter's view of the kernels without the series and with it."""
    both = variants()
    script = source.find().path / "scripts" / "bloat-o-meter"
    words = ["python3", str(script), *(str(both[name][0].path / "vmlinux") for name in ("unset", "off"))]
    yield from subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()


def structs() -> Iterator[str]:
    """Yield the sizes of the structures that everybody has, in bytes."""
    base = source.find()
    trees = {"stock": base.path, NAME: tree.patched(base, [series.find(NAME)])}
    rows: dict[str, dict[str, float]] = {name: {} for name in STRUCTS}
    with TemporaryDirectory() as folder:
        wanted = Path(folder) / "asked.config"
        wanted.write_text(config.text(config.fragments(("x86",))))
        for name, path in trees.items():
            common = ["make", "-s", "-C", str(path), f"O={folder}/{name}", "ARCH=x86", "-j2", "LOCALVERSION="]
            (Path(folder) / name).mkdir()
            subprocess.run([*common, f"KCONFIG_ALLCONFIG={wanted}", "allnoconfig"], check=True)
            subprocess.run([*common, "KCFLAGS=-g", "mm/page_alloc.o"], check=True)
            for struct in STRUCTS:
                words = ["pahole", "-C", struct, f"{folder}/{name}/mm/page_alloc.o"]
                said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
                size = re.search(r"/\* size: (\d+)", said)
                rows[struct][name] = float(size[1]) if size else 0.0
    yield from table("bytes of struct", rows)


PARTS = {part.__name__: part for part in (calls, holds, cpus, code, structs)}


def main() -> None:
    """Print the parts named, or all."""
    for name in sys.argv[1:] or PARTS:
        print("\n".join(PARTS[name]()), flush=True)
        print(flush=True)


if __name__ == "__main__":
    main()
