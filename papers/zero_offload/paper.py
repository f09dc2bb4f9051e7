# SPDX-License-Identifier: Apache-2.0
"""The poster on clearing huge pages by an integrated GPU: what a launch costs, and what the same core gains by it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from papers.common import points, quantities
from papers.common.base import Experiment, LabExperiment, Measured, Ours, Paper
from papers.common.entries import Target
from papers.common.points import Found, Point, Sides
from papers.zero_offload import engines, lever

if TYPE_CHECKING:
    from okosu.bench.rows import Row

Told = Iterator[tuple[str, float | None, str]]
"""The id of a published entry, ours (None: not there), and the line on why they differ."""

PAGES = ("--only", "fault-2m", "--variant", "thp-touch,hugetlb-touch,pool-take,pool-take-read,pool-take-read-again")
WORKS = {"jhash": "jhash-100", "aes-1": "aes-1", "aes-10": "aes-10"}
"""The rows of Table 1, by the kernel of the bench corunner that stands beside."""
MCYCLE = 1e6
GPU = Path("/dev/nvidiactl")
"""It is there where NVIDIA's driver is."""


class ZeroOffload(Paper):
    """Clearing huge pages in the Linux kernel by an integrated GPU."""

    name: ClassVar[str] = "zero-offload"

    def experiments(self) -> list[Experiment | LabExperiment]:
        """Return the benches, then the lever on whole programs."""

        def bench(name: str, full: tuple[str, ...], quick: tuple[str, ...]) -> Experiment:
            return Experiment(name, f"okosu-bench-{name}", full, quick)

        return [
            bench("fault", ("--rounds", "15", *PAGES), ("--rounds", "5", *PAGES)),
            bench("zero-engines", ("--rounds", "9"), ("--rounds", "3", "--sizes", "2097152")),
            bench("corunner", ("--rounds", "21"), ("--rounds", "8", "--variant", "nt")),
            LabExperiment("try", lever.measure, lever.SHOWN, quick=True, thin=lever.measure_few),
        ]

    def targets(self) -> list[Target]:
        """Return the targets, those of a GPU only where there is one."""
        return [one for one in super().targets() if one.select.variant != "cuda-mailbox" or GPU.exists()]

    def compare(self, measured: Measured) -> dict[str, Ours]:
        """Return ours by the id of the published entry."""
        found = [*_pages(measured), *engines.told(measured.rows.get("zero-engines")), *_table1(measured)]
        return {name: Ours(value, why) for name, value, why in found if value is not None}

    def sides(self, target: Target, measured: Measured) -> Found:
        """Return the runs of whole programs without the lever and with it; what benches measured is the others'."""
        if target.bench:
            return super().sides(target, measured)
        program = target.id.removeprefix("try-").removesuffix("-busy")
        busy = "busy" if target.id.endswith("-busy") else "idle"
        by_arm = {
            record.variant: points.by_round(record)
            for record in measured.records.get("try", [])
            if (record.subject, record.parameters["cpus"]) == (program, busy)
        }
        if not {"base", "prezero"} <= by_arm.keys():
            return Found([], [measured.missing.get("try", f"{program} was not run")])
        sides = Sides(Point(mode=busy), program, "prezero", "base", by_arm["prezero"], by_arm["base"])
        return Found([sides], [])


def _page(row: Row) -> float:
    """Return what one page cost, in the row's unit."""
    return quantities.cycles(row) / row.items


def _fault(measured: Measured, unit: str, mode: str = "backed") -> dict[str, float]:
    """Return the cost of a page of 2 MiB by how it is had; unbacked: from memory that the host had taken back."""
    found = quantities.rows(measured.rows.get("fault"), "fault-2m")
    return {row.variant: _page(row) for row in found if (row.unit, row.mode) == (unit, mode)}


def _pages(measured: Measured) -> Told:
    """Compare what a fault costs, what taking a clean page does, and what asking for one to be cleared does."""
    ns, cycles = _fault(measured, "ns"), _fault(measured, "cycles")
    how = "hugetlb-touch" if "hugetlb-touch" in ns else "thp-touch"
    kind = "a hugetlb page" if how == "hugetlb-touch" else "a transparent huge page; no hugetlb page was free here"
    fault, taken = ns.get(how), ns.get("pool-take")
    why = f"the whole fault on {kind}, another machine"
    if unbacked := _fault(measured, "ns", "unbacked").get("thp-touch"):
        why += f"; {unbacked / 1e3:,.0f} µs where this virtual machine's host had taken the memory back"
    yield "1.clear", quantities.over(fault, 1e3), why
    yield "1.ahead", quantities.over(taken, 1e3), "a clean block of the pool in user space, its first word stored"
    clear = cycles.get(how)
    yield "4.clear", quantities.over(clear, MCYCLE), f"the whole fault on {kind}; the kernel clears all of it there"
    posts = quantities.rows(measured.rows.get("zero-engines"), "post", "nt")
    post = next((quantities.cycles(row) for row in posts if row.n == 2 << 20), None)
    yield (
        "4.launch",
        post,
        "giving a page to the thread that clears, in the same process: a page is cleared ahead here, not in the fault"
        + engines.launches(measured.rows.get("zero-engines")),
    )
    take = cycles.get("pool-take")
    if clear is not None and post is not None and take is not None:
        why = f"the fault less the taking ({take:,.0f} cycles) and the giving back ({post:,.0f}) of a clean page"
        yield "4.saved", (clear - take - post) / MCYCLE, why


def _table1(measured: Measured) -> Told:
    result = measured.rows.get("corunner")
    for name, kernel in WORKS.items():
        rows = {row.variant: row for row in quantities.rows(result, kernel)}
        for column, variant in (("original", "at-fault"), ("proposal", "nt")):
            if variant not in rows:
                continue
            told = rows[variant].extra
            about = f"{told['calls']:,} calls, {told['pages_per_second']:.0f} pages a second"
            if variant == "nt" and "at-fault" in rows:
                ratio = told["mean"] / rows["at-fault"].extra["mean"]
                about += f", {ratio:.3f} times the original"
            elif variant == "at-fault" and "alone" in rows:
                about += f"; {rows['alone'].extra['mean'] / MCYCLE:.3g} where nobody takes pages"
            yield f"t1.{name}.{column}", told["mean"] / MCYCLE, f"{about}; {rows[variant].config}"
            yield f"t1.{name}.{column}.std", told["deviation"] / MCYCLE, "over all calls of all rounds"
