# SPDX-License-Identifier: Apache-2.0
"""Made-up records of simd-kernel, as the lab would return them of boots, builds, code and profiles."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from okosu.records.types import Record
from papers.simd_kernel.plan import Timing
from papers.simd_kernel.run import copybench, survey, vectorised
from papers.simd_kernel.run.copybench import Boot

PLAN = Timing(boots=12, rounds=1, calls=1000)
SIZES = range(64, 2049, 16)


def ticks(name: str, size: int) -> float:
    """Return routines as the paper has them: orig a loop, string instructions with a start, SSE in blocks of 512."""
    blocks, rest = divmod(size, 512)
    return {
        "orig": 5 + size / 8,
        "movsq": 20 + size / 16,
        "movsb": 25 + size / 32,
        "paper": 2 + blocks * 20 + (20 + rest / 16 if rest else 0),
        "avx2": 4 + size / 64,
    }[name]


def boots(count: int = 12, **factor: float) -> Iterator[Boot]:
    names = ("orig", "movsq", "movsb", "paper", "avx2")
    for number in range(count):
        drift = 1 + number / 100
        timed = {(n, size): drift * ticks(n, size) * factor.get(n, 1.0) for n in names for size in SIZES}
        printed = {(n, "copy", size): timed[n, size] for n in names for size in (512, 2048)}
        yield Boot(timed, printed | {(n, "set", 512): 9.0 for n in names}, "avx2")


def figure6_records(**factor: float) -> list[Record]:
    return copybench.records(list(boots(**factor)), PLAN, "6.12.1-1")


def surveyed() -> list[Record]:
    found = []
    for name, lines in (
        ("gcc-11-vectorize", ["lib/bitmap.c:1:1", "lib/bitmap.c:2:1", "mm/new.c:3:1"]),
        ("stock", []),
    ):
        log = vectorised.parse(
            ["  CC      a.o", *(f"{line}: optimized: loop vectorized using 16 byte vectors" for line in lines)]
        )
        about: dict[str, str | float] = {"compiler": "gcc-11 (Debian 11.3.0-12) 11.3.0", "flags": "-O2"}
        found += list(survey.records(log, Path("/nowhere"), name, "linux 6.12.1-1", about))
        for loop in ("figure4", "runtime"):
            found.append(_of(found[-1], "probe", float(name != "stock"), {**about, "loop": loop}))
    return found


def _of(like: Record, metric: str, value: float, parameters: dict[str, Any]) -> Record:
    return Record(
        tool="t", machine="m", subject=like.subject, variant=like.variant, stage="bench", metric=metric, unit="",
        samples=[value], parameters=parameters,
    )  # fmt: skip


def compiled() -> list[Record]:
    held = {("plain", "code"): 1000, ("fixed", "code"): 1600, ("orig", "strings"): 0, ("paper", "loads"): 32}
    held |= {("fixed", "routines"): 700, ("fixed-512", "loads"): 16, ("fixed-512", "branches"): 0}
    return [
        Record(tool="t", machine="m", subject="s", variant=variant, metric=metric, unit="", samples=[float(value)])
        for (variant, metric), value in held.items()
    ]


TIMES = {"orig": 4.0, "movsq": 3.0, "movsb": 2.9, "paper": 2.0, "avx2": 1.0, "sse2": 1.2}


def profiled(**memcpy: float) -> list[Record]:
    """Return boots in which the kernel takes 20 s and memcpy, and the workload `pipe` half of it."""
    found = []
    for routine, time in {**TIMES, **memcpy}.items():
        functions = {"memcpy": time, "hard_handler": 3.5, "userspace": 2.5, "set_up_tty": 1.5, "a": 0.5, "b": 0.1}
        for workload, part in (("all", 1.0), ("pipe", 0.5)):
            timed = [("kernel", "", 20.0 + time), ("wall", "", 50.0)]
            timed += [("function", name, seconds) for name, seconds in functions.items()]
            for metric, name, seconds in timed:
                found.append(
                    Record(
                        tool="t", machine="m", platform="uml", subject="linux 6.12.1-1", variant=routine,
                        stage="bench", metric=metric, unit="s",
                        samples=[part * seconds * (1 + n / 50) for n in range(12)], rounds=list(range(12)),
                        parameters={"workload": workload, **({"function": name} if name else {})},
                    )
                )  # fmt: skip
    return found
