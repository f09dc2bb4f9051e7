# SPDX-License-Identifier: Apache-2.0
"""Section 8.3 of simd-kernel, the rule for real kernels: from which size a copy with the vector unit pays on x86-64."""

from __future__ import annotations

import os
from collections.abc import Iterator

import okosu
from lab import qemu
from lab.outcome import GuestError
from okosu.records.types import Record
from papers.common.base import Say
from papers.simd_kernel import break_even
from papers.simd_kernel.break_even import BreakEven

STATES = ("alone", "saved", "live")
"""With what state of the vector registers a call was timed: none to keep, saved already, a program's."""


def measure(say: Say) -> Iterator[Record]:
    """Boot the x86-64 kernel once, on this machine's processor where KVM works, and yield what it found."""
    built = qemu.build(say=say)
    found = None
    if os.access(qemu.KVM, os.R_OK | os.W_OK):
        # A machine that is a guest itself may have the device, and yet no guest of its own comes up.
        try:
            found = break_even.measure(built, kvm=True, say=say)
        except GuestError as error:
            say(f"KVM does not work here: {error.what}")
    yield from records(found or break_even.measure(built, say=say), built.version)


def records(found: BreakEven, version: str) -> Iterator[Record]:
    """Yield a record for each cost and each break-even size; one without samples that says why nothing was measured."""
    subject = f"linux {version}"
    if found.unmeasured:
        yield _record(subject, "auto", "break-even", "bytes", None, {}, found.unmeasured)
        return
    for cost in found.costs:
        for state in STATES:
            told: dict[str, str | float] = {"bytes": float(cost.size), "state": state}
            yield _record(subject, cost.name, "cost", "ticks", float(getattr(cost, state)), told)
    for name, size in found.smallest.items():
        why = "" if size else "wins at no size"
        yield _record(subject, name, "break-even", "bytes", float(size) if size else None, {}, why)


def _record(
    subject: str,
    variant: str,
    metric: str,
    unit: str,
    value: float | None,
    parameters: dict[str, str | float],
    note: str = "",
) -> Record:
    return Record(
        tool=f"okosu {okosu.__version__}",
        machine="",
        platform="qemu",
        subject=subject,
        variant=variant,
        stage="bench",
        metric=metric,
        unit=unit,
        samples=[] if value is None else [value],
        parameters=parameters,
        note=note,
    )
