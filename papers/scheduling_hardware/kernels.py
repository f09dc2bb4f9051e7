# SPDX-License-Identifier: Apache-2.0
"""The kernels of plan/kernels.py: speedups on 1 to 64 PEs by back end, and with threads on this machine's Linux.

python -m papers.scheduling_hardware.kernels [--pes 1,2,4] [--isa mips1] [--dcache BYTES] [--json FILE]

The machine's numbers are exact, and kept in the lab's cache. Linux's are times of this machine: the shortest of many
runs, in which numbers of threads take turns, for what else this machine does only makes them longer. --json writes a
summary for results/.
"""

from __future__ import annotations

import argparse
import math
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from lab.cli import _kernel_options
from okosu.errors import LAUNCHER_FAILED, OkosuError
from okosu.records import summary
from okosu.records.summary import Section
from okosu.records.types import Record
from papers.scheduling_hardware import ROOM, run
from papers.scheduling_hardware.machine import ISAS
from papers.scheduling_hardware.plan import kernels, scaling
from papers.scheduling_hardware.summaries import summary_of

ROUNDS = 40
_PROGRAMS = ROOM / "sw/programs"
_SHOWN = {"ssh": "hardware", "software": "software"}


def on_machine(records: Sequence[Record]) -> Section:
    """Return the table: cycles on the fewest PEs, and how many times fewer there are on more of them."""
    found: dict[tuple[str, str, str], dict[int, float]] = {}
    for one in records:
        if one.metric == "parallel" and one.samples:
            kernel, backend = one.subject.removeprefix("rtl ").removesuffix(".c"), one.variant.partition(" ")[0]
            isa = str(one.parameters["isa"])
            found.setdefault((kernel, isa, backend), {})[int(float(one.parameters["pes"]))] = one.samples[0]
    pes = sorted({count for each in found.values() for count in each})
    body = []
    order = list(kernels.KERNELS)
    for (kernel, isa, backend), each in sorted(found.items(), key=lambda one: order.index(one[0][0])):
        first = each.get(pes[0])
        told = [f"{first / each[count]:.2f}" if first and count in each else "–" for count in pes[1:]]
        cycles = f"{first:,.0f}" if first else "–"
        body.append([f"`{kernel} {' '.join(kernels.KERNELS[kernel])}`", isa, _SHOWN[backend], cycles, *told])
    few = "1 PE" if pes[:1] == [1] else f"{pes[0]} PEs" if pes else ""
    head = ["kernel", "ISA", "threads by", f"cycles on {few}", *(f"on {count}" for count in pes[1:])]
    return Section(id="machine", head=head, body=body)


def on_linux(threads: Sequence[int], rounds: int = ROUNDS) -> Section:
    """Measure the same sources on Linux, and return the table: microseconds with one thread, and speedups."""
    body = []
    with tempfile.TemporaryDirectory(prefix="okosu-kernels-") as folder:
        for kernel in kernels.KERNELS:
            program = _built(Path(folder), kernel)
            for size in (kernels.KERNELS[kernel], kernels.ON_LINUX[kernel]):
                least = dict.fromkeys(threads, math.inf)
                for _ in range(rounds):
                    for count in threads:
                        least[count] = min(least[count], _microseconds([str(program), *size, str(count)]))
                first = least[threads[0]]
                told = [f"{first / least[count]:.2f}" for count in threads[1:]]
                body.append([f"`{kernel} {' '.join(size)}`", f"{first:,.0f} µs", *told])
    head = ["kernel", "one thread", *(f"{count} threads" for count in threads[1:])]
    return Section(id="linux", head=head, body=body)


def _built(folder: Path, kernel: str) -> Path:
    program = folder / kernel
    words = ["gcc", "-O2", "-D_GNU_SOURCE", "-o", str(program), str(_PROGRAMS / f"{kernel}.c"), "-pthread"]
    try:
        subprocess.run(words, check=True, capture_output=True, text=True)
    except FileNotFoundError as error:
        raise OkosuError("gcc not found", "it compiles the kernels", "apt-get install gcc", LAUNCHER_FAILED) from error
    except subprocess.CalledProcessError as error:
        raise OkosuError(f"{kernel}.c does not compile here", error.stderr.strip(), "", LAUNCHER_FAILED) from error
    return program


def _microseconds(words: Sequence[str]) -> float:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    told = dict(line.split(maxsplit=1) for line in done.stdout.splitlines() if line.startswith("parallel "))
    if done.returncode or "parallel" not in told:
        why = done.stderr.strip() or "it found its own result to be wrong"
        raise OkosuError(f"{shlex.join(words)} failed", why, "", LAUNCHER_FAILED)
    return int(told["parallel"]) / 1e3


def numbers(text: str) -> list[int]:
    """Return numbers that commas are between; ValueError where one is none."""
    return [int(word) for word in text.split(",")]


def main(arguments: Sequence[str]) -> int:
    """Measure, print the tables, and write the summary; return the exit status."""
    parser = argparse.ArgumentParser(prog="kernels", description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--pes", type=numbers, default=",".join(map(str, scaling.PES)), metavar="N,N…", help="default %(default)s"
    )
    parser.add_argument("--isa", default=ISAS[0], metavar="SET,SET", help="default %(default)s")
    parser.add_argument("--dcache", type=int, default=0, metavar="BYTES", help="with data caches; nothing on Linux")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write a summary (okosu.summary/1) there")
    asked = parser.parse_args(arguments)
    started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    here = len(os.sched_getaffinity(0))
    try:
        with _kernel_options.progress() as say:
            wanted = kernels.runs(asked.pes, asked.isa.split(","), asked.dcache)
            held = list(run.measure("kernels", wanted, say))
        sections = [on_machine(held)]
        if not asked.dcache:
            sections.append(on_linux(range(1, here + 1)))
        if asked.json:
            summary.write(summary_of("kernels", arguments, started, sections), asked.json)
    except OkosuError as error:
        print(error, file=sys.stderr)
        return 1
    print("\n".join(summary.markdown(section) for section in sections))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
