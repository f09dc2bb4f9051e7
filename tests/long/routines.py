# SPDX-License-Identifier: Apache-2.0
"""A program that checks routines, for the checks that take long: with much memory, and on CPUs emulated by QEMU."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

BUILT = Path(os.environ.get("OKOSU_NATIVE") or Path(__file__).resolve().parents[2] / "build")
NOT_SUPPORTED = "state -95"


def check_large(program: Path) -> None:
    """Check every variant with 4 GiB of memory; a second or two for each."""
    done = subprocess.run([program, "--large"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("ok: ") >= 3
    assert "WRONG" not in done.stdout


class Emulated:
    """The program on an emulated CPU that lacks instructions: executing one of those would end the program."""

    def __init__(self, program: Path, cpu: str) -> None:
        emulator = shutil.which("qemu-x86_64-static") or shutil.which("qemu-x86_64")
        assert emulator, "apt-get install qemu-user-static"
        self.command = [emulator, "-cpu", cpu, str(program)]

    def skipped(self) -> set[str]:
        """Check every routine; return those that this CPU cannot run."""
        done = subprocess.run(self.command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return {line.split()[1].rstrip(":") for line in done.stdout.splitlines() if line.startswith("skipped")}

    def shown(self, **variables: str) -> str:
        """The program's report of its choice."""
        env = {"PATH": os.environ["PATH"], **variables}
        command = [*self.command, "--show"]
        return subprocess.run(command, capture_output=True, text=True, check=True, env=env).stdout
