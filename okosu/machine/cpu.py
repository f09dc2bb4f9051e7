# SPDX-License-Identifier: Apache-2.0
"""The processor: what it is called, where its CPUs sit, which caches they share."""

from __future__ import annotations

from okosu.machine.model import Cache, Cpu, Node
from okosu.machine.parse import count, cpulist, fields, number, size
from okosu.machine.tree import Tree

_CPU = "/sys/devices/system/cpu"
_Geometry = tuple[int, str, int, int, int, int, int]

_ARM_VENDORS = {
    0x41: "ARM",
    0x46: "Fujitsu",
    0x48: "HiSilicon",
    0x4E: "NVIDIA",
    0x51: "Qualcomm",
    0x61: "Apple",
    0xC0: "Ampere",
}
_ARM_PARTS = {
    (0x41, 0xD03): "Cortex-A53",
    (0x41, 0xD08): "Cortex-A72",
    (0x41, 0xD0B): "Cortex-A76",
    (0x41, 0xD0C): "Neoverse-N1",
    (0x41, 0xD40): "Neoverse-V1",
    (0x41, 0xD49): "Neoverse-N2",
    (0x41, 0xD4F): "Neoverse-V2",
    (0x46, 0x001): "A64FX",
    (0x48, 0xD01): "Kunpeng-920",
    (0xC0, 0xAC3): "Ampere-1",
}


def identification(tree: Tree) -> dict[str, str]:
    """The fields of the first CPU in /proc/cpuinfo."""
    return fields(tree.text("/proc/cpuinfo"))


def field(identifying: dict[str, str], *keys: str) -> int | None:
    """The first of the named fields that is a number, decimal or hexadecimal after 0x."""
    for key in keys:
        if (value := number(identifying.get(key, ""), 0)) is not None:
            return value
    return None


def model(identifying: dict[str, str]) -> str:
    """The processor's name. An Arm processor states only part numbers; known ones are translated into names."""
    for key in ("model name", "cpu", "Processor", "uarch"):
        if identifying.get(key):
            return " ".join(identifying[key].split())
    implementer, part = field(identifying, "CPU implementer"), field(identifying, "CPU part")
    if implementer is None or part is None:
        return ""
    return _ARM_PARTS.get((implementer, part), f"part {part:#x}")


def vendor(identifying: dict[str, str]) -> str:
    implementer = field(identifying, "CPU implementer")
    if implementer is not None:
        return _ARM_VENDORS.get(implementer, f"implementer {implementer:#x}")
    return identifying.get("vendor_id", identifying.get("vendor", ""))


def online(tree: Tree) -> list[int]:
    listed = cpulist(tree.text(f"{_CPU}/online"))
    return listed or [count(name[3:]) for name in tree.names(_CPU, r"cpu[0-9]{1,4}")]


def topology(tree: Tree, numbers: list[int], nodes: list[Node]) -> list[Cpu]:
    """The package, core and node of each CPU."""
    node_of = {c: node.number for node in nodes for c in node.cpus}
    siblings: dict[int, list[int]] = {}
    found = []
    for n in numbers:
        place = f"{_CPU}/cpu{n}/topology"
        if n not in siblings:
            # Before Linux 5.3 the list was available under its older name only.
            group = cpulist(tree.text(f"{place}/core_cpus_list") or tree.text(f"{place}/thread_siblings_list"))
            # A list that does not contain its own CPU is garbled.
            siblings.update(dict.fromkeys(group, group) if n in group else {n: [n]})
        core, package = (number(tree.text(f"{place}/{what}_id")) for what in ("core", "physical_package"))
        found.append(
            Cpu(n, -1 if core is None else core, -1 if package is None else package, node_of.get(n, -1), siblings[n])
        )
    return found


def caches(tree: Tree, numbers: list[int], page_size: int) -> list[Cache]:
    """The kinds of cache, lowest level first, each with the groups of CPUs that share one."""
    groups: dict[_Geometry, list[list[int]]] = {}
    covered: set[tuple[str, int]] = set()
    for n in numbers:
        for index in tree.names(f"{_CPU}/cpu{n}/cache", r"index[0-9]{1,2}"):
            if (index, n) in covered:
                continue
            place = f"{_CPU}/cpu{n}/cache/{index}"
            sharing = cpulist(tree.text(f"{place}/shared_cpu_list")) or [n]
            covered.update((index, c) for c in sharing)
            if (kind := _geometry(tree, place, page_size)) is not None:
                groups.setdefault(kind, []).append(sharing)
    return [Cache(*kind, shared) for kind, shared in sorted(groups.items())]


def _geometry(tree: Tree, place: str, page_size: int) -> _Geometry | None:
    level, bytes_ = count(tree.text(f"{place}/level")), size(tree.text(f"{place}/size"))
    if not 0 < level < 10 or not bytes_:
        return None
    line = count(tree.text(f"{place}/coherency_line_size"))
    ways = count(tree.text(f"{place}/ways_of_associativity"))
    sets = count(tree.text(f"{place}/number_of_sets"))
    if not sets and line and ways:
        sets = bytes_ // (line * ways)
    colours = max(1, sets * line // page_size) if sets and line else 0
    return level, tree.line(f"{place}/type"), bytes_, line, ways, sets, colours


def turbo(tree: Tree) -> bool | None:
    """Say whether the clock may rise above its nominal rate; None where the driver does not tell."""
    if no_turbo := tree.line(f"{_CPU}/intel_pstate/no_turbo"):
        return no_turbo == "0"
    boost = tree.line(f"{_CPU}/cpufreq/boost")
    return boost == "1" if boost else None
