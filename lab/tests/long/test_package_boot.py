# SPDX-License-Identifier: Apache-2.0
"""okosu lab package from end to end: the packages of a small kernel, one of them installed by dpkg into a Debian of
debootstrap's on a disk, and that booted: make test-lab-full."""

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

SERIES = "hugetlb-prezero"
# What Debian needs beyond what the lab's guests have: a disk with a file system, and modules, of which there is one.
MORE = """\
CONFIG_MODULES=y
CONFIG_BLOCK=y
CONFIG_BLK_DEV=y
CONFIG_VIRTIO_BLK=y
CONFIG_BLK_DEV_LOOP=m
CONFIG_EXT4_FS=y
CONFIG_DEVTMPFS_MOUNT=y
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
modprobe loop && echo "module $(grep -o '^loop' /proc/modules)"
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
echo o > /proc/sysrq-trigger
sleep 600
"""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the configuration of the lab's guests, without any series' options and with MORE."""
    objects = tmp_path_factory.mktemp("configuration")
    ours = {name for one in series.on_every_base() for name in one.symbols}
    asked = {name: value for name, value in config.fragments(("x86",)).items() if name not in ours}
    (objects / "asked").write_text(config.text(asked | config.parse(MORE)))
    words = (f"KCONFIG_ALLCONFIG={objects / 'asked'}", "allnoconfig")
    config.check(config.parse(MORE), build.configured(source.find().path, objects, qemu.RECIPE, *words))
    return objects / ".config"


@pytest.fixture(scope="module")
def packaged(small: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Give what okosu lab package says of the packages that it made."""
    out = tmp_path_factory.mktemp("out") / "debs"
    words = ["package", "--config", str(small), "--series", SERIES, "--out", str(out), "--json", "-"]
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
    assert any(path.endswith(f"/{release}/kernel/drivers/block/loop.ko") for path in listed)
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
    (root / "program.py").write_text(PROGRAM)
    (root / "init.sh").write_text(INIT)
    (root / "init.sh").chmod(0o755)
    disk = tmp_path / "disk"
    said("mke2fs", "-q", "-t", "ext4", "-d", str(root), str(disk), "1G")
    text = booted(root / f"boot/vmlinuz-{packaged['release']}", disk)
    found = [line.split(maxsplit=1) for line in text.splitlines() if " " in line]
    told = {name: [value for other, value in found if other == name] for name in ("clean", "zeros", "served_clean")}
    for line in ("system debian 12", f"release {packaged['release']}", "module loop", "finished"):
        assert line in text.splitlines(), text
    assert f"okosu{packaged['key'][:8]}" in next(line for line in text.splitlines() if line.startswith("version "))
    assert told["clean"] == [str(PAGES)] * 2, text
    assert told["zeros"] == ["True"] * 2, text
    # Each run took its 16 pages from those that were clean.
    first, second = map(int, told["served_clean"])
    assert first >= 16, text
    assert second >= first + 16, text


def booted(kernel: Path, disk: Path) -> str:
    """Boot the kernel with the disk as its root, and return what came out of the serial line."""
    words = ["root=/dev/vda", "rw", "console=ttyS0", "init=/init.sh", "panic=-1", "quiet"]
    machine = ["-accel", "tcg,thread=single", "-cpu", "max", "-m", "512M", "-no-reboot", "-nic", "none"]
    devices = ["-display", "none", "-serial", "stdio", "-drive", f"file={disk},if=virtio,format=raw"]
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
