# SPDX-License-Identifier: Apache-2.0
"""Fake programs okosu-bench-NAME, and the lines that they print. No number here was ever measured."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import msgspec
import shebang

from okosu.bench import rows
from okosu.records.types import BenchFile, BenchPlan, Tool

HEADER: dict[str, Any] = {
    "type": "header", "bench": "fake", "version": 2, "library": "okosu 0.1.0", "features": "sse2 avx2", "tick_hz": 2e9,
    "overhead_ticks": 50, "cycles_per_tick": 1.5, "cpu": 0, "seed": 7, "rounds": 6, "smoke": False,
    "caches": {"L1d": 49152, "L2": 1048576, "L3": 33554432},
}  # fmt: skip


def row(
    routine: str = "ddot", variant: str = "chosen", kind: str = "okosu", cost: float = 100.0, **more: Any
) -> dict[str, Any]:
    """A row; `cost` becomes the samples of 6 rounds unless `samples` are given."""
    samples = more.pop("samples", [cost * (1 + i / 1000) for i in range(6)])
    return {
        "type": "row", "routine": routine, "variant": variant, "kind": kind, "library": "okosu 0.1.0", "config": "",
        "n": 1024, "footprint": 16384, "place": "L1", "align": [0, 0], "mode": "throughput", "bytes_per_item": 16,
        "flops_per_item": 2, "items": 1024, "unit": "cycles", "samples": samples, "rounds": list(range(len(samples))),
        "dropped": 0, "point": 1, "extra": {}, **more,
    }  # fmt: skip


ABSENT = {"type": "absent", "variant": "mkl", "why": "no such file", "fix": "make peers"}
NOTE = {"type": "note", "text": "a remark"}
LIST = [
    {
        "type": "routine",
        "name": "ddot",
        "bytes_per_item": 16,
        "flops_per_item": 2,
        "item": "element",
        "doc": "products",
    },
    {"type": "variant", "name": "avx2", "needs": "avx2", "usable": True, "doc": "256 bits"},
    {"type": "variant", "name": "avx512", "needs": "avx512", "usable": False, "doc": "512 bits"},
]


def run() -> list[dict[str, Any]]:
    """The lines of a whole run: two sizes, each with okosu's row, two peers and two limits."""
    lines = [HEADER, ABSENT]
    for point, (n, place) in enumerate([(1024, "L1"), (65536, "L2")], 1):
        at = {"n": n, "items": n, "footprint": 16 * n, "place": place, "point": point}
        lines += [
            row(cost=n / 7.5, **at),
            row(variant="sse2", cost=n / 2.0, **at),
            row(variant="openblas", kind="peer", library="OpenBLAS 0.3.34", cost=n / 6.0, **at),
            row(variant="blis", kind="peer", library="BLIS 0.9", cost=n / 1.0, **at),
            row("limit-load2", "avx512", "limit", n / 8.0, **at),
            row("limit-fma", "avx512", "limit", n / 16.0, **{**at, "bytes_per_item": 0}),
        ]
    return [*lines, NOTE]


def program(folder: Path, lines: list[dict[str, Any]] | None = None, name: str = "fake", after: str = "") -> Path:
    """Make folder/okosu-bench-NAME, which prints these lines and then runs `after` (Python)."""
    path = folder / f"okosu-bench-{name}"
    printed = "".join(json.dumps(line) + "\n" for line in (run() if lines is None else lines))
    listed = "".join(json.dumps(line) + "\n" for line in LIST)
    path.write_text(
        f"{shebang.python('-SE')}import os, signal, sys, time\n"
        "signal.signal(signal.SIGINT, signal.SIG_DFL)\n"
        f"if '--list' in sys.argv:\n    sys.stdout.write({listed!r})\n    sys.exit(0)\n"
        f"sys.stdout.write({printed!r})\nsys.stdout.flush()\n{after}\n"
    )
    path.chmod(0o755)
    return path


def envelope(**changed: Any) -> BenchFile:
    """A file of two benchmarks: one with peers and limits over many sizes, one with hinted entries and glibc."""
    made = {
        "blas": _blas(),
        "copy": _copies(),
        "odd": [
            row("tick", v, cost=c, n=1, items=1, bytes_per_item=0, flops_per_item=0)
            for v, c in (("a", 3.0), ("b", 4.0))
        ],
    }
    records, plan = [], {}
    for name, lines in made.items():
        result = rows.Result(name)
        for line in [*LIST, HEADER | {"bench": name, "rounds": 12}, *lines, ABSENT, NOTE]:
            result.add(rows.decode(json.dumps(line).encode(), "p", 1))
        records += rows.records(result, "synthetic")
        plan[name] = {
            "header": msgspec.to_builtins(result.header), "routines": msgspec.to_builtins(result.routines),
            "absent": msgspec.to_builtins(result.absent), "notes": result.notes, "finished": name != "odd",
        }  # fmt: skip
    return BenchFile(
        tool=Tool("okosu", "0.1.0", "2026-11-02T09:30:00Z"),
        machine={"id": "synthetic", "note": "synthetic: never measured"},
        plan=BenchPlan(
            **{"command": ["okosu", "bench"], "options": ["--seed", "7"], "seed": 7, "benches": plan} | changed
        ),
        records=records,
        finished=True,
    )


def _jitter(cost: float, seed: int) -> list[float]:
    draw = random.Random(seed)
    return [cost * (1 + draw.gauss(0, 0.01)) for _ in range(12)]


def _blas() -> list[dict[str, Any]]:
    peers = {f"openblas-{i}": 3.0 + 0.4 * i for i in range(9)} | {"a-peer-with-a-rather-long-name": 1.0}
    lines = []
    for point, (n, place) in enumerate(
        [(4, "L1"), (64, "L1"), (2048, "L1"), (32768, "L2"), (1 << 20, "L3"), (1 << 24, "memory")]
    ):
        slow = min(1.0, 60_000 / n)
        at = {"n": n, "items": n, "footprint": 16 * n, "place": place, "point": point}
        for variant, speed in {"chosen": 7.5, "sse2": 2.0, "ref": 0.5}.items():
            lines.append(row(variant=variant, samples=_jitter(n / speed / slow + 8, point), **at))
        for i, (variant, speed) in enumerate(peers.items()):
            lines.append(row(variant=variant, kind="peer", samples=_jitter(n / speed / slow + 9, 99 * i + point), **at))
        lines.append(row(variant="paper-plain", kind="paper", samples=_jitter(n / 0.5 / slow + 9, point), **at))
        if n >= 64:
            lines.append(row("limit-load2", "avx512", "limit", samples=_jitter(n / 8.0 / slow, point + 7), **at))
    return lines


def _copies() -> list[dict[str, Any]]:
    lines = []
    for point, n in enumerate([16, 256, 4096, 65536, 1 << 20, 1 << 26]):
        at = {
            "n": n,
            "items": n,
            "footprint": 2 * n,
            "point": point,
            "mode": "hot",
            "bytes_per_item": 2,
            "flops_per_item": 0,
        }
        speeds = {"okosu_copy": 30.0, "okosu_copy_near": 50.0, "rep-movsb": 20.0, "nt": 3.0}
        for variant, speed in speeds.items():
            lines.append(row("copy", variant, samples=_jitter(n / speed + 8, point), **at))
        lines.append(row("copy", "glibc", "peer", samples=_jitter(n / 31.0 + 8, point + 50), **at))
    return lines
