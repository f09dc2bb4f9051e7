# SPDX-License-Identifier: Apache-2.0
"""The size of a guest's memory, as options and kernels write it."""

from __future__ import annotations

import re

from okosu.errors import LAUNCHER_FAILED, OkosuError

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
