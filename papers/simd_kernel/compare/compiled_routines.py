# SPDX-License-Identifier: Apache-2.0
"""What the compiled routines hold, and how much code the routines for fixed sizes (section 8.1) add."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from okosu.records.types import Record
from papers.simd_kernel.compare import Beside

VECTOR = 16
"""Bytes that a movdqu holds."""


def compare(records: Sequence[Record]) -> Beside:
    """Yield what stands beside what sections 6 and 8.1 say of the routines."""
    held = {(record.variant, record.metric): record.samples[0] for record in records}
    loads = held.get(("paper", "loads"))
    why = f"{loads or 0:.0f} loads of {VECTOR} bytes in a turn of the variant paper, as it was compiled"
    yield "6.block", None if loads is None else loads * VECTOR, why
    string = held.get(("orig", "strings"))
    yield "6.string", string, "UML's memcpy of today, moves of 8 bytes in a loop: rep movsq stands for the paper's"
    fixed = held.get(("fixed-512", "loads"))
    yield "8.1.copies", fixed, f"vector loads of the routine for 512 bytes, as it was compiled{_cost(held)}"
    yield "8.1.branches", held.get(("fixed-512", "branches")), "of the routine for 512 bytes, as it was compiled"


def _cost(held: Mapping[tuple[str, str], float]) -> str:
    """Return what the routines for fixed sizes cost: their own bytes, and the growth of the kernel's code."""
    before, after = held.get(("plain", "code")), held.get(("fixed", "code"))
    own = held.get(("fixed", "routines"))
    if not before or not after or own is None:
        return ""
    return (
        f"; all routines for fixed sizes are {own:.0f} bytes, and the kernel's code goes from {before:.0f}"
        f" to {after:.0f} ({after - before:+.0f}): with memcpy a macro, the compiler inlines functions otherwise"
    )
