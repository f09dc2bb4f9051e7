# SPDX-License-Identifier: Apache-2.0
"""One run of a service: it is started under the arm's levers, waited for, loaded from outside them, and stopped.

The run's wall time is the load's; its CPU time, memory and proofs are the service's, up to its end.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import os
import random
import re
import select
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

import msgspec

from okosu import native
from okosu.errors import OkosuError
from okosu.records.measurement import Measurement
from okosu.records.types import Arm, Options, Plan, Service
from okosu.trial import runs
from okosu.trial.runs import ProcessRunner, Run
from okosu.trial.validity import ending

LOG_LINES = 12
"""Lines of the log that explain an error."""
FOLDER = "okosu-service-"
"""How the name of a run's folder begins."""
ASK_EVERY = 0.01
"""Seconds between two looks at whether a service is ready."""
ENDING_S = 5.0
"""Seconds that a service may take to be seen ended after it has made its load fail."""
ENDED_PATIENCE = 30.0
"""Seconds after which okosu-measure, which itself gives up a tree that it cannot kill, is taken to hang."""
_PLACEHOLDER = re.compile(r"(?<!\$)\{(port|tmp)\}")


class _FailedError(Exception):
    """A run that could not be completed: what happened, and what would mend it."""

    def __init__(self, what: str, fix: str) -> None:
        super().__init__(what)
        self.what, self.fix = what, fix


class ServiceRunner(ProcessRunner):
    """Runs arms as services, by the plan of one trial."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        assert plan.options.service is not None
        self.service = plan.options.service

    def command(self, arm: Arm, pad: int, sample: bool, timeout_s: float, out: str, err: str, proof: str) -> list[str]:
        """The argv of okosu-measure for the service of one run of `arm`, with the placeholders as they are."""
        argv = super().command(arm, pad, sample, timeout_s, out, err, proof)
        number = _signal(self.service)
        if number:
            # The signal may be what ends the service, and its evidence is wanted all the same.
            argv.insert(argv.index("--") + 2, f"--proof-signal={number}")
        stop = [f"--stop={number or int(signal.SIGTERM)}", f"--grace={self.service.grace_s:g}"]
        return [argv[0], *stop, *argv[1:]]

    def describe(self) -> list[str]:
        """What happens around the service in every run, in lines of text."""
        options, service = self.plan.options, self.service
        lines = ["{port} is a free port on loopback, {tmp} a private folder; both are new in each run"]
        lines += [f"prepare: {options.prepare}"] if options.prepare else []
        lines += ["start the service with the arm's levers, as shown below"]
        lines += [f"wait until it is ready, at most {service.ready_s:g} s: {how}" for how in service.ready]
        lines += [f"load, without levers: {' '.join(_load_argv(service.load, 'OUT', 'ERR', 0))}"]
        lines += [f"stop: {_how_stopped(service)}, and after {service.grace_s:g} s SIGKILL, which is an error"]
        return lines + ([f"conclude: {options.conclude}"] if options.conclude else [])

    def run(self, arm: Arm, *, pad: int, sample: bool, timeout_s: float) -> Run:
        """See Runner.run. A base that does not start, dies, fails its load or does not stop is an OkosuError."""
        with _Place() as place:
            filled = _FilledRunner(_filled(self.plan, place), place)
            filled.settling = self.settling
            return filled.run(_filled_arm(arm, place), pad=pad, sample=sample, timeout_s=timeout_s)


class _FilledRunner(ProcessRunner):
    """Does one run, for which the placeholders in the plan have been replaced."""

    def __init__(self, plan: Plan, place: _Place) -> None:
        super().__init__(plan)
        self.place = place

    def _measured(self, arm: Arm, pad: int, sample: bool, timeout_s: float) -> Run:
        plan, place, service = self.plan, self.place, self.options.service
        assert service is not None
        _check_free(service)
        begun, log = time.monotonic(), place.log.fileno()
        path = f"/dev/fd/{log}"
        argv = ServiceRunner(plan).command(arm, pad, sample, 0, path, path, place.proof)
        try:
            with _Tree(argv, (log,)) as tree, _outputs() as outputs:
                _await_ready(tree, service, place)
                load = _load(tree, service, timeout_s, outputs)
                found = _stop(tree, service)
                return _judged(self.options, arm, load, found, place, outputs)
        except _FailedError as failed:
            tail = place.tail()
            if arm.kind == "base":
                raise OkosuError(f"base failed: {failed.what}", _indented(tail), failed.fix) from None
            wall = Measurement(wall_ns=max(1, int((time.monotonic() - begun) * 1e9)))
            last = tail.splitlines()[-1][:120] if tail else ""
            return Run(arm.name, wall, "", None, failed=failed.what + (f" ({last})" if last else ""))


class _Place:
    """What one run has for itself: a free port, a folder, a log, and the file for the evidence."""

    def __enter__(self) -> _Place:
        _sweep(Path(tempfile.gettempdir()))
        self._folder = tempfile.TemporaryDirectory(prefix=FOLDER)
        folder = Path(self._folder.name)
        if not re.fullmatch(r"[\w./+-]+", str(folder)):
            self._folder.cleanup()
            why = "{tmp} stands in shell commands, where such a name would be taken apart"
            raise OkosuError(f"the folder {folder} has unusual characters in its name", why, "TMPDIR=/tmp okosu try …")
        self.tmp, self.proof = str(folder / "tmp"), str(folder / "preload.jsonl")
        Path(self.tmp).mkdir()
        Path(self.proof).touch()
        if os.geteuid() == 0:
            # Of a service that is started as root, the processes that give that up write evidence and files too.
            folder.chmod(0o711)
            Path(self.tmp).chmod(0o711)
            Path(self.proof).chmod(0o666)
        self.log: IO[bytes] = (folder / "new").open("wb+", buffering=0)
        fcntl.flock(self.log, fcntl.LOCK_EX)
        (folder / "new").rename(folder / "log")
        self.port = free_port()
        return self

    def __exit__(self, *_: object) -> None:
        self.log.close()
        self._folder.cleanup()

    def fill(self, text: str) -> str:
        """The text with its placeholders replaced; the shell's own ${port} stays."""
        return _PLACEHOLDER.sub(lambda found: {"port": str(self.port), "tmp": self.tmp}[found[1]], text)

    def logged(self, last: int | None = None) -> bytes:
        """What the service has printed, or its last bytes. The service's own place in the file is left alone."""
        size = os.fstat(self.log.fileno()).st_size
        begin = 0 if last is None else max(0, size - last)
        return os.pread(self.log.fileno(), size - begin, begin)

    def tail(self) -> str:
        text = self.logged(runs.SHOWN).decode(errors="replace").strip()
        return "\n".join(text.splitlines()[-LOG_LINES:])


