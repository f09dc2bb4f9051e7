# SPDX-License-Identifier: Apache-2.0
"""Facts that only a system call gives: asked of the running system, or read from the facts file of a captured one."""

from __future__ import annotations

import os
import re

import msgspec

from okosu.machine.tree import Tree

FACTS = "/okosu-facts.json"
"""In a captured machine, the answers that the system calls gave there."""

_FRAME = (1 << 55) - 1


class Facts(msgspec.Struct, frozen=True):
    """Answers of system calls. `arch` as uname has it, `page_size` in bytes."""

    arch: str = ""
    page_size: int = 4096
    glibc: str = ""
    pagemap: bool | None = None


def facts(tree: Tree) -> Facts:
    """The facts of the running system or of the tree; from a tree without a facts file, at most the architecture is
    known.
    """
    if tree.live:
        return Facts(os.uname().machine, os.sysconf("SC_PAGE_SIZE"), _glibc(), _frames_visible(tree))
    text = tree.text(FACTS)
    try:
        found = msgspec.json.decode(text, type=Facts)
    except (msgspec.DecodeError, UnicodeError):
        return Facts(arch=tree.line("/proc/sys/kernel/arch"))
    return found if 0 < found.page_size <= 1 << 30 else msgspec.structs.replace(found, page_size=4096)


def _glibc() -> str:
    try:
        text = os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (ValueError, OSError):
        return ""
    return text.removeprefix("glibc ").strip()


def _frames_visible(tree: Tree) -> bool | None:
    """Say whether the kernel shows this process page frame numbers. It looks at the stack's first page, which is always
    there.
    """
    found = re.search(r"^[0-9a-f]+-([0-9a-f]+) .*\[stack\]$", tree.text("/proc/self/maps"), re.MULTILINE)
    if not found:
        return None
    page = int(found[1], 16) // os.sysconf("SC_PAGE_SIZE") - 1
    try:
        fd = os.open("/proc/self/pagemap", os.O_RDONLY | os.O_CLOEXEC)
        try:
            entry = os.pread(fd, 8, page * 8)
        finally:
            os.close(fd)
    except PermissionError:
        return False
    except OSError:
        return None
    return bool(int.from_bytes(entry, "little") & _FRAME)
