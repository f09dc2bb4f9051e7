# SPDX-License-Identifier: Apache-2.0
"""User-Mode Linux: a kernel that is a process of the host, at the host's speed, with the host's files as its root."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from lab import boot, guest, series
from lab.build import Builder, Built, Recipe
from lab.cache import Say, quiet
from lab.job import Job, guest_path
from lab.outcome import GuestError, Heard, Outcome
from lab.uml_needs import check_host, memory_folder, size

NAME = "uml"
MEMORY = "256M"
_PTRACE = re.compile(r"ptrace.*(not permitted|denied|failed|expected SIGSTOP|missing)")
TIMEOUT_S = 600.0

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
        "root=/dev/root",
        "rootfstype=hostfs",
        "rootflags=/",
        "ro",
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
