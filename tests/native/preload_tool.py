# SPDX-License-Identifier: Apache-2.0
"""Builds the small C programs and runs them under the preload library, for test_preload_*.py."""

from __future__ import annotations

import atexit
import functools
import json
import mmap
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import made_once
import pytest

from okosu import native

PROGRAMS = Path(__file__).resolve().parent / "programs"
PRELOAD_SOURCES = Path(__file__).resolve().parents[2] / "native" / "preload"
MIB = 1 << 20
PROBE_SOURCES = ("probe.c", "probe_memory.c", "probe_process.c", "probe_legal.c")

THP = {"OKOSU_SUPERPAGE": "thp"}
SMALL = {"OKOSU_SUPERPAGE": "small"}
SHARED = {"OKOSU_SUPERPAGE": "shared"}
RETAIN = {"OKOSU_SUPERPAGE": "thp", "OKOSU_RETAIN": "1"}
HUGETLB = {"OKOSU_SUPERPAGE": "hugetlb"}
# Every way in which a block can be served: huge, retained, over the budget, hugetlb or its fallback.
MODES = {
    "placebo": {},
    "thp": THP,
    "small": SMALL,
    "shared": SHARED,
    "retain": RETAIN,
    "no budget": THP | {"OKOSU_BUDGET": "0"},
    "small budget": RETAIN | {"OKOSU_BUDGET": str(16 * MIB)},
    "hugetlb": HUGETLB,
}
every_mode = pytest.mark.parametrize("levers", MODES.values(), ids=MODES.keys())


@functools.cache
def folder() -> Path:
    """A folder that lives as long as the test run."""
    path = Path(tempfile.mkdtemp(prefix="okosu-preload-"))
    path.chmod(0o755)
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


@functools.cache
def build(name: str, *words: str) -> Path:
    """Compile `words` (flags, and files of programs/) to the program or library `name`."""
    files = [str(PROGRAMS / w) if w.endswith(".c") else w for w in words]
    command = ["cc", "-g1", "-O1", "-D_GNU_SOURCE", "-Wall", *files]
    return made_once.made(name, lambda out: subprocess.run([*command, "-o", out], check=True))


def probe() -> Path:
    """The dynamic test program."""
    return build("probe", "-fno-builtin", *PROBE_SOURCES, "-lpthread", "-ldl")


@dataclass
class Ran:
    """The result of a run: exit status, output, and the lines of evidence in the order they were written."""

    returncode: int
    stdout: str
    stderr: str
    evidence: list[dict[str, Any]]

    @property
    def words(self) -> list[str]:
        return self.stdout.split()


def clean_environment() -> dict[str, str]:
    """This process's environment without anything from okosu or a preloaded library."""
    dropped = ("OKOSU_", "LD_PRELOAD", "GLIBC_TUNABLES", "OMP_", "GOMP_", "KMP_")
    return {k: v for k, v in os.environ.items() if not k.startswith(dropped)}


def run(
    *words: str | Path,
    levers: dict[str, str] | None = None,
    root: bool = False,
    behind: Path | None = None,
    program: Path | None = None,
    preload: bool = True,
    before: Callable[[], None] | None = None,
    **options: Any,
) -> Ran:
    """Run the probe (or `program`) under the library with `levers` set.

    `root` makes it the process that a launcher started (OKOSU_ROOT_PID), `behind` is a library preloaded after okosu's,
    and `before` is called in the child before exec.
    """
    proof = folder() / "proof.jsonl"
    proof.unlink(missing_ok=True)
    env = clean_environment() | {"OKOSU_PROOF": str(proof)} | (levers or {})
    library = str(native.find("libokosu-preload.so"))
    if preload:
        env["LD_PRELOAD"] = f"{library}:{behind}" if behind else library
    elif behind:
        env["LD_PRELOAD"] = str(behind)
    command = [str(program or probe()), *map(str, words)]
    if root:
        # The shell execs the program, which so keeps the shell's process id; only the program gets the preload library.
        settings = f"OKOSU_ROOT_PID=$$ LD_PRELOAD={env.pop('LD_PRELOAD')}"
        command = ["/bin/sh", "-c", f'{settings} exec "$0" "$@"', *command]
    done = subprocess.run(command, env=env, capture_output=True, text=True, preexec_fn=before, check=False, **options)
    lines = proof.read_text().splitlines() if proof.exists() else []
    return Ran(done.returncode, done.stdout, done.stderr, [json.loads(line) for line in lines if line])


def passed(ran: Ran) -> Ran:
    """Check that the run succeeded, showing the program's output if not; return the run."""
    assert ran.returncode == 0, ran.stderr
    return ran


def thp_possible() -> bool:
    """Say whether this kernel gives huge pages to a process that asks for them."""
    enabled = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    return enabled.exists() and "[never]" not in enabled.read_text()


def shared_setting() -> str:
    """What decides whether shared memory gets huge pages: never, deny, advise, within_size, always or force."""
    folder = Path("/sys/kernel/mm/transparent_hugepage")
    files = [folder / "hugepages-2048kB/shmem_enabled", folder / "shmem_enabled"]
    settings = [file.read_text().partition("[")[2].partition("]")[0] for file in files if file.exists()]
    return next((setting for setting in settings if setting != "inherit"), "never")


def huge_pages_now(mib: int) -> bool:
    """Say whether the kernel has huge pages for so much at this moment: its memory may be in pieces."""

    def held() -> int:
        words = Path("/proc/self/smaps_rollup").read_text().split()
        return int(words[words.index("AnonHugePages:") + 1])

    before = held()
    with mmap.mmap(-1, mib + 2 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as block:
        block.madvise(mmap.MADV_HUGEPAGE)
        block.write(b"x" * len(block))
        return held() - before >= mib << 10
