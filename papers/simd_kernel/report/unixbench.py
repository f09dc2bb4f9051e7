# SPDX-License-Identifier: Apache-2.0
"""UnixBench with every copy routine (`okosu lab profile --unixbench`) beside the paper's Tables 2 and 3."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from okosu.records.summary import Section
from okosu.records.types import Record
from okosu.report import formats
from okosu.stats import paired
from papers.common import entries
from papers.common.points import by_round
from papers.simd_kernel import plan
from papers.simd_kernel.compare.tables2to4 import ALPHA, NAMED, PAPER, PAPERS, TODAY, find
from papers.simd_kernel.run import unixbench
from papers.simd_kernel.run.gprof import ENOUGH, RATE_HZ
from papers.simd_kernel.run.profiling import ALL, FUNCTION, KERNEL, MEMCPY, RATE

BESIDE = {"t2": (TODAY, PAPERS), "t3": (PAPER,)}
"""The routines that stand beside each of the paper's tables."""
MOST = 8
"""Functions that are listed because they take most time here, beside those that the paper lists."""
NONE = "–"


def sections(records: Sequence[Record]) -> list[Section]:
    """Return the tables of a record of UnixBench; [] of the record of another set of workloads."""
    rates = [one for one in records if one.metric == RATE and one.samples]
    there = {one.variant for one in rates}
    routines = [name for name in plan.ROUTINES if name in there and find(records, name, KERNEL)]
    if TODAY not in routines:
        return []
    return [_functions(records, routines), _whole(records, routines), _rates(rates, routines)]


def command(records: Sequence[Record]) -> str:
    """Return the command that measures the same again, of a record that has tables."""
    full = {test.name: test.seconds for test in unixbench.TABLE}
    rates = [one for one in records if one.metric == RATE]
    # The shortest tests have a second at least, so that the longest say what the scale was.
    asked = {str(one.parameters["workload"]): float(one.parameters["seconds"]) for one in rates}
    longest = max(asked, key=lambda name: full[name])
    words = ["--unixbench DIR", f"--rounds {_rounds(records)}", f"--scale {asked[longest] / full[longest]:.3g}"]
    for option, every, measured in (
        ("--workloads", tuple(full), asked.keys()),
        ("--variants", plan.ROUTINES, {one.variant for one in rates}),
    ):
        if set(every) - measured:
            words.append(f"{option} {','.join(name for name in every if name in measured)}")
    return f"okosu lab profile uml {' '.join(words)} --json unixbench.json"


def _functions(records: Sequence[Record], routines: Sequence[str]) -> Section:
    """Return Tables 2 and 3 with columns of our own beside each."""
    said = {one.id: one for one in entries.published("simd-kernel")[1]}
    columns = []
    for table, names in BESIDE.items():
        columns += [(table, ""), *((table, name) for name in names if name in routines)]
    columns += [("", name) for name in routines if not any(name in names for names in BESIDE.values())]
    taken = {
        str(one.parameters["function"]): sum(one.samples)
        for one in records
        if one.variant == TODAY and one.metric == FUNCTION and one.parameters.get("workload") == ALL
    }
    first = sorted(taken, key=lambda name: -taken[name])[:MOST]
    body = []
    for function in dict.fromkeys((*NAMED, *first)):
        cells = []
        for table, routine in columns:
            if routine:
                cells.append(_cell(_total(records, routine, function), _total(records, routine)))
                continue
            time, share = (said.get(f"{table}.{function}.{what}") for what in ("time", "share"))
            cells.append(f"{time.value:.2f} s, {share.value:.2f} %" if time and share else NONE)
        body.append([f"`{function}`", *cells])
    totals = [f"{_total(records, routine):.2f} s" if routine else NONE for _, routine in columns]
    heads = [f"`{routine}`" if routine else f"Table {table[1]}" for table, routine in columns]
    about = (
        f"Seconds by gprof in {formats.counted(_rounds(records), 'round')} of UnixBench's tests, and shares of the "
        "kernel's time: of the paper (Tables 2 and 3), and of each routine here."
    )
    return Section(id="functions", about=about, head=["function", *heads], body=[*body, ["the kernel", *totals]])


def _whole(records: Sequence[Record], routines: Sequence[str]) -> Section:
    """Return memcpy's and the kernel's time by routine, and their ratio to those with UML's own routine."""
    body = []
    for name in routines:
        samples = _total(records, name, MEMCPY) * RATE_HZ
        cells = [f"{samples:.0f}{'*' if samples < ENOUGH else ''}"]
        for metric, function in ((FUNCTION, MEMCPY), (KERNEL, "")):
            cells.append(f"{_total(records, name, function):.2f} s")
            mine, theirs = find(records, name, metric, function), find(records, TODAY, metric, function)
            cells.append(_ratio(mine, theirs) if name != TODAY else "1")
        body.append([f"`{name}`", *cells])
    head = ["routine", "samples of memcpy", "memcpy", f"over `{TODAY}`", "the kernel", f"over `{TODAY}`"]
    few = [f"\\* fewer than {ENOUGH:,} samples of memcpy in all: the standard error of so many is above 3 %."]
    return Section(id="routines", head=head, body=body, notes=few if any("*" in row[1] for row in body) else [])


def _rates(rates: Sequence[Record], routines: Sequence[str]) -> Section:
    """Return each test's rate with UML's own routine, and the others' over it."""
    by = {(str(one.parameters["workload"]), one.variant): one for one in rates}
    body = []
    for test in dict.fromkeys(name for name, _ in by):
        own = by.get((test, TODAY))
        if own is None:
            continue
        others = [_ratio(by.get((test, name)), own) for name in routines if name != TODAY]
        body.append([test, f"{median(own.samples):,.0f} {own.unit}", *others])
    return Section(
        id="rates",
        about=(
            f"Rates of UnixBench's tests (more is better): with `{TODAY}` the median of the boots, with the others "
            "their ratio to it by the median of the rounds, and its "
            f"{100 * (1 - ALPHA):.0f} % interval by the sign test."
        ),
        head=["test", f"`{TODAY}`", *(f"`{name}`" for name in routines if name != TODAY)],
        body=body,
    )


def _rounds(records: Sequence[Record]) -> int:
    """Return how many rounds are there whole."""
    kernel = find(records, TODAY, KERNEL)
    return len(kernel.samples) if kernel else 0


def _total(records: Sequence[Record], routine: str, function: str = "") -> float:
    """Return the seconds of a function, or of the kernel, in all boots."""
    found = find(records, routine, FUNCTION if function else KERNEL, function)
    return sum(found.samples) if found else 0.0


def _cell(seconds: float, whole: float) -> str:
    return f"{seconds:.2f} s, {100 * seconds / whole:.2f} %" if whole else NONE


def _ratio(mine: Record | None, theirs: Record | None) -> str:
    """Return mine over theirs by the median of their rounds, with its interval where there are rounds enough."""
    if mine is None or theirs is None:
        return NONE
    # A boot without a sample of a function counts as half a sample: it took less than one, but not no time.
    least = 0.0 if mine.metric == RATE else 0.5 / RATE_HZ
    ours, base = ({n: max(s, least) for n, s in by_round(one).items()} for one in (mine, theirs))
    both = sorted(ours.keys() & base.keys())
    if not both:
        return NONE
    found = paired.ratio([ours[n] for n in both], [base[n] for n in both], both, both, ALPHA)
    if not found.bounded:
        return f"{found.median:.3f}"
    interval = found.low, found.high
    low, high = (formats.ratio(end, interval) for end in interval)
    return f"{formats.ratio(found.median, interval)} ({low} to {high})"
