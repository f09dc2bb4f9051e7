# SPDX-License-Identifier: Apache-2.0
"""What page colouring costs a kernel: instructions of its paths, and the huge pages that a program is denied."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean

import okosu
from lab.kernel import base as bases
from lab.run import qemu
from okosu.records.types import Record
from papers.common.base import LabExperiment, Say
from papers.common.points import Found, Point, Sides
from papers.superpage_colouring import huge_supply, kernel_cost
from papers.superpage_colouring.targets import TINY

NAME, UNSET = "costs", "x86-colour-unset"
STOCK, OFF, ON = "stock", "off", ("fold", "hop")
"""A kernel of the same sources with the option unset; with it set, off; and on, by mode, the default first."""
INSTRUCTIONS, HUGE = "instructions", "huge share"
"""Metrics: of a path of the kernel; of the huge pages that a program asked for on aged memory, those that it got."""
SUPPLY = {"transparent huge pages": "share", "hugetlb's": "order_9"}
"""Ways to ask for huge pages, and the attribute of huge_supply.Supply with the share that was got."""
SEEDS = 10
_COLOURS = 16
_BOOT_S, _SUPPLY_S = 35.0, 6.0


def experiment(base: str = bases.DEFAULT) -> LabExperiment:
    """Return the experiment on Linux `base`. The kernel without the option takes minutes more where it is not built."""
    words = f"--base {base} " if base != bases.DEFAULT else ""
    shown = f"okosu lab run x86 {words}--machine {kernel_cost.MACHINE} -- colour_cost, and huge pages on aged memory"
    seconds = (2 + len(ON)) * len(kernel_cost.BEGINNINGS) * _BOOT_S + (1 + len(ON)) * SEEDS * _SUPPLY_S
    return LabExperiment(NAME, lambda say: measure(say, base), shown, core_seconds=seconds)


def measure(say: Say, base: str = bases.DEFAULT) -> Iterator[Record]:
    """Yield the instructions of each path, kernel by kernel, which every run gives; then the huge pages, by seed."""
    without = qemu.build(fragments=(*qemu.RECIPE.fragments, UNSET), say=say, base=base)
    ours = qemu.build(say=say, base=base)
    none: list[str] = []
    kernels = {STOCK: (without, none), OFF: (ours, none)}
    kernels |= {mode: (ours, [f"page_color={_COLOURS},{mode}"]) for mode in ON}
    for variant, (built, words) in kernels.items():
        say(f"{NAME}: {variant}")
        for name, each in kernel_cost.from_each_beginning(built, words).items():
            yield record(variant, INSTRUCTIONS, name, each)
    found = {(variant, way): record(variant, HUGE, way, []) for variant in kernels if variant != OFF for way in SUPPLY}
    for seed in range(1, SEEDS + 1):
        for variant in (STOCK, *ON):
            say(f"{NAME}: huge pages, {variant}, seed {seed} of {SEEDS}")
            built, words = kernels[variant]
            supply = huge_supply.measure(built, seed, kernel_args=words)
            for way, name in SUPPLY.items():
                one = found[variant, way]
                one.samples.append(float(getattr(supply, name)))
                one.rounds.append(seed)
                if seed == 1:
                    yield one


def record(variant: str, metric: str, call: str, samples: list[float]) -> Record:
    """Return the record of one path, or of the huge pages that were got, seed by seed."""
    return Record(
        tool=f"okosu {okosu.__version__}",
        machine="",
        platform="qemu",
        subject="page-colour kernel",
        variant=variant,
        stage="bench",
        metric=metric,
        unit="instructions" if metric == INSTRUCTIONS else "share",
        samples=samples,
        parameters={"of": NAME, "call": call},
    )


def sides(name: str, records: Sequence[Record]) -> Found:
    """Return what the target `name` compares."""
    if name == "thp-success":
        return _denied(records)
    by = {(one.variant, str(one.parameters.get("call"))): one for one in records if one.metric == INSTRUCTIONS}
    variants = ON if name == "paths-on" else (OFF,)
    found = []
    for variant in variants:
        for call in dict.fromkeys(call for _, call in by):
            if {(variant, call), (STOCK, call)} <= by.keys():
                ours, theirs = ({0: fmean(by[each, call].samples)} for each in (variant, STOCK))
                found.append(Sides(Point(mode=variant), call, variant, STOCK, ours, theirs, exact=True))
    lacking = [] if found else [f"no instructions of {' and '.join(variants)} beside {STOCK}'s"]
    return Found(found, lacking)


def _denied(records: Sequence[Record]) -> Found:
    held = [one for one in records if one.metric == HUGE and one.samples]
    share = {(one.variant, str(one.parameters.get("call"))): fmean(one.samples) for one in held}
    found = []
    for variant, way in share:
        if variant in ON and (STOCK, way) in share:
            before, now = 100 * share[STOCK, way], 100 * share[variant, way]
            label = f"{way}, {before:.1f} % got with {STOCK}, {now:.1f} % with {variant}"
            found.append(Sides(Point(), label, variant, "", {0: max(TINY, before - now)}, {0: 1.0}, exact=True))
    return Found(found, [] if found else ["huge pages of an aged memory were not counted"])
