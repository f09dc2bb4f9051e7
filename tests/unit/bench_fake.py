# SPDX-License-Identifier: Apache-2.0
"""Made-up programs okosu-bench-NAME, and the lines that they print. No number here was ever measured."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

HEADER: dict[str, Any] = {
    "type": "header", "bench": "fake", "version": 1, "library": "okosu 0.1.0", "features": "sse2 avx2", "tick_hz": 2e9,
    "overhead_ticks": 50, "cycles_per_tick": 1.5, "cpu": 0, "seed": 7, "rounds": 6, "smoke": False,
    "caches": {"L1d": 49152, "L2": 1048576, "L3": 33554432},
}  # fmt: skip


def row(
    kernel: str = "ddot", variant: str = "chosen", kind: str = "okosu", cost: float = 100.0, **more: Any
) -> dict[str, Any]:
    """Return a row; `cost` becomes the samples of 6 rounds unless `samples` are given."""
    samples = more.pop("samples", [cost * (1 + i / 1000) for i in range(6)])
    return {
        "type": "row", "kernel": kernel, "variant": variant, "kind": kind, "library": "okosu 0.1.0", "config": "",
        "n": 1024, "footprint": 16384, "place": "L1", "align": [0, 0], "mode": "throughput", "bytes_per_item": 16,
        "flops_per_item": 2, "items": 1024, "unit": "cycles", "samples": samples, "rounds": list(range(len(samples))),
        "dropped": 0, "point": 1, "extra": {}, **more,
    }  # fmt: skip


ABSENT = {"type": "absent", "variant": "mkl", "why": "no such file", "fix": "make peers"}
NOTE = {"type": "note", "text": "a remark"}
LIST = [
    {"type": "kernel", "name": "ddot", "bytes_per_item": 16, "flops_per_item": 2, "item": "element", "doc": "products"},
    {"type": "variant", "name": "avx2", "needs": "avx2", "usable": True, "doc": "256 bits"},
    {"type": "variant", "name": "avx512", "needs": "avx512", "usable": False, "doc": "512 bits"},
]


def run() -> list[dict[str, Any]]:
    """Return the lines of a whole run: two sizes, each with ours, two peers and two limits."""
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
        f"#!{sys.executable} -SE\nimport os, signal, sys, time\n"
        "signal.signal(signal.SIGINT, signal.SIG_DFL)\n"
        f"if '--list' in sys.argv:\n    sys.stdout.write({listed!r})\n    sys.exit(0)\n"
        f"sys.stdout.write({printed!r})\nsys.stdout.flush()\n{after}\n"
    )
    path.chmod(0o755)
    return path
