# SPDX-License-Identifier: Apache-2.0
"""GPUs and what is needed to use them, found by the presence of files: loading a driver would change the machine."""

from __future__ import annotations

from okosu.machine.model import Accelerators
from okosu.machine.tree import Tree

_VENDORS = {
    "0x1002": "AMD",
    "0x10de": "NVIDIA",
    "0x8086": "Intel",
    "0x1a03": "ASPEED",
    "0x102b": "Matrox",
    "0x1234": "QEMU",
    "0x1af4": "virtio",
}
_LIBRARIES = ("libOpenCL.so.1", "libcuda.so.1")
_FOLDERS = (
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/usr/local/lib",
    "/usr/local/cuda/lib64",
    "/opt/rocm/lib",
)


def accelerators(tree: Tree) -> Accelerators:
    devices = [f"/dev/{name}" for name in tree.names("/dev", r"nvidia[0-9]{1,3}|kfd")]
    devices += [f"/dev/dri/{name}" for name in tree.names("/dev/dri", r"(card|renderD)[0-9]{1,4}")]
    vendors = set()
    for card in tree.names("/sys/class/drm", r"card[0-9]{1,3}"):
        if text := tree.line(f"/sys/class/drm/{card}/device/vendor"):
            vendors.add(_VENDORS.get(text, text[:16]))
    return Accelerators(
        devices,
        sorted(vendors),
        tree.names("/etc/OpenCL/vendors", r"[^/\n]{1,100}\.icd"),
        [f"{folder}/{name}" for name in _LIBRARIES for folder in _FOLDERS if tree.has(f"{folder}/{name}")],
    )
