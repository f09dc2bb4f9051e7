# SPDX-License-Identifier: Apache-2.0
"""Captures: the same machine comes back, nothing that identifies the host is stored, and hostile tar files do no
harm.
"""

from __future__ import annotations

import io
import os
import subprocess
import tarfile
from pathlib import Path

import built_machines as built
import msgspec
import pytest

from okosu import machine
from okosu.errors import OkosuError
from okosu.levers.pin import order
from okosu.machine.tarball import _Hider


def same(a: machine.Machine, b: machine.Machine) -> bool:
    return bool(msgspec.structs.replace(a, root="") == msgspec.structs.replace(b, root=""))


@pytest.mark.parametrize("suffix", [".tar", ".tar.gz", ".tar.xz"])
def test_a_capture_replays_as_the_same_machine(suffix: str, tmp_path: Path, places: dict[str, Path]) -> None:
    root = places["container"]
    out = tmp_path / f"m{suffix}"
    assert machine.capture(root, out) > 100
    with machine.unpacked(out) as folder:
        assert same(machine.read(folder), machine.read(root))
        assert order("scatter", str(folder)) == order("scatter", str(root))


def test_a_capture_of_a_capture_is_equal(tmp_path: Path) -> None:
    first, second = tmp_path / "1.tar", tmp_path / "2.tar"
    machine.capture(Path("/"), first)
    with machine.unpacked(first) as folder:
        machine.capture(folder, second)
    assert first.read_bytes() == second.read_bytes()


def test_this_machine_replays(tmp_path: Path) -> None:
    out = tmp_path / "m.tar"
    before = machine.read()
    machine.capture(Path("/"), out)
    with machine.unpacked(out) as folder:
        after = machine.read(folder)
    for fact in ("id", "model", "cpus", "caches", "kernel", "glibc", "thp", "rights", "limits", "virtual"):
        assert getattr(before, fact) == getattr(after, fact), fact


def test_nothing_that_names_the_host_goes_out(tmp_path: Path) -> None:
    tree = built.thp_never()
    container = "deadbeef" * 8
    pod = "0a1b2c3d-1111-2222-3333-444455556666"
    tree |= {
        "proc/cpuinfo": tree["proc/cpuinfo"].replace("\n\n", "\nSerial\t\t: 00000000abcdef01\n\n"),
        "proc/self/cgroup": f"0::/kubepods/pod{pod}/{container}",
        f"sys/fs/cgroup/kubepods/pod{pod}/{container}/memory.max": "1073741824",
        "proc/self/status": tree["proc/self/status"] + "\nName:\tsecret-name\nPid:\t4242",
        "etc/hostname": "secret-host",
        "sys/class/dmi/id/product_serial": "SECRET-SERIAL",
    }
    root = built.write(tree, tmp_path / "tree")
    out = tmp_path / "m.tar"
    machine.capture(root, out)
    content = out.read_bytes()
    for secret in (container, pod, "00000000abcdef01", "secret-name", "secret-host", "SECRET-SERIAL"):
        assert secret.encode() not in content
    with machine.unpacked(out) as folder:
        assert machine.read(folder).limits.memory_max == 1 << 30


def test_a_hosts_name_is_hidden_whole_and_short() -> None:
    hide = _Hider("node-17.example.org")
    assert hide.groups("4:memory:/slurm/node-17_x/job\n0::/node-17.example.org\n") == (
        "4:memory:/slurm/host_x/job\n0::/host\n"
    )
    assert hide.path("/sys/fs/cgroup/node-17/x") == "/sys/fs/cgroup/host/x"
    assert hide.path("/proc/sys/vm/node-17") == "/proc/sys/vm/node-17"
    assert hide.group("/node-170/my-node-17") == "/node-170/my-node-17"


def evil(path: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    with tarfile.open(path, "w") as tar:
        for info, content in members:
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return path


def test_a_tar_cannot_write_or_read_outside(tmp_path: Path) -> None:
    link = tarfile.TarInfo("proc/cpuinfo")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    tar = evil(
        tmp_path / "evil.tar",
        (tarfile.TarInfo("../outside"), b"x"),
        (tarfile.TarInfo("/absolute-outside"), b"x"),
        (tarfile.TarInfo("proc/../../outside2"), b"x"),
        (link, b""),
        (tarfile.TarInfo("proc/loadavg"), b"1 2 3 1/1 1"),
    )
    with machine.unpacked(tar) as folder:
        assert sorted(str(p.relative_to(folder)) for p in folder.rglob("*")) == ["proc", "proc/loadavg"]
        assert not (folder.parent / "outside").exists()
    assert not Path("/absolute-outside").exists()


@pytest.mark.parametrize("content", [b"", b"not a tar", b"\x1f\x8b garbage", b"\xfd7zXZ\x00 garbage"])
def test_what_is_no_tar_is_refused_in_three_parts(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.tar"
    path.write_bytes(content)
    with pytest.raises(OkosuError) as caught, machine.unpacked(path):
        pass
    assert caught.value.why
    assert caught.value.fix


def test_a_capture_cut_short_is_refused(tmp_path: Path) -> None:
    whole = built.CAPTURED["this-vm"].read_bytes()
    path = tmp_path / "cut.tar.xz"
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(OkosuError), machine.unpacked(path):
        pass


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OkosuError) as caught:
        machine.capture(built.place("thp-never", tmp_path), tmp_path / "none" / "m.tar")
    assert "cannot be written" in caught.value.what


def test_links_of_a_tree_do_not_lead_out_of_it(tmp_path: Path) -> None:
    root = built.place("thp-never", tmp_path / "tree")
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "enabled").write_text("always [madvise] never")
    enabled = root / built.THP / "enabled"
    enabled.unlink()
    enabled.symlink_to(secret / "enabled")
    assert machine.read(root).thp.enabled == ""
    (root / "elsewhere").mkdir()
    (root / "elsewhere" / "enabled").write_text("[always] madvise never")
    enabled.unlink()
    enabled.symlink_to(Path(os.path.relpath(root / "elsewhere" / "enabled", enabled.parent)))
    assert machine.read(root).thp.enabled == "always"


def test_a_fifo_does_not_block(tmp_path: Path) -> None:
    root = built.place("thp-never", tmp_path)
    (root / "proc/loadavg").unlink()
    os.mkfifo(root / "proc/loadavg")
    assert machine.read(root).state.load == []


def test_tar_reads_what_we_write(tmp_path: Path) -> None:
    out = tmp_path / "m.tar"
    count = machine.capture(built.place("thp-never", tmp_path / "tree"), out)
    listed = subprocess.run(["tar", "tf", out], capture_output=True, text=True, check=True).stdout.splitlines()
    assert sum(not line.endswith("/") for line in listed) == count
