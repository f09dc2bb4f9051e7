# SPDX-License-Identifier: Apache-2.0
"""The machine with scheduling hardware: a C program compiled for it and run on its RTL, cycle by cycle."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from okosu.errors import LAUNCHER_FAILED, OkosuError
from okosu.lab import process
from okosu.lab.rtl_build import Simulator, build
from okosu.lab.rtl_program import COMPILER

__all__ = ["DOC", "NAME", "Outcome", "build", "run"]

NAME = "rtl"
DOC = "the multiprocessor with scheduling hardware, simulated from its RTL"
MAX_CYCLES = 1_000_000_000
# A simulator ends by itself at --max-cycles; this only ends one that hangs.
TIMEOUT_S = 86400.0
SECTIONS = ("user", "create", "join", "switch", "lock", "library", "idle loop")
KINDS = ("execute", "memory", "scheduler")
_ADDR2LINE = COMPILER.replace("gcc", "addr2line")
_TEXT = range(0x80000000, 0x90000000)


@dataclass
class Outcome:
    """How a program fared: its exit status (128 + N where a trap ended it as signal N would), what it printed, cycles
    from reset to its end, processor seconds that the simulation took, and for each PE where its cycles went:
    {"idle": cycles, SECTION: {KIND: cycles}}, which add up to `cycles`. `message` says why it did not end by itself."""

    status: int
    cycles: int
    seconds: float
    counters: list[dict[str, Any]]
    stdout: bytes
    stderr: bytes
    end: str = "exit"
    message: str = ""
    report: dict[str, Any] = field(default_factory=dict)

    @property
    def khz(self) -> float:
        """Return the speed of the simulation, in thousands of cycles a second."""
        return self.cycles / self.seconds / 1e3 if self.seconds > 0 else 0.0


def run(
    simulator: Simulator,
    program: Path,
    *,
    max_cycles: int = MAX_CYCLES,
    seed: int = 1,
    trace: Path | None = None,
    fst: Path | None = None,
    timeout: float = TIMEOUT_S,
    on_data: Callable[[str, bytes], None] | None = None,
) -> Outcome:
    """Run the ELF file `program` to its end, or for `max_cycles`, and return how it fared.

    `on_data(stream, bytes)` gets what it prints as it comes. `trace` is a file for the schedule (Chrome's format),
    `fst` one for waveforms (a simulator with `waves`). OkosuError (125) where it did not end: it waits for what cannot
    come, or `max_cycles` are over; and where it is no program for the machine.
    """
    heard: dict[str, bytearray] = {"stdout": bytearray(), "stderr": bytearray(), "log": bytearray()}

    def take(stream: str, data: bytes) -> None:
        heard[stream] += data
        if on_data and stream != "log":
            on_data(stream, data)

    with tempfile.TemporaryDirectory(prefix="okosu-rtl-") as scratch:
        report = Path(scratch) / "report.json"
        words = [str(simulator.program), "--report", str(report), "--max-cycles", str(max_cycles), "--seed", str(seed)]
        words += [] if trace is None else ["--trace", str(trace.absolute())]
        words += [] if fst is None else ["--fst", str(fst.absolute())]

        def start(fds: Mapping[str, int]) -> list[str]:
            # The streams have their own descriptors; the shell puts them in place.
            shell = f'exec "$@" >/dev/fd/{fds["stdout"]} 2>/dev/fd/{fds["stderr"]}'
            return ["sh", "-c", shell, "sh", *words, str(program.absolute())]

        env = {"PATH": os.environ.get("PATH", os.defpath)}
        ended = process.run(start, tuple(heard), take, cwd=Path(scratch), env=env, timeout=timeout)
        if not report.is_file():
            raise _no_report(ended, bytes(heard["stderr"] + heard["log"]))
        told = json.loads(report.read_text())
    outcome = Outcome(
        told["status"],
        told["cycles"],
        told["seconds"],
        told["counters"],
        bytes(heard["stdout"]),
        bytes(heard["stderr"]),
        told["end"],
        report=told,
    )
    if outcome.end == "trap":
        outcome.message = _trapped(told, program)
    elif outcome.end != "exit":
        raise _stuck(outcome, program, bytes(heard["stderr"]))
    return outcome


def place(address: int, program: Path) -> str:
    """Return "function (file:line)" of an address in a program's text, as far as the program tells it."""
    if address not in _TEXT:
        return "outside the program's text"
    words = [_ADDR2LINE, "-f", "-s", "-e", str(program), hex(address)]
    try:
        said = subprocess.run(words, capture_output=True, text=True, check=False).stdout.splitlines()
    except OSError:
        return ""
    if len(said) < 2 or said[0] == "??":
        return ""
    line = re.sub(r" \(discriminator \d+\)", "", said[1])
    return said[0] if line.startswith("??") else f"{said[0]} ({line})"


def _at(where: dict[str, Any], program: Path) -> str:
    named = place(where["pc"], program)
    return f"PE {where['pe']}, thread {where['thread']}, pc {where['pc']:#010x}{named and ', ' + named}"


def _trapped(told: dict[str, Any], program: Path) -> str:
    trap = told["trap"]
    address = "" if trap["address"] is None else f", address {trap['address']:#010x}"
    lines = [f"okosu: {trap['what']}", f"  at: {_at(trap, program)}{address}, cycle {told['cycles']}"]
    return "\n".join([*lines, f"  exit status: {told['status']}"])


def _stuck(outcome: Outcome, program: Path, said: bytes) -> OkosuError:
    told = outcome.report
    where = "\n       ".join(_at(last, program) for last in told["last"])
    if outcome.end == "deadlock":
        waiting = "\n       ".join(told["waiting"]) or where
        what = f"deadlock: no PE has a thread to run, cycle {outcome.cycles}"
        return OkosuError(what, waiting, "--trace FILE shows what led there", LAUNCHER_FAILED)
    if outcome.end == "max-cycles":
        what = f"the program has not ended after {outcome.cycles} cycles"
        return OkosuError(what, where, "--max-cycles with more, if it is to run longer", LAUNCHER_FAILED)
    lines = said.decode(errors="replace").strip().splitlines()
    asserted = next((line for line in lines if "%Error" in line), lines[-1] if lines else "")
    what = f"an assertion of the machine failed, cycle {outcome.cycles}"
    return OkosuError(
        what, f"{asserted}\n       {where}", "this is a fault of rtl/, not of the program", LAUNCHER_FAILED
    )


def _no_report(ended: process.Ended, said: bytes) -> OkosuError:
    if ended.returncode is None:
        return OkosuError(f"the simulator hangs: no end after {ended.seconds:.0f} s", "", "", LAUNCHER_FAILED)
    lines = said.decode(errors="replace").strip().splitlines()
    if lines and lines[-1].startswith("okosu: "):
        return OkosuError(lines[-1].removeprefix("okosu: "), "", "", LAUNCHER_FAILED)
    why = lines[-1] if lines else "it said nothing"
    return OkosuError(f"the simulator ended with {ended.returncode}", why, "", LAUNCHER_FAILED)
