# SPDX-License-Identifier: Apache-2.0
"""Main memory: amounts, nodes, huge pages, fragmentation."""

from __future__ import annotations

from okosu.machine.model import Memory, Node, Pool, Thp
from okosu.machine.parse import buddyinfo, chosen, count, cpulist, fields, kib, number
from okosu.machine.tree import Tree

_THP = "/sys/kernel/mm/transparent_hugepage"
_POOLS = "/sys/kernel/mm/hugepages"
_NODES = "/sys/devices/system/node"
_SIZED = r"hugepages-[0-9]{1,10}kB"


def main(tree: Tree) -> Memory:
    """The amounts of /proc/meminfo."""
    found = fields(tree.text("/proc/meminfo"))
    keys = ("MemTotal", "MemFree", "MemAvailable", "SwapTotal", "SwapFree")
    return Memory(*(kib(found.get(key, "")) for key in keys))


def nodes(tree: Tree) -> list[Node]:
    """The NUMA nodes; [] where the kernel has no NUMA support."""
    found = []
    for name in tree.names(_NODES, r"node[0-9]{1,4}"):
        lines = tree.text(f"{_NODES}/{name}/meminfo").splitlines()
        amounts = fields("\n".join(line.partition(f"Node {name[4:]} ")[2] for line in lines if line.strip()))
        found.append(
            Node(
                count(name[4:]),
                cpulist(tree.text(f"{_NODES}/{name}/cpulist")),
                kib(amounts.get("MemTotal", "")),
                kib(amounts.get("MemFree", "")),
                [count(word) for word in tree.text(f"{_NODES}/{name}/distance").split()],
            )
        )
    return found


def _by_size(tree: Tree, file: str) -> dict[str, str]:
    found = {str(_kb(name)): chosen(tree.text(f"{_THP}/{name}/{file}")) for name in tree.names(_THP, _SIZED)}
    return {kb: setting for kb, setting in found.items() if setting}


def thp(tree: Tree) -> Thp:
    return Thp(
        chosen(tree.text(f"{_THP}/enabled")),
        chosen(tree.text(f"{_THP}/defrag")),
        number(tree.text(f"{_THP}/khugepaged/max_ptes_none")),
        count(tree.text(f"{_THP}/hpage_pmd_size")),
        _by_size(tree, "enabled"),
        chosen(tree.text(f"{_THP}/shmem_enabled")),
        _by_size(tree, "shmem_enabled"),
    )


def pools(tree: Tree) -> list[Pool]:
    """The hugetlb pools, smallest page first."""
    found = []
    for name in tree.names(_POOLS, _SIZED):
        what = ("nr_hugepages", "free_hugepages", "resv_hugepages", "nr_overcommit_hugepages")
        found.append(Pool(_kb(name), *(count(tree.text(f"{_POOLS}/{name}/{file}")) for file in what)))
    return found


def free_huge(tree: Tree) -> dict[str, int]:
    """The free pages of each hugetlb pool, by page size in KiB."""
    return {str(_kb(name)): count(tree.text(f"{_POOLS}/{name}/free_hugepages")) for name in tree.names(_POOLS, _SIZED)}


def buddy(tree: Tree) -> dict[str, list[int]]:
    """The free blocks of each zone, by order."""
    return buddyinfo(tree.text("/proc/buddyinfo"))


def _kb(name: str) -> int:
    return count(name.removeprefix("hugepages-").removesuffix("kB"))
