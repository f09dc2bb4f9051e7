# SPDX-License-Identifier: Apache-2.0
"""What okosu can do with a program, as the launcher sees it: how it is linked, and whether it can be preloaded."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import msgspec

from okosu import native
from okosu.errors import LAUNCHER_FAILED, NOT_EXECUTABLE, NOT_FOUND, OkosuError, told


class Program(msgspec.Struct, frozen=True):
    """One program. `kind` is glibc, static-glibc, static, go, musl or foreign; a script is of its interpreter's."""

    path: str
    kind: str
    setuid: bool = False
    script: str | None = None
    """The interpreter, where the program is a script."""
    preloadable: bool = True
    why: str = ""
    """Why it cannot be preloaded."""
    command: tuple[str, ...] = ()
    """The whole command line, where it is known."""

    @property
    def heeds_tunables(self) -> bool:
        """Say whether the program's malloc reads GLIBC_TUNABLES."""
        return self.kind in ("glibc", "static-glibc") and not self.setuid


def called(command: Sequence[str]) -> str:
    """The name by which programs are told apart: their file's, because a copy elsewhere is the same program."""
    return Path(shutil.which(command[0]) or command[0]).resolve().name if command else ""


def notes(command: Sequence[str]) -> list[str]:
    """What a trial of this command line measures otherwise than one would think, one line each."""
    if called(command) != "srun":
        return []
    why = "Slurm starts srun's ranks, so they are no children of it: what is proved is of srun alone, and no placement"
    return [f"note: {why} (pin, numa) reaches them; put the levers behind srun, see docs/CLUSTER.md, MPI"]


def inspect(name: str) -> Program:
    """What `okosu-run --inspect` says of the program, given as a path or a name on PATH.

    OkosuError with status 127 where there is none, 126 where it cannot be executed, 125 where the launcher fails.
    """
    launcher = native.find("okosu-run")
    done = subprocess.run(
        [launcher, "--inspect", "--", name], capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode != 0:
        raise _error(done.stderr, done.returncode, name)
    try:
        return msgspec.json.decode(done.stdout, type=Program)
    except msgspec.DecodeError as error:
        raise OkosuError(
            f"{launcher} --inspect printed something unexpected",
            f"it is of another version than this package: {error}",
            "make build, or pip install okosu again",
            LAUNCHER_FAILED,
        ) from error


def _error(said: str, returned: int, name: str) -> OkosuError:
    parts = told(said)
    status = returned if returned in (NOT_EXECUTABLE, NOT_FOUND) else LAUNCHER_FAILED
    what = parts.get("okosu", f"{name} cannot be inspected")
    return OkosuError(what, parts.get("why", said.strip() if not parts else ""), parts.get("fix", ""), status)
