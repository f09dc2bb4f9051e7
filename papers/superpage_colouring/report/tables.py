# SPDX-License-Identifier: Apache-2.0
"""Tables of how pages are placed: the paper's Table 2, arms beside each other, and where colouring gains nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from statistics import fmean

from okosu.records.types import Record
from okosu.report import formats
from okosu.report.part import Part
from papers.superpage_colouring import colour_model
from papers.superpage_colouring.colour_model import CONFLICTS, Cell, Gain
from papers.superpage_colouring.report import charts

NAMES = {
    "stock": "stock",
    "shuffle": "stock, shuffled at boot",
    "fold": "colour (fold)",
    "hop": "colour",
    "mask": "colours of its own",
    "thp": "super",
    "hugetlb": "super (hugetlb)",
    "thp+fold": "super + colour (fold)",
    "thp+hop": "super + colour",
}
"""What arms are called; `hop` is the paper's way to give colours."""
FIGURES = {"celeron": "celeron-900", "pentium4": "pentium4-1600"}
WALKS = (30, 60, 100, 150, 200)
"""Cycles of a page walk for which the largest gains are given."""
_FIRST_OVER_TLB = (181, 183, 185)
_SEVERAL = {
    "remainder": (
        "Sets that end beyond their huge page",
        "The set begins in a huge page and ends in pages of 4 KiB, as arrays do that are no multiple of 2 MiB: where "
        "the paper joins super pages and colours.",
    ),
    "fresh": ("Fresh memory", "The same on memory that nothing has used since boot, free in large blocks."),
    "strides": (
        "Rows a power of two apart",
        "Each row of a matrix begins a power of two after the one before it, so that a column lies in few pages’ "
        "colours, or in one.",
    ),
    "beside": (
        "Beside another program",
        "A second program reads 1 MiB after each repetition; “apart”: it is kept to a quarter of the colours, and "
        "ours to the rest.",
    ),
    "hashed": (
        "A machine whose L2 hashes its index",
        "“known”: the kernel was told the rows of the hash; without, it gives colours that the cache does not have.",
    ),
    "one-colour": (
        "All pages in one colour",
        "The worst that a placement can be: what could explain Table 2’s rows 47 and 49.",
    ),
    "build": (
        "A workload like a kernel’s build",
        "Many short processes that read and write files: nothing that fills a cache in the same order again and again.",
    ),
}
"""Experiments whose points are listed: title, and what is special about them."""


def table2(cells: Sequence[Cell], published: Mapping[str, float]) -> list[Part]:
    """Return the paper's Table 2 with ours beside it."""
    stock, colour = (colour_model.sweep(cells, "celeron", arm) for arm in ("stock", "hop"))
    rows = sorted({int(name.split(".")[1]) for name in published if name.startswith("t2.")})
    body = []
    for n in rows:
        gain = colour_model.gain(colour[n], stock[n]) if n in stock and n in colour else None
        if gain is None:
            continue
        theirs = [published[f"t2.{n}.{column}"] for column in ("stock", "colour")]
        ends = f"{gain.least:.2f}–{gain.most:.2f}"
        ours = [f"{cell.speed:.0f}" for cell in (stock[n], colour[n])]
        body.append(
            [
                str(n),
                *(f"{each:.0f}" for each in theirs),
                f"{theirs[1] / theirs[0]:.2f}",
                *ours,
                f"{gain.ratio:.2f}",
                ends,
            ]
        )
    if not body:
        return []
    seeds = len(next(iter(stock.values())).cycles)
    about = (
        f"MB/s on the Celeron: as published, and here (medians of {seeds} seed{'s' if seeds > 1 else ''} of the "
        "model, memory aged, with the range of the gain). The machine was fixed from its data sheets before the "
        "first run."
    )
    head = ["dimension", "paper: stock", "colour", "gain", "here: stock", "colour", "gain", "least–most"]
    return [Part("Table 2: published, and here", about, head, body)]


