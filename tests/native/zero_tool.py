# SPDX-License-Identifier: Apache-2.0
"""Where the program is that checks okosu's memsets, and what it says of the choice."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("OKOSU_NATIVE", ROOT / "build")) / "native/src/zero/zero-check"

Choice = dict[str, list[tuple[int, str]]]

LAST = 2**64 - 1


def seen(use: str, classes: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return what the choice shows of these classes: the entries of AVX-512 set up to 512 bytes by themselves."""
    always = run("--show", OKOSU_ZERO="loop8").stdout.partition("any 512 avx512\n")[1] and use != "page"
    if not always:
        return classes
    above = [(up_to, variant) for up_to, variant in classes if up_to > 512]
    return above if above[0][1] == "avx512" else [(512, "avx512"), *above]


def run(*argv: str, wrapper: tuple[str, ...] = (), **variables: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], **variables}
    command = [*wrapper, str(PROGRAM), *argv]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=env)


def show(*argv: str, wrapper: tuple[str, ...] = (), **variables: str) -> tuple[Choice, dict[str, str]]:
    """Return the choice (classes by use) and what else was said, by its first word."""
    done = run(*(argv or ("--show",)), wrapper=wrapper, **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    choice: Choice = {}
    said = {}
    for line in done.stdout.splitlines():
        word, _, rest = line.partition(" ")
        if word in ("any", "near", "far", "page"):
            up_to, variant = rest.split()
            choice.setdefault(word, []).append((int(up_to), variant))
        else:
            said[word] = rest
    return choice, said
