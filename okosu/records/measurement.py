# SPDX-License-Identifier: Apache-2.0
"""What okosu-measure says of one run of a program (docs/ARCHITECTURE.md, "The native contract")."""

from __future__ import annotations

from typing import Any

import msgspec


class Memory(msgspec.Struct, frozen=True):
    """Kibibytes, summed over processes: resident, anonymous, anonymous on huge pages, hugetlb."""

    rss_kb: int = 0
    anon_kb: int = 0
    anon_huge_kb: int = 0
    hugetlb_kb: int = 0


class Process(msgspec.Struct, frozen=True):
    """One process of the tree as it was at its exit."""

    pid: int
    comm: str
    rss_kb: int = 0
    anon_kb: int = 0
    anon_huge_kb: int = 0
    hugetlb_kb: int = 0
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
    status: int | None = None
    signal: int | None = None
    timed_out: bool = False
    traced: bool = True
    why_untraced: str = ""
    processes: int = 1
    forks: int = 0
    threads: int = 0
    left: int = 0
    exit: Memory = Memory()
    peak: Memory | None = None
    procs: list[Process] = []
    preload: list[dict[str, Any]] = []
    """The preload library's own evidence, one object a process (see --proof)."""
