# SPDX-License-Identifier: Apache-2.0
"""One run of one arm: okosu-measure around okosu-run around the program. No other part of a trial starts processes."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

import msgspec

from okosu import native
from okosu.errors import LAUNCHER_FAILED, OkosuError
from okosu.records.measurement import Measurement
from okosu.records.types import Arm, Plan

SHOWN = 2000
"""Bytes of the program's stderr that are kept to explain a failure."""


@dataclass(frozen=True)
class Run:
    """What came of one run. `value` is the judged metric as a cost: positive, lower is better, whatever the metric."""

    arm: str
    measurement: Measurement
    digest: str
    value: float | None
    check_failed: str = ""
    stderr: str = ""


class Runner(Protocol):
    """Starts runs. Tests put a fake in its place."""

    def run(self, arm: Arm, *, pad: int, sample: bool, timeout_s: float) -> Run:
        """Run one arm to its end; `sample` also polls its memory, which disturbs its time (pilots only)."""
        ...

    def warm(self, arm: Arm, kb: int) -> None:
        """Touch and free that much memory, untimed, in a process of its own to which the arm's levers are applied."""
        ...


class ProcessRunner:
    """Runs arms as real processes, by the plan of one trial."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.options = plan, plan.options

    def command(self, arm: Arm, pad: int, sample: bool, timeout_s: float, out: str, err: str, proof: str) -> list[str]:
        """The argv of okosu-measure for one run of `arm`."""
        mode = "sample" if sample else ("exit" if self.plan.proof_mode == "exit" else "none")
        argv = [str(native.find("okosu-measure")), f"--stdout={out}", f"--stderr={err}", f"--proof={mode}"]
        if self.options.stdin:
            argv.append(f"--stdin={self.options.stdin}")
        if timeout_s > 0:
            argv.append(f"--timeout={timeout_s:.3f}")
        argv += [f"--{what}" for what in self.plan.observes]
        argv += ["--", str(native.find("okosu-run")), *arm.options, f"--proof={proof}"]
        if not self.options.children:
            argv.append("--children=0")
        if self.plan.pad_to:
            argv.append(f"--pad-env={self.plan.pad_to + pad}")
        return [*argv, "--", *self.options.command]

    def warm(self, arm: Arm, kb: int) -> None:
        """See Runner.warm. A failure is ignored: it only leaves memory untouched."""
        argv = [str(native.find("okosu-run")), *arm.options, "--", str(native.find("okosu-warm")), str(kb * 1024)]
        subprocess.run(
            argv, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def run(self, arm: Arm, *, pad: int, sample: bool, timeout_s: float) -> Run:
        """See Runner.run. OkosuError when the measurement itself, or a --prepare or --conclude command, fails."""
        _shell(self.options.prepare, "--prepare")
        with (
            tempfile.TemporaryDirectory(prefix="okosu-") as folder,
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as err,
        ):
            proof = Path(folder) / "preload.jsonl"
            fds = (out.fileno(), err.fileno())
            argv = self.command(arm, pad, sample, timeout_s, f"/dev/fd/{fds[0]}", f"/dev/fd/{fds[1]}", str(proof))
            measured = _measure(argv, fds)
            found = msgspec.structs.replace(measured, preload=_evidence(proof))
            err.seek(0)
            tail = err.read()[-SHOWN:].decode(errors="replace")
            run = Run(
                arm.name,
                found,
                _digest(out),
                self._value(found, out, err),
                _check(self.options.check, out),
                tail,
            )
        _shell(self.options.conclude, "--conclude")
        return run

    def _value(self, m: Measurement, out: IO[bytes], err: IO[bytes]) -> float | None:
        if self.options.metric == "wall":
            return m.wall_ns / 1e9
        if self.options.metric == "cpu":
            return (m.user_ns + m.sys_ns) / 1e9 or None
        if self.options.metric == "rss":
            return m.maxrss_kb / 1024 or None
        return extract(self.options.pattern, self.options.better, out, err)


def extract(pattern: str, better: str, *outputs: IO[bytes]) -> float | None:
    """The number in the first group of the pattern, from the first output in which it matches, as a cost.

    The last match in that output counts; 1/number where higher is better. None where nothing matches or the number is
    not positive.
    """
    for output in outputs:
        output.seek(0)
        found = re.findall(pattern.encode(), output.read())
        if found:
            text = found[-1][0] if isinstance(found[-1], tuple) else found[-1]
            try:
                number = float(text)
            except ValueError:
                return None
            if number <= 0:
                return None
            return 1 / number if better == "higher" else number
    return None


def _measure(argv: list[str], fds: tuple[int, ...]) -> Measurement:
    process = subprocess.Popen(
        argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, pass_fds=fds
    )
    try:
        printed, said = process.communicate()
    except BaseException:
        # Ctrl-C reaches okosu-measure too. It must have ended its process tree before the temporary files are deleted.
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        process.wait()
        raise
    if process.returncode in (130, 143) and not printed:
        raise KeyboardInterrupt
    try:
        return msgspec.json.decode(printed, type=Measurement)
    except msgspec.DecodeError as error:
        raise OkosuError(
            f"a run could not be measured: {said.decode(errors='replace').strip() or error}",
            f"okosu-measure ended with status {process.returncode}",
            "run the command shown by okosu try --dry-run by hand",
            LAUNCHER_FAILED if process.returncode == LAUNCHER_FAILED else 1,
        ) from error


def _evidence(path: Path) -> list[dict[str, object]]:
    lines = path.read_text(errors="replace").splitlines() if path.exists() else []
    found = []
    for line in lines:
        with contextlib.suppress(json.JSONDecodeError):
            found.append(json.loads(line))
    return found


def _digest(output: IO[bytes]) -> str:
    output.seek(0)
    digest = hashlib.blake2b(digest_size=16)
    while piece := output.read(1 << 20):
        digest.update(piece)
    return digest.hexdigest()


def _check(command: str, output: IO[bytes]) -> str:
    if not command:
        return ""
    output.seek(0)
    done = subprocess.run(["/bin/sh", "-c", command], stdin=output, capture_output=True, check=False)
    if done.returncode == 0:
        return ""
    said = (done.stderr or done.stdout).decode(errors="replace").strip().splitlines()
    return f"--check exited with {done.returncode}" + (f": {said[-1][:120]}" if said else "")


def _shell(command: str, option: str) -> None:
    if not command:
        return
    done = subprocess.run(["/bin/sh", "-c", command], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).decode(errors="replace").strip()[-300:]
        raise OkosuError(
            f"the {option} command exited with {done.returncode}",
            said or "it printed nothing",
            f"sh -c {command!r}",
        )
