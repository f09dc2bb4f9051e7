# SPDX-License-Identifier: Apache-2.0
"""Rows and results as a bench would give them, with planted samples, for the papers' tests."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from okosu.bench.rows import Header, Result, Row

ROUNDS = 21


def header(bench: str, cycles_per_tick: float = 1.7) -> Header:
    return Header(
        bench=bench,
        version=1,
        features="sse2 sse3 avx2 avx512",
        tick_hz=2.5e9,
        overhead_ticks=20.0,
        cycles_per_tick=cycles_per_tick,
        cpu=1,
        seed=1,
        rounds=ROUNDS,
        caches={"L1d": 49152, "L2": 1048576, "L3": 33554432},
    )


def row(routine: str, variant: str, kind: str, cost: float | Sequence[float], **fields: Any) -> Row:
    """Return a row of a routine whose calls cost so much: one number (with 1 % of noise) or the samples themselves."""
    if isinstance(cost, (int, float)):
        noise = random.Random(f"{routine} {variant} {sorted(fields.items())}")
        samples = [cost * (1 + noise.uniform(-0.01, 0.01)) for _ in range(fields.pop("count", ROUNDS))]
    else:
        samples = list(cost)
    n = fields.pop("n", 2048)
    per_item = {"bytes_per_item": 8.0, "flops_per_item": 1.0, "place": "L1", "align": [0, 0], "mode": "throughput"}
    return Row(
        routine=routine,
        variant=variant,
        kind=kind,  # type: ignore[arg-type]
        library="test",
        n=n,
        items=fields.pop("items", n),
        footprint=fields.pop("footprint", 8 * n),
        unit=fields.pop("unit", "cycles"),
        samples=samples,
        rounds=list(range(len(samples))),
        **{**per_item, **fields},
    )


def result(bench: str, rows: Sequence[Row]) -> Result:
    return Result(bench, header(bench), list(rows), finished=True)
