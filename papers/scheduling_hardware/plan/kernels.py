# SPDX-License-Identifier: Apache-2.0
"""Kernels of threads that do a part each and meet, or lock what they share: 1 to 64 PEs, both ISAs, both back ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from papers.scheduling_hardware.cross_compile import BACKENDS
from papers.scheduling_hardware.machine import ISAS, Machine
from papers.scheduling_hardware.plan.scaling import PES
from papers.scheduling_hardware.run import Run

KERNELS: dict[str, tuple[str, ...]] = {"fft": ("9",), "lu": ("32", "4"), "barnes": ("128",)}
"""Programs of sw/programs and their sizes, small enough for 64 PEs to be simulated in a minute."""
ON_LINUX: dict[str, tuple[str, ...]] = {"fft": ("15",), "lu": ("512", "16"), "barnes": ("16384",)}
"""The larger sizes on Linux, where creating two threads takes longer than the whole of most small ones."""


def runs(pes: Sequence[int] = PES, isas: Sequence[str] = ISAS, dcache: int = 0) -> list[Run]:
    """Return the runs, with as many threads as there are PEs beside main, which waits for them. With data caches of
    `dcache` bytes memory is on the pipelined bus.
    """
    machine = Machine(dcache=dcache, bus="pipelined") if dcache else Machine()
    return [
        Run(kernel, (*KERNELS[kernel], str(count)), replace(machine, pes=count, isa=isa), backend, told={"isa": isa})
        for isa in isas
        for count in pes
        for kernel in KERNELS
        for backend in BACKENDS
    ]
