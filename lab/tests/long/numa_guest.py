# SPDX-License-Identifier: Apache-2.0
"""A QEMU guest with several NUMA nodes (TCG, no KVM), whose init runs commands and prints their output."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "okosu" / "lab"

# Node 0 has two CPUs, node 1 one, node 2 a CPU but no memory, node 3 memory but no CPU; Linux gives a node without CPUs
# the last number, whatever number it has here. The distances differ from every default.
NUMA = """
-m 480M -smp 4,sockets=4,cores=1,threads=1
-object memory-backend-ram,id=m0,size=224M -numa node,nodeid=0,memdev=m0
-object memory-backend-ram,id=m1,size=192M -numa node,nodeid=1,memdev=m1
-numa node,nodeid=2
-object memory-backend-ram,id=m3,size=64M -numa node,nodeid=3,memdev=m3
-numa cpu,node-id=0,socket-id=0 -numa cpu,node-id=0,socket-id=1 -numa cpu,node-id=1,socket-id=2
-numa cpu,node-id=2,socket-id=3
-numa dist,src=0,dst=1,val=13 -numa dist,src=0,dst=2,val=17 -numa dist,src=0,dst=3,val=20
-numa dist,src=1,dst=2,val=19 -numa dist,src=1,dst=3,val=23 -numa dist,src=2,dst=3,val=29
"""

INIT = """#!/bin/sh
export PATH=/bin
/bin/busybox mkdir -p /proc /sys /dev /tmp
/bin/busybox mount -t proc none /proc
/bin/busybox --install -s /bin
mount -t sysfs none /sys; mount -t devtmpfs none /dev 2>/dev/null
mount -t cgroup2 none /sys/fs/cgroup
echo +cpuset > /sys/fs/cgroup/cgroup.subtree_control
# The firmware leaves the cursor within a line.
echo
{commands}
echo '== end'
# The kernel's last words would be within that line.
sleep 1
poweroff -f
"""


def kernel(folder: Path) -> Path | None:
    """A kernel image with NUMA: OKOSU_GUEST_KERNEL, or Debian's cloud kernel; None where neither is installed."""
    if given := os.environ.get("OKOSU_GUEST_KERNEL"):
        return Path(given)
    if kept := sorted(CACHE.glob("vmlinuz-*-cloud-amd64")):
        return kept[-1]
    if not shutil.which("apt-get") or not shutil.which("dpkg-deb"):
        return None
    listed = subprocess.run(["apt-cache", "depends", "linux-image-cloud-amd64"], capture_output=True, text=True)
    if not (found := re.search(r"Depends: (linux-image-\S+)", listed.stdout)):
        return None
    if subprocess.run(["apt-get", "download", found[1]], cwd=folder, capture_output=True).returncode:
        return None
    (package,) = folder.glob("linux-image-*.deb")
    subprocess.run(["dpkg-deb", "-x", package, folder / "kernel"], check=True)
    (image,) = (folder / "kernel" / "boot").glob("vmlinuz-*")
    CACHE.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(image, CACHE / image.name))


def _libraries(program: Path) -> set[Path]:
    said = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    return {Path(path) for path in re.findall(r"(/\S+) \(0x", said)}


def initramfs(folder: Path, programs: dict[str, Path], commands: dict[str, str]) -> Path:
    """Write an archive with busybox, the programs and an init that runs the commands (shell, by name)."""
    root = folder / "root"
    (root / "bin").mkdir(parents=True)
    busybox = Path(shutil.which("busybox") or "/bin/busybox")
    for name, path in {**programs, "busybox": busybox}.items():
        shutil.copy(path, root / "bin" / name)
        for library in _libraries(path):
            target = root / library.relative_to("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(library, target)
    (root / "bin" / "sh").symlink_to("busybox")
    lines = [f"echo '== {name}'\n{command}" for name, command in commands.items()]
    init = root / "init"
    init.write_text(INIT.format(commands="\n".join(lines)))
    init.chmod(0o755)
    archive = folder / "initramfs"
    names = "\n".join(str(path.relative_to(root)) for path in sorted(root.rglob("*")))
    with archive.open("wb") as out:
        subprocess.run(["cpio", "-o", "-H", "newc", "--quiet"], cwd=root, input=names.encode(), stdout=out, check=True)
    return archive


def run(image: Path, archive: Path) -> dict[str, str]:
    """Boot the guest; return the output of each command, by the command's name."""
    command = [
        *("qemu-system-x86_64", "-accel", "tcg,thread=multi", "-cpu", "max", *NUMA.split()),
        *("-kernel", image, "-initrd", archive, "-append", "console=ttyS0 quiet panic=-1 tsc=reliable"),
        *("-nographic", "-no-reboot", "-nic", "none"),
    ]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return answers(done.stdout, done.stderr)


def answers(console: str, errors: str) -> dict[str, str]:
    """Return what init printed between its headings, by these; AssertionError if it did not come to its end."""
    parts = re.split(r"^== (\S+)\r?\n", console, flags=re.MULTILINE)
    said = dict(zip(parts[1::2], parts[2::2], strict=True))
    assert "end" in said, console[-4000:] + errors[-4000:]
    return said