@functools.cache
def _sweep(where: Path) -> None:
    """Remove the folders of runs whose okosu was killed. A folder in use has a log that is locked."""
    for folder in where.glob(f"{FOLDER}*"):
        with contextlib.suppress(OSError):
            # What another user put there is not opened: it may be a pipe, which would never open.
            if folder.lstat().st_uid != os.geteuid():
                continue
            with (folder / "log").open("rb") as log:
                fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder)


class _Outputs(NamedTuple):
    """The load's standard output and error, in files without a name."""

    out: IO[bytes]
    err: IO[bytes]

    @property
    def fds(self) -> tuple[int, int]:
        return self.out.fileno(), self.err.fileno()

    def tail(self) -> str:
        """The end of what was printed on standard error, or else on standard output."""
        for stream in (self.err, self.out):
            stream.seek(0)
            if text := stream.read()[-runs.SHOWN :].decode(errors="replace").strip():
                return "; ".join(text.splitlines()[-3:])
        return ""


@contextlib.contextmanager
def _outputs() -> Iterator[_Outputs]:
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        yield _Outputs(out, err)


class _Tree:
    """A process tree under okosu-measure."""

    def __init__(self, argv: list[str], fds: tuple[int, ...]) -> None:
        self._argv, self._fds = argv, fds

    def __enter__(self) -> _Tree:
        self._measure = runs.start(self._argv, self._fds)
        assert self._measure.stdout is not None
        self._stdout = self._measure.stdout
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def fileno(self) -> int:
        """A descriptor that is readable once the tree has ended."""
        return self._stdout.fileno()

    def ended(self, within: float = 0.0) -> bool:
        """Wait at most that many seconds for the tree's end; say whether it has ended."""
        return bool(select.select([self], [], [], within)[0])

    def ask_to_stop(self) -> None:
        self._measure.send_signal(signal.SIGUSR1)

    def kill(self) -> None:
        """End the tree, if it has not ended, and wait until nothing of it is left."""
        with contextlib.suppress(ProcessLookupError):
            self._measure.send_signal(signal.SIGTERM)
        for stream in (self._measure.stdout, self._measure.stderr):
            if stream is not None:
                stream.close()
        self._measure.wait()

    def result(self) -> Measurement:
        """The measurement of a tree that has ended. KeyboardInterrupt where it was interrupted."""
        printed, said = self._measure.communicate()
        return runs.decode(printed, said, self._measure.returncode)


