# SPDX-License-Identifier: Apache-2.0
"""The engines that clear, of the pool and of okosu-zerod: which are really here, and what one costs whom."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from okosu.bench.rows import Result, Row
from papers.common import quantities

UNIT = 2 << 20
GIB = 1 << 30
CPU = frozenset({"nt", "memset", "kernel"})
"""Engines that are the CPU's own; any other is a device's."""
INSTEAD = {
    "cuda": "tested against a driver of the tests' own",
    "cuda-mailbox": "tested against a driver of the tests' own",
    "dsa": "tested against a mock",
    "opencl": "tested with PoCL on a CPU, where that is installed",
}
"""What stood in for a device that is not here."""


def _named(row: Row) -> str:
    device = "" if row.variant in CPU else f" on {row.config}"
    return f"{row.variant}{device} ({row.n / median(row.samples):.1f} GB/s)"


def told(result: Result | None) -> Iterator[tuple[str, float | None, str]]:
    """Yield how many kinds of device clear here, which, and which do not and what was tested in their place."""
    rows = [row for row in quantities.rows(result, "complete") if row.n == UNIT]
    if result is None or not rows:
        return
    devices = [row for row in rows if row.variant not in CPU]
    why = f"from asking to clean, a page at a time: {', '.join(map(_named, rows))}"
    if any(row.variant == "opencl" for row in devices):
        why += "; OpenCL's device is whatever this machine's driver offers, a CPU with PoCL"
    gone = [one.variant for one in result.absent if one.variant in INSTEAD]
    if gone:
        why += f"; not here: {'; '.join(f'{name}, {INSTEAD[name]}' for name in gone)}"
    yield "2.device", float(len(devices)), why


def launches(result: Result | None) -> str:
    """Say what asking each device costs the core that asks, and how much processor time the whole takes; "" of none."""
    cost = {row.variant: row for row in quantities.rows(result, "processor") if row.n == UNIT}
    posts = [row for row in quantities.rows(result, "post") if row.n == UNIT and row.variant in cost]
    said = [
        f"{row.variant} {quantities.cycles(row):,.0f} cycles and "
        f"{median(cost[row.variant].samples) / row.n * GIB / 1e9:.3f} s of processors a GiB"
        for row in posts
        if row.variant not in CPU
    ]
    return f"; asking a device: {', '.join(said)}" if said else ""
