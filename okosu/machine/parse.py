# SPDX-License-Identifier: Apache-2.0
"""Parsers of the kernel's text formats. Each takes any text and never raises: what makes no sense is left out."""

from __future__ import annotations

import math
import re

MOST_CPUS = 1 << 14
"""No CPU or node number at or above this is believed (Linux stops at 8192 CPUs)."""
_LARGEST = (1 << 63) - 1

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def number(text: str, base: int = 10) -> int | None:
    """The whole of `text` as an integer that fits 64 bits, or None."""
    try:
        value = int(text.strip(), base)
    except ValueError:
        return None
    return value if abs(value) <= _LARGEST else None


def count(text: str) -> int:
    """The non-negative integer in `text`, or 0."""
    return max(number(text) or 0, 0)


def real(text: str) -> float:
    """The finite number in `text`, or 0.0."""
    try:
        value = float(text)
    except ValueError:
        return 0.0
    return value if math.isfinite(value) else 0.0


def size(text: str) -> int:
    """The bytes of a size such as "48K" or "32768K", or 0."""
    match = re.fullmatch(r"([0-9]{1,15})([kmg]?)b?", text.strip().lower(), re.ASCII)
    return int(match[1]) * _UNITS[match[2]] if match else 0


def cpulist(text: str) -> list[int]:
    """The numbers of a list such as "0-3,8", sorted; a part that is malformed or absurdly large is left out."""
    found: set[int] = set()
    for part in text.strip().split(","):
        match = re.fullmatch(r"\s*([0-9]{1,5})(?:-([0-9]{1,5}))?\s*", part, re.ASCII)
        if match:
            first, last = int(match[1]), int(match[2] or match[1])
            if first <= last < MOST_CPUS:
                found.update(range(first, last + 1))
    return sorted(found)


def show_cpulist(numbers: list[int]) -> str:
    """The shortest list such as "0-3,8" that stands for `numbers`."""
    runs: list[list[int]] = []
    for n in sorted(set(numbers)):
        if runs and n == runs[-1][1] + 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def chosen(text: str) -> str:
    """The choice in brackets of "always [madvise] never"; `text` itself where it is one word; else ""."""
    match = re.search(r"\[([^\]\s]+)\]", text)
    if match:
        return match[1]
    words = text.split()
    return words[0] if len(words) == 1 else ""


def fields(text: str) -> dict[str, str]:
    """The "key: value" lines up to the first empty line: all of a status file, the first CPU of cpuinfo."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        key, colon, value = line.partition(":")
        if colon:
            found.setdefault(key.strip(), value.strip())
        elif not line.strip() and found:
            break
    return found


def kib(value: str) -> int:
    """The number of "123 kB", or 0."""
    words = value.split()
    return count(words[0]) if words else 0


def pressure(text: str) -> dict[str, tuple[float, int]]:
    """{"some": (avg10 in per cent, total in microseconds), "full": …} of a PSI file."""
    found: dict[str, tuple[float, int]] = {}
    for line in text.splitlines():
        match = re.match(r"(some|full) avg10=(\S+) .*total=(\S+)", line)
        if match:
            found[match[1]] = (real(match[2]), count(match[3]))
    return found


def buddyinfo(text: str) -> dict[str, list[int]]:
    """{"0 Normal": [free blocks of order 0, 1, …]} by node and zone."""
    found: dict[str, list[int]] = {}
    for line in text.splitlines():
        match = re.match(r"Node\s+([0-9]+),\s+zone\s+(\S+)\s+(.*)", line, re.ASCII)
        if match:
            found[f"{match[1]} {match[2]}"] = [count(word) for word in match[3].split()]
    return found


def cgroups(text: str) -> dict[str, str]:
    """{controller: path} of /proc/self/cgroup; "" is the unified hierarchy."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        parts = line.split(":", 2)
        if len(parts) == 3 and parts[2].startswith("/"):
            for controller in parts[1].split(","):
                found.setdefault(controller, parts[2])
    return found


def steal(text: str) -> int | None:
    """The ticks of /proc/stat that the hypervisor took from all CPUs, or None."""
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["cpu"] and len(words) > 8:
            return number(words[8])
    return None
