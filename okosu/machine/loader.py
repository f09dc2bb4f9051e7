# SPDX-License-Identifier: Apache-2.0
"""What the dynamic loader would say of a program's preload files, asked without running the program."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from okosu.machine import elf
from okosu.machine.program import Program

PRELOAD = "LD_PRELOAD"
_STATIC = ("static", "static-glibc", "go")
_PATIENCE_S = 10.0
_GLIBC = re.compile(r"object '(.*)' from LD_PRELOAD cannot be preloaded \((.*)\)")
_FATAL = re.compile(r"error while loading shared libraries: (.*?): (.*)")
_MUSL = re.compile(r"Error loading shared library (.*): (.*)")


def objection(program: Program, env: dict[str, str]) -> str:
    """Why a file that `env` names in LD_PRELOAD would not be loaded into the program; "" if all of them would be.

    Also "" where the loader cannot be asked: the runs themselves will show it then.
    """
    if not (named := env.get(PRELOAD, "").replace(":", " ").split()):
        return ""
    if program.kind in _STATIC:
        return f"{program.path} is linked statically, and no loader reads {PRELOAD} for it"
    if program.setuid:
        return f"{program.path} is set-user-ID, and the loader does not heed {PRELOAD} for it"
    for name in named:
        if "/" in name and not Path(name).exists():
            return f"{name}: no such file"
    binary = program.script or program.path
    if not (loader := interpreter(Path(binary))):
        return ""
    try:
        done = subprocess.run(
            [loader, "--list", binary],
            env={**os.environ, **env},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE_S,
            text=True,
            errors="replace",
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = next((m for said in (_GLIBC, _MUSL, _FATAL) if (m := said.search(done.stderr))), None)
    if found is None:
        # musl's loader passes over what it cannot load without a word; what it loads is in its list.
        left_out = [name for name in named if "$" not in name and name not in done.stdout]
        return f"{left_out[0]}: {loader} does not load it" if left_out and done.returncode == 0 else ""
    if (machine := elf.kind(Path(found[1]))) and machine != elf.kind(Path(binary)):
        return f"{found[1]}: it is for another kind of processor than {program.path}"
    return f"{found[1]}: {found[2]}"


def interpreter(path: Path) -> str:
    """The dynamic loader that an ELF file names; "" if it names none or is not ELF."""
    found = elf.read(path)
    return found.interpreter if found else ""
