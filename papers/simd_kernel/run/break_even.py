# SPDX-License-Identifier: Apache-2.0
"""Section 8.3: from which size a copy with the vector unit pays in an x86-64 kernel, as the kernel prints at boot."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lab.cache import Say, quiet
from lab.kernel.build import Built
from lab.run import qemu
from lab.run.outcome import GuestError
from okosu.records.types import Record
from papers.simd_kernel.run.records import record

# Reasons why nothing was measured: under QEMU's TCG, and on a kernel without the series, which logs nothing.
UNDER_TCG = "not measured under TCG"
_SILENT = "not measured: this kernel's log does not speak of it"

_record = functools.partial(record, platform="qemu")

STATES = ("alone", "saved", "live")
"""With what state of the vector registers a call was timed: none to keep, saved already, a program's."""

_BENCH = re.compile(r"simd_copy: bench (\d+) (.+)$", re.M)
_COST = re.compile(r"(\w+)=(\d+)(?:/(\d+)/(\d+))?")
_BREAK_EVEN = re.compile(r"simd_copy: break-even (\w+): (?:(\d+) bytes|never)$", re.M)
_REASON = re.compile(r"simd_copy: break-even: not measured:? ?(.+?)\s*$", re.M)


@dataclass(frozen=True)
class Cost:
    """What one routine costs at one size (bytes), in ticks of the TSC a call.

    `alone` is the routine by itself; `saved` with a kernel_fpu_begin() that finds the registers saved; `live` with a
    program's registers, which are saved before and loaded after. All are equal for a routine that needs no FPU state.
    """

    name: str
    size: int
    alone: int
    saved: int
    live: int


@dataclass(frozen=True)
class BreakEven:
    """What a boot found: the costs, and for each routine the size from which it wins (None: at no size).

    Where the clock means nothing both are empty, and `unmeasured` says why.
    """

    costs: tuple[Cost, ...]
    smallest: dict[str, int | None]
    unmeasured: str | None


def parse(log: str) -> BreakEven:
    """Return what a kernel's log says of its copies."""
    costs = tuple(
        Cost(name, int(size), int(alone), int(saved or alone), int(live or alone))
        for size, line in _BENCH.findall(log)
        for name, alone, saved, live in _COST.findall(line)
    )
    smallest = {name: int(size) if size else None for name, size in _BREAK_EVEN.findall(log)}
    return BreakEven(costs, smallest, None if costs else _why(log))


def _why(log: str) -> str:
    """Return why a log has no costs."""
    if not (reason := _REASON.search(log)):
        return _SILENT
    return UNDER_TCG if reason[1] == "under emulation" else f"not measured: {reason[1]}"


def boot(built: Built, *, kvm: bool = False, kernel_args: Sequence[str] = (), say: Say = quiet) -> BreakEven:
    """Boot the kernel once and return its measurements. Without `kvm` the processor is emulated, and there are none."""
    say("booting")
    outcome = qemu.run(built, ["true"], kernel_args=("simd_copy=auto", *kernel_args), kvm=kvm)
    return parse(outcome.log)


def measure(say: Say) -> Iterator[Record]:
    """Boot the x86-64 kernel once, on this machine's processor where KVM works, and yield what it found."""
    built = qemu.build(say=say)
    found = None
    if os.access(qemu.KVM, os.R_OK | os.W_OK):
        # A machine that is a guest itself may have the device although no guest of its own boots.
        try:
            found = boot(built, kvm=True, say=say)
        except GuestError as error:
            say(f"KVM does not work here: {error.what}")
    yield from records(found or boot(built, say=say), built.version)


def records(found: BreakEven, version: str) -> Iterator[Record]:
    """Yield a record for each cost and each break-even size; one without samples that says why nothing was measured."""
    subject = f"linux {version}"
    if found.unmeasured:
        yield _record(subject, "auto", "break-even", "bytes", None, note=found.unmeasured)
        return
    for cost in found.costs:
        for state in STATES:
            told: dict[str, str | float] = {"bytes": float(cost.size), "state": state}
            yield _record(subject, cost.name, "cost", "ticks", getattr(cost, state), told)
    for name, size in found.smallest.items():
        why = "" if size else "wins at no size"
        yield _record(subject, name, "break-even", "bytes", size, note=why)


def table(found: BreakEven) -> list[str]:
    """Return the costs as lines of text, a size each; with FPU state alone/saved/live."""
    if found.unmeasured:
        return [f"break-even: {found.unmeasured}"]
    names = list(dict.fromkeys(cost.name for cost in found.costs))
    cells = {(cost.size, cost.name): _cell(cost) for cost in found.costs}
    sizes = sorted({cost.size for cost in found.costs})
    width = max((len(text) for text in (*cells.values(), *names)), default=0) + 2
    lines = ["  bytes" + "".join(name.rjust(width) for name in names)]
    lines += [f"{size:7}" + "".join(cells.get((size, name), "-").rjust(width) for name in names) for size in sizes]
    for name, size in found.smallest.items():
        lines.append(f"{name}: " + (f"wins from {size} bytes" if size else "wins at no size"))
    return lines


def _cell(cost: Cost) -> str:
    if cost.alone == cost.saved == cost.live:
        return str(cost.alone)
    return f"{cost.alone}/{cost.saved}/{cost.live}"
