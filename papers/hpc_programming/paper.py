# SPDX-License-Identifier: Apache-2.0
"""Kuroda's tutorial on the HA8000 cluster: the cycle counter, pinning, memory on a node, loops by SSE."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import ClassVar

from okosu import native
from okosu.errors import OkosuError
from papers.common.base import Experiment, Measured, Ours, Paper
from papers.hpc_programming import compare, loops

ROUNDS = "21"
"""Of these rounds a third may be dropped: 14 give an interval at 95 % over 400 points."""
QUICK = ("--rounds", "11")
FOUR = {"dsum", "dsumsq", "ddot", "daxpy"}
"""The routines of the paper's listings."""
INLINE = ("base", "avx2", "avx512")
"""For which instructions the header forms are compiled in the benches."""


class HpcProgramming(Paper):
    """High-performance programming (II), advanced."""

    name: ClassVar[str] = "hpc-programming"

    def experiments(self) -> list[Experiment]:
        """Return the listings, then the benches."""

        def listing(name: str, *args: str, text: bool = False, may_fail: bool = False) -> Experiment:
            program = f"okosu-paper-hpc_programming-{name.partition('-on-')[0]}"
            return Experiment(name, program, args, args, "text" if text else "json", may_fail)

        def bench(name: str, full: tuple[str, ...], quick: tuple[str, ...] | None) -> Experiment:
            return Experiment(name, f"okosu-bench-{name}", full, quick)

        listings = {listing.variant for listing in loops.LISTINGS.values()} | {loops.SCALAR}
        targets = [target for target in self.targets() if target.bench == "blas1"]
        routines = FOUR.union(*(target.select.routine for target in targets))
        blas1 = ("--only", ",".join(sorted(routines)), *self._rows_of("blas1", *listings))
        copy, zero = self._rows_of("copy"), self._rows_of("zero")
        few = ("--sizes", "64,512,4096,16384,1048576,4194304")
        x86 = [listing("ticks", "0", text=True), listing("intrinsics", may_fail=True), listing("compare")]
        return [
            *(x86 if platform.machine() == "x86_64" else []),
            listing("affinity"),
            listing("affinity-on-0", "0"),
            listing("nprocs", text=True),
            listing("bind", may_fail=True),
            bench("latency", (), ("--rounds", "5")),
            bench("numa", ("--rounds", "5"), ("--smoke",)),
            bench("blas1", ("--rounds", ROUNDS, *blas1), (*QUICK, *blas1, "--sizes", "8,32,2048,4096,32768,524288")),
            bench("copy", ("--rounds", ROUNDS, *copy), (*QUICK, *copy, *few)),
            bench("zero", ("--rounds", ROUNDS, *zero), (*QUICK, *zero, *few)),
        ]

    def _rows_of(self, name: str, *more: str) -> tuple[str, str]:
        """Return the option that leaves a bench the rows that its targets compare, and `more`."""
        kept = set(more)
        for target in self.targets():
            kind, _, names = target.against.partition(":")
            if target.bench == name:
                kept |= {target.select.variant, *(names.split(",") if kind in ("peer", "variant") else ())}
        kept = {name.replace("*", isa) for name in kept for isa in (INLINE if "*" in name else ("",))}
        return "--variant", ",".join(sorted(kept))

    def peers(self) -> list[Path]:
        """Return where the listings of section 5 lie as peers of the bench blas1."""
        try:
            return [native.find("okosu-paper-hpc_programming-peers.so").parent]
        except OkosuError:
            return []

    def compare(self, measured: Measured) -> dict[str, Ours]:
        """Return ours by the id of the published entry."""
        there = {entry.id: entry.value for entry in self.published()}
        found = compare.values(measured, there)
        return {name: Ours(value, why) for name, value, why in found if value is not None and name in there}