def ablation(cells: Sequence[Cell], key: str) -> list[Part]:
    """Return every way to place pages beside the others: mean, standard deviation and slowest run by dimension."""
    found = []
    for of, machine in FIGURES.items():
        other = [cell for cell in cells if cell.where.of == "baselines" and cell.where.machine == machine]
        by = {
            arm: {**colour_model.sweep(cells, of, arm), **colour_model.sweep(other, "baselines", arm)} for arm in NAMES
        }
        there = sorted({cell.where.dimension for cell in other}) or sorted(by["stock"])
        arms = [arm for arm in NAMES if by[arm]]
        if not {"stock", "hop"} <= set(arms) or not there:
            continue
        body = [_spread(n, NAMES[arm], by[arm][n]) for n in there for arm in arms if n in by[arm]]
        within = [n for n in there if n in by["stock"] and by["stock"][n].fill <= 1]
        part = Part(f"By ways to place pages: {machine}", _ablation_words(by, within), _SPREAD, body)
        if within:
            most = max(within, key=lambda n: by["stock"][n].sigma or 0.0)
            rows = {NAMES[arm]: list(by[arm][most].speeds().values()) for arm in arms if most in by[arm]}
            part.draw = partial(charts.strips, rows, f"MB/s at dimension {most}")
            part.key, part.wide = f"{key}{of}", charts.WIDE
        found.append(part)
    return found


_SPREAD = ["dimension", "pages", "mean MB/s", "σ", "slowest", "conflict misses %", "seeds"]


def _spread(n: int, name: str, cell: Cell) -> list[str]:
    share = cell.share(CONFLICTS)
    return [
        str(n), name, f"{cell.mean:.0f}", formats.DASH if cell.sigma is None else formats.significant(cell.sigma),
        f"{cell.slowest:.0f}", formats.DASH if share is None else f"{share:.3f}", str(len(cell.cycles)),
    ]  # fmt: skip


def _ablation_words(by: Mapping[str, Mapping[int, Cell]], within: Sequence[int]) -> str:
    said = (
        "A dot for each seed, which is a machine aged in another way; a tick at the mean. The slowest is the 99th "
        "percentile of the time: of fewer than a hundred seeds the worst."
    )
    pooled = {
        arm: colour_model.pooled([by[arm][n] for n in within if n in by[arm]]) for arm in ("stock", "hop", "thp+hop")
    }
    known = [f"{NAMES[arm]} {sigma:.3g}" for arm, sigma in pooled.items() if sigma is not None]
    return f"{said} Standard deviation over the seeds within the cache, in MB/s: {', '.join(known)}." if known else said


def walks(cells: Sequence[Cell]) -> list[Part]:
    """Return what super pages and colour gain where the set first exceeds the TLB, by the cost of a page walk."""
    stock, both = (colour_model.sweep(cells, "pentium4", arm) for arm in ("stock", "thp+hop"))
    chosen = [n for n in _FIRST_OVER_TLB if n in stock and n in both]
    body = []
    for cycles in WALKS:
        gains = [colour_model.gain(both[n], stock[n], float(cycles)) for n in chosen]
        body.append([str(cycles), *(formats.DASH if gain is None else f"{gain.ratio:.2f}" for gain in gains)])
    if not chosen:
        return []
    own = stock[chosen[0]].walk
    about = (
        "Pentium 4: super and colour over stock at the dimensions where the set first exceeds 64 pages and the "
        f"cache, were a page walk to cost so many cycles (the model’s: {own:.0f}). The paper has 6 times as the most. "
        "The model lacks prefetches, DRAM rows, sectors and store buffers."
    )
    return [Part("By the cost of a page walk", about, ["cycles", *(f"dimension {n}" for n in chosen)], body)]


def beyond(cells: Sequence[Cell]) -> list[Part]:
    """Return where colouring loses: sets a little larger than the cache."""
    body, said = [], []
    for of, machine in FIGURES.items():
        stock, colour = (colour_model.sweep(cells, of, arm) for arm in ("stock", "hop"))
        gains = [one for one in colour_model.gains(colour, stock) if 1 < colour[one.dimension].fill <= 1.8]
        for one in gains:
            fill = f"{100 * colour[one.dimension].fill:.0f}"
            body.append([machine, str(one.dimension), fill, f"{one.ratio:.3f}", f"{one.least:.2f}–{one.most:.2f}"])
        if gains:
            least = min(gains, key=lambda one: one.ratio)
            said.append(f"{machine} {least.ratio:.2f} at dimension {least.dimension}")
    if not body:
        return []
    about = (
        "From 100 to 180 % of the L2, where pages spread evenly are worse than pages placed at random: walked in "
        "turn under LRU or its like, a set too large for the cache misses always where all of its parts are alike, "
        f"and where they are not, the luckier ones still hit. The least: {'; '.join(said)}. A program with such a set "
        "gains from blocking its loops, or from leaving colouring off."
    )
    head = ["machine", "dimension", "% of the L2", "colour over stock", "least–most"]
    return [Part("Where colouring loses: beyond the cache", about, head, body)]


