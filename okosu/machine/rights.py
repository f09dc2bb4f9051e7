# SPDX-License-Identifier: Apache-2.0
"""What this process may do and use: capabilities, seccomp, kernel settings, control groups."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from okosu.machine.model import Limits, Rights
from okosu.machine.parse import cgroups, count, cpulist, fields, number
from okosu.machine.tree import Tree

Number = TypeVar("Number", int, float)

CAPABILITIES = {"IPC_LOCK": 14, "SYS_PTRACE": 19, "SYS_ADMIN": 21, "SYS_NICE": 23}
_ALL_UIDS = 4294967295
_UNLIMITED = 1 << 60
"""Version 1 has no word for it, but a number near the largest there is."""


def rights(tree: Tree, pagemap: bool | None) -> Rights:
    """The rights of the process that reads."""
    status = fields(tree.text("/proc/self/status"))
    effective = number(status.get("CapEff", ""), 16) or 0
    uids = status.get("Uid", "").split()
    no_new = number(status.get("NoNewPrivs", ""))
    return Rights(
        number(uids[1]) if len(uids) > 1 else None,
        [name for name, bit in CAPABILITIES.items() if effective >> bit & 1],
        _initial_userns(tree),
        number(status.get("Seccomp", "")),
        None if no_new is None else no_new == 1,
        number(tree.text("/proc/sys/kernel/perf_event_paranoid")),
        number(tree.text("/proc/sys/kernel/yama/ptrace_scope")),
        pagemap,
        number(tree.text("/proc/sys/vm/overcommit_memory")),
        cpulist(status.get("Cpus_allowed_list", "")),
        cpulist(status.get("Mems_allowed_list", "")),
        number(status.get("THP_enabled", "")) == 0,
    )


def _initial_userns(tree: Tree) -> bool:
    words = tree.text("/proc/self/uid_map").split()
    # Only the initial namespace maps every user ID to itself.
    return len(words) < 3 or [number(w) for w in words] == [0, 0, _ALL_UIDS]


def limits(tree: Tree) -> Limits:
    """The tightest limits over the control groups of this process and all their ancestors."""
    groups = cgroups(tree.text("/proc/self/cgroup"))
    if "memory" in groups or "cpuset" in groups:
        return _version1(tree, groups)
    if "" not in groups:
        return Limits()
    places = _upwards("/sys/fs/cgroup", groups[""])
    return Limits(
        2,
        _least(number(tree.text(f"{p}/memory.max")) for p in places),
        _least(_quota(tree.text(f"{p}/cpu.max").split()) for p in places),
        _nearest(tree, places, "cpuset.cpus.effective"),
        _nearest(tree, places, "cpuset.mems.effective"),
    )


def _version1(tree: Tree, groups: dict[str, str]) -> Limits:
    memory, cpu, cpuset = (
        _upwards(f"/sys/fs/cgroup/{name}", groups.get(name, "/")) for name in ("memory", "cpu", "cpuset")
    )
    most = _least(number(tree.text(f"{p}/memory.limit_in_bytes")) for p in memory)
    quotas = [(tree.line(f"{p}/cpu.cfs_quota_us"), tree.line(f"{p}/cpu.cfs_period_us")) for p in cpu]
    return Limits(
        1,
        None if most is None or most >= _UNLIMITED else most,
        _least(_quota(list(words)) for words in quotas),
        _nearest(tree, cpuset, "cpuset.effective_cpus"),
        _nearest(tree, cpuset, "cpuset.effective_mems"),
    )


def _upwards(mount: str, group: str) -> list[str]:
    """The folders of the group and its ancestors, ending with the mount."""
    parts = [part for part in group.split("/") if part]
    # In a container the path may not exist below the mount, which is then the container's own group.
    if ".." in parts:
        parts = []
    return ["/".join([mount, *parts[:n]]) for n in range(len(parts), -1, -1)]


def _least(found: Iterable[Number | None]) -> Number | None:
    return min((value for value in found if value is not None and value >= 0), default=None)


def _quota(words: list[str]) -> float | None:
    if len(words) != 2:
        return None
    quota, period = number(words[0]), count(words[1])
    return quota / period if quota is not None and quota > 0 and period else None


def _nearest(tree: Tree, places: list[str], file: str) -> list[int]:
    return next((found for p in places if (found := cpulist(tree.text(f"{p}/{file}")))), [])
