# SPDX-License-Identifier: Apache-2.0
"""User-Mode Linux: a kernel that is a process of the host, at the host's speed, with the host's files as its root."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from lab.cache import Say, quiet
from lab.kernel import series
from lab.kernel.build import Builder, Built, Recipe
from lab.run import boot, guest
from lab.run.job import Job, guest_path
from lab.run.memory import size
from lab.run.outcome import GuestError, Heard, Outcome
from okosu.errors import LAUNCHER_FAILED, OkosuError

NAME = "uml"
MEMORY = "256M"
_PTRACE = re.compile(r"ptrace.*(not permitted|denied|failed|expected SIGSTOP|missing)")
TIMEOUT_S = 600.0
CPUINFO = Path("/proc/cpuinfo")
HOST_ROOT = ("root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro")
"""The words for a root that is this machine's, which the guest cannot write to."""

RECIPE = Recipe(
    arch="um",
    target="linux",
    kept=("linux", "vmlinux", "System.map"),
    objects=900,
    series=series.of_platform(NAME),
    fragments=("um",),
)
build = Builder(RECIPE)
DOC = f"User-Mode Linux, a process of this machine; series: {', '.join(RECIPE.series)}"


def run(
    built: Built,
    command: Sequence[str],
    *,
    kernel_args: Sequence[str] = (),
    timeout: float = TIMEOUT_S,
    memory: str = MEMORY,
    out: Path | None = None,
    root: Path | None = None,
    say: Say = quiet,
    on_data: Callable[[str, bytes], None] | None = None,
) -> Outcome:
    """Boot the kernel, run `command` as root in it and return how it fared.

    The guest's root is the host's (or the folder `root`), read-only, with empty file systems in memory on /tmp and
    /run; a file below them that the command's words name is there nevertheless. The command runs in the caller's folder
    and may write into the folder that OKOSU_OUT names, which is `out` on the host. `on_data(stream, bytes)` gets
    "stdout", "stderr" and "log" (the kernel's messages) as they come. `timeout` is in seconds, booting included.
    GuestError where the command did not come to an end.
    """
    check_host(built)
    memory_file = memory_folder(size(memory), say)
    init = guest.program("init", say)

    def prepare(folder: Path, where: Path) -> boot.Start:
        Job(list(command), Path.cwd(), where, root, chroot=root is not None).write(folder, init)
        env = {"PATH": os.defpath, "TMPDIR": str(memory_file), "HOME": str(folder / "work")}
        return boot.Start(lambda fds: arguments(built, folder, fds, memory, kernel_args), env)

    return boot.run(prepare, _no_ptrace, out=out, timeout=timeout, on_data=on_data)


def arguments(built: Built, folder: Path, fds: Mapping[str, int], memory: str, kernel_args: Sequence[str]) -> list[str]:
    """Return the argv that boots `built` with the job in `folder`; its streams go to the file descriptors `fds`."""
    lines = [f"ssl{number}=null,fd:{fds[name]}" for number, name in enumerate(("stdout", "stderr", "control"))]
    return [
        str(built.path / "linux"),
        f"mem={memory}",
        # Relative to the scratch folder that the process runs in, so that nothing is left in ~/.uml.
        "uml_dir=.",
        "umid=guest",
        *HOST_ROOT,
        # The kernel would open pseudo-terminals for all lines that are not named here.
        "con=null",
        "con0=null,fd:1",
        "ssl=null",
        *lines,
        f"init={guest_path(folder)}",
        # A guest that would restart ends instead.
        "noreboot",
        *kernel_args,
    ]


def _no_ptrace(heard: Heard) -> GuestError | None:
    """Return the error for a host that does not let a process trace its children, if the log says so."""
    said = next((line for line in heard.log.splitlines() if _PTRACE.search(line)), None)
    if said is None or heard.started:
        return None
    return GuestError(
        "User-Mode Linux cannot run here: ptrace is not permitted",
        said.strip(),
        "in a container --cap-add SYS_PTRACE --security-opt seccomp=unconfined, else sysctl kernel.yama.ptrace_scope=1",
        heard,
    )


def check_host(built: Built, cpuinfo: Path = CPUINFO) -> None:
    """Raise OkosuError (125) where this kernel could not hold this CPU's vector registers."""
    if built.any_xstate:
        return
    flags = re.search(r"^flags\s*:(.*)$", cpuinfo.read_text(), re.M)
    if flags and "amx_tile" in flags[1].split():
        raise OkosuError(
            "this kernel cannot run on this CPU under User-Mode Linux",
            "the CPU has AMX, whose registers take 11 KB; Linux 6.12 without okosu's series has room for 2.7 KB",
            "the same without --stock and --series: a series of the platform finds the size out at boot",
            LAUNCHER_FAILED,
        )


def memory_folder(needed: int, say: Say = quiet, shm: Path = Path("/dev/shm")) -> Path:
    """Return the folder for the file that is the guest's memory: /dev/shm, or TMPDIR where that has no room."""
    found = []
    for folder in (shm, Path(tempfile.gettempdir())):
        if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
            continue
        info = os.statvfs(folder)
        free = info.f_bavail * info.f_frsize
        if free >= needed and not info.f_flag & getattr(os, "ST_NOEXEC", 8):
            if folder != shm:
                say(f"{shm} has too little room: the guest's memory is a file in {folder}, which may be slower")
            return folder
        found.append(f"{folder} has {free >> 20} MiB free" + (" (noexec)" if info.f_flag & 8 else ""))
    raise OkosuError(
        f"no room for the guest's memory of {needed >> 20} MiB",
        "; ".join(found) or f"neither {shm} nor {tempfile.gettempdir()} can be written",
        "--memory with less, a larger /dev/shm (docker run --shm-size=1g), or TMPDIR=/somewhere/larger",
        LAUNCHER_FAILED,
    )
