# SPDX-License-Identifier: Apache-2.0
"""What stands beside the published values of superpage-colouring: Table 2, and what the text says of each figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from lab.model import machines
from papers.common.base import Ours
from papers.superpage_colouring import colour_model
from papers.superpage_colouring.colour_model import ELEMENT, Cell, Gain
from papers.superpage_colouring.plan import BOTH, CELERON, COLOUR, PENTIUM4, STOCK, SUPER, TABLE2, setting

UNEXPLAINED = (47, 49)
"""Rows of Table 2 far within the cache where the paper's stock kernel is slow nevertheless."""
PAYS = 1.05
"""The least gain that the paper's text would call one."""
Found = Iterator[tuple[str, Ours]]


def compare(cells: Sequence[Cell], published: Mapping[str, float]) -> dict[str, Ours]:
    """Return ours by the id of the published entry; `published` is the paper's value by id."""
    return dict([*_machines(cells), *_celeron(cells, published), *_pentium4(cells), *_summary(cells)])


def _machines(cells: Sequence[Cell]) -> Found:
    """Yield what the models of both machines are, where they were run."""
    for of, name in (("celeron", CELERON), ("pentium4", PENTIUM4)):
        if not any(cell.where.machine == name for cell in cells):
            continue
        machine = machines.find(name)
        cache = machine.cache[1]
        ways = f"a colour for each page of a way: the cache has {cache.ways}; the paper's number is run, too"
        yield f"3.1.colours.{of}", Ours(float(cache.bytes // cache.ways // 4096), ways)
        yield f"t1.{of}", Ours(cache.bytes / 1024, "the same: the model's L2")
        yield f"5.{of}.clock", Ours(machine.hertz / 1e6, "the same: the model's")
        megabytes = float(setting(name, STOCK, 1).memory.removesuffix("M"))
        yield f"5.{of}.memory", Ours(megabytes, "the guest's, most of it in use by others where it is aged")


def _celeron(cells: Sequence[Cell], published: Mapping[str, float]) -> Found:
    stock, colour, both, large = (colour_model.sweep(cells, "celeron", arm) for arm in (STOCK, COLOUR, BOTH, SUPER))
    gains = colour_model.gains(colour, stock)
    if not gains:
        return
    cache = colour[gains[-1].dimension].cache
    best = max(gains, key=lambda one: one.ratio)
    yield "f8.best", Ours(float(best.dimension), f"{best.ratio:.2f} times there, in the median of the seeds")
    yield "f9.range", Ours(float(gains[-1].dimension), "the same")
    if paying := [one for one in gains if one.ratio >= PAYS]:
        last, bound = paying[-1], (cache / ELEMENT) ** 0.5
        yield "f9.last", Ours(float(last.dimension), f"the last with {PAYS} times or more; {bound:.1f} fills the cache")
        yield "f9.set", Ours(ELEMENT * last.dimension**2 / 1024, f"of the cache's {cache / 1024:.0f} KB")
    beyond = [one for one in gains if ELEMENT * one.dimension**2 > cache]
    if beyond:
        least = min(beyond, key=lambda one: one.ratio)
        yield "f9.dip", Ours(least.ratio, f"at dimension {least.dimension}, {_percent(least, cache)} of the cache")
        after = [one for one in beyond if one.dimension > least.dimension and one.ratio > 1]
        most = max(after or beyond, key=lambda one: one.ratio)
        yield "f9.after", Ours(most.ratio, f"the most of them, at dimension {most.dimension}")
    for n in TABLE2:
        for arm, sweep, other in (("stock", stock, colour), ("colour", colour, stock)):
            if n in sweep and n in other:
                yield f"t2.{n}.{arm}", Ours(sweep[n].speed, _row(n, arm, sweep[n], other[n], cells, published))
    if paired := colour_model.gains(both, stock):
        top = max(paired, key=lambda one: one.ratio)
        yield "f10.best", Ours(top.ratio, f"the most, at dimension {top.dimension}")
    yield from _after("f11.after", colour_model.gains(both, large), cache)


def _percent(one: Gain, cache: float) -> str:
    return f"{100 * ELEMENT * one.dimension**2 / cache:.0f} %"


def _row(n: int, arm: str, ours: Cell, other: Cell, cells: Sequence[Cell], published: Mapping[str, float]) -> str:
    """Return one line on a row of Table 2: our seeds' range, the gain beside the paper's, and what was tested."""
    speeds = ours.speeds().values()
    said = f"median of {len(speeds)} seeds, from {min(speeds):.0f} to {max(speeds):.0f}"
    if arm == "stock":
        return said
    gain = colour_model.gain(ours, other)
    theirs = published[f"t2.{n}.colour"] / published[f"t2.{n}.stock"]
    if gain is None:
        return said
    said += f"; the gain is {gain.ratio:.2f} (from {gain.least:.2f} to {gain.most:.2f}), the paper's {theirs:.2f}"
    if n in UNEXPLAINED and gain.most < theirs:
        said += f". The paper's is not reproduced{_one_colour(n, published[f't2.{n}.stock'], cells)}"
    return said


def _one_colour(n: int, theirs: float, cells: Sequence[Cell]) -> str:
    """Return what the worst placement gives, which is what could explain a slow stock kernel."""
    single = colour_model.sweep(cells, "one-colour", "mask", mask=1.0).get(n)
    if single is None:
        return ""
    enough = "which would explain it" if single.speed <= theirs else "so that no placement explains it"
    return f"; with all of the program's pages in one colour it has {single.speed:.0f} MB/s, {enough}"


def _after(name: str, gains: Sequence[Gain], cache: float) -> Found:
    beyond = [one for one in gains if ELEMENT * one.dimension**2 > 1.05 * cache]
    if beyond:
        mean = sum(one.ratio for one in beyond) / len(beyond)
        low, high = min(one.ratio for one in beyond), max(one.ratio for one in beyond)
        yield name, Ours(mean, f"mean of {len(beyond)} dimensions, from {low:.3f} to {high:.3f}")


def _pentium4(cells: Sequence[Cell]) -> Found:
    stock, both, large = (colour_model.sweep(cells, "pentium4", arm) for arm in (STOCK, BOTH, SUPER))
    gains = colour_model.gains(both, stock)
    if not gains:
        return
    cache = both[gains[-1].dimension].cache
    yield "f12.range", Ours(float(gains[-1].dimension), "the same")
    if within := [one for one in gains if one.ratio >= PAYS and ELEMENT * one.dimension**2 <= cache]:
        last = within[-1]
        further = "; so do dimensions beyond, by the TLB" if gains[-1].ratio >= PAYS else ""
        yield "f12.last", Ours(float(last.dimension), f"the last within the cache with {PAYS} times or more{further}")
        yield "f12.set", Ours(ELEMENT * last.dimension**2 / 1024, f"of the cache's {cache / 1024:.0f} KB")
    yield from _after("f13.after", colour_model.gains(both, large), cache)


def _summary(cells: Sequence[Cell]) -> Found:
    lacks = "the model has no prefetch, DRAM rows, sectors or store buffers"
    for of in ("celeron", "pentium4"):
        stock = colour_model.sweep(cells, of, STOCK)
        each = {arm: colour_model.gains(colour_model.sweep(cells, of, arm), stock) for arm in (COLOUR, BOTH)}
        tops = {arm: max(gains, key=lambda one: one.ratio) for arm, gains in each.items() if gains}
        if BOTH in tops:
            said = "; ".join(f"{arm} {top.ratio:.2f} at dimension {top.dimension}" for arm, top in tops.items())
            yield f"6.{of}", Ours(max(top.ratio for top in tops.values()), f"{said}; {lacks}")
    every = [
        one
        for of in ("celeron", "pentium4")
        for one in colour_model.gains(colour_model.sweep(cells, of, BOTH), colour_model.sweep(cells, of, SUPER))
    ]
    if every:
        least = min(every, key=lambda one: one.ratio)
        yield "6.loss", Ours(least.ratio, f"the least of {len(every)} dimensions on both, at {least.dimension}")
