# SPDX-License-Identifier: Apache-2.0
"""What a summary keeps of `okosu bench zero-engines`: what each engine costs, and which engines were not there."""

from __future__ import annotations

from statistics import median

from okosu.bench.rows import from_records
from okosu.records.summary import Section
from okosu.records.types import BenchFile, ReproduceFile

HEAD = ["engine", "device", "block", "asking", "until clean", "GB/s", "processors, s a GiB", "looked through"]


def seconds(value: float) -> str:
    """Return processor time for a GiB as text; a device takes so little that it needs more digits."""
    return f"{value:.3f}" if value >= 0.01 else f"{value:.6f}"


def sections(envelope: BenchFile | ReproduceFile) -> list[Section]:
    rows = from_records(envelope.records).get("zero-engines", [])
    cost = {(row.variant, row.n, row.routine): median(row.samples) for row in rows if row.samples}
    body = []
    for row in rows:
        if row.routine != "complete" or (row.variant, row.n, "processor") not in cost:
            continue
        clean, used = cost[row.variant, row.n, "complete"], cost[row.variant, row.n, "processor"]
        size = f"{row.n >> 30} GiB" if row.n >= 1 << 30 else f"{row.n >> 20} MiB"
        asking = cost[row.variant, row.n, "post"]
        body.append(
            [
                row.variant,
                row.config,
                size,
                f"{asking:,.0f} cycles" if asking >= 1000 else f"{asking:.3g} cycles",
                f"{clean / 1e3:,.0f} µs",
                f"{row.n / clean:.1f}",
                seconds(used / row.n * (1 << 30) / 1e9),
                f"{row.extra.get('scanned', 0)} blocks",
            ]
        )
    benches = envelope.plan.benches
    absent = benches.get("zero-engines", {}).get("absent", [])
    gone = [f"has no {one['variant']}: {one['why']}." for one in absent]
    return [Section(id="engines", head=HEAD, body=body, notes=gone)] if body or gone else []
