# SPDX-License-Identifier: Apache-2.0
"""Parts of the trees in built_machines.py: each returns files by path, with the text that the kernel would show."""

from __future__ import annotations

Files = dict[str, str]

CPU = "sys/devices/system/cpu"
NODE = "sys/devices/system/node"
THP = "sys/kernel/mm/transparent_hugepage"


def cpulist(cpus: list[int]) -> str:
    """A list such as "0-3,8"."""
    parts, i = [], 0
    while i < len(cpus):
        j = i
        while j + 1 < len(cpus) and cpus[j + 1] == cpus[j] + 1:
            j += 1
        parts.append(str(cpus[i]) if i == j else f"{cpus[i]}-{cpus[j]}")
        i = j + 1
    return ",".join(parts)


def cpumask(cpus: list[int], total: int) -> str:
    """The CPUs as a mask in words of 32 bits, highest word first, as sysfs has it."""
    bits = sum(1 << c for c in cpus)
    words = [f"{bits >> (32 * w) & 0xFFFFFFFF:08x}" for w in range((total + 31) // 32)]
    return ",".join(reversed(words))


def processor(
    packages: int,
    nodes_per_package: int,
    cores_per_node: int,
    threads: int,
    caches: list[tuple[int, str, int, int, int, str]],
    page_kb: int = 4,
    memory_gib: int = 64,
    online: list[int] | None = None,
) -> Files:
    """Topology, caches and nodes. CPUs are numbered as Linux does on x86: first all cores, then second threads.

    A cache is (level, type, size in KiB, ways, line, what shares it: core, node or package).
    """
    nodes, cores = packages * nodes_per_package, packages * nodes_per_package * cores_per_node
    total = cores * threads
    files: Files = {f"{CPU}/online": cpulist(list(range(total))), f"{CPU}/possible": cpulist(list(range(total)))}
    members: dict[tuple[str, int], list[int]] = {}
    for cpu in range(total):
        core = cpu % cores
        node = core // cores_per_node
        for place in (("core", core), ("node", node), ("package", node // nodes_per_package)):
            members.setdefault(place, []).append(cpu)
    for cpu in range(total):
        core = cpu % cores
        node = core // cores_per_node
        package = node // nodes_per_package
        here = {"core": members["core", core], "node": members["node", node], "package": members["package", package]}
        place = f"{CPU}/cpu{cpu}/topology"
        files |= {
            f"{place}/core_id": str(core % (cores // packages)),
            f"{place}/physical_package_id": str(package),
            f"{place}/core_cpus_list": cpulist(here["core"]),
            f"{place}/thread_siblings_list": cpulist(here["core"]),
            f"{place}/thread_siblings": cpumask(here["core"], total),
            f"{place}/package_cpus_list": cpulist(here["package"]),
            f"{place}/core_siblings_list": cpulist(here["package"]),
            f"{place}/core_siblings": cpumask(here["package"], total),
        }
        for index, (level, kind, kib, ways, line, shared) in enumerate(caches):
            place = f"{CPU}/cpu{cpu}/cache/index{index}"
            files |= {
                f"{place}/level": str(level),
                f"{place}/type": kind,
                f"{place}/size": f"{kib}K",
                f"{place}/ways_of_associativity": str(ways),
                f"{place}/coherency_line_size": str(line),
                f"{place}/number_of_sets": str(kib * 1024 // (ways * line)),
                f"{place}/shared_cpu_list": cpulist(here[shared]),
                f"{place}/shared_cpu_map": cpumask(here[shared], total),
            }
    for node in range(nodes):
        kb = memory_gib * (1 << 20) // nodes
        near = [
            10 if n == node else 11 if n // nodes_per_package == node // nodes_per_package else 21 for n in range(nodes)
        ]
        files |= {
            f"{NODE}/node{node}/cpulist": cpulist(members["node", node]),
            f"{NODE}/node{node}/cpumap": cpumask(members["node", node], total),
            f"{NODE}/node{node}/distance": " ".join(map(str, near)),
            f"{NODE}/node{node}/meminfo": f"Node {node} MemTotal: {kb} kB\nNode {node} MemFree: {kb * 3 // 4} kB",
        }
    files |= {f"{NODE}/online": cpulist(list(range(nodes))), f"{NODE}/has_memory": cpulist(list(range(nodes)))}
    kb = memory_gib << 20
    files["proc/meminfo"] = f"MemTotal: {kb} kB\nMemFree: {kb * 3 // 4} kB\nMemAvailable: {kb * 7 // 8} kB\n"
    files["proc/meminfo"] += "SwapTotal: 8388604 kB\nSwapFree: 8388604 kB"
    free = kb * 3 // 4 // page_kb // nodes
    # The largest block is of 4 MiB with base pages of 4 KiB, and of 512 MiB with base pages of 64 KiB.
    blocks = [0] * 9 + [free // 1024, free // 2048] if page_kb == 4 else [0] * 12 + [free // 8192, free // 16384]
    files["proc/buddyinfo"] = "\n".join(f"Node {n}, zone   Normal {' '.join(map(str, blocks))}" for n in range(nodes))
    return files


def process(
    total: int, nodes: int, *, cpus: str = "", mems: str = "", caps: str = "0", seccomp: int = 0, uid: int = 1000
) -> Files:
    """/proc/self and the kernel's settings for a process with these rights."""
    status = {
        "Uid": f"{uid}\t{uid}\t{uid}\t{uid}",
        "CapEff": caps.zfill(16),
        "NoNewPrivs": "0",
        "Seccomp": str(seccomp),
        "THP_enabled": "1",
        "Cpus_allowed_list": cpus or cpulist(list(range(total))),
        "Mems_allowed_list": mems or cpulist(list(range(nodes))),
    }
    return {
        "proc/self/status": "\n".join(f"{k}:\t{v}" for k, v in status.items()),
        "proc/self/uid_map": "         0          0 4294967295",
        "proc/loadavg": "0.42 0.31 0.20 1/512 4242",
        "proc/stat": "cpu  1000 0 500 90000 10 0 5 0 0 0",
        "proc/pressure/cpu": "some avg10=0.50 avg60=0.10 avg300=0.00 total=1234567\n"
        "full avg10=0.00 avg60=0.00 avg300=0.00 total=0",
        "proc/sys/vm/overcommit_memory": "0",
        "proc/sys/kernel/yama/ptrace_scope": "1",
        "proc/sys/kernel/perf_event_paranoid": "3",
    }


def _chosen(word: str, words: str) -> str:
    return " ".join(f"[{one}]" if one == word else one for one in words.split())


def thp(enabled: str, pmd_bytes: int = 2 << 20, shmem: str = "never") -> Files:
    return {
        f"{THP}/enabled": _chosen(enabled, "always madvise never"),
        f"{THP}/shmem_enabled": _chosen(shmem, "always within_size advise never deny force"),
        f"{THP}/defrag": "always defer defer+madvise [madvise] never",
        f"{THP}/hpage_pmd_size": str(pmd_bytes),
        f"{THP}/khugepaged/max_ptes_none": str(pmd_bytes // 4096 - 1),
    }


def pool(kib: int, total: int, free: int, reserved: int = 0, overcommit: int = 0) -> Files:
    """The files of a hugetlb pool with pages of `kib` KiB; counts in pages."""
    names = ("nr_hugepages", "free_hugepages", "resv_hugepages", "nr_overcommit_hugepages")
    place = f"sys/kernel/mm/hugepages/hugepages-{kib}kB"
    return {
        f"{place}/{name}": str(value) for name, value in zip(names, (total, free, reserved, overcommit), strict=True)
    }


def system(kernel: str, glibc: str, arch: str = "x86_64", page_size: int = 4096) -> Files:
    """The kernel's version, and the facts file that replaces system calls."""
    facts = f'{{"arch":"{arch}","page_size":{page_size},"glibc":"{glibc}","pagemap":false}}'
    return {"proc/sys/kernel/osrelease": kernel, "okosu-facts.json": facts}


def cpuinfo(vendor: str, family: int, model: int, stepping: int, name: str, microcode: str, flags: str) -> str:
    """The first CPU in /proc/cpuinfo of an x86 machine."""
    return (
        f"processor\t: 0\nvendor_id\t: {vendor}\ncpu family\t: {family}\nmodel\t\t: {model}\nmodel name\t: {name}\n"
        f"stepping\t: {stepping}\nmicrocode\t: {microcode}\nflags\t\t: {flags}\n\nprocessor\t: 1\n"
    )
