# SPDX-License-Identifier: Apache-2.0
"""Whole configurations: where they are found, and what is said where there is none; and sources that are unpacked
whole."""

from __future__ import annotations

import gzip
import lzma
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from lab.kernel import base as bases
from lab.kernel import source, whole
from okosu.errors import OkosuError

TEXT = "CONFIG_A=y\n# CONFIG_B is not set\n"
SYMBOLS = {"A": "y", "B": "n"}


@pytest.mark.parametrize(("name", "opened"), [("c", open), ("c.gz", gzip.open), ("c.xz", lzma.open)])
def test_a_file_may_be_compressed(name: str, opened: object, tmp_path: Path) -> None:
    with opened(tmp_path / name, "wt") as file:  # type: ignore[operator]
        file.write(TEXT)
    assert whole.read(str(tmp_path / name), "6.12") == whole.Whole(tmp_path / name, SYMBOLS)


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("c", b"", "no line of it"),
        ("c", b"\xff\xfe", "decode"),
        ("c.gz", b"CONFIG_A=y", "gzip"),
        ("c.xz", b"CONFIG_A=y", "format"),
        ("c.xz", lzma.compress(TEXT.encode())[:-10], "ended"),
    ],
)
def test_what_is_no_configuration_is_refused(name: str, data: bytes, why: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(OkosuError, match="is no kernel's configuration") as caught:
        whole.read(str(tmp_path / name), "6.12")
    assert caught.value.status == 125
    assert why in caught.value.why


def test_that_of_debian_is_its_package_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bases, "SOURCES", tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(OkosuError, match="Debian's configuration is missing") as caught:
        whole.read(whole.CLOUD, "6.12")
    assert caught.value.why == "the package linux-config-6.12 is not installed"
    assert caught.value.fix.startswith("make lab-deps")
    (tmp_path / "linux-config-6.12").mkdir()
    file = tmp_path / "linux-config-6.12/config.amd64_none_cloud-amd64.xz"
    with lzma.open(file, "wt") as opened:
        opened.write(TEXT)
    assert whole.read(whole.CLOUD, "6.12") == whole.Whole(file, SYMBOLS)
    # An installed package of a base that could be fetched is taken in its place.
    (tmp_path / "linux-config-7.3").mkdir()
    assert whole.to_be_fetched(whole.CLOUD, "7.3")
    shutil.copy(file, tmp_path / "linux-config-7.3")
    assert not whole.to_be_fetched(whole.CLOUD, "7.3")
    assert whole.read(whole.CLOUD, "7.3").config == SYMBOLS


def test_that_of_the_running_kernel_is_in_boot_or_in_proc(monkeypatch: pytest.MonkeyPatch) -> None:
    there: set[str] = set()
    monkeypatch.setattr(Path, "is_file", lambda path: str(path) in there)
    release = os.uname().release
    with pytest.raises(OkosuError, match="is not to be had") as caught:
        whole.running()
    assert caught.value.why == f"there is neither /boot/config-{release} nor /proc/config.gz"
    there.add("/proc/config.gz")
    assert whole.running() == Path("/proc/config.gz")
    there.add(f"/boot/config-{release}")
    assert whole.running() == Path(f"/boot/config-{release}")


@pytest.mark.skipif(not shutil.which("xz"), reason="xz is not installed")
def test_a_source_can_be_unpacked_whole_beside_the_lab_s_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(bases, "SOURCES", tmp_path)
    tables = "drivers/gpu/drm/amd/include/tables.h"
    (tmp_path / "linux" / tables).parent.mkdir(parents=True)
    (tmp_path / "linux" / tables).touch()
    tarball = bases.find("6.12").tarball
    subprocess.run(["tar", "-cJf", tarball, "-C", tmp_path, "linux"], check=True)
    of_the_lab, everything = source.find(), source.find(whole=True)
    assert not (of_the_lab.path / tables).exists()
    assert (everything.path / tables).exists()
    assert of_the_lab.version != everything.version
