# SPDX-License-Identifier: Apache-2.0
"""Runs a program okosu-bench-NAME and decodes its lines. What was measured is kept, however the run ends."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO

from okosu import native
from okosu.bench import rows
from okosu.bench.rows import Header, Result
from okosu.errors import TOOL_ERROR, USAGE_ERROR, OkosuError, told, usage

Progress = Callable[[Result], None]
"""Called after every line with all that there is so far, and again when no line has come for PAUSE_S."""
PAUSE_S = 1.0
"""Seconds without a line after which the caller hears of what it may not have written yet."""
GRACE_S = 5.0
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"), "1")
"""Set where the user has not: a peer that starts threads of its own measures something else than one core."""


class BenchError(OkosuError):
    """A run that failed; `result` holds what was measured before."""

    def __init__(self, error: OkosuError, result: Result) -> None:
        super().__init__(error.what, error.why, error.fix, error.status)
        self.result = result


def command(name: str, args: Sequence[str] = (), loader: Sequence[str] = ()) -> list[str]:
    """The argv of a microbenchmark, started by `loader` (see `on_libc`) or by the system's. OkosuError (125) if there
    is no such program.
    """
    return [*loader, str(native.find(f"{native.BENCH}{name}")), *args]


def on_libc(folder: Path) -> list[str]:
    """The start of the argv of a program that is to run on the glibc in a folder, which holds its loader and libc.so.6
    (at any depth: an unpacked Debian package does). OkosuError (2) where it does not.
    """
    loaders = sorted(path for path in folder.rglob("ld-linux*.so.*") if path.exists())
    libraries = sorted({str(path.parent) for path in folder.rglob("libc.so.6")})
    if not loaders or not libraries:
        what = "no loader (ld-linux*.so.*)" if not loaders else "no libc.so.6"
        raise usage(f"--libc {folder}: there is {what} in it", "", "a folder with an unpacked libc6 package")
    return [str(loaders[0]), "--library-path", ":".join(libraries)]


def run(name: str, args: Sequence[str] = (), progress: Progress | None = None, loader: Sequence[str] = ()) -> Result:
    """Run a microbenchmark to its end and return what it printed.

    Raises BenchError, which holds what was measured, if the program fails, is killed or prints a line that is not
    expected: with status 2 where it refused its arguments, else 1. KeyboardInterrupt comes after the program has ended
    and `progress` has seen its last line.
    """
    result = Result(name)
    with tempfile.TemporaryFile() as said, contextlib.ExitStack() as stack:
        process = subprocess.Popen(
            command(name, args, loader),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=said,
            env=_environment(),
        )
        stack.callback(_reap, process)
        assert process.stdout is not None
        lines = _Lines(process.stdout, result, progress, stack)
        with _ending(process) as interrupted:
            try:
                lines.take()
            except OkosuError as error:
                raise BenchError(error, result) from error
            status = process.wait()
        if interrupted:
            raise KeyboardInterrupt
        said.seek(0)
        failure = _failure(name, status, said.read().decode(errors="replace"), result) or lines.unfinished()
    if failure is not None:
        raise BenchError(failure, result)
    result.finished = True
    return result


@contextlib.contextmanager
def _ending(process: subprocess.Popen[bytes]) -> Iterator[list[int]]:
    """Let Ctrl-C end the program rather than this process, so that the lines it still writes are read and kept.

    Yields a list that is no longer empty once Ctrl-C has been pressed.
    """
    numbers: list[int] = []

    def end(number: int, _frame: object) -> None:
        numbers.append(number)
        (process.terminate if len(numbers) == 1 else process.kill)()

    main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT)
    if not main or before in (signal.SIG_IGN, None):
        yield numbers
        return
    signal.signal(signal.SIGINT, end)
    try:
        yield numbers
    finally:
        signal.signal(signal.SIGINT, before)


class _Lines:
    """Decodes the lines of a program and adds them to a result."""

    def __init__(
        self, stream: IO[bytes], result: Result, progress: Progress | None, stack: contextlib.ExitStack
    ) -> None:
        self._stream, self._result, self._progress, self._stack = stream, result, progress, stack
        self._number = 0
        self._rest = b""

    def take(self) -> None:
        """Decode all whole lines up to the end of the stream. OkosuError at the first malformed line."""
        for text in self._texts():
            self._number += 1
            if not text.endswith(b"\n"):
                self._rest = text
                return
            line = rows.decode(text, self._program, self._number)
            try:
                self._result.add(line)
            except ValueError as error:
                raise rows.malformed(self._program, self._number, f"{error}") from error
            if isinstance(line, Header):
                self._stack.enter_context(_away_from(line.cpu))
            if self._progress is not None:
                self._progress(self._result)

    def _texts(self) -> Iterator[bytes]:
        """The lines, each with its newline, and at the end what came without one."""
        rest = b""
        while True:
            if self._progress is not None and not select.select([self._stream], [], [], PAUSE_S)[0]:
                self._progress(self._result)
                continue
            read = os.read(self._stream.fileno(), 1 << 16)
            if not read:
                if rest:
                    yield rest
                return
            *whole, rest = (rest + read).split(b"\n")
            for text in whole:
                yield text + b"\n"

    def unfinished(self) -> OkosuError | None:
        """The error of an output that stopped before its end, or None."""
        if self._rest:
            return rows.malformed(self._program, self._number, "it ends in the middle of a line")
        if self._number == 0:
            return rows.malformed(self._program, 1, "it printed nothing")
        return None

    @property
    def _program(self) -> str:
        return f"{native.BENCH}{self._result.name}"


@contextlib.contextmanager
def _away_from(cpu: int) -> Iterator[None]:
    """Keep this process off the CPU that is measured on, where it has another."""
    before = os.sched_getaffinity(0)
    if others := before - {cpu}:
        os.sched_setaffinity(0, others)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _environment() -> dict[str, str]:
    return {**ONE_THREAD, **os.environ, "OKOSU_BENCH_PARENT": str(os.getpid())}


def _reap(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _failure(name: str, status: int, said: str, result: Result) -> OkosuError | None:
    """The error of a program that did not end well, in the program's own words where it printed an error; else None."""
    if status == 0:
        return None
    program = f"{native.BENCH}{name}"
    kept = f"the {len(result.rows)} rows before are kept" if result.rows else "nothing was measured"
    if status < 0:
        ended = signal.Signals(-status).name if -status in set(signal.Signals) else f"signal {-status}"
        return OkosuError(f"{program} was ended by {ended}; {kept}", said.strip(), f"okosu bench {name} --smoke")
    code = USAGE_ERROR if status == USAGE_ERROR else TOOL_ERROR
    parts = told(said)
    if not parts:
        return OkosuError(f"{program} ended with exit status {status}; {kept}", said.strip(), "", code)
    fix = parts.get("fix", f"okosu bench {name} --help")
    return OkosuError(f"bench {name}: {parts['okosu']}", parts.get("why", ""), fix, code)
