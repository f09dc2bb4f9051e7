# SPDX-License-Identifier: Apache-2.0
"""What User-Mode Linux needs of the host: vector registers that it has room for, and a place for its memory."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

from lab.build import Built
from lab.cache import Say, quiet
from okosu.errors import LAUNCHER_FAILED, OkosuError

CPUINFO = Path("/proc/cpuinfo")
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
# The least memory in which a kernel of the lab boots; the command needs more.
_LEAST = 32 << 20


def size(text: str) -> int:
    """Return the bytes of a size such as 256M or 1G; OkosuError (125) if it is no size, or too small to boot in."""
    match = re.fullmatch(r"([0-9]{1,12})([KMG]?)", text.strip().upper())
    found = int(match[1]) * _UNITS[match[2]] if match else 0
    if found < _LEAST:
        raise OkosuError(
            f"--memory {text}: no guest can have that",
            "it is a number with K, M or G, from 32M",
            "--memory 256M",
            LAUNCHER_FAILED,
        )
    return found


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
