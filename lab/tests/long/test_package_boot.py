# SPDX-License-Identifier: Apache-2.0
"""okosu lab package from end to end: the packages of a small kernel, one of them installed by dpkg into a Debian of
debootstrap's, and that booted from memory: make test-lab-full.

OKOSU_PACKAGE=cloud-amd64 (or running, or a file) builds the kernel on that configuration instead of the small one;
Debian's takes hours where it is not in the cache yet.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lab.kernel import build, config, series, source
from lab.run import qemu
from lab.tests import obeys

pytestmark = [
    pytest.mark.skipif(os.environ.get("OKOSU_LAB") != "full", reason="make test-lab-full runs it"),
    pytest.mark.skipif(os.geteuid() != 0, reason="debootstrap and chroot want root"),
]

_TOOLS = Path(__file__).resolve().parents[3] / "tools"

SERIES = "hugetlb-prezero"
# The least on which Debian's programs run, from memory and on a serial line, so that it is compiled soon; and a module.
SMALL = """\
CONFIG_64BIT=y
CONFIG_SMP=y
CONFIG_NUMA=y
CONFIG_MODULES=y
CONFIG_KERNEL_GZIP=y
CONFIG_PRINTK=y
CONFIG_MULTIUSER=y
CONFIG_FUTEX=y
CONFIG_EPOLL=y
CONFIG_EVENTFD=y
CONFIG_SIGNALFD=y
CONFIG_TIMERFD=y
CONFIG_POSIX_TIMERS=y
CONFIG_FILE_LOCKING=y
CONFIG_ADVISE_SYSCALLS=y
CONFIG_MEMBARRIER=y
CONFIG_RSEQ=y
CONFIG_BINFMT_ELF=y
CONFIG_BINFMT_SCRIPT=y
CONFIG_BINFMT_MISC=m
CONFIG_BLK_DEV_INITRD=y
CONFIG_PROC_FS=y
CONFIG_PROC_SYSCTL=y
CONFIG_SYSFS=y
CONFIG_DEVTMPFS=y
CONFIG_SHMEM=y
CONFIG_TMPFS=y
CONFIG_HUGETLBFS=y
CONFIG_TTY=y
CONFIG_SERIAL_8250=y
CONFIG_SERIAL_8250_CONSOLE=y
CONFIG_MAGIC_SYSRQ=y
CONFIG_EXPERT=y
"""
MIRROR = "http://deb.debian.org/debian"
SUITE = "bookworm"
PAGES = 40
TIMEOUT_S = 1800.0

# An ordinary Python, whose heap glibc takes from huge pages because a variable says so: 16 of them. Its memory has to
# be zeros when it comes, also in the second run, and is filled with something else before it goes.
PROGRAM = """\
size = 32 << 20
block = bytearray(size)
print("zeros", block.count(0) == size)
block[:] = b"\\xa5" * size
"""

# The guest's first process.
INIT = f"""\
#!/bin/sh
mount -t proc proc /proc
mount -t sysfs sysfs /sys
. /etc/os-release
echo "system $ID $VERSION_ID"
echo "release $(uname -r)"
echo "version $(uname -v)"
modprobe binfmt_misc && echo "module $(grep -o '^binfmt_misc' /proc/modules)"
cd /sys/kernel/mm/hugepages/hugepages-2048kB
clean() {{
    tries=0
    while [ "$(cat zeroed_hugepages)" -lt {PAGES} ] && [ $tries -lt 600 ]; do sleep 1; tries=$((tries + 1)); done
    echo "clean $(cat zeroed_hugepages)"
}}
stat() {{ sed -n "s/^$1 /$1 /p" zero_stats; }}
echo {PAGES} > nr_hugepages
echo {PAGES} > zero_target
echo cpu-nt > zero_engine
for run in 1 2; do
    clean
    GLIBC_TUNABLES=glibc.malloc.hugetlb=2 python3 /program.py
    stat served_clean
    stat served_dirty
