# SPDX-License-Identifier: Apache-2.0
"""What okosu-measure says of one run of a program (docs/ARCHITECTURE.md, "The native contract")."""

from __future__ import annotations

from typing import Any

import msgspec


class Memory(msgspec.Struct, frozen=True):
    """Kibibytes, summed over processes: resident, anonymous, anonymous on huge pages, files on huge pages, hugetlb,
    shared memory (of each process its share), shared memory that is mapped by huge pages (in each process all of it).
    """

    rss_kb: int = 0
    anon_kb: int = 0
    anon_huge_kb: int = 0
    file_huge_kb: int = 0
    hugetlb_kb: int = 0
    shmem_kb: int = 0
    shmem_huge_kb: int = 0


class Process(msgspec.Struct, frozen=True):
    """One process of the tree as it was at its exit."""

    pid: int
    comm: str
    rss_kb: int = 0
    anon_kb: int = 0
    anon_huge_kb: int = 0
    file_huge_kb: int = 0
    hugetlb_kb: int = 0
    shmem_kb: int = 0
    shmem_huge_kb: int = 0
    hwm_kb: int = 0
    cpus_allowed: str = ""
    cpus_used: list[int] = []
    thread_masks: list[str] = []
    thp_enabled: int = 1
    numa: dict[str, int] = {}
    policies: list[str] = []


class Measurement(msgspec.Struct, frozen=True):
    """One complete process execution. Times in nanoseconds, sizes in KiB."""

    wall_ns: int
    stopped_ns: int = 0
    user_ns: int = 0
    sys_ns: int = 0
    maxrss_kb: int = 0
    minflt: int = 0
    majflt: int = 0
    nvcsw: int = 0
    nivcsw: int = 0
    delay_ns: int | None = None
    """Ready to run and waiting for a CPU, summed over the threads that were read at their end; None: not known."""
    migrations: int | None = None
    """Moves of these threads between CPUs."""
    status: int | None = None
    signal: int | None = None
    timed_out: bool = False
    stop_ns: int | None = None
    """Of a service: how long it took to end once it was asked to; None where it was not."""
    traced: bool = True
    why_untraced: str = ""
    processes: int = 1
    forks: int = 0
    at_once: int = 1
    threads: int = 0
    left: int = 0
    """Processes that outlived the program and were ended."""
    out_bytes: int = 0
    out_digest: str = ""
    """Size and digest of the standard output, where it was read through a pipe."""
    counters: dict[str, int] = {}
    """Hardware counters in user mode, where they were asked for: cycles, instructions, dtlb_misses, itlb_misses."""
    why_uncounted: str = ""
    """Why not all of the counters that were asked for are there."""
    exit: Memory = Memory()
    peak: Memory | None = None
    procs: list[Process] = []
    files: list[str] = []
    """Files that a process had mapped at its end (with --files), as /proc/PID/maps names them."""
    thread_names: list[str] = []
    """Names that threads had at their end (with --threads)."""
    names_cut: bool = False
    """Whether there were more files or names of threads than are kept: what is missing above proves nothing."""
    heaps: int = 0
    """Heaps of glibc's arenas (with --files): what malloc reserves for threads beside the first, 64 MiB each."""
    heaps_kb: int = 0
    """How much of them could be read and written, at the most."""
    said: bool | None = None
    """Of a pilot run under a recipe: whether the runtime itself said what proves it; None where it was not asked."""
    preload: list[dict[str, Any]] = []
    """The preload library's own evidence, one object a process (see --proof)."""
