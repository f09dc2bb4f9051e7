# SPDX-License-Identifier: Apache-2.0
"""The memory-hierarchy model as a plugin of QEMU: compiled into the cache, put on QEMU's command line, read back."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from lab import cache
from lab.cache import Say, quiet
from lab.kernel.build import compiler_version
from lab.model import machines, plugin_counts
from okosu.errors import LAUNCHER_FAILED, OkosuError

# Files that the plugin leaves in its working folder, and so among the files of an outcome.
COUNTS = "model-counts.jsonl"
SHAPE = "model-shape"
# The seed of random replacement.
SEED = 7
# QEMU's machine has all of its memory below 4 GiB if that is less than 3.5 GiB.
MOST_MEMORY = (3584 << 20) - 1

_KIND = "model"
_PLUGIN = "okosu-model.so"
_TRACE = "model-trace"
_FLAGS = ("-std=c17", "-D_GNU_SOURCE", "-O3", "-flto", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror")
PLUGIN_FLAGS = ("-fPIC", "-shared", "-fvisibility=hidden")


@dataclass(frozen=True)
class Built:
    """The model, compiled: the plugin, and the program that runs it on a trace."""

    plugin: Path
    trace: Path
    key: str


class Plugin(Protocol):
    """What qemu.run() can put on QEMU's command line: its plugin's arguments, with its files in a scratch folder."""

    def arguments(self, folder: Path, /) -> list[str]:
        """Return QEMU's options."""
        ...


@dataclass(frozen=True)
class Plugged:
    """The model of one machine for one run: `text` says what it simulates."""

    built: Built
    machine: machines.Machine
    text: str
    node_bytes: int | None = None

    def arguments(self, folder: Path) -> list[str]:
        """Return QEMU's options, having written the model's file into `folder`; QEMU runs in a folder of its own."""
        (path := folder / SHAPE).write_text(self.text)
        node = "" if self.node_bytes is None else f",node-bytes={self.node_bytes}"
        return ["-plugin", f"{_quoted(self.built.plugin)},shape={_quoted(path)},out={COUNTS}{node}"]


def build(say: Say = quiet, cc: str = "gcc") -> Built:
    """Return the model, compiled where the cache has none; OkosuError (125) if it does not compile."""
    folder = machines.model_folder()
    core = sorted((folder / "core").glob("*.c"))
    files = [*core, *sorted(folder.glob("*/*.h")), *sorted((folder / "plugin").glob("*.c"))]
    texts = {str(path.relative_to(folder)): path.read_text() for path in files}
    key = cache.key(texts, _FLAGS, PLUGIN_FLAGS, compiler_version(cc))

    def fill(to: Path) -> None:
        say("compiling the memory-hierarchy model")
        trace = folder / "core" / "trace.c"
        compile_files(cc, core, to / _TRACE)
        compile_files(
            cc, [path for path in files if path.suffix == ".c" and path != trace], to / _PLUGIN, *PLUGIN_FLAGS
        )

    path = cache.made(_KIND, key, fill, say)
    return Built(path / _PLUGIN, path / _TRACE, key)


def plug(name: str, cpus: int, memory: Sequence[int], say: Say = quiet) -> Plugged:
    """Return the model of the machine called `name` for a guest of `cpus` CPUs, and each node's `memory` in bytes.

    OkosuError (125) where physical addresses would not be known: QEMU does not say where what lies above 4 GiB is.
    """
    machine = machines.find(name)
    if sum(memory) > MOST_MEMORY:
        raise OkosuError(
            "the model has no physical addresses in a guest of so much memory",
            "QEMU puts what is beyond 3 GiB of 3584 MiB or more above 4 GiB, and does not tell a plugin so",
            "--memory with less",
            LAUNCHER_FAILED,
        )
    return Plugged(build(say), machine, machine.shape(cpus, SEED), memory[0] if len(memory) > 1 else None)


def regions(path: Path) -> list[plugin_counts.Region]:
    """Return what the plugin wrote at `path`; OkosuError (125) where it is not whole."""
    try:
        return plugin_counts.read(path.read_bytes())
    except (OSError, ValueError) as error:
        raise OkosuError("the model's counts cannot be read", str(error), "run it again", LAUNCHER_FAILED) from error


def _quoted(path: Path) -> str:
    # A comma separates QEMU's arguments; a doubled one is part of the value.
    return str(path).replace(",", ",,")


def compile_files(cc: str, sources: list[Path], to: Path, *flags: str) -> None:
    """Compile C files to a program, or by PLUGIN_FLAGS to a plugin; OkosuError (125) if they do not compile."""
    words = [cc, *_FLAGS, *flags, "-o", str(to), *map(str, sources)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if "error" in line] or [done.stderr.strip()]
        raise OkosuError("the model does not compile", errors[0], "apt-get install gcc libc6-dev", LAUNCHER_FAILED)
