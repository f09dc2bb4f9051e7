# SPDX-License-Identifier: Apache-2.0
"""Which samples of a microbenchmark had their core to themselves (docs/METHOD.md, section 10).

Another hyperthread takes part of what a core does in a cycle. Beside each sample stands how many loads of one line the
core completed in a cycle just before or after it, whichever were fewer; a core of one's own completes as many as the
best samples of all processes of a run show.
"""

from __future__ import annotations

from collections.abc import Iterable

from okosu.bench.rows import Row

SHARE = 0.93
"""With fewer than this share of the loads the core was shared, as in native/bench/harness_internal.h."""
BEST = 0.99
"""The quantile of all samples that stands for a core of one's own; the highest ones may hold errors of the clock."""
FEWEST = 5
"""Pairs of samples that a comparison needs: beside a busy neighbour it has fewer, and says so."""


def core_loads(rows: Iterable[Row]) -> float:
    """Loads in a cycle of a core of one's own, by the rows of all processes on one machine; 0 where none says any."""
    found = sorted(load for row in rows for load in row.loads)
    return found[int(BEST * (len(found) - 1))] if found else 0.0


def alone(row: Row, core: float) -> set[int]:
    """The rounds in which the row's sample had the core to itself; all where the row does not say."""
    if not row.loads:
        return set(row.rounds)
    return {number for number, load in zip(row.rounds, row.loads, strict=True) if load >= SHARE * core}
