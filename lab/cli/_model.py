# SPDX-License-Identifier: Apache-2.0
"""What `okosu lab run x86 --machine NAME` says of the memory-hierarchy model: a table on stderr, and its part of the
JSON."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lab.formats import Modelled
    from lab.model.machines import Machine
    from lab.model.plugin_counts import Counts, Region
    from lab.run.outcome import Outcome

_LACKS = (
    "data accesses alone, one after the other: no instruction fetches, prefetches, store buffers, sectors, DRAM rows "
    "or coherence; a page walk costs the same each time"
)


def show(name: str, outcome: Outcome) -> None:
    """Print each marked region on stderr: where its accesses were found, and the time that the machine would take."""
    from lab.model import machines, model_plugin, plugin_counts

    machine = machines.find(name)
    everything = model_plugin.regions(outcome.files[model_plugin.COUNTS])
    regions = plugin_counts.inside(everything)
    lines = [line for region in regions for line in table(machine, region)]
    if not regions:
        lines = ["no region was marked: a program marks it with lab/guest/mark.h"]
    if broken := max((region.broken for region in everything), default=0):
        lines.append(f"{broken} messages to the model made no sense: large pages or labels may be wrong")
    print("\n".join([f"model: {machine.name}; {_LACKS}", *lines]), file=sys.stderr)


def table(machine: Machine, region: Region) -> list[str]:
    """Return the lines for one region on one CPU."""
    places = [*(cache.name for cache in machine.cache), "memory"]
    levels = [*(f"TLB {level}" for level in sorted({tlb.level for tlb in machine.tlb})), "walk"]
    rows = [("instructions", *_both(region, lambda counts: counts.instructions))]
    rows += [
        (f"found in {place}", *_both(region, lambda counts, i=i: counts.found[i])) for i, place in enumerate(places)
    ]
    rows += [(level, *_both(region, lambda counts, i=i: counts.translated[i])) for i, level in enumerate(levels)]
    rows += [("bytes", *_both(region, lambda counts: counts.bytes))]
    rows += [("cycles", round(region.user.cycles(machine)), round(region.kernel.cycles(machine)))]
    speed = region.megabytes_per_second(machine)
    head = f"region {region.label}, CPU {region.cpu}: {region.seconds(machine):.6f} s, {speed:.1f} MB/s"
    return [head, f"  {'':16}{'program':>16}{'kernel':>16}", *(f"  {what:16}{a:16}{b:16}" for what, a, b in rows)]


def described(name: str, outcome: Outcome) -> Modelled:
    """Return the machine, and every region with its counts and what they cost."""
    from msgspec.structs import asdict

    from lab.formats import Modelled, ModelledMachine, ModelledRegion
    from lab.model import machines, model_plugin

    machine = machines.find(name)
    regions = [
        ModelledRegion(
            **asdict(region),
            cycles=region.cycles(machine),
            seconds=region.seconds(machine),
            mb_per_s=region.megabytes_per_second(machine),
        )
        for region in model_plugin.regions(outcome.files[model_plugin.COUNTS])
    ]
    return Modelled(ModelledMachine(id=name, **asdict(machine)), _LACKS, regions)


def _both(region: Region, of: Any) -> tuple[int, int]:
    counts: tuple[Counts, Counts] = (region.user, region.kernel)
    return of(counts[0]), of(counts[1])
