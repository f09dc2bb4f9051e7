# SPDX-License-Identifier: Apache-2.0
"""Tables 2 to 4 of simd-kernel: seconds by function under gprof, by routine, as `okosu lab profile` records them."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from okosu.records.types import Record
from okosu.stats import paired
from papers.common.points import Found, Point, Sides, by_round
from papers.simd_kernel.compare import Beside
from papers.simd_kernel.run.gprof import ENOUGH, RATE_HZ
from papers.simd_kernel.run.profiling import ALL, FUNCTION, KERNEL, MEMCPY

NAMED = (MEMCPY, "os_arch_prctl", "hard_handler", "userspace", "strncpy")
TODAY, PAPERS, PAPER = "orig", "movsq", "paper"
"""Routines: UML's own, the string instructions that the paper's kernel ran, and the paper's."""
ALPHA = 0.05
PUBLISHED = frozenset({TODAY, PAPERS, "movsb", PAPER})


def find(records: Sequence[Record], routine: str, metric: str, function: str = "") -> Record | None:
    """Return the record of a routine over all workloads, None where it was not measured."""
    for record in records:
        said = record.parameters
        if (
            record.variant == routine
            and record.metric == metric
            and said.get("workload") == ALL
            and (not function or said.get("function") == function)
            and record.samples
        ):
            return record
    return None


def first(records: Sequence[Record], count: int = 5) -> list[str]:
    """Return the functions that take most of the kernel's time with UML's own routine, the largest first."""
    times = {
        str(one.parameters.get("function")): median(one.samples)
        for one in records
        if one.variant == TODAY and one.metric == FUNCTION and one.parameters.get("workload") == ALL and one.samples
    }
    return sorted(times, key=lambda name: -times[name])[:count]


def best(records: Sequence[Record]) -> str | None:
    """Return okosu's routine with which memcpy takes the least time over all workloads; None if none was measured."""
    names = dict.fromkeys(record.variant for record in records if record.variant not in PUBLISHED)
    times = {name: median(one.samples) for name in names if (one := find(records, name, FUNCTION, MEMCPY))}
    return min(times, key=lambda name: times[name], default=None)


def sides(records: Sequence[Record]) -> Found:
    """Return memcpy's time with okosu's best routine and with UML's own, boot by boot."""
    ours = best(records)
    mine = find(records, ours, FUNCTION, MEMCPY) if ours else None
    theirs = find(records, TODAY, FUNCTION, MEMCPY)
    if not ours or mine is None or theirs is None:
        return Found([], ["memcpy's time was not measured with UML's own routine and one of okosu's"])
    if (taken := RATE_HZ * sum(theirs.samples)) < ENOUGH:
        return Found([], [f"memcpy has {taken:.0f} samples in all boots; {ENOUGH} tell a total from chance"])
    # A boot without a sample of memcpy counts as half a sample: memcpy took less than one, but not no time.
    mine_, theirs_ = ({n: max(s, 0.5 / RATE_HZ) for n, s in by_round(one).items()} for one in (mine, theirs))
    return Found([Sides(Point(), MEMCPY, ours, f"{TODAY} ({ours})", mine_, theirs_)], [])


def compare(records: Sequence[Record]) -> Beside:
    """Yield what stands beside Tables 2 to 4 and section 7: our workloads, the medians over the boots."""
    for table, routine in (("t2", TODAY), ("t3", PAPER)):
        whole = find(records, routine, KERNEL)
        for function in NAMED:
            taken = _seconds(records, routine, function) if whole else None
            why = f"okosu's workloads and not UnixBench, routine {routine}"
            yield f"{table}.{function}.time", taken, why if taken else f"{why}; no sample"
            yield f"{table}.{function}.share", _share(taken, whole), why
        total = f"gprof's own sum, routine {routine}"
        yield f"{table}.total", median(whole.samples) if whole else None, total
        part = {"t2": "before", "t3": "after"}[table]
        memcpy = _seconds(records, routine, MEMCPY) if whole else None
        yield f"t4.total.{part}", median(whole.samples) if whole else None, total
        yield f"t4.memcpy.{part}", memcpy, _beside(records, table)
        yield f"t4.share.{part}", _share(memcpy, whole), f"routine {routine}"
    yield "7.memcpy", *_fall(records, FUNCTION, MEMCPY)
    yield "7.kernel", *_fall(records, KERNEL)


def _seconds(records: Sequence[Record], routine: str, function: str) -> float:
    found = find(records, routine, FUNCTION, function)
    return median(found.samples) if found else 0.0


def _share(taken: float | None, whole: Record | None) -> float | None:
    return 100 * taken / median(whole.samples) if taken is not None and whole and median(whole.samples) else None


def _beside(records: Sequence[Record], table: str) -> str:
    """Return a line with memcpy's time for the other routines that a column of Table 4 may be compared with."""
    names = (PAPERS, "movsb") if table == "t2" else (best(records) or "",)
    said = [f"{name} {_seconds(records, name, MEMCPY):.2f} s" for name in names if find(records, name, KERNEL)]
    return ", ".join([f"routine {TODAY if table == 't2' else PAPER}", *said])


def _fall(records: Sequence[Record], metric: str, function: str = "") -> tuple[float | None, str]:
    """Return by how many per cent a time falls from UML's own routine to the paper's, and a line that adds the fall
    from `rep movsq`."""
    said, value = [], None
    after = find(records, PAPER, metric, function)
    for routine in (TODAY, PAPERS):
        before = find(records, routine, metric, function)
        if before is None or after is None:
            continue
        rounds = by_round(after), by_round(before)
        both = sorted(n for n in rounds[0].keys() & rounds[1].keys() if rounds[0][n] > 0 and rounds[1][n] > 0)
        if not both:
            continue
        found = paired.ratio([rounds[0][n] for n in both], [rounds[1][n] for n in both], both, both, ALPHA)
        fall = 100 * (1 - found.median)
        value = fall if routine == TODAY else value
        bounds = f" (95 %: {100 * (1 - found.high):.1f} to {100 * (1 - found.low):.1f})" if found.bounded else ""
        said.append(f"from {routine} to {PAPER} by {fall:.1f} %{bounds}")
    return value, ", ".join(said)
