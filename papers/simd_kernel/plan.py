# SPDX-License-Identifier: Apache-2.0
"""What is measured for simd-kernel: configurations of kernels, sizes and boots of each experiment, compilers."""

from __future__ import annotations

from dataclasses import dataclass

from lab.run import uml

FIXED, GPROF, STATS, SURVEY = ((*uml.RECIPE.fragments, f"um-{name}") for name in ("fixed", "gprof", "stats", "survey"))
"""Configurations: routines for fixed sizes; gprof's clock; counters of callers and sizes; the files of Table 1."""


@dataclass(frozen=True)
class Timing:
    """How routines are timed: boots, rounds in each, calls of each size and routine in each round, sizes in bytes."""

    boots: int = 10
    rounds: int = 5
    calls: int = 100_000
    first: int = 64
    last: int = 2048
    step: int = 16

    @property
    def total(self) -> int:
        """Return the calls of each routine and size in all boots."""
        return self.boots * self.rounds * self.calls

    @property
    def asked(self) -> str:
        """Return the line that debugfs um_copy/bench takes."""
        return f"{self.rounds} {self.calls} {self.first} {self.last} {self.step}"


FIGURE6 = Timing()
"""The paper's Figure 6, 5,000,000 calls of each routine for 128 to 2048 bytes, and sizes from 64 bytes before it."""
QUICK = Timing(boots=2, rounds=2, calls=1000, step=64)
"""Two boots of a few seconds: a first impression, and too few for any interval."""

ROUTINES = ("orig", "movsq", "movsb", "paper", "sse2", "avx2", "avx512")
"""The kernel's copy routines, as its table has them; a machine may be unable to run the last ones."""
ROUNDS = 10
"""Boots of each routine in which the whole set of workloads is profiled."""
ALONE = 2
"""Rounds in which each workload has boots of its own, beside those of the whole set."""


@dataclass(frozen=True)
class Configuration:
    """One build of the survey: a compiler and what is added to the kernel's own flags (-O2)."""

    name: str
    cc: str
    flags: str
    doc: str


SSE = "-mmmx -msse -msse2"
"""Linux 6.12 compiles UML with -mno-sse for GCC 11 and later (arch/x86/Makefile.um); this takes it back."""
CONFIGURATIONS = (
    Configuration("gcc-12-O2", "gcc-12", SSE, "-O2, which vectorises in GCC 12 where that costs nothing"),
    Configuration("gcc-11-vectorize", "gcc-11", f"{SSE} -ftree-vectorize", "the paper's option; -O2 alone does not"),
    Configuration("gcc-12-O3", "gcc-12", f"{SSE} -O3", "-O3"),
    Configuration("stock", "gcc-12", "", "the kernel's own flags: no vector registers"),
    Configuration("gcc-11-O3", "gcc-11", f"{SSE} -O3", "-O3"),
    Configuration("none", "gcc-12", f"{SSE} -fno-tree-vectorize", "nothing vectorised, to compare code sizes with"),
)
NEAREST = ("gcc-11-vectorize", "gcc-11-O3", "gcc-12-O3", "gcc-12-O2", "stock")
"""Configurations of the survey, the nearest to the paper's compiler and options first."""
