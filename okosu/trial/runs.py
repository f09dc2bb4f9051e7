# SPDX-License-Identifier: Apache-2.0
"""One run of one arm: okosu-measure around okosu-run around the program. No other part of a trial starts processes."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, Protocol

import msgspec

from okosu import native
from okosu.errors import LAUNCHER_FAILED, OkosuError, Stopped
from okosu.records.measurement import Measurement
from okosu.records.types import Arm, Options, Plan
from okosu.trial.settle import Settling

SHOWN = 1 << 20
"""Bytes of the end of the program's stderr that are kept: to explain a failure, and for what a runtime says there."""
PATIENCE_S = 2.0
"""How long a shell command that is interrupted may take to end after SIGTERM, before it is killed."""


@dataclass(frozen=True)
class Run:
    """What came of one run. `value` is the judged metric as a cost: positive, lower is better, whatever the metric."""

    arm: str
    measurement: Measurement
    digest: str
    value: float | None
    check_failed: str = ""
    stderr: str = ""
    failed: str = ""
    """Why the run could not be completed; nothing else of it counts then."""


class Runner(Protocol):
    """Starts runs. Tests put a fake in its place."""

    def run(self, arm: Arm, *, pad: int, sample: bool, timeout_s: float) -> Run:
        """Run one arm to its end; `sample` also polls its memory, which disturbs its time (pilots only)."""
        ...

    def warm(self, arm: Arm, kb: int) -> None:
        """Touch and free that much memory, untimed, in a process of its own to which the arm's levers are applied."""
        ...


