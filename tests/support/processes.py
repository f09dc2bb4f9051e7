# SPDX-License-Identifier: Apache-2.0
"""What tests ask of processes that are not their children, and programs that end with all that they made."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path


def lives(pid: int) -> bool:
    """Say whether a process exists and is no zombie; it may end while its file is read."""
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return text[text.rindex(b")") + 2 :][:1] not in (b"Z", b"X")


def run_alone(
    command: Sequence[str | Path], env: Mapping[str, str], limit_s: float | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program in a session of its own, with all that it says in `stdout`; kill what is left there when it ends.

    A pipe would be open for as long as any of its children lives, of which one that hangs does for ever. The program
    itself is killed after `limit_s` seconds.
    """
    words = [*map(str, command)]
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(words, stdout=said, stderr=subprocess.STDOUT, env=env, start_new_session=True)
        ended = os.pidfd_open(process.pid)
        try:
            # Its number stays its session's until it is reaped.
            select.select([ended], [], [], limit_s)
        finally:
            os.close(ended)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        said.seek(0)
        return subprocess.CompletedProcess(words, process.returncode, said.read())
