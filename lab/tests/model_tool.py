# SPDX-License-Identifier: Apache-2.0
"""The memory-hierarchy model without QEMU: compiled with sanitizers, once for all tests, and run on traces."""

from __future__ import annotations

import functools
import json
import shutil
import subprocess
import tempfile
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

CORE = Path(__file__).resolve().parents[1] / "model" / "core"
FLAGS = ("-std=c17", "-D_GNU_SOURCE", "-O1", "-g", "-Wall", "-Wextra", "-Wshadow", "-Wstrict-prototypes")
CHECKS = ("-Wmissing-prototypes", "-Werror", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")

needs_gcc = pytest.mark.skipif(not shutil.which("gcc"), reason="gcc is not installed")


class _Folder:
    """A temporary folder that is removed when the test run ends."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="okosu-model-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


_folder = _Folder()


@functools.cache
def program() -> Path:
    """Return model-trace, compiled with the sanitizers for addresses and undefined behaviour."""
    to = _folder.path / "model-trace"
    subprocess.run(["gcc", *FLAGS, *CHECKS, "-o", to, *sorted(CORE.glob("*.c"))], check=True)
    return to


@dataclass
class Ran:
    """A trace that was run: each access's (cache level, TLB level), 0 for memory and a walk; and the regions."""

    places: list[tuple[int, int]]
    regions: list[dict[str, Any]]
    other: list[str]


def raw(shape: bytes, trace: bytes, *options: str) -> subprocess.CompletedProcess[bytes]:
    """Run the program on these texts, which may be malformed."""
    (path := _folder.path / "shape").write_bytes(shape)
    return subprocess.run([program(), path, *options], input=trace, capture_output=True, check=False)


def run(shape: str, trace: list[str]) -> Ran:
    """Run the model of `shape` on the statements of `trace`."""
    done = raw(shape.encode(), "\n".join(trace).encode(), "-v")
    assert done.returncode == 0, done.stderr.decode()
    lines = done.stdout.decode().splitlines()
    words = [line.split() for line in lines]
    places = [(int(w[0]), int(w[1])) for w in words if len(w) == 2 and w[0].isdigit()]
    regions = [json.loads(line) for line in lines if line.startswith("{")]
    return Ran(places, regions, [line for line in lines if line[:1].isalpha()])


def loads(*addresses: int) -> list[str]:
    """Return a trace that wakes the model and loads 8 bytes from each address, virtual and physical alike."""
    return ["mark 0 4", *(f"access 0 user load {address} {address} 8" for address in addresses)]


def found(shape: str, *addresses: int) -> list[int]:
    """Return the level of cache where each of these loads found its line, 0 for memory."""
    return [place for place, _ in run(shape, loads(*addresses)).places]
