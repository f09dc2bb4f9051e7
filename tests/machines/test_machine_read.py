# SPDX-License-Identifier: Apache-2.0
"""Reading a machine: garbled and missing files leave facts unknown, the rest as it is; control groups; state."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import built_machines as built
import msgspec
import pytest
from effort import length
from hypothesis import given, settings
from hypothesis import strategies as st

from okosu import machine
from okosu.machine.model import Machine

SMALL = built.aarch64()
GARBAGE = st.binary(max_size=60) | st.text(alphabet="0123456789-,: \n[]kM.", max_size=60).map(str.encode)


def test_garbled_and_missing_files_never_raise(tmp_path: Path) -> None:
    root = built.write(SMALL, tmp_path)

    @settings(max_examples=length(20, 60))
    @given(st.dictionaries(st.sampled_from(sorted(SMALL)), st.none() | GARBAGE, max_size=12))
    def check(changes: dict[str, bytes | None]) -> None:
        for path, content in changes.items():
            (root / path).unlink()
            if content is not None:
                (root / path).write_bytes(content)
        read = machine.read(root)
        assert msgspec.json.decode(msgspec.json.encode(read), type=Machine) == read
        msgspec.json.encode(machine.state(root))
        built.write({path: SMALL[path] for path in changes}, root)

    check()
    assert machine.read(root) == machine.read(built.write(SMALL, root))


def test_an_empty_tree_is_a_machine_without_facts(tmp_path: Path) -> None:
    read = machine.read(tmp_path)
    assert (read.model, read.cpus, read.caches, read.nodes, read.thp.mode) == ("", [], [], [], "")
    assert not read.virtual.lazy_memory


def test_this_machine_can_be_read() -> None:
    here = machine.read()
    assert here.root == "/"
    assert len(here.id) == 12
    assert here.cpus_online
    assert here.memory.total_kb > 0
    assert here.kernel


def cgroup(tmp_path: Path, files: dict[str, str]) -> machine.Machine:
    return machine.read(built.write(built.processor(1, 1, 4, 1, []) | files, tmp_path))


def test_the_tightest_limit_of_all_ancestors_counts(tmp_path: Path) -> None:
    here = cgroup(
        tmp_path,
        {
            "proc/self/cgroup": "0::/a/b/c",
            "sys/fs/cgroup/a/memory.max": "1000000",
            "sys/fs/cgroup/a/b/memory.max": "2000000",
            "sys/fs/cgroup/a/b/c/memory.max": "max",
            "sys/fs/cgroup/a/b/cpu.max": "250000 100000",
            "sys/fs/cgroup/a/b/c/cpu.max": "max 100000",
            "sys/fs/cgroup/a/b/cpuset.cpus.effective": "1-2",
        },
    )
    assert here.limits.version == 2
    assert (here.limits.memory_max, here.limits.cpu_max, here.limits.cpuset_cpus) == (1000000, 2.5, [1, 2])


def test_version_1_has_a_hierarchy_for_each_controller(tmp_path: Path) -> None:
    here = cgroup(
        tmp_path,
        {
            "proc/self/cgroup": "4:memory:/docker/x\n3:cpuset:/\n1:cpu,cpuacct:/docker/x\n0::/\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712",
            "sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes": "3000000",
            "sys/fs/cgroup/cpu/docker/x/cpu.cfs_quota_us": "50000",
            "sys/fs/cgroup/cpu/docker/x/cpu.cfs_period_us": "100000",
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
            "sys/fs/cgroup/cpuset/cpuset.effective_cpus": "0-1",
        },
    )
    assert (here.limits.version, here.limits.memory_max, here.limits.cpu_max) == (1, 3000000, 0.5)
    assert here.limits.cpuset_cpus == [0, 1]


def test_version_1_without_limits_is_unlimited(tmp_path: Path) -> None:
    files = {"proc/self/cgroup": "4:memory:/", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712"}
    assert cgroup(tmp_path, files).limits.memory_max is None


def test_a_group_that_leads_out_of_the_mount_is_the_mount(tmp_path: Path) -> None:
    files = {"proc/self/cgroup": "0::/../../other", "sys/fs/cgroup/memory.max": "4096000"}
    assert cgroup(tmp_path, files).limits.memory_max == 4096000


BALLOON = "01100101" + "0" * 56


@pytest.mark.parametrize(
    ("files", "hypervisor", "lazy", "why"),
    [
        ({}, "", False, ""),
        ({"sys/hypervisor/type": "xen"}, "Xen", True, "balloon"),
        ({"proc/sys/kernel/osrelease": "5.15.90-microsoft-standard-WSL2"}, "Hyper-V", True, "balloon"),
        ({"sys/class/dmi/id/sys_vendor": "QEMU"}, "KVM", True, "cannot see"),
        (
            {
                "sys/class/dmi/id/sys_vendor": "QEMU",
                "sys/bus/virtio/devices/virtio3/device": "0x0005",
                "sys/bus/virtio/devices/virtio3/features": BALLOON,
            },
            "KVM",
            True,
            "reports free pages",
        ),
        (
            {
                "sys/class/dmi/id/sys_vendor": "QEMU",
                "sys/bus/virtio/devices/virtio3/device": "0x0005",
                "sys/bus/virtio/devices/virtio3/features": "0110" + "0" * 60,
            },
            "KVM",
            True,
            "lets the host take memory back",
        ),
    ],
)
def test_hypervisor_and_lazy_memory(
    files: dict[str, str], hypervisor: str, lazy: bool, why: str, tmp_path: Path
) -> None:
    flags = "fpu sse2" + (" hypervisor" if hypervisor else "")
    tree = {"proc/cpuinfo": built.cpuinfo("GenuineIntel", 6, 85, 7, "Xeon", "0x1", flags)} | files
    virtual = machine.read(built.write(tree, tmp_path)).virtual
    assert (virtual.hypervisor, virtual.lazy_memory) == (hypervisor, lazy)
    assert why in virtual.lazy_why


def test_a_cloud_vendors_whole_machine_is_no_virtual_machine(tmp_path: Path) -> None:
    tree = built.aarch64() | {"sys/class/dmi/id/product_name": "m6g.metal"}
    del tree["sys/bus/virtio/devices/virtio0/device"]
    assert machine.read(built.write(tree, tmp_path)).virtual.hypervisor == ""


@pytest.mark.parametrize(
    ("global_", "own", "mode"),
    [
        ("madvise", "inherit", "madvise"),
        ("never", "always", "always"),
        ("always", "never", "never"),
        ("always", "", "always"),
    ],
)
def test_the_size_of_a_huge_page_may_have_a_setting_of_its_own(
    global_: str, own: str, mode: str, tmp_path: Path
) -> None:
    tree = built.thp(global_)
    if own:
        tree[f"{built.THP}/hugepages-2048kB/enabled"] = f"x [{own}] y"
    assert machine.read(built.write(tree, tmp_path)).thp.mode == mode


@pytest.mark.parametrize(
    ("global_", "own", "setting"),
    [
        ("advise", "inherit", "advise"),
        ("never", "advise", "advise"),
        ("always", "never", "never"),
        ("deny", "", "deny"),
    ],
)
def test_shared_memory_has_a_setting_too(global_: str, own: str, setting: str, tmp_path: Path) -> None:
    tree = built.thp("madvise", shmem=global_) | {f"{built.THP}/hugepages-64kB/shmem_enabled": "always [inherit]"}
    if own:
        tree[f"{built.THP}/hugepages-2048kB/shmem_enabled"] = f"x [{own}] y"
    thp = machine.read(built.write(tree, tmp_path)).thp
    assert (thp.shmem, thp.shared) == (global_, setting)
    assert thp.shmem_sizes == ({"2048": own} if own else {}) | {"64": "inherit"}


def test_capabilities_inside_a_user_namespace_are_told_apart(tmp_path: Path) -> None:
    tree = built.process(4, 1, caps="1ffffffffff") | {"proc/self/uid_map": "0 1000 1"}
    rights = machine.read(built.write(tree, tmp_path)).rights
    assert rights.capabilities == ["IPC_LOCK", "SYS_PTRACE", "SYS_ADMIN", "SYS_NICE"]
    assert not rights.initial_userns


def test_state_holds_what_changes(tmp_path: Path) -> None:
    tree = built.thp_never() | built.pool(2048, 1024, 512)
    root = built.write(tree, tmp_path)
    before = machine.state(root)
    assert before["free_huge"] == {"2048": 512}
    (root / "proc/loadavg").write_text("7.5 6 5 1/1 1")
    (root / "sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages").write_text("12")
    after = machine.state(root)
    assert after["load"] == [7.5, 6.0, 5.0]
    assert after["free_huge"]["2048"] == 12
    assert {k for k in before if before[k] != after[k]} == {"load", "free_huge"}


def test_importing_brings_in_nothing_heavy() -> None:
    code = (
        "import sys, pathlib, msgspec; before = set(sys.modules); import okosu.machine;"
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    brought = {name.partition(".")[0] for name in done.stdout.split()}
    assert brought <= {"okosu", *sys.stdlib_module_names}
    assert not brought & {"subprocess", "tempfile", "tarfile", "hashlib", "ctypes", "random"}
