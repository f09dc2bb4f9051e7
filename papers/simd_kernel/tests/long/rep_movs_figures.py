# SPDX-License-Identifier: Apache-2.0
"""The figures of the series um-rep-movs: `python -m papers.simd_kernel.tests.long.rep_movs_figures [PAIRS]`.

First TSC ticks of one call in user space, by length and by the places of the blocks in their pages. Then the wall
seconds of workloads under User-Mode Linux without the series and with it, in pairs of boots whose order is drawn anew,
and the ratio of the two by the median of the pairs, with its interval (95 %, by the sign test). It wants a quiet
machine, and takes half a minute a pair.
"""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

from lab.kernel.build import Built
from lab.run import guest, uml
from lab.tests.long.base import BASE
from lab.tests.long.kernel_commits import Workbench
from okosu.stats import paired
from papers.simd_kernel.run import profiling
from papers.simd_kernel.tests.long import rep_movs_tool

SIZES = (16, 64, 512, 1024, 1536, 2048, 4096, 16384)
PAIRS = 12
SETUP = """
set -e
cp -r /usr/include/linux /tmp/tree
timed() { name=$1; shift; begun=$(date +%s%N); "$@"; echo "$name $(($(date +%s%N) - begun))"; }
read_file() { "$PAGEREAD" 262144 1 30000 >/dev/null; }
zero() { dd if=/dev/zero of=/dev/null bs=1M count=8000 2>/dev/null; }
pipe() { dd if=/dev/zero bs=64k count=20000 2>/dev/null | dd of=/dev/null bs=64k 2>/dev/null; }
fork() { "$FORK" 256 20 >/dev/null; }
tar_pipe() { tar -C /tmp -cf - tree tree tree tree | cat >/dev/null; }
short_pipe() { dd if=/dev/zero bs=64 count=10000 2>/dev/null | dd of=/dev/null bs=64 2>/dev/null; }
"""
WORKS = {
    "read_file": "reads of a file in the page cache, 256 KiB",
    "zero": "dd of /dev/zero, 1 MiB",
    "pipe": "dd of /dev/zero through a pipe, 64 KiB",
    "fork": "fork, and a write to each of 256 pages",
    "tar_pipe": "tar of some 3,000 headers through a pipe",
    "short_pipe": "dd of /dev/zero through a pipe, 64 bytes",
}
PROGRAMS = {"PAGEREAD": "work_pageread", "FORK": "work_fork"}


def main(words: Sequence[str]) -> None:
    pairs = int(words[0]) if words else PAIRS
    with tempfile.TemporaryDirectory() as folder:
        print_ticks(Path(folder))
    print_workloads(pairs)


def print_ticks(folder: Path) -> None:
    program = rep_movs_tool.program(Workbench(folder, rep_movs_tool.SERIES, "um"), folder)
    with profiling.on_one_cpu():
        done = subprocess.run([program, *map(str, SIZES)], capture_output=True, text=True, check=True)
    print(f"{'':5}{'bytes':>6} {'from':>5} {'to':>5} {'loop':>8} {'string':>8} {'series':>8}   ticks of one call")
    for line in done.stdout.splitlines():
        name, size, source, to, *ticks = line.split()
        print(f"{name:5}{size:>6} {source:>5} {to:>5} " + " ".join(f"{tick:>8}" for tick in ticks))


def print_workloads(pairs: int) -> None:
    kernels = {"without": rep_movs_tool.kernel(BASE), "with": rep_movs_tool.kernel(BASE, rep_movs_tool.SERIES)}
    found: dict[str, dict[str, list[float]]] = {name: {kind: [] for kind in kernels} for name in WORKS}
    draw = random.Random(1)
    for _ in range(pairs):
        for kind in draw.sample(sorted(kernels), len(kernels)):
            for name, seconds in boot(kernels[kind]).items():
                found[name][kind].append(seconds)
    print(f"\n{'':44}{'without':>9}{'with':>9}   with/without")
    for name, said in WORKS.items():
        without, with_ = found[name]["without"], found[name]["with"]
        print(f"{said:44}{statistics.median(without):8.3f}s{statistics.median(with_):8.3f}s   {ratio(with_, without)}")


def ratio(with_: Sequence[float], without: Sequence[float]) -> str:
    """Return the median of the pairs' ratios, and between which of them the true one lies by the sign test."""
    ordered = sorted(a / b for a, b in zip(with_, without, strict=True))
    rank = paired.rank(len(ordered), Fraction(1, 20))
    middle = f"{statistics.median(ordered):.3f}"
    return f"{middle} ({ordered[rank - 1]:.3f} to {ordered[-rank]:.3f})" if rank else f"{middle} (too few pairs)"


def boot(built: Built) -> dict[str, float]:
    """Boot once, on one CPU, and return each workload's wall seconds."""
    programs = "".join(f"{name}={guest.program(program)}\n" for name, program in PROGRAMS.items())
    script = programs + SETUP + "".join(f"timed {name} {name}\n" for name in WORKS)
    with profiling.on_one_cpu():
        outcome = uml.run(built, ["sh", "-c", script], kernel_args=profiling.KERNEL_ARGS)
    assert outcome.status == 0, outcome.console
    return {name: int(text) / 1e9 for name, text in map(str.split, outcome.stdout.decode().splitlines())}


if __name__ == "__main__":
    main(sys.argv[1:])