def free_port() -> int:
    """A port that nobody listens on, below the range from which the kernel takes those of clients."""
    try:
        low = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    except (OSError, ValueError, IndexError):
        low = 32768
    draw = random.SystemRandom()
    for port in (*(draw.randrange(max(1024, low - 16384), max(1025, low)) for _ in range(64)), 0):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("", port))
            return int(probe.getsockname()[1])
    raise OkosuError("no port is free on loopback", "", "ss -ltn shows who listens")


def _load_argv(command: str, out: str, err: str, timeout_s: float) -> list[str]:
    limit = [f"--timeout={timeout_s:g}"] if timeout_s > 0 else []
    streams = [f"--stdout={out}", f"--stderr={err}"]
    return [str(native.find("okosu-measure")), "--proof=none", *limit, *streams, "--", "/bin/sh", "-c", command]


def _signal(service: Service) -> int | None:
    """The number of the signal that stops the service; None where a command does."""
    found = signal.Signals.__members__.get(f"SIG{service.stop}")
    return None if found is None else int(found)


def _how_stopped(service: Service) -> str:
    return f"SIG{service.stop}" if _signal(service) else service.stop


def _filled(plan: Plan, place: _Place) -> Plan:
    """The plan with the placeholders of its commands replaced."""
    options, fill = plan.options, place.fill
    assert options.service is not None
    service = msgspec.structs.replace(
        options.service,
        load=fill(options.service.load),
        ready=[fill(how) for how in options.service.ready],
        stop=fill(options.service.stop),
    )
    filled = msgspec.structs.replace(
        options,
        command=[fill(word) for word in options.command],
        prepare=fill(options.prepare),
        conclude=fill(options.conclude),
        service=service,
    )
    return msgspec.structs.replace(plan, options=filled)


def _filled_arm(arm: Arm, place: _Place) -> Arm:
    env = {name: place.fill(value) for name, value in arm.env.items()}
    return msgspec.structs.replace(arm, env=env, command=[place.fill(word) for word in arm.command])


def _check_free(service: Service) -> None:
    """OkosuError where somebody answers already: the load would measure that one instead of the service."""
    for how in service.ready:
        if _answers(how):
            why = "whoever does would get the load in place of the service"
            fix = "stop it, or let okosu choose: {port} in --service and --load, {tmp} in a socket's path"
            raise OkosuError(f"{how} is answered already, before the service was started", why, fix)


def _answers(how: str) -> bool:
    """Whether somebody accepts a connection there; False for what is no tcp:… or unix:…."""
    kind, _, where = how.partition(":")
    if kind == "unix":
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as client:
            client.settimeout(1)
            client.connect(where)
            return True
    if kind == "tcp":
        host, _, port = where.rpartition(":")
        for one in [host.strip("[]")] if host else ["127.0.0.1", "::1"]:
            with contextlib.suppress(OSError), socket.create_connection((one, int(port)), timeout=1):
                return True
    return False


def _await_ready(tree: _Tree, service: Service, place: _Place) -> None:
    """Return when the service is ready. _FailedError where it ends before, or is not ready in time."""
    until = time.monotonic() + service.ready_s
    for how in service.ready:
        kind, _, rest = how.partition(":")
        said = ""
        while True:
            left = until - time.monotonic()
            if left <= 0:
                also = f"; the last time it said: {said}" if said else ""
                what = f"the service was not ready within {service.ready_s:g} s, which is {how}{also}"
                raise _FailedError(what, "--ready-timeout TIME, or another --ready")
            if kind == "cmd":
                with _outputs() as outputs:
                    done = _alongside(tree, rest, left, outputs)
                    said = outputs.tail() or said
                if done is not None and (done.status, done.timed_out) == (0, False):
                    break
            elif (kind == "log" and re.search(rest.encode(), place.logged())) or _answers(how):
                break
            if tree.ended(ASK_EVERY):
                raise _ended(tree.result(), "before it was ready")
    if tree.ended():
        raise _ended(tree.result(), "as soon as it was ready")


