# SPDX-License-Identifier: Apache-2.0
"""What the tests of okosu-measure share: the tool and its test program, copied to where any user can run them."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import made_once
import msgspec
from processes import lives

from okosu import native
from okosu.records.measurement import Measurement

SOURCES = Path(__file__).parent / "measure"
PATIENCE = 600.0
"""Seconds after which something that should have happened is taken never to happen: a bound for hangs alone."""


@dataclass(frozen=True)
class Tools:
    """Copies of the programs in a folder that every user may enter."""

    folder: Path
    measure: Path
    subject: Path
    deny: Path

    def command(self, *program: object, options: Sequence[str] = ()) -> list[str]:
        return [str(self.measure), *options, "--", *map(str, program)]

    def run(self, *program: object, options: Sequence[str] = (), **kwargs: object) -> Measurement:
        """Measure a program, which must succeed and print nothing on stderr."""
        done = subprocess.run(self.command(*program, options=options), capture_output=True, check=False, **kwargs)  # type: ignore[call-overload]
        assert done.returncode == 0, done.stderr.decode()
        assert done.stderr == b""
        return parse(done.stdout)

    def subject_run(self, *behaviour: object, options: Sequence[str] = (), **kwargs: object) -> Measurement:
        return self.run(self.subject, *behaviour, options=options, **kwargs)


def parse(output: bytes) -> Measurement:
    """Decode the one line that okosu-measure prints."""
    assert output.endswith(b"}\n")
    assert output.count(b"\n") == 1
    return msgspec.json.decode(output, type=Measurement)


def compile_c(source: Path, target: Path) -> None:
    subprocess.run(
        ["cc", "-D_GNU_SOURCE", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread", "-o", target, source], check=True
    )


@contextlib.contextmanager
def build_tools() -> Iterator[Tools]:
    folder = Path(tempfile.mkdtemp(prefix="okosu-measure-"))
    folder.chmod(0o755)
    try:
        measure = Path(shutil.copy(native.find("okosu-measure"), folder))
        for name, source in (("subject", "subject.c"), ("deny", "deny_ptrace.c")):
            shutil.copy(made_once.made(name, partial(compile_c, SOURCES / source)), folder / name)
        yield Tools(folder, measure, folder / "subject", folder / "deny")
    finally:
        shutil.rmtree(folder)


def until(condition: Callable[[], bool]) -> bool:
    """Wait for a condition; return whether it became true in time."""
    give_up = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > give_up:
            return False
        time.sleep(0.005)
    return True


def seen(run: Callable[[int], Measurement], told: Callable[[Measurement], bool]) -> Measurement:
    """Call `run` with ever more milliseconds until the measurer has seen a passing state; return that run, or the last
    one.

    On a machine under load the measurer may not be scheduled for a while.
    """
    for patience in (120, 600, 3000):
        result = run(patience)
        if told(result):
            break
    return result


def pids_in(path: Path, count: int) -> list[int]:
    """Wait until `count` processes have written their ids to a file; return the ids."""

    def complete() -> bool:
        return path.exists() and path.read_text().count("\n") >= count

    assert until(complete), f"only {path.read_text() if path.exists() else 'nothing'}"
    return [int(line) for line in path.read_text().split()]


def all_gone(pids: Sequence[int]) -> bool:
    """Wait until none of the processes lives; after too long, kill them and return False."""
    if until(lambda: not any(map(lives, pids))):
        return True
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return False
