# SPDX-License-Identifier: Apache-2.0
"""What a program may do to its memory, at random, under every lever that loads a library into it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from effort import length
from preload_tool import build
from stacks import LEVERS
from zerod_tool import BUILT, ROOT

from okosu import native

OPERATIONS = length("2000", "100000", "1000000")
NATIVE = ROOT / "native"


def stress() -> Path:
    return build("legal-stress", "legal_stress.c", "-lpthread")


def eager() -> dict[str, str]:
    return os.environ | {"LD_PRELOAD": str(build("eager-worker.so", "-shared", "-fPIC", "eager_worker.c"))}


@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize("levers", LEVERS)
def test_content_is_kept_under(levers: str, threads: str) -> None:
    command = [native.find("okosu-run"), "--strict", *LEVERS[levers], "--", stress(), "1", OPERATIONS, threads]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, env=eager())
    assert (done.returncode, done.stdout) == (0, "legal\n"), done.stdout + done.stderr


def prezero(folder: Path, change: tuple[str, str]) -> Path:
    """The library of the lever, built with one change in prezero.c."""
    text = (NATIVE / "preload/prezero.c").read_text()
    assert text.count(change[0]) == 1
    (folder / "prezero.c").write_text(text.replace(*change))
    sources = [
        folder / "prezero.c",
        *(NATIVE / "preload" / f"{n}.c" for n in ("prezero_hooks", "prezero_pool", "next")),
    ]
    sources += [NATIVE / "preload/proof.c", NATIVE / "src/base/json.c", NATIVE / "src/base/line.c"]
    sources += [BUILT / "native/lib/libokosu.a"]
    builtins = [f"-fno-builtin-{name}" for name in ("malloc", "calloc", "realloc", "free")]
    wraps = [f"-Wl,--wrap={name}" for name in ("pthread_create", "mmap64", "munmap", "madvise")]
    folders = [f"-I{NATIVE / name}" for name in ("include", "src", "preload")]
    words = ["cc", "-std=gnu17", "-D_GNU_SOURCE", "-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-Wl,-z,now"]
    made = folder / "libokosu-prezero.so"
    libraries = ["-Wl,--exclude-libs,ALL", "-lm", "-lpthread", "-ldl"]
    subprocess.run([*words, *builtins, *wraps, *folders, "-o", made, *sources, *libraries], check=True)
    return made


FAULTS = {
    "none": ("/* Blocks of the pool", "/* Blocks of a pool"),
    "a hole is the kernel's": (
        "return okosu_next.mmap(from, (size_t)(to - from), PROT_NONE,",
        "return !okosu_next.munmap(from, (size_t)(to - from)); return okosu_next.mmap(from, 0, PROT_NONE,",
    ),
    "pages of other blocks are counted": (
        "size_t page = (size_t)(from - start) / PAGE, end",
        "size_t page = (size_t)(from - start) / PAGE / 2, end",
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_that_is_built_in_is_found(fault: str, tmp_path: Path) -> None:
    library = prezero(tmp_path, FAULTS[fault])
    env = eager()
    env["LD_PRELOAD"] += f":{library}"
    right, seed = True, 0
    # What lies beside a hole differs from run to run: a fault has many runs to show itself.
    while right and seed < (3 if fault == "none" else 100):
        seed += 1
        command = [str(stress()), str(seed), "4000", "2"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
        right = (done.returncode, done.stdout) == (0, "legal\n")
    assert right == (fault == "none")