class ProcessRunner:
    """Runs arms as real processes, by the plan of one trial. It belongs to the main thread: the kernel tells
    okosu-measure that the thread which started it has ended.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan, self.options = plan, plan.options
        self.settling = Settling(plan)

    def command(self, arm: Arm, pad: int, sample: bool, timeout_s: float, out: str, err: str, proof: str) -> list[str]:
        """The argv of okosu-measure for one run of `arm`; where `out` is "", the program's output is not kept."""
        mode = "sample" if sample else ("exit" if self.plan.proof_mode == "exit" else "none")
        argv = [str(native.find("okosu-measure")), f"--stderr={err}", f"--proof={mode}"]
        if self.options.output == "pipe":
            argv.append("--digest")
        if out:
            argv.append(f"--stdout={out}")
        if self.options.stdin:
            argv.append(f"--stdin={self.options.stdin}")
        if timeout_s > 0:
            argv.append(f"--timeout={timeout_s:g}")
        argv += [f"--{what}" for what in self.plan.observes]
        argv += ["--", str(native.find("okosu-run")), *arm.options, f"--proof={proof}"]
        if not self.options.children:
            argv.append("--children=0")
        if self.plan.pad_to:
            argv.append(f"--pad-env={self.plan.pad_to + pad}")
        return [*argv, "--", *(arm.command or self.options.command)]

    @property
    def keeps_output(self) -> bool:
        """Say whether the program's output is kept until the run is judged: it is large, and a digest is enough."""
        asked = bool(self.options.check) or self.options.metric == "regex"
        return self.options.output == "file" or (self.options.output == "pipe" and asked)

    def warm(self, arm: Arm, kb: int) -> None:
        """See Runner.warm. A failure is ignored: it only leaves memory untouched."""
        argv = [str(native.find("okosu-run")), *arm.options, "--", str(native.find("okosu-warm")), str(kb * 1024)]
        subprocess.run(
            argv, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def uncountable(self) -> str:
        """Why this machine counts nothing ("" where it does); asked without running the program."""
        found = _measure([str(native.find("okosu-measure")), "--proof=none", "--counters", "--", "/bin/true"], ())
        return "" if found.counters else found.why_uncounted or "the counters stood still"

    def count(self, arm: Arm, timeout_s: float) -> dict[str, int]:
        """The hardware counters of one run, untimed and unjudged, of the arm and all that it starts."""
        counting = [str(native.find("okosu-measure")), "--counters"]
        around(self.options.prepare, "--prepare")
        try:
            self.settling.before(arm)
            with tempfile.TemporaryFile() as err:
                argv = self.command(arm, 0, False, timeout_s, "", f"/dev/fd/{err.fileno()}", "/dev/null")
                return _measure([*counting, *argv[1:]], (err.fileno(),)).counters
        finally:
            around(self.options.conclude, "--conclude")

    def run(self, arm: Arm, *, pad: int, sample: bool, timeout_s: float) -> Run:
        """See Runner.run. OkosuError when the measurement itself, or a --prepare or --conclude command, fails, or where
        what other arms left cannot be undone.
        """
        around(self.options.prepare, "--prepare")
        try:
            self.settling.before(arm)
            run = self._measured(arm, pad, sample, timeout_s)
        except BaseException:
            # What --prepare has started must not outlive a trial that is interrupted.
            with contextlib.suppress(OkosuError):
                around(self.options.conclude, "--conclude")
            raise
        around(self.options.conclude, "--conclude")
        return run

    def _measured(self, arm: Arm, pad: int, sample: bool, timeout_s: float) -> Run:
        # None of these has a name, so that nothing is left of them however okosu ends. The preload library opens the
        # proof anew in each process; a descriptor to inherit would be lost in those that close what they do not know.
        with (
            os.fdopen(os.memfd_create("okosu-proof"), "rb") as proof,
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as err,
        ):
            lent = (out.fileno(), err.fileno()) if self.keeps_output else (err.fileno(),)
            out_path, err_path = (f"/dev/fd/{file.fileno()}" for file in (out, err))
            proof_path = f"/proc/{os.getpid()}/fd/{proof.fileno()}"
            argv = self.command(
                arm, pad, sample, timeout_s, out_path if self.keeps_output else "", err_path, proof_path
            )
            measured = _measure(argv, lent)
            found = msgspec.structs.replace(measured, preload=evidence(proof.read()))
            err.seek(0)
            said = err.read()
            return Run(
                arm.name,
                found,
                self._digest(found, out),
                value(self.options, found, out, said),
                check(self.options.check, out),
                said[-SHOWN:].decode(errors="replace"),
            )

    def _digest(self, m: Measurement, out: IO[bytes]) -> str:
        """What stands for the output when runs are compared: it leaves out the numbers that are the metric."""
        if not self.keeps_output:
            return m.out_digest
        if self.options.metric == "regex":
            out.seek(0)
            return hashlib.blake2b(masked(self.options.pattern, out.read()), digest_size=16).hexdigest()
        return m.out_digest or _digest(out)


def value(options: Options, m: Measurement, out: IO[bytes], err: bytes) -> float | None:
    """The judged metric of one run as a cost; None where there is none, or where it is not positive."""
    if options.metric == "wall":
        return m.wall_ns / 1e9
    if options.metric == "cpu":
        return (m.user_ns + m.sys_ns) / 1e9 or None
    if options.metric == "rss":
        return m.maxrss_kb / 1024 or None
    out.seek(0)
    return extract(options.pattern, options.better, out.read(), err)


def extract(pattern: str, better: str, *outputs: bytes) -> float | None:
    """The number in the first group of the pattern, from the first output in which it matches, as a cost.

    The last match in that output counts; 1/number where higher is better. None where nothing matches or the number is
    not positive.
    """
    for output in outputs:
        found = re.findall(pattern.encode(), output)
        if found:
            text = found[-1][0] if isinstance(found[-1], tuple) else found[-1]
            try:
                number = float(text)
            except ValueError:
                return None
            if not 0 < number < math.inf:
                return None
            return 1 / number if better == "higher" else number
    return None


def masked(pattern: str, output: bytes) -> bytes:
    """The output without what the first group of the pattern matches, and without the blanks that align it."""
    kept, at = [], 0
    for found in re.finditer(pattern.encode(), output):
        begin, end = found.span(1)
        if begin >= 0:
            kept.append(output[at:begin].rstrip(b" \t"))
            at = end
    return b"#".join([*kept, output[at:]])


def start(argv: list[str], fds: tuple[int, ...]) -> subprocess.Popen[bytes]:
    """Start okosu-measure, which ends its tree when this process has ended, however that was."""
    measure, *rest = argv
    return subprocess.Popen(
        [measure, f"--parent={os.getpid()}", *rest],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=fds,
    )


def _measure(argv: list[str], fds: tuple[int, ...]) -> Measurement:
    process = start(argv, fds)
    try:
        printed, said = process.communicate()
    except BaseException:
        # Ctrl-C reaches okosu-measure too. It must have ended its process tree before the temporary files are deleted.
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        process.wait()
        raise
    return decode(printed, said, process.returncode)


def decode(printed: bytes, said: bytes, returned: int) -> Measurement:
    """What okosu-measure printed. Stopped where it was interrupted, OkosuError where it failed."""
    if returned - 128 in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) and not printed:
        raise Stopped(returned - 128)
    try:
        return msgspec.json.decode(printed, type=Measurement)
    except msgspec.DecodeError as error:
        raise OkosuError(
            f"a run could not be measured: {said.decode(errors='replace').strip() or error}",
            f"okosu-measure ended with status {returned}",
            "run the command shown by okosu try --dry-run by hand",
            LAUNCHER_FAILED if returned == LAUNCHER_FAILED else 1,
        ) from error


