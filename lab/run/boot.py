# SPDX-License-Identifier: Apache-2.0
"""One boot of any platform: a scratch folder, the simulator as a process, and the outcome, or why there is none."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.run import process
from lab.run.outcome import STREAMS, GuestError, Heard, Outcome, keep_log, last_lines

OnData = Callable[[str, bytes], None]


@dataclass(frozen=True)
class Start:
    """How a simulator is started: its argv for {stream: file descriptor}, and its environment."""

    command: Callable[[Mapping[str, int]], Sequence[str]]
    env: Mapping[str, str]


def run(
    prepare: Callable[[Path, Path], Start],
    explain: Callable[[Heard], GuestError | None],
    *,
    out: Path | None,
    timeout: float,
    on_data: OnData | None = None,
) -> Outcome:
    """Boot what `prepare(scratch folder, out folder)` returns, and return how the command fared.

    The simulator runs in the folder `work` of the scratch folder; files that it leaves there (gmon.out) join those of
    the out folder. Raises GuestError where the command did not come to its end; `explain(what was heard)` returns the
    reason where it is one of this platform alone. The scratch folder is removed at the end, or with the Outcome where
    the out folder lies in it because the caller named none.
    """
    folder = Path(tempfile.mkdtemp(prefix="okosu-lab-"))
    kept = False
    try:
        (work := folder / "work").mkdir()
        where = (out if out is not None else folder / "out").resolve()
        where.mkdir(parents=True, exist_ok=True)
        heard, started = Heard(), [0.0]

        def take(stream: str, data: bytes) -> None:
            heard.add(stream, data)
            if stream == "control" and heard.started and not started[0]:
                started[0] = time.monotonic()
            elif stream != "control" and on_data:
                on_data(stream, data)

        start = prepare(folder, where)
        begun = time.monotonic()
        ended = process.run(start.command, STREAMS, take, cwd=work, env=start.env, timeout=timeout)
        if heard.ended is None:
            raise explain(heard) or _unfinished(heard, ended, timeout)
        for file in work.iterdir():
            if file.is_file():
                shutil.move(file, where / file.name)
        status, signal, seconds = heard.ended
        outcome = Outcome(
            status,
            signal,
            bytes(heard.streams["stdout"]),
            bytes(heard.streams["stderr"]),
            heard.log,
            heard.text,
            started[0] - begun,
            seconds,
            {str(path.relative_to(where)): path for path in sorted(where.rglob("*")) if path.is_file()},
        )
        if out is None:
            outcome.remove_with_me(folder)
            kept = True
        return outcome
    finally:
        if not kept:
            shutil.rmtree(folder, ignore_errors=True)


def _unfinished(heard: Heard, ended: process.Ended, timeout: float) -> GuestError:
    log = f"all that came out of it is in {keep_log(heard)}"
    if heard.failure:
        return GuestError("the guest could not run the command", heard.failure, log, heard)
    if ended.returncode is None:
        what = "the command did not end" if heard.started else "the guest did not boot"
        last = f"the last that it said: {last_lines(heard.text)}"
        return GuestError(f"{what} within {timeout:g} s, and was killed", last, f"--timeout with more; {log}", heard)
    what = f"the guest ended before its command did (status {ended.returncode})"
    return GuestError(what, last_lines(heard.log), log, heard)
