# SPDX-License-Identifier: Apache-2.0
"""Threads by hardware and in software with data caches: grain, kinds of contexts, 1 to 64 PEs, policies.

python -m papers.scheduling_hardware.caches [--pes 1,2,4] [--dcache BYTES] [--json FILE]

The runs are those of plan/caches.py; their numbers are exact, and kept in the lab's cache. --json writes a summary for
results/.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from lab.cli import _kernel_options
from okosu.errors import OkosuError
from okosu.records import summary
from okosu.records.summary import Section
from okosu.records.types import Record
from papers.scheduling_hardware import run, thread_model
from papers.scheduling_hardware.kernels import numbers
from papers.scheduling_hardware.machine import CONTEXTS
from papers.scheduling_hardware.plan import caches, scaling
from papers.scheduling_hardware.plan.model import STEP
from papers.scheduling_hardware.run import POLICIES
from papers.scheduling_hardware.summaries import summary_of
from papers.scheduling_hardware.thread_model import BEST, SOFTWARE, Modelled

CLOSE = (0.1, 0.05, 0.01)
"""Shares by which software takes longer, below which hardware is said to pay no more."""
_SHOWN = {BEST: "hardware", SOFTWARE: "software"}
_COLUMNS = (
    *(f"grain, {policy}" for policy in scaling.POLICIES),
    "registers",
    *scaling.MEMORY,
    "grain, tree",
)
_NONE = "none of these"


def by_context(records: Sequence[Record]) -> Section:
    """Return the speedups on 8 PEs by grain, for each kind of contexts and in software."""
    runs = thread_model.read(records)
    rows = {f"ssh {kind}": f"hardware, {kind}" for kind in CONTEXTS} | {SOFTWARE: "software"}
    body = [[told, *_speedups(each)] for name, told in rows.items() if (each := _where(runs, variant=name))]
    return Section(id="contexts", head=["threads by", *_grains(), "pays from"], body=body)


def by_pes(records: Sequence[Record]) -> Section:
    """Return the speedups by grain, for each number of PEs and both back ends."""
    runs = thread_model.read(records)
    body = [
        [str(pes), told, *_speedups(each)]
        for pes in sorted({one.pes for one in runs})
        for name, told in _SHOWN.items()
        if (each := _where(runs, pes=pes, variant=name))
    ]
    return Section(id="grains", head=["PEs", "threads by", *_grains(), "pays from"], body=body)


def where_it_ends(records: Sequence[Record]) -> Section:
    """Return how many times as long software takes by grain, and from which grain on it is close, by PEs."""
    runs = thread_model.read(records)
    body = []
    for pes in sorted({one.pes for one in runs}):
        by = {name: {_nominal(one): one.parallel for one in _where(runs, pes=pes, variant=name)} for name in _SHOWN}
        times = {g: by[SOFTWARE][g] / by[BEST][g] for g in caches.GRAINS if g in by[SOFTWARE] and g in by[BEST]}
        told = [f"{times[grain]:.2f}" if grain in times else "–" for grain in caches.GRAINS]
        body.append([str(pes), *told, *(_close(times, share) for share in CLOSE)])
    head = ["PEs", *_grains(), *(f"at most {share:.0%} longer from".replace("%", " %") for share in CLOSE)]
    return Section(id="ends", head=head, body=body)


def efficiency(records: Sequence[Record]) -> Section:
    """Return the efficiency by PEs, task and policy, with both back ends."""
    found: dict[tuple[int, str], dict[str, float]] = {}
    for one in thread_model.read(records):
        name = "grain, tree" if one.creators else f"grain, {one.policy}" if one.task == "grain" else one.task
        found.setdefault((one.pes, one.variant), {})[name] = one.efficiency
    body = []
    for (pes, variant), by in sorted(found.items(), key=lambda one: (one[0][0], one[0][1] == SOFTWARE)):
        told = [f"{100 * by[name]:.0f} %" if name in by else "–" for name in _COLUMNS]
        body.append([str(pes), _SHOWN[variant], *told])
    return Section(id="efficiency", head=["PEs", "threads by", *_COLUMNS], body=body)


def by_policy(records: Sequence[Record]) -> Section:
    """Return the cycles of programs by policy, with both back ends."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for one in records:
        if one.metric == "cycles" and one.samples:
            program = one.subject.removeprefix("rtl ").removesuffix(".c")
            found.setdefault((program, one.variant), {})[str(one.parameters["policy"])] = one.samples[0]
    body = [
        [f"`{program}`", _SHOWN[variant], *(f"{by[name]:,.0f}" if name in by else "–" for name in POLICIES)]
        for (program, variant), by in found.items()
    ]
    return Section(id="policies", head=["program", "threads by", *POLICIES], body=body)


def _where(runs: Iterable[Modelled], variant: str, pes: int = 0) -> list[Modelled]:
    """Return the runs of a variant (and of so many PEs), the finest first."""
    found = [one for one in runs if one.variant == variant and pes in (0, one.pes)]
    return sorted(found, key=lambda one: one.work)


def _nominal(one: Modelled) -> int:
    return one.steps * STEP[one.task]


def _grains() -> list[str]:
    return [f"{grain:,}" for grain in caches.GRAINS]


def _speedups(runs: Sequence[Modelled]) -> list[str]:
    """Return the speedup by grain, and the grain from which threads pay: between those of the sweep, if it is there."""
    by = {_nominal(one): one.speedup for one in runs}
    told = [f"{by[grain]:.2f}" if grain in by else "–" for grain in caches.GRAINS]
    if min(by.values()) >= 1:
        return [*told, "all of these"]
    even = thread_model.break_even(runs)
    return [*told, _NONE if even is None else f"{even:,.0f}"]


def _close(times: dict[int, float], share: float) -> str:
    """Return the first grain from which on software takes at most that share longer."""
    far = [grain for grain, ratio in times.items() if ratio > 1 + share]
    return next((f"{grain:,}" for grain in sorted(times) if not far or grain > max(far)), _NONE)


def main(arguments: Sequence[str]) -> int:
    """Measure, print the tables, and write the summary; return the exit status."""
    parser = argparse.ArgumentParser(prog="caches", description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--pes", type=numbers, default=",".join(map(str, scaling.PES)), metavar="N,N…", help="default %(default)s"
    )
    parser.add_argument(
        "--dcache", type=int, default=caches.DCACHE, metavar="BYTES", help="of each PE; default %(default)s"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write a summary (okosu.summary/1) there")
    asked = parser.parse_args(arguments)
    started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    wanted = {
        "contexts": caches.contexts(),
        "policies": caches.by_policy(),
        "grains": [one for count in asked.pes for one in caches.grains(count)],
        "efficiency": [one for count in asked.pes for one in caches.scaled(count)],
    }
    try:
        with _kernel_options.progress() as say:
            held = {
                name: list(run.measure(name, caches.cached(runs, asked.dcache), say)) for name, runs in wanted.items()
            }
        sections = [
            by_context(held["contexts"]),
            by_policy(held["policies"]),
            by_pes(held["grains"]),
            where_it_ends(held["grains"]),
            efficiency(held["efficiency"]),
        ]
        if asked.json:
            summary.write(summary_of("caches", arguments, started, sections), asked.json)
    except OkosuError as error:
        print(error, file=sys.stderr)
        return 1
    print("\n".join(summary.markdown(section) for section in sections))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
