# SPDX-License-Identifier: Apache-2.0
"""Machines that nobody here owns, as trees of /proc and /sys files, and the expected texts of all machines.

The trees are written by hand from public knowledge of what such machines show (kernel documentation, published listings
of lscpu and numactl); none was captured. `this-vm.tar.xz` is a real capture, made by `okosu doctor --capture`.

Run as a program, it writes the expected files anew; read the differences before you keep them.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
Files = dict[str, str]

CPU = "sys/devices/system/cpu"
NODE = "sys/devices/system/node"
THP = "sys/kernel/mm/transparent_hugepage"


def cpulist(cpus: list[int]) -> str:
    """Return "0-3,8"."""
    parts, i = [], 0
    while i < len(cpus):
        j = i
        while j + 1 < len(cpus) and cpus[j + 1] == cpus[j] + 1:
            j += 1
        parts.append(str(cpus[i]) if i == j else f"{cpus[i]}-{cpus[j]}")
        i = j + 1
    return ",".join(parts)


def cpumask(cpus: list[int], total: int) -> str:
    """Return the same as a mask in words of 32 bits, highest first, as sysfs has it."""
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
    """Return topology, caches and nodes. CPUs are numbered as Linux does on x86: first all cores, then second threads.

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
    # The largest block is of 4 MiB with base pages of 4 KiB, of 512 MiB with 64 KiB.
    blocks = [0] * 9 + [free // 1024, free // 2048] if page_kb == 4 else [0] * 12 + [free // 8192, free // 16384]
    files["proc/buddyinfo"] = "\n".join(f"Node {n}, zone   Normal {' '.join(map(str, blocks))}" for n in range(nodes))
    return files


def process(
    total: int, nodes: int, *, cpus: str = "", mems: str = "", caps: str = "0", seccomp: int = 0, uid: int = 1000
) -> Files:
    """Return /proc/self and the kernel's settings for a process with those rights."""
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


def thp(enabled: str, pmd_bytes: int = 2 << 20) -> Files:
    """Return the settings of transparent huge pages."""
    choices = " ".join(f"[{word}]" if word == enabled else word for word in ("always", "madvise", "never"))
    return {
        f"{THP}/enabled": choices,
        f"{THP}/defrag": "always defer defer+madvise [madvise] never",
        f"{THP}/hpage_pmd_size": str(pmd_bytes),
        f"{THP}/khugepaged/max_ptes_none": str(pmd_bytes // 4096 - 1),
    }


def pool(kib: int, total: int, free: int, reserved: int = 0, overcommit: int = 0) -> Files:
    """Return a hugetlb pool."""
    names = ("nr_hugepages", "free_hugepages", "resv_hugepages", "nr_overcommit_hugepages")
    place = f"sys/kernel/mm/hugepages/hugepages-{kib}kB"
    return {
        f"{place}/{name}": str(value) for name, value in zip(names, (total, free, reserved, overcommit), strict=True)
    }


def system(kernel: str, glibc: str, arch: str = "x86_64", page_size: int = 4096) -> Files:
    """Return the kernel's version and what system calls would say."""
    facts = f'{{"arch":"{arch}","page_size":{page_size},"glibc":"{glibc}","pagemap":false}}'
    return {"proc/sys/kernel/osrelease": kernel, "okosu-facts.json": facts}


def cpuinfo(vendor: str, family: int, model: int, stepping: int, name: str, microcode: str, flags: str) -> str:
    """Return the first CPU of an x86 /proc/cpuinfo."""
    return (
        f"processor\t: 0\nvendor_id\t: {vendor}\ncpu family\t: {family}\nmodel\t\t: {model}\nmodel name\t: {name}\n"
        f"stepping\t: {stepping}\nmicrocode\t: {microcode}\nflags\t\t: {flags}\n\nprocessor\t: 1\n"
    )


ICE_LAKE_SERVER = [
    (1, "Data", 48, 12, 64, "core"),
    (1, "Instruction", 32, 8, 64, "core"),
    (2, "Unified", 1280, 20, 64, "core"),
    (3, "Unified", 24576, 12, 64, "package"),
]
XEON = cpuinfo(
    "GenuineIntel", 6, 106, 6, "Intel(R) Xeon(R) Gold 6326 CPU @ 2.90GHz", "0xd0003d1", "fpu sse2 avx2 avx512f"
)


def server() -> Files:
    """Return a 2-socket server of 4 nodes (sub-NUMA clustering) with SMT, a hugetlb pool and a GPU; bare metal."""
    files = processor(2, 2, 8, 2, ICE_LAKE_SERVER, memory_gib=256)
    files |= process(64, 4) | thp("always") | pool(2048, 1024, 512, 100) | pool(1048576, 0, 0)
    files |= system("6.1.0-28-amd64", "2.36") | {"proc/cpuinfo": XEON}
    for cpu in range(64):
        files[f"{CPU}/cpu{cpu}/thermal_throttle/core_throttle_count"] = "2" if cpu == 7 else "0"
        files[f"{CPU}/cpu{cpu}/thermal_throttle/package_throttle_count"] = "0"
    return files | {
        "proc/self/cgroup": "0::/user.slice/user-1000.slice/session-4.scope",
        "sys/fs/cgroup/cpuset.cpus.effective": "0-63",
        "sys/fs/cgroup/cpuset.mems.effective": "0-3",
        "sys/fs/cgroup/user.slice/memory.max": "max",
        f"{CPU}/cpu0/cpufreq/scaling_governor": "performance",
        f"{CPU}/intel_pstate/no_turbo": "0",
        "dev/nvidia0": "",
        "dev/dri/card0": "",
        "dev/dri/card1": "",
        "dev/dri/renderD128": "",
        "sys/class/drm/card0/device/vendor": "0x1a03",
        "sys/class/drm/card1/device/vendor": "0x10de",
        "etc/OpenCL/vendors/nvidia.icd": "libnvidia-opencl.so.1",
        "usr/lib/x86_64-linux-gnu/libcuda.so.1": "",
    }


def container() -> Files:
    """Return a docker container on such a server: four CPUs of one node, 4 GiB, 1.5 CPUs of time, seccomp filter."""
    files = processor(2, 2, 8, 2, ICE_LAKE_SERVER, memory_gib=256)
    # Docker's default capabilities; none of those that okosu could use is among them.
    files |= process(64, 4, cpus="2-3,34-35", mems="0", caps="00000000a80425fb", seccomp=2, uid=0)
    files |= thp("madvise") | pool(2048, 0, 0) | pool(1048576, 0, 0) | system("6.8.0-51-generic", "2.39")
    flags = "fpu sse2 avx2 avx512f hypervisor"
    return files | {
        "proc/cpuinfo": XEON.replace("fpu sse2 avx2 avx512f", flags),
        "proc/stat": "cpu  1000 0 500 90000 10 0 5 77 0 0",
        "sys/class/dmi/id/sys_vendor": "Amazon EC2",
        "sys/class/dmi/id/product_name": "m6i.16xlarge",
        ".dockerenv": "",
        # A cgroup namespace shows the container's own group as the root.
        "proc/self/cgroup": "0::/",
        "sys/fs/cgroup/memory.max": "4294967296",
        "sys/fs/cgroup/cpu.max": "150000 100000",
        "sys/fs/cgroup/cpuset.cpus.effective": "2-3,34-35",
        "sys/fs/cgroup/cpuset.mems.effective": "0",
    }


def _desktop() -> Files:
    caches = [
        (1, "Data", 32, 8, 64, "core"),
        (1, "Instruction", 32, 8, 64, "core"),
        (2, "Unified", 256, 4, 64, "core"),
        (3, "Unified", 8192, 16, 64, "package"),
    ]
    name = "Intel(R) Core(TM) i7-6700 CPU @ 3.40GHz"
    files = processor(1, 1, 4, 2, caches, memory_gib=16) | process(8, 1)
    files["proc/cpuinfo"] = cpuinfo("GenuineIntel", 6, 94, 3, name, "0xf0", "fpu sse2 avx2")
    files |= pool(2048, 0, 0) | system("5.10.0-33-rt-amd64", "2.31")
    return files | {"dev/dri/card0": "", "dev/dri/renderD128": "", "sys/class/drm/card0/device/vendor": "0x8086"}


def without_thp() -> Files:
    """Return a desktop whose kernel is built without transparent huge pages, as real-time kernels were; no PSI."""
    files = _desktop()
    del files["proc/pressure/cpu"]
    return files


def thp_never() -> Files:
    """Return the same desktop with a kernel that has them, switched off."""
    return _desktop() | thp("never") | system("6.1.0-28-amd64", "2.36")


def aarch64() -> Files:
    """Return an AArch64 virtual machine with pages of 64 KiB, whose huge page is of 512 MiB."""
    caches = [
        (1, "Data", 64, 4, 64, "core"),
        (1, "Instruction", 64, 4, 64, "core"),
        (2, "Unified", 1024, 8, 64, "core"),
        (3, "Unified", 32768, 16, 64, "package"),
    ]
    files = processor(1, 1, 4, 1, caches, page_kb=64, memory_gib=16) | process(4, 1) | thp("madvise", 512 << 20)
    files |= {f"{THP}/hugepages-{kib}kB/enabled": "always inherit madvise [never]" for kib in (128, 256, 1024, 2048)}
    files |= {f"{THP}/hugepages-524288kB/enabled": "always [inherit] madvise never"}
    files |= pool(2048, 0, 0) | pool(524288, 0, 0) | system("6.12.0-55.el10.aarch64+64k", "2.39", "aarch64", 65536)
    return files | {
        "proc/cpuinfo": "processor\t: 0\nBogoMIPS\t: 243.75\nFeatures\t: fp asimd atomics\nCPU implementer\t: 0x41\n"
        "CPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\nCPU revision\t: 1\n",
        "sys/class/dmi/id/sys_vendor": "Amazon EC2",
        "sys/class/dmi/id/product_name": "m6g.xlarge",
        "sys/bus/virtio/devices/virtio0/device": "0x0004",
    }


BUILT: dict[str, Callable[[], Files]] = {
    "server-2s4n": server,
    "container": container,
    "without-thp": without_thp,
    "thp-never": thp_never,
    "aarch64-64k": aarch64,
}
CAPTURED = {"this-vm": HERE / "this-vm.tar.xz"}
NAMES = [*BUILT, *CAPTURED]


def write(files: Files, folder: Path) -> Path:
    """Write a tree below the folder and return the folder."""
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(f"{text}\n" if text else "")
    return folder


def place(name: str, folder: Path) -> Path:
    """Return what `okosu doctor --root` takes for the machine: a tree written below the folder, or the tar file."""
    return CAPTURED[name] if name in CAPTURED else write(BUILT[name](), folder)


def doctor(root: Path, *arguments: str) -> str:
    """Return what `okosu doctor --root ROOT` prints at 80 columns without colour."""
    from okosu.cli.main import dispatch

    said = io.StringIO()
    before = os.environ.copy()
    os.environ.update(COLUMNS="80", NO_COLOR="1", TERM="dumb")
    try:
        with contextlib.redirect_stdout(said):
            dispatch(["doctor", "--root", str(root), *arguments])
    finally:
        os.environ.clear()
        os.environ.update(before)
    return said.getvalue()


def expected_text(root: Path) -> str:
    """Return the golden text of a machine: what doctor says of it and of /bin/true on it."""
    return doctor(root, "--", "/bin/true")


def main() -> int:
    """Write the expected files anew."""
    for name in NAMES:
        with tempfile.TemporaryDirectory() as folder:
            root = place(name, Path(folder))
            (HERE / f"{name}.txt").write_text(expected_text(root))
    return 0


if __name__ == "__main__":
    sys.exit(main())
