# SPDX-License-Identifier: Apache-2.0
"""What tests ask of processes that are not their children."""

from __future__ import annotations

from pathlib import Path


def lives(pid: int) -> bool:
    """Say whether a process exists and is no zombie; it may end while its file is read."""
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return text[text.rindex(b")") + 2 :][:1] not in (b"Z", b"X")
