# SPDX-License-Identifier: Apache-2.0
"""The QEMU guest's command line and its file system in memory: QEMU and the kernel are told what was asked for."""

from __future__ import annotations

import argparse
import inspect
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from lab.cli import _machine
from lab.kernel.build import Built
from lab.run import initramfs, platforms, qemu
from lab.run.initramfs import Archive
from lab.run.outcome import GuestError, Heard
from okosu.errors import LAUNCHER_FAILED, USAGE_ERROR, OkosuError

FDS = {"stdout": 11, "stderr": 12, "control": 13, "log": 14}
BUILT = Built(Path("/k"), "key", "6.12", "gcc", ("x86-simd-copy",), ("x86",), True)


def argv(machine: qemu.Machine, *kernel_args: str) -> list[str]:
    return qemu.arguments(BUILT, Path("/f"), FDS, machine, Path("/o,ut"), kernel_args)


def after(words: list[str], option: str) -> list[str]:
    return [words[i + 1] for i, word in enumerate(words[:-1]) if word == option]


def test_the_guest_lines_are_the_streams_in_order() -> None:
    words = argv(qemu.Machine())
    assert after(words, "-add-fd") == ["fd=11,set=1", "fd=12,set=2", "fd=13,set=3", "fd=14,set=4"]
    assert after(words, "-serial") == ["chardev:stdout", "chardev:stderr", "chardev:control", "chardev:log"]
    # The kernel's console is the last of the lines.
    assert "console=ttyS3" in after(words, "-append")[0].split()


def test_a_panic_ends_the_machine() -> None:
    words = argv(qemu.Machine())
    assert "-no-reboot" in words
    assert "panic=-1" in after(words, "-append")[0].split()


def test_the_root_is_the_host_s_and_cannot_be_written() -> None:
    words = argv(qemu.Machine(), "quiet")
    root, out = after(words, "-fsdev")
    assert "path=/," in root
    assert "readonly=on" in root
    assert "path=/o,,ut," in out
    assert "readonly" not in out
    kernel = after(words, "-append")[0].split()
    assert {"root=okosu-root", "rootfstype=9p", "ro", "init=/f/init", "quiet"} <= set(kernel)
    assert "-initrd" not in words


@pytest.mark.parametrize("exact", [False, True])
def test_a_guest_does_not_panic_for_ticks_that_a_busy_machine_owes_it(exact: bool) -> None:
    assert "no_timer_check" in after(argv(qemu.Machine(exact=exact)), "-append")[0].split()


def test_an_exact_machine_reads_neither_clock_nor_randomness_nor_files() -> None:
    words = argv(qemu.Machine(cpus=2, exact=True))
    assert after(words, "-icount") == ["shift=0,sleep=off"]
    assert after(words, "-rtc") == ["base=2026-01-01T00:00:00,clock=vm"]
    assert after(words, "-cpu") == ["max,-rdrand,-rdseed"]
    assert after(words, "-seed") == ["7"]
    assert after(argv(qemu.Machine(exact=True, seed=3)), "-seed") == ["3"]
    assert after(words, "-accel") == ["tcg,thread=single"]
    kernel = after(words, "-append")[0].split()
    assert {"nokaslr", "norandmaps"} <= set(kernel)
    # Where instructions are counted, the kernel's calibration of its timers would take half a minute.
    assert "noapictimer" in kernel
    assert not any(word.startswith("root=") for word in kernel)
    assert after(words, "-initrd") == ["/f/initramfs"]


def test_cpus_and_memory_are_divided_among_nodes() -> None:
    words = argv(qemu.Machine(cpus=5, memory="301M", nodes=2))
    assert after(words, "-m") == ["300M"]
    assert after(words, "-smp") == ["5"]
    assert after(words, "-object") == [f"memory-backend-ram,id=node{n},size=150M" for n in (0, 1)]
    assert after(words, "-numa") == ["node,nodeid=0,memdev=node0,cpus=0-1", "node,nodeid=1,memdev=node1,cpus=2-4"]


def test_kvm_only_when_asked() -> None:
    assert after(argv(qemu.Machine()), "-accel") == ["tcg,thread=single"]
    assert after(argv(qemu.Machine(cpus=2)), "-accel") == ["tcg,thread=multi"]
    assert after(argv(qemu.Machine(kvm=True)), "-accel") == ["kvm"]


@pytest.mark.parametrize(
    "machine",
    [qemu.Machine(cpus=1, nodes=2), qemu.Machine(nodes=0), qemu.Machine(kvm=True, exact=True)],
)
def test_what_cannot_be_is_said_before_anything_starts(machine: qemu.Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(os, "access", lambda path, mode: True)
    with pytest.raises(OkosuError) as caught:
        qemu.check_host(machine)
    assert caught.value.status == LAUNCHER_FAILED
    assert caught.value.why
    assert caught.value.fix


def test_without_qemu_the_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(OkosuError, match="qemu-system-x86_64 is missing") as caught:
        qemu.check_host(qemu.Machine())
    assert "qemu-system-x86" in caught.value.fix


def test_without_kvm_the_reason_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    monkeypatch.setattr(qemu, "KVM", Path("/nowhere/kvm"))
    with pytest.raises(OkosuError, match="cannot be used") as caught:
        qemu.check_host(qemu.Machine(kvm=True))
    assert "not there" in caught.value.why


def entries(packed: bytes) -> dict[str, tuple[int, bytes]]:
    """Read an archive back, by the format's own description (Documentation/driver-api/early-userspace)."""
    found: dict[str, tuple[int, bytes]] = {}
    at = 0
    while True:
        assert packed[at : at + 6] == b"070701"
        fields = [int(packed[at + 6 + 8 * i : at + 14 + 8 * i], 16) for i in range(13)]
        mode, size, name_size = fields[1], fields[6], fields[11]
        name = packed[at + 110 : at + 110 + name_size - 1].decode()
        start = (at + 110 + name_size + 3) & ~3
        if name == "TRAILER!!!":
            return found
        found[name] = (mode, packed[start : start + size])
        at = (start + size + 3) & ~3


def test_the_archive_reads_back() -> None:
    archive = Archive()
    archive.add("/a/b/file", b"12345", 0o755)
    archive.link("/a/link", "b/file")
    assert entries(archive.pack()) == {
        "a": (0o040755, b""),
        "a/b": (0o040755, b""),
        "a/b/file": (0o100755, b"12345"),
        "a/link": (0o120777, b"b/file"),
    }


def test_cpio_reads_the_archive(tmp_path: Path) -> None:
    if not shutil.which("cpio"):
        pytest.skip("cpio is not installed")
    archive = Archive()
    archive.add("/one", b"x" * 4097)
    archive.link("/two", "one")
    subprocess.run(["cpio", "-i", "--quiet"], cwd=tmp_path, input=archive.pack(), check=True)
    assert (tmp_path / "two").read_bytes() == b"x" * 4097


def test_the_archive_is_the_same_in_any_order() -> None:
    one, other = Archive(), Archive()
    one.add("/x", b"1")
    one.add("/y/z", b"2")
    other.add("/y/z", b"2")
    other.add("/x", b"1")
    assert one.pack() == other.pack()


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(OkosuError, match="nowhere cannot be packed"):
        Archive().copy(tmp_path / "nowhere")


def test_the_guest_in_memory_has_the_command_its_libraries_and_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library, busybox = tmp_path / "lib.so", tmp_path / "bin" / "busybox"
    busybox.parent.mkdir()
    busybox.write_text("#!/bin/sh\necho cat; echo sh; echo busybox\n")
    (program := tmp_path / "program").write_text("#!/bin/sh\n")
    for path in (busybox, program):
        path.chmod(0o755)
    library.write_bytes(b"library")
    (tmp_path / "input").write_bytes(b"words")
    (tmp_path / "init").write_bytes(b"init")
    monkeypatch.setattr(initramfs, "libraries", lambda path: [library] if path == program else [])
    monkeypatch.setenv("PATH", f"{busybox.parent}:/usr/bin:/bin")
    script = "true\n" * 10000
    command = ["./program", "input", "-v", "absent", script]
    packed = initramfs.packed(tmp_path / "init", b"job", command, tmp_path, {"/named": program})
    found = entries(packed)
    here = str(tmp_path.resolve()).lstrip("/")
    assert found["init"][1] == b"init"
    assert found["job"][1] == b"job"
    assert found[f"{here}/program"] == (0o100755, b"#!/bin/sh\n")
    assert found["named"] == (0o100755, b"#!/bin/sh\n")
    assert found[f"{here}/lib.so"][1] == b"library"
    assert found[f"{here}/input"][1] == b"words"
    assert found[f"{here}/bin/cat"] == (0o120777, b"busybox")
    # busybox lists itself among its commands, and must not become a link to itself.
    assert found[f"{here}/bin/busybox"][0] == 0o100755
    assert f"{here}/absent" not in found
    assert {"dev", "proc", "sys", "tmp"} <= set(found)


def test_the_machine_s_options_reach_the_platform_that_has_them() -> None:
    args = argparse.Namespace(cpus=4, nodes=None, exact=True, model=None, kvm=None)
    assert _machine.machine(args, platforms.find("x86")) == {"cpus": 4, "exact": True}
    with pytest.raises(OkosuError, match="--cpus does not go with uml") as caught:
        _machine.machine(args, platforms.find("uml"))
    assert caught.value.status == USAGE_ERROR
    args = argparse.Namespace(cpus=None, nodes=None, exact=None, model="celeron-900", kvm=None)
    assert _machine.machine(args, platforms.find("x86")) == {"model": "celeron-900"}
    with pytest.raises(OkosuError, match="--machine does not go with uml"):
        _machine.machine(args, platforms.find("uml"))


def test_every_option_of_the_machine_is_an_argument_of_run() -> None:
    row = platforms.find("x86")
    assert set(row.machine) <= set(inspect.signature(row.run).parameters)


def test_only_an_exact_guest_has_files_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    with pytest.raises(OkosuError, match="files of its own") as caught:
        qemu.run(BUILT, ["/named"], files={"/named": tmp_path / "program"})
    assert caught.value.status == LAUNCHER_FAILED


OOPS = "[    1.3] Oops: int3: 0000 [#1] SMP\n[    1.3] RIP: 0010:f+0x5/0x170\n[    1.3] Code: 41 54 66 <{}> e8 25\n"


@pytest.mark.parametrize(
    ("control", "log", "kept"),
    [
        (b"", OOPS.format("90"), True),
        (b"", OOPS.format("cc") + OOPS.format("90").replace("int3", "0002"), False),
        (b"", OOPS.format("90").replace("int3", "0002"), False),
        (b"start\n", OOPS.format("90"), False),
    ],
)
def test_only_an_int3_that_is_not_in_memory_is_the_emulator_s(control: bytes, log: str, kept: bool) -> None:
    heard = Heard()
    heard.add("control", control)
    heard.add("log", log.encode())
    assert qemu.kept_an_int3(heard) is kept


@pytest.mark.parametrize(("exact", "boots"), [(False, 2), (True, 1)])
def test_such_a_guest_is_booted_once_more(exact: bool, boots: int, monkeypatch: pytest.MonkeyPatch) -> None:
    heard, said, begun = Heard(), list[str](), list[int]()
    heard.add("log", OOPS.format("90").encode())

    def fails(*_: object, **__: object) -> None:
        begun.append(1)
        raise GuestError("the guest could not run the command", "kernel panic", "", heard)

    monkeypatch.setattr(qemu.boot, "run", fails)
    monkeypatch.setattr(qemu, "check_host", lambda machine: None)
    monkeypatch.setattr(qemu.guest, "program", lambda name, say: Path("/bin/true"))
    with pytest.raises(GuestError):
        qemu.run(BUILT, ["true"], exact=exact, say=said.append)
    assert (len(begun), len(said)) == (boots, boots - 1)