def several(cells: Sequence[Cell]) -> list[Part]:
    """Return the tables of what was run at few points: each arm's mean beside that of stock at the same point."""
    found = []
    for of, (title, about) in _SEVERAL.items():
        body = list(_listed([cell for cell in cells if cell.where.of == of]))
        if body:
            found.append(Part(title, about, _HEAD, body))
    return found


_HEAD = ["what", "pages", "mean MB/s", "σ", "slowest", "times stock", "conflict misses %"]


def compared(chosen: Sequence[Cell]) -> Iterator[tuple[Cell, str, Gain | None]]:
    """Yield each cell with its arm's name and what it gains over stock at the same point, by machine and dimension."""
    base = {(cell.where.machine, _place(cell)): cell for cell in chosen if cell.where.arm == "stock"}
    for cell in sorted(chosen, key=lambda one: (one.where.machine, one.where.dimension, _order(one))):
        told = dict(cell.where.extra)
        known = ", known" if told.get("hashed") else ""
        name = "all in one colour" if "mask" in told else f"{NAMES.get(cell.where.arm, cell.where.arm)}{known}"
        other = base.get((cell.where.machine, _place(cell)))
        yield cell, name, colour_model.gain(cell, other) if other else None


def _listed(chosen: Sequence[Cell]) -> Iterator[list[str]]:
    for cell, name, gain in compared(chosen):
        told = dict(cell.where.extra)
        units = " units" if cell.where.of == "build" else ""
        words = [cell.where.machine, f"{cell.where.dimension}{units}"]
        pitch = told.get("pitch")
        words += [f"rows {formats.count(8 * pitch)} bytes apart" if isinstance(pitch, float) else ""]
        words += [{"hog": "beside another", "hog-apart": "beside another, apart"}.get(str(told.get("beside", "")), "")]
        _, _, mean, sigma, slowest, share, _ = _spread(0, name, cell)
        times = formats.DASH if gain is None else f"{gain.ratio:.2f}"
        yield [", ".join(filter(None, words)), name, mean, sigma, slowest, times, share]


def _order(cell: Cell) -> list[tuple[str, float, str]]:
    """Return what tells points of one dimension apart, as something that can be sorted whatever a file has there."""
    return [
        (name, value, "") if isinstance(value, float) else (name, 0.0, str(value)) for name, value in cell.where.extra
    ]


def _place(cell: Cell) -> tuple[int, tuple[tuple[str, str | float], ...]]:
    """Return what is the same for the arms that are compared; a co-runner that is kept apart is one all the same."""
    kept = [(name, "hog" if value == "hog-apart" else value) for name, value in cell.where.extra]
    return cell.where.dimension, tuple((name, value) for name, value in kept if name not in ("hashed", "mask"))


def costs(held: Sequence[Record]) -> list[Part]:
    """Return what a kernel pays: instructions by path, option unset, off and on; and huge pages that were got."""
    by: dict[str, dict[str, float]] = {}
    for one in held:
        if one.metric in ("instructions", "huge share") and one.samples and "call" in one.parameters:
            scale, unit = (100.0, "huge pages got, %") if one.metric == "huge share" else (1.0, "instructions")
            by.setdefault(f"{one.parameters['call']}: {unit}", {})[one.variant] = scale * fmean(one.samples)
    if not by:
        return []
    names = list(dict.fromkeys(name for each in by.values() for name in each))
    body = []
    for call, each in by.items():
        first = each.get("stock")
        cells = [_cost(each.get(name), first if name != "stock" else None) for name in names]
        body.append([call, *cells])
    about = (
        "Instructions of the kernel, each with a REP counted once, in an exact machine: every run gives the same. "
        "stock: a kernel of the same sources with the option unset; off: with it set, as it boots; then on, by mode."
    )
    return [Part("What the kernel pays", about, ["path", *names], body)]


def _cost(value: float | None, base: float | None) -> str:
    if value is None:
        return formats.DASH
    text = formats.count(value) if value >= 1000 else formats.significant(value)
    return f"{text} ({100 * (value / base - 1):+.2f} %)" if base else text
