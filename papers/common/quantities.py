# SPDX-License-Identifier: Apache-2.0
"""Readers of a bench's rows that the papers' comparisons share. None means that a number was not measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from statistics import median

from okosu.bench import figures
from okosu.bench.rows import Result, Row


def ghz(result: Result | None) -> float | None:
    """Return the core's clock while the bench ran, in GHz."""
    return result.header.core_hz / 1e9 if result and result.header else None


def rows(result: Result | None, routine: str, variant: str = "", kind: str = "") -> list[Row]:
    """Return the rows of a routine that have samples, of one variant or kind where named."""
    if result is None:
        return []
    return [
        row
        for row in result.rows
        if row.samples
        and row.routine == routine
        and (not variant or row.variant == variant)
        and (not kind or row.kind == kind)
    ]


def cycles(row: Row) -> float:
    """Return the median of a row that has samples: cost of one call, in its unit."""
    return median(row.samples)


def flops(row: Row) -> float:
    """Return floating-point operations in a cycle."""
    return figures.flops_rate(row) or 0.0


def bytes_per_cycle(row: Row) -> float:
    """Return bytes in a cycle."""
    return figures.bytes_rate(row) or 0.0


def best(found: Iterable[Row], rate: Callable[[Row], float]) -> float | None:
    """Return the highest rate of the rows, None where there is none."""
    return max((rate(row) for row in found), default=None)


def over(a: float | None, b: float | None) -> float | None:
    """Return a / b, None where either is not there or b is 0."""
    return a / b if a is not None and b else None


def near(a: float | None, b: float | None, share: float) -> bool:
    """Say whether two numbers are there and differ by at most that share of the second."""
    return a is not None and b is not None and abs(a - b) <= share * abs(b)
