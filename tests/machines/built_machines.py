# SPDX-License-Identifier: Apache-2.0
"""Machines that the project does not own, as trees of /proc and /sys files, and the expected texts of all machines.

The trees are written by hand from public descriptions of such machines (kernel documentation, published listings of
lscpu and numactl); none was captured. `this-vm.tar.xz` and `gpu-vm.tar.xz` are real captures, made by `okosu doctor
--capture`.

Run as a program, this file writes the expected files anew; read the differences before you commit them.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from machine_parts import CPU, THP, Files, cpuinfo, pool, process, processor, system, thp

HERE = Path(__file__).resolve().parent

ICE_LAKE_SERVER = [
    (1, "Data", 48, 12, 64, "core"),
    (1, "Instruction", 32, 8, 64, "core"),
    (2, "Unified", 1280, 20, 64, "core"),
    (3, "Unified", 18432, 12, 64, "package"),
]
XEON = cpuinfo(
    "GenuineIntel", 6, 106, 6, "Intel(R) Xeon(R) Gold 6334 CPU @ 3.60GHz", "0xd0003d1", "fpu sse2 avx2 avx512f"
)


def server() -> Files:
    """A 2-socket server of 4 nodes (sub-NUMA clustering) with SMT, a hugetlb pool and a GPU; bare metal."""
    files = processor(2, 2, 4, 2, ICE_LAKE_SERVER, memory_gib=256)
    files |= process(32, 4) | thp("always", shmem="advise") | pool(2048, 1024, 512, 100) | pool(1048576, 0, 0)
    files |= system("6.1.0-28-amd64", "2.36") | {"proc/cpuinfo": XEON}
    for cpu in range(32):
        files[f"{CPU}/cpu{cpu}/thermal_throttle/core_throttle_count"] = "2" if cpu == 7 else "0"
        files[f"{CPU}/cpu{cpu}/thermal_throttle/package_throttle_count"] = "0"
    return files | {
        "proc/self/cgroup": "0::/user.slice/user-1000.slice/session-4.scope",
        "sys/fs/cgroup/cpuset.cpus.effective": "0-31",
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
    """A docker container on a virtual server: 4 CPUs of one node, 4 GiB, 1.5 CPUs of time, a seccomp filter."""
    files = processor(2, 1, 4, 2, ICE_LAKE_SERVER, memory_gib=64)
    # Docker's default capabilities; okosu could use none of them.
    files |= process(16, 2, cpus="2-3,10-11", mems="0", caps="00000000a80425fb", seccomp=2, uid=0)
    files |= thp("madvise") | pool(2048, 0, 0) | pool(1048576, 0, 0) | system("6.8.0-51-generic", "2.39")
    flags = "fpu sse2 avx2 avx512f hypervisor"
    return files | {
        "proc/cpuinfo": XEON.replace("fpu sse2 avx2 avx512f", flags),
        "proc/stat": "cpu  1000 0 500 90000 10 0 5 77 0 0",
        "sys/class/dmi/id/sys_vendor": "Amazon EC2",
        "sys/class/dmi/id/product_name": "m6i.4xlarge",
        ".dockerenv": "",
        # Inside a cgroup namespace the container's own group appears as the root.
        "proc/self/cgroup": "0::/",
        "sys/fs/cgroup/memory.max": "4294967296",
        "sys/fs/cgroup/cpu.max": "150000 100000",
        "proc/sys/kernel/sched_autogroup_enabled": "1",
        "sys/fs/cgroup/cpuset.cpus.effective": "2-3,10-11",
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
    """A desktop whose kernel is built without transparent huge pages, as real-time kernels were; no PSI."""
    files = _desktop()
    del files["proc/pressure/cpu"]
    return files


def thp_never() -> Files:
    """The same desktop with a kernel that has transparent huge pages, switched off."""
    return _desktop() | thp("never") | system("6.1.0-28-amd64", "2.36")


def aarch64() -> Files:
    """An AArch64 virtual machine with base pages of 64 KiB and huge pages of 512 MiB."""
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
CAPTURED = {name: HERE / f"{name}.tar.xz" for name in ("this-vm", "gpu-vm")}
NAMES = [*BUILT, *CAPTURED]


def write(files: Files, folder: Path) -> Path:
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(f"{text}\n" if text else "")
    return folder


def place(name: str, folder: Path) -> Path:
    """The argument of `okosu doctor --root` for the machine: a tree written below the folder, or the tar file."""
    return CAPTURED[name] if name in CAPTURED else write(BUILT[name](), folder)


def doctor(root: Path, *arguments: str) -> str:
    """The output of `okosu doctor --root ROOT` at 80 columns without colour."""
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
    """The golden text of a machine: what doctor says of it and of /bin/true on it."""
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
