# SPDX-License-Identifier: Apache-2.0
"""What the lever text could do in other ways: CPU time of twenty short compilations in each state of the page cache and
with each way of mapping code, in random order, each against base in the same round.

`python tools/measure/text_variants.py [ROUNDS]` (default 8) prints one table. Run it where clang is installed.
"""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from okosu import native
from okosu.levers import launcher
from okosu.machine.program import inspect

ROOT = Path(__file__).resolve().parents[2]
COMMAND = ["sh", str(ROOT / "examples/real/clang-tiny.sh")]
POPULATE = r"""
#define _GNU_SOURCE
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

static int populate(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size, (void)unused;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t start = (info->dlpi_addr + segment->p_vaddr) & ~(uintptr_t)4095;
        uintptr_t end = info->dlpi_addr + segment->p_vaddr + segment->p_memsz;

        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X))
            madvise((void *)start, end - start, 22 /* MADV_POPULATE_READ */);
    }
    return 0;
}

__attribute__((constructor)) static void begin(void)
{
    dl_iterate_phdr(populate, NULL);
}
"""
WAYS = {
    "base: read by page faults": ("small", False),
    "code on huge pages": ("huge", False),
    "dropped, and read by read()": ("read", False),
    "all code mapped at the start by MADV_POPULATE_READ": ("small", True),
    "the same on huge pages": ("huge", True),
}


def settle(state: str, files: list[str]) -> None:
    """Bring the page cache of the files into a state."""
    if state != "read":
        subprocess.run([native.find("okosu-textcache"), state, *files], check=True, stdout=subprocess.DEVNULL)
        return
    for name in files:
        with Path(name).open("rb", buffering=0) as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            while file.read(1 << 20):
                pass


def measured(library: Path | None) -> tuple[float, float, float]:
    """Page faults, user and system seconds of one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(COMMAND, check=True, env=os.environ | ({"LD_PRELOAD": str(library)} if library else {}))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (
        after.ru_minflt - before.ru_minflt,
        after.ru_utime - before.ru_utime,
        after.ru_stime - before.ru_stime,
    )


def main(rounds: int) -> None:
    clang = inspect("clang")
    files = launcher.plan("text", "cache", clang.path).text
    runs: dict[str, list[tuple[float, float, float]]] = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "populate.c", Path(folder) / "populate.so"
        source.write_text(POPULATE)
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, source], check=True)
        for number in range(rounds):
            for way in random.Random(number).sample(list(WAYS), len(WAYS)):
                state, populates = WAYS[way]
                settle(state, files)
                runs[way].append(measured(library if populates else None))
    settle("small", files)
    base = next(iter(runs.values()))
    print("| state | page faults | user | system | CPU time |\n|---|---|---|---|---|")
    for way, made in runs.items():
        faults, user, system = (median(run[i] for run in made) for i in range(3))
        ratio = median((own[1] + own[2]) / (was[1] + was[2]) for own, was in zip(made, base, strict=True))
        print(f"| {way} | {faults:,.0f} | {user:.2f} s | {system:.2f} s | {ratio:.2f} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 8)