def _alongside(tree: _Tree, command: str, timeout_s: float, outputs: _Outputs) -> Measurement | None:
    """Run a shell command while the service runs; None where the service ended meanwhile, and ended the command."""
    out, err = outputs.fds
    argv = _load_argv(command, f"/dev/fd/{out}", f"/dev/fd/{err}", timeout_s)
    with _Tree(argv, outputs.fds) as client:
        ready = select.select([tree, client], [], [])[0]
        if client in ready:
            return client.result()
    return None


def _load(tree: _Tree, service: Service, timeout_s: float, outputs: _Outputs) -> Measurement:
    """Run the load to its end. _FailedError where it fails, or where the service does not outlive it."""
    done = _alongside(tree, service.load, timeout_s, outputs)
    failed = done is not None and not done.timed_out and (done.status, done.signal) != (0, None)
    # A load may fail because the service is ending, which takes its time while its proof is read.
    if tree.ended(ENDING_S if failed else 0.0):
        raise _ended(tree.result(), "under its load")
    assert done is not None
    said = outputs.tail()
    if done.timed_out:
        raise _FailedError(f"the load did not end within {timeout_s:g} s", "--timeout TIME, or a smaller load")
    if failed:
        also = f": {said}" if said else ", and printed nothing"
        raise _FailedError(f"the load failed ({ending(done.status, done.signal)}){also}", f"sh -c {service.load!r}")
    return done


def _stop(tree: _Tree, service: Service) -> Measurement:
    """Stop the service and return its measurement. _FailedError where it does not stop, or leaves processes behind."""
    how = _how_stopped(service)
    fix = "--stop-timeout TIME, or --stop SIGNAL or CMD: what does it take to stop it?"
    if _signal(service):
        tree.ask_to_stop()
        if not tree.ended(service.grace_s + ENDED_PATIENCE):
            raise _FailedError(f"the service could not even be killed after {how}", fix)
    else:
        until = time.monotonic() + service.grace_s
        with _outputs() as outputs:
            done = _alongside(tree, service.stop, service.grace_s, outputs)
            if done is not None and done.status != 0:
                what = f"the command that stops it failed ({ending(done.status, done.signal)}): {outputs.tail()}"
                raise _FailedError(what, f"sh -c {service.stop!r}")
        if not tree.ended(max(0.0, until - time.monotonic())):
            raise _FailedError(f"the service did not stop within {service.grace_s:g} s of {how}", fix)
    found = tree.result()
    if found.timed_out:
        raise _FailedError(f"the service did not stop within {service.grace_s:g} s of {how}", fix)
    if _signal(service) and found.stop_ns is None:
        raise _ended(found, "under its load")
    if found.left:
        what = f"the service ended after {how} without {_processes(found.left)} of its own, which had to be killed"
        raise _FailedError(what, "exec in a script that starts the service, or --stop CMD")
    return found


def _ended(found: Measurement, when: str) -> _FailedError:
    if found.left and found.status == 0:
        what = f"the service went into the background {when}: {_processes(found.left)} had to be killed"
        return _FailedError(what, "keep it in the foreground: no -d, --daemonize no, 'daemon off;'")
    return _FailedError(f"the service ended {when} ({ending(found.status, found.signal)})", "start it by hand")


def _processes(count: int) -> str:
    return "a process" if count == 1 else f"{count} processes"


def _judged(options: Options, arm: Arm, load: Measurement, found: Measurement, place: _Place, outputs: _Outputs) -> Run:
    """The run that is judged: the load's time and output, and the rest of the service."""
    assert options.service is not None
    number = _signal(options.service)
    status, killed = found.status, found.signal
    if number and (killed == number or status == 128 + number):
        # It ended by the signal that it was sent, which is how it should end.
        status, killed = 0, None
    measured = msgspec.structs.replace(
        found,
        wall_ns=load.wall_ns,
        stopped_ns=0,
        # The service's waiting for a CPU is no part of the load's time.
        delay_ns=None,
        status=status,
        signal=killed,
        preload=runs.evidence(Path(place.proof).read_bytes()),
    )
    outputs.err.seek(0)
    value = runs.value(options, measured, outputs.out, outputs.err.read())
    check = runs.check(options.check, outputs.out)
    return Run(arm.name, measured, "", value, check, stderr=place.logged(runs.SHOWN).decode(errors="replace"))


def _indented(text: str) -> str:
    if not text:
        return "it printed nothing"
    return "the end of its log:" + "".join(f"\n       {line}" for line in text.splitlines())
