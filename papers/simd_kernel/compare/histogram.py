# SPDX-License-Identifier: Apache-2.0
"""Section 8.2 of simd-kernel, the size locality of call sites: who copies how much under each workload."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import okosu
from lab import guest, uml
from okosu.errors import OkosuError
from okosu.records.types import Record
from papers.common.base import Say
from papers.simd_kernel import histogram, workloads
from papers.simd_kernel.histogram import Caller, Site, Size

FRAGMENTS = (*uml.RECIPE.fragments, "um-stats")
MOST = 12
"""Call sites and exact sizes that are kept of each workload."""


def measure(say: Say) -> Iterator[Record]:
    """Run every workload once on a kernel that counts, and yield its records as it ends."""
    built = uml.build(fragments=FRAGMENTS, say=say)
    programs = guest.build(say)
    for workload in workloads.TABLE:
        say(f"counting the copies of {workload.name}")
        command = ["sh", "-c", histogram.SCRIPT, "sh", *workload.command(programs)]
        outcome = uml.run(built, command, say=say)
        if outcome.status:
            why = outcome.stderr.decode(errors="replace").strip() or f"status {outcome.status}"
            raise OkosuError(f"the copies of {workload.name} could not be counted", why, "okosu lab build uml")
        callers = histogram.parse_callers(outcome.files["callers"].read_text())
        sizes = histogram.parse_sizes(outcome.files["sizes"].read_text())
        sites = histogram.of_image(callers, built.path / "vmlinux")
        yield from records(workload.name, callers, sites, sizes, f"linux {built.version}")


def records(
    workload: str, callers: Sequence[Caller], sites: Sequence[Site], sizes: Sequence[Size], subject: str
) -> Iterator[Record]:
    """Yield a workload's calls by size class, its hot sizes and its call sites of most bytes, of copies and sets."""
    for kind in histogram.KINDS:
        told: dict[str, str | float] = {"workload": workload, "kind": kind}
        for k, calls in enumerate(histogram.by_class(callers, kind)):
            if calls:
                yield _record(subject, "class", "calls", calls, {**told, "from": float(1 << k if k else 0)})
        for size in histogram.hot(sizes, kind, MOST):
            yield _record(subject, "size", "calls", size.calls, {**told, "bytes": float(size.size)})
        for site in [one for one in sites if one.caller.kind == kind][:MOST]:
            where: dict[str, str | float] = {"function": site.function, "line": site.line}
            where |= {"address": f"{site.caller.address:#x}", "calls": float(site.caller.calls)}
            yield _record(subject, "site", "bytes", site.caller.bytes, {**told, **where})


def _record(subject: str, metric: str, unit: str, value: int, parameters: dict[str, str | float]) -> Record:
    return Record(
        tool=f"okosu {okosu.__version__}",
        machine="",
        platform="uml",
        subject=subject,
        variant="counted",
        stage="bench",
        metric=metric,
        unit=unit,
        samples=[float(value)],
        parameters=parameters,
    )
