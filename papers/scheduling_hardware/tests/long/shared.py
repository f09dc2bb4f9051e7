# SPDX-License-Identifier: Apache-2.0
"""What the tests of the machine in rtl/ share: when they run, a small machine, programs compiled for it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from papers.scheduling_hardware import cross_compile
from papers.scheduling_hardware.machine import Machine

NEEDS = [
    pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it"),
    pytest.mark.skipif(
        not all(shutil.which(tool) for tool in ("verilator", "make", "g++", cross_compile.COMPILER)),
        reason="verilator, make, g++ or gcc-mipsel-linux-gnu is not installed (tools/setup/lab-deps.sh)",
    ),
]
MACHINE = Machine(pes=2, context="mem", threads=16)
OPTIONS = ["--pes", "2", "--context", "mem", "--threads", "16"]
LIMIT = 3_000_000

HELLO = """\
#include <pthread.h>
#include <stdio.h>
static void *work(void *a) { return a; }
int main(int argc, char **argv)
{
    pthread_t t;
    void *v = NULL;
    for (int i = 1; i < argc; i++)
        printf("[%s]\\n", argv[i]);
    if (pthread_create(&t, NULL, work, argv) || pthread_join(t, &v))
        return 1;
    fprintf(stderr, "same: %d\\n", v == argv);
    return 7;
}
"""


def compiled(folder: Path, text: str, *words: str, backend: str = "ssh") -> Path:
    source = folder / "program.c"
    source.write_text(text)
    return cross_compile.compile_(cross_compile.parse([str(source), *words]), backend)


def body(text: str, before: str = "") -> str:
    head = f"#include <pthread.h>\n#include <stdio.h>\nvolatile int zero, one = 1;\n{before}"
    return f"{head}int main(void)\n{{\n{text}\nreturn 0;\n}}\n"


def line_of(text: str, words: str) -> int:
    return next(n for n, line in enumerate(text.splitlines(), 1) if words in line)


def okosu(*words: str, at: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run okosu lab run rtl on the small machine, in the folder `at`."""
    argv = [sys.executable, "-m", "okosu", "lab", "run", "rtl", *OPTIONS, *words]
    return subprocess.run(argv, capture_output=True, text=True, check=False, cwd=at)
