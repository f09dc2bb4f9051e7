# SPDX-License-Identifier: Apache-2.0
"""Whether this is a virtual machine or a container, and whether the host gives it memory only when it is touched."""

from __future__ import annotations

import re

from okosu.machine.model import Virtual
from okosu.machine.parse import cgroups
from okosu.machine.tree import Tree

_DMI = "/sys/class/dmi/id"
_VIRTIO = "/sys/bus/virtio/devices"
_BALLOON, _MEMORY = "0x0005", "0x0018"
_REPORTING = 5
"""Feature bit of a virtio balloon by which the guest tells the host which of its pages are free."""

_FIRMWARE = [
    (r"VMware", "VMware"),
    (r"innotek|VirtualBox", "VirtualBox"),
    (r"Microsoft Corporation Virtual Machine", "Hyper-V"),
    (r"Xen", "Xen"),
    (r"Parallels", "Parallels"),
    (r"Apple.*Virtual", "Apple"),
    (r"QEMU|KVM|Google|OpenStack|Amazon EC2|Alibaba|oVirt|RHEV|DigitalOcean|Hetzner vServer", "KVM"),
]
_CLOCKS = {"kvm-clock": "KVM", "hyperv_clocksource_tsc_page": "Hyper-V", "xen": "Xen"}
_GROUPS = [("kubepods", "kubernetes"), ("libpod", "podman"), ("docker", "docker"), ("lxc", "lxc")]
_MARKS = [
    ("/var/run/secrets/kubernetes.io", "kubernetes"),
    ("/run/.containerenv", "podman"),
    ("/.dockerenv", "docker"),
    ("/.singularity.d", "apptainer"),
]


def virtual(tree: Tree, identifying: dict[str, str]) -> Virtual:
    """What is known of virtualisation; `identifying` holds the fields of one CPU in /proc/cpuinfo."""
    hypervisor = _hypervisor(tree, identifying)
    why = _lazy(tree, hypervisor)
    return Virtual(hypervisor, _container(tree), bool(why), why)


def _hypervisor(tree: Tree, identifying: dict[str, str]) -> str:
    if tree.line("/sys/hypervisor/type") == "xen":
        return "Xen"
    if "User Mode Linux" in identifying.get("vendor_id", ""):
        return "User Mode Linux"
    flags = identifying.get("flags", "").split()
    # On x86 the CPU's flags tell whether there is a hypervisor, and the firmware's strings only name it; elsewhere the
    # firmware's strings are the only sign.
    if flags and "hypervisor" not in flags:
        return ""
    named = _named(tree)
    if named or flags:
        return named or "unknown"
    return "unknown" if tree.names(_VIRTIO, r"virtio[0-9]+") else ""


def _named(tree: Tree) -> str:
    if "microsoft" in tree.line("/proc/sys/kernel/osrelease").lower():
        return "Hyper-V"
    vendor, product = tree.line(f"{_DMI}/sys_vendor"), tree.line(f"{_DMI}/product_name")
    # Cloud providers put their name into the firmware of bare-metal machines too.
    if not product.endswith(".metal"):
        for pattern, name in _FIRMWARE:
            if re.search(pattern, f"{vendor} {product}"):
                return name
    if "kvm" in tree.text("/sys/firmware/devicetree/base/hypervisor/compatible"):
        return "KVM"
    clocks = tree.text("/sys/devices/system/clocksource/clocksource0/available_clocksource").split()
    return next((name for clock, name in _CLOCKS.items() if clock in clocks), "")


def _container(tree: Tree) -> str:
    for path, name in _MARKS:
        if tree.has(path):
            return name
    if said := tree.line("/run/systemd/container"):
        return said
    paths = " ".join(cgroups(tree.text("/proc/self/cgroup")).values())
    return next((name for part, name in _GROUPS if part in paths), "")


def _lazy(tree: Tree, hypervisor: str) -> str:
    """Say why the host may back memory only when it is touched; "" on bare metal."""
    if not hypervisor:
        return ""
    devices = {}
    for name in tree.names(_VIRTIO, r"virtio[0-9]{1,6}"):
        devices[tree.line(f"{_VIRTIO}/{name}/device")] = tree.line(f"{_VIRTIO}/{name}/features")
    if _BALLOON in devices:
        if devices[_BALLOON][_REPORTING : _REPORTING + 1] == "1":
            return "the virtio balloon reports free pages to the host, which takes them back"
        return "a virtio balloon lets the host take memory back"
    if _MEMORY in devices:
        return "virtio-mem lets the host plug and unplug memory"
    if hypervisor in ("Xen", "Hyper-V"):
        return f"{hypervisor}'s balloon lets the host take memory back"
    return "a virtual machine cannot see whether its host backs memory before it is touched"