done
echo finished
echo b > /proc/sysrq-trigger
sleep 600
"""


@pytest.fixture(scope="module")
def configuration(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Give the configuration that is asked for, or what SMALL makes of an empty one."""
    if asked := os.environ.get("OKOSU_PACKAGE"):
        return asked
    done = subprocess.run([_TOOLS / "setup/lab-deps.sh"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    objects = tmp_path_factory.mktemp("configuration")
    (objects / "asked").write_text(SMALL)
    words = (f"KCONFIG_ALLCONFIG={objects / 'asked'}", "allnoconfig")
    config.check(config.parse(SMALL), build.configured(source.find().path, objects, qemu.RECIPE, *words))
    return str(objects / ".config")


@pytest.fixture(scope="module")
def packaged(configuration: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Give what okosu lab package says of the packages that it made."""
    out = tmp_path_factory.mktemp("out") / "debs"
    words = ["package", "--config", configuration, "--series", SERIES, "--out", str(out), "--json", "-"]
    done = subprocess.run([sys.executable, "-m", "okosu", "lab", *words], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    told = obeys.its_schema(done.stdout)
    image = next(iter(told["packages"]))
    release = told["release"]
    for part in (f"apt install {image}\n", f"with Linux {release}' && reboot", f"purge linux-image-{release}"):
        assert part in done.stderr.decode()
    return told


def image_of(packaged: dict[str, Any]) -> Path:
    return Path(next(iter(packaged["packages"])))


def test_the_package_holds_kernel_modules_and_the_series_options(packaged: dict[str, Any], tmp_path: Path) -> None:
    release = packaged["release"]
    assert release.endswith("-okosu")
    listed = said("dpkg-deb", "-c", str(image_of(packaged))).split()
    for path in (f"boot/vmlinuz-{release}", f"boot/System.map-{release}", f"lib/modules/{release}/modules.dep"):
        assert f"./{path}" in listed
    # Debian's configurations compress modules.
    module = f"./lib/modules/{release}/kernel/fs/binfmt_misc.ko"
    assert {module, f"{module}.xz", f"{module}.zst"} & set(listed)
    said("dpkg-deb", "-x", str(image_of(packaged)), str(tmp_path))
    got = config.parse((tmp_path / f"boot/config-{release}").read_text())
    asked = config.fragments(("package",))
    for name in series.find(SERIES).symbols:
        assert got.get(name, "n") == asked.get(name, "n") or name == "FOLIO_ZERO_RANGES"
    assert "PAGE_COLOR" not in got
    assert said("dpkg-deb", "-f", str(image_of(packaged)), "Version").strip().endswith(f"+okosu{packaged['key'][:8]}")
    assert sorted(Path(path).name.partition("_")[0] for path in packaged["packages"]) == [
        f"linux-headers-{release}",
        f"linux-image-{release}",
    ]


def test_debian_boots_the_package_and_python_gets_pages_cleared_ahead(packaged: dict[str, Any], tmp_path: Path) -> None:
    root = tmp_path / "root"
    include = "--include=kmod,python3-minimal"
    said("debootstrap", "--variant=minbase", include, SUITE, str(root), MIRROR)
    shutil.copy(image_of(packaged), root / "image.deb")
    # As on a user's machine: dpkg runs the scripts of the package.
    said("chroot", str(root), "dpkg", "-i", "/image.deb")
    said("chroot", str(root), "apt-get", "clean")
    (root / "program.py").write_text(PROGRAM)
    (root / "init").write_text(INIT)
    (root / "init").chmod(0o755)
    packed = tmp_path / "initramfs"
    said("sh", "-c", f"cd {root} && find . -xdev | cpio --quiet -o -H newc > {packed}")
    text = booted(root / f"boot/vmlinuz-{packaged['release']}", packed)
    told: dict[str, list[str]] = {}
    for line in text.splitlines():
        told.setdefault(line.partition(" ")[0], []).append(line.partition(" ")[2])
    assert told["system"] == ["debian 12"], text
    assert told["release"] == [packaged["release"]]
    assert f"okosu{packaged['key'][:8]}" in told["version"][0]
    assert told["module"] == ["binfmt_misc"], text
    assert "finished" in told, text
    assert told["clean"] == [str(PAGES)] * 2, text
    assert told["zeros"] == ["True"] * 2, text
    # Each run took its pages, 16 and what else of the heap is in huge ones, from those that were clean.
    first, second = map(int, told["served_clean"])
    assert first >= 16, text
    assert second >= first + 16, text
    assert told["served_dirty"] == ["0"] * 2, text


def booted(kernel: Path, packed: Path) -> str:
    """Boot the kernel with a file system in memory, and return what came out of the serial line.

    Time is counted in instructions: on a busy machine the kernel would find no timer that ticks as it expects.
    """
    words = ["console=ttyS0", "panic=-1", "quiet", "tsc=reliable", "noapictimer", "no_timer_check"]
    machine = ["-accel", "tcg,thread=single", "-icount", "shift=0,sleep=off", "-cpu", qemu.CPU, "-m", "2G"]
    devices = ["-no-reboot", "-nic", "none", "-display", "none", "-serial", "stdio", "-initrd", str(packed)]
    done = subprocess.run(
        [qemu.PROGRAM, *machine, *devices, "-kernel", str(kernel), "-append", " ".join(words)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode(errors="replace").replace("\r\n", "\n")


def said(*words: str) -> str:
    """Run a program of root's and return what it prints."""
    path = {"PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin", "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(words, env={**os.environ, **path}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{words}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout
