# SPDX-License-Identifier: Apache-2.0
"""A machine as a tar file: only the files that the readers open, without anything that identifies the host."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import msgspec

from okosu.errors import OkosuError
from okosu.machine import system
from okosu.machine.parse import cpulist, fields
from okosu.machine.read import read
from okosu.machine.tree import Tree

if TYPE_CHECKING:
    import tarfile

_STATUS = ("CapEff", "Cpus_allowed_list", "Mems_allowed_list", "NoNewPrivs", "Seccomp", "THP_enabled", "Uid")
_LARGEST = 64 << 20


def capture(root: Path, out: Path) -> int:
    """Write the machine below `root` to the tar file `out` (compressed as its suffix says); return the number of files.

    Container IDs and the hostname are replaced. Files that contain more than okosu reads are cut down to what it reads.
    OkosuError where `out` cannot be written.
    """
    import io
    import tarfile

    tree = Tree(root, record=True)
    machine = read(tree)
    _read_for_the_launcher(tree)
    files = _presentable(tree)
    known = system.Facts(machine.arch, machine.page_size, machine.glibc, machine.rights.pagemap)
    files[system.FACTS] = msgspec.json.encode(known) + b"\n"
    suffix = out.suffix.lstrip(".").replace("tgz", "gz")
    mode = f"w:{suffix}" if suffix in ("gz", "xz", "bz2") else "w"
    try:
        with tarfile.open(out, mode) as tar:  # type: ignore[call-overload]
            for path in sorted(tree.folders):
                entry = tarfile.TarInfo(path.lstrip("/"))
                entry.type, entry.mode = tarfile.DIRTYPE, 0o755
                tar.addfile(entry)
            for path, content in sorted(files.items()):
                entry = tarfile.TarInfo(path.lstrip("/"))
                entry.size, entry.mode = len(content), 0o644
                tar.addfile(entry, io.BytesIO(content))
    except OSError as error:
        raise OkosuError(
            f"{out} cannot be written", error.strerror or str(error), "a file in a folder that you may write to"
        ) from error
    return len(files)


def _read_for_the_launcher(tree: Tree) -> None:
    """Read the files that only okosu-run uses, so that it places threads on a replayed machine as on the real one."""
    base = "/sys/devices/system"
    for n in cpulist(tree.text(f"{base}/cpu/online")):
        for name in ("package_cpus_list", "core_siblings_list", "core_cpus_list", "thread_siblings_list"):
            tree.text(f"{base}/cpu/cpu{n}/topology/{name}")
        for index in tree.names(f"{base}/cpu/cpu{n}/cache", r"index[0-9]{1,2}"):
            tree.text(f"{base}/cpu/cpu{n}/cache/{index}/level")
            tree.text(f"{base}/cpu/cpu{n}/cache/{index}/shared_cpu_list")
    for name in ("online", "has_memory"):
        tree.text(f"{base}/node/{name}")


def _presentable(tree: Tree) -> dict[str, bytes]:
    """The recorded files without private details; the recorded folders are renamed to match."""
    hide = _Hider(os.uname().nodename if tree.live else "")
    files = {hide.path(path): content for path, content in tree.files.items()}
    tree.folders = {hide.path(folder) for folder in tree.folders}
    files.pop("/proc/self/maps", None)
    for path, keep in (
        ("/proc/self/status", lambda text: _only(text, _STATUS)),
        ("/proc/cpuinfo", _first_cpu),
        ("/proc/stat", lambda text: text.split("\n")[0] + "\n"),
        ("/proc/self/cgroup", hide.groups),
    ):
        if path in files:
            files[path] = keep(files[path].decode(errors="replace")).encode()
    return files


def _only(text: str, keys: tuple[str, ...]) -> str:
    found = fields(text)
    return "".join(f"{key}:\t{found[key]}\n" for key in keys if key in found)


def _first_cpu(text: str) -> str:
    found = fields(text)
    return "".join(f"{k}\t: {v}\n" for k, v in found.items() if k.lower() != "serial")


class _Hider:
    """Replaces container IDs, UUIDs and the hostname in control group names; equal names get equal replacements."""

    _ID = re.compile(r"[0-9a-f]{8}([-_])[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{12}|[0-9a-f]{12,}")

    def __init__(self, hostname: str) -> None:
        names = [re.escape(name) for name in (hostname, hostname.partition(".")[0]) if name]
        self.hostname = re.compile(rf"(?<![A-Za-z0-9-])({'|'.join(names)})(?![A-Za-z0-9-])") if names else None
        self.seen: dict[str, str] = {}

    def group(self, name: str) -> str:
        """Hide a container's or the host's name in a group such as "/slurm/node7/job_12"."""
        name = self._ID.sub(lambda m: self.seen.setdefault(m[0], f"id{len(self.seen) + 1}"), name)
        return self.hostname.sub("host", name) if self.hostname else name

    def path(self, path: str) -> str:
        """Hide such names in the path of a control group's file."""
        mount = "/sys/fs/cgroup"
        return mount + self.group(path.removeprefix(mount)) if path.startswith(f"{mount}/") else path

    def groups(self, text: str) -> str:
        """Hide such names in the text of /proc/self/cgroup, whose lines are NUMBER:CONTROLLERS:NAME."""
        parts = [line.split(":", 2) for line in text.splitlines()]
        return "".join(":".join([*p[:2], self.group(p[2])]) + "\n" for p in parts if len(p) == 3)


@contextlib.contextmanager
def unpacked(root: Path) -> Iterator[Path]:
    """Yield the folder that holds the machine at `root`: `root` itself, or the unpacked tar file while it is in use.

    OkosuError where it is neither. Only plain files and folders inside the tar are unpacked; links and `..` are left
    out.
    """
    if root.is_dir():
        yield root
        return
    import tarfile
    import tempfile

    with tempfile.TemporaryDirectory(prefix="okosu-machine-") as folder:
        try:
            with tarfile.open(root) as tar:
                _extract(tar, Path(folder))
        except (OSError, EOFError, tarfile.TarError, ValueError) as error:
            raise OkosuError(
                f"{root} is no captured machine",
                str(error) or "it is cut short",
                "a folder, or a file that okosu doctor --capture FILE.tar wrote",
            ) from error
        yield Path(folder)


def _extract(tar: tarfile.TarFile, folder: Path) -> None:
    left = _LARGEST
    for member in tar:
        parts = PurePosixPath(member.name).parts
        if not parts or ".." in parts or parts[0] == "/":
            continue
        target = folder.joinpath(*parts)
        if member.isdir():
            target.mkdir(parents=True, exist_ok=True)
        elif member.isfile() and member.size <= left and (content := tar.extractfile(member)):
            left -= member.size
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.read())