def evidence(text: bytes) -> list[dict[str, object]]:
    found = []
    for line in text.decode(errors="replace").splitlines():
        with contextlib.suppress(json.JSONDecodeError):
            found.append(json.loads(line))
    return found


def _digest(output: IO[bytes]) -> str:
    output.seek(0)
    digest = hashlib.blake2b(digest_size=16)
    while piece := output.read(1 << 20):
        digest.update(piece)
    return digest.hexdigest()


def check(command: str, output: IO[bytes]) -> str:
    if not command:
        return ""
    output.seek(0)
    status, said = _shell(command, output)
    lines = said.splitlines()
    return f"--check exited with {status}" + (f": {lines[-1][:120]}" if lines else "") if status else ""


def around(command: str, option: str) -> None:
    """Run a shell command that the user wants before or after something. OkosuError where it fails."""
    status, said = _shell(command, None) if command else (0, "")
    if status != 0:
        raise OkosuError(
            f"the {option} command exited with {status}", said[-300:] or "it printed nothing", f"sh -c {command!r}"
        )


def _shell(command: str, given: IO[bytes] | None) -> tuple[int, str]:
    """The status of a shell command and what it printed. What it leaves in the background is not waited for."""
    with tempfile.TemporaryFile() as output, _watch() as watch:
        process = subprocess.Popen(
            ["/bin/sh", "-c", command],
            stdin=given or subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        try:
            watch(str(process.pid))
            status = process.wait()
        except BaseException:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(PATIENCE_S)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
        output.seek(0)
        return status, output.read().decode(errors="replace").strip()


WATCH = f"""
read -r group && {{ read -r ended || {{
    kill -s TERM -- "-$group" && sleep {PATIENCE_S:g} && kill -s KILL -- "-$group"
}}; }}
"""


@contextlib.contextmanager
def _watch() -> Iterator[Callable[[str], object]]:
    """A shell that ends the process group it is told of if okosu is killed (SIGKILL) before this context ends: the
    pipe that it reads closes then. Whatever else ends okosu raises an exception here.
    """
    argv = ["/bin/sh", "-c", WATCH]
    silent = subprocess.DEVNULL
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=silent, stderr=silent, start_new_session=True) as watch:
        assert watch.stdin is not None
        pipe = watch.stdin.fileno()

        def tell(line: str) -> None:
            # A watch that somebody killed guards nothing; the command goes on without it.
            with contextlib.suppress(BrokenPipeError):
                os.write(pipe, f"{line}\n".encode())

        try:
            yield tell
        finally:
            tell("ended")
