# SPDX-License-Identifier: Apache-2.0
"""A run of the machine: a C program compiled for it and run on its RTL, cycle by cycle."""

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

from lab.run import process
from okosu.errors import LAUNCHER_FAILED, OkosuError
from papers.scheduling_hardware.cross_compile import COMPILERS
from papers.scheduling_hardware.verilator import Simulator

MAX_CYCLES = 1_000_000_000
# Seconds; a simulator ends by itself at --max-cycles, and this time-out only ends one that hangs.
TIMEOUT_S = 86400.0
SECTIONS = ("user", "create", "join", "switch", "lock", "library")
KINDS = ("execute", "memory", "scheduler")
# By the machine's number in an ELF file, what finds lines in it.
_ADDR2LINE = {number: COMPILERS[isa].replace("gcc", "addr2line") for number, isa in ((8, "mips1"), (243, "rv32"))}
_TEXT = range(0x80000000, 0x90000000)


@dataclass
class Outcome:
    """How a program fared: its exit status (128 + N where a trap ended it as signal N would), what it printed, cycles
    from reset to its end, processor seconds that the simulation took, and for each PE where its cycles went:
    {"idle": cycles, SECTION: {KIND: cycles}}, which add up to `cycles`; a PE that looks for a thread is idle.
    `end` is exit, trap, deadlock, max-cycles or assertion; `message` says what a trap was."""

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
        """Thousands of simulated cycles a second of processor time."""
        return self.cycles / self.seconds / 1e3 if self.seconds > 0 else 0.0


class UnfinishedError(OkosuError):
    """A run that was measured and yet failed, status 125: the program neither ended nor trapped, or the trace could not
    be written. What was measured is `outcome`."""

    def __init__(self, outcome: Outcome, what: str, why: str, fix: str) -> None:
        super().__init__(what, why, fix, LAUNCHER_FAILED)
        self.outcome = outcome


def run(
    simulator: Simulator,
    program: Path,
    *,
    max_cycles: int = MAX_CYCLES,
    seed: int = 1,
    trace: Path | None = None,
    fst: Path | None = None,
    toggles: Path | None = None,
    lockstep: bool = False,
    own_traps: bool = False,
    timeout: float = TIMEOUT_S,
    on_data: Callable[[str, bytes], None] | None = None,
) -> Outcome:
    """Run the ELF file `program` to its end, or for `max_cycles`, and return how it fared.

    `on_data(stream, bytes)` gets what it prints as it comes. `trace` is a file for the schedule (Chrome's format),
    `fst` one for waveforms and `toggles` one for toggles (a simulator that has them). With `lockstep` a golden
    simulator executes each instruction, too, and report["compared"] counts them. With `own_traps` a trap does not end
    the run: it goes to the program's handler. UnfinishedError (125), with the outcome, where it did not end: it waits
    for what cannot come, `max_cycles` are over, or an assertion of the RTL failed; or where the trace could not be
    written. OkosuError (125) where it is no program for the machine.
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
        words += [] if toggles is None else ["--toggles", str(toggles.absolute())]
        words += ["--lockstep"] * lockstep + ["--own-traps"] * own_traps

        def start(fds: Mapping[str, int]) -> list[str]:
            # process.run() gives each stream a descriptor; the shell makes them the simulator's stdout and stderr.
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
    if told["lost"]:
        raise UnfinishedError(outcome, told["lost"], "", "--trace FILE where there is room")
    if outcome.end == "trap":
        outcome.message = _trapped(told, program)
    elif outcome.end != "exit":
        raise _unfinished(outcome, program, bytes(heard["stderr"]))
    return outcome


def place(address: int, program: Path) -> str:
    """Return "function (file:line)" of an address in a program's text, as far as the program tells it.

    Of a function that was compiled into another one both are named.
    """
    if address not in _TEXT:
        return "outside the program's text"
    try:
        with program.open("rb") as file:
            number = int.from_bytes(file.read(20)[18:], "little")
        words = [_ADDR2LINE.get(number, "addr2line"), "-f", "-i", "-s", "-e", str(program), hex(address)]
        said = subprocess.run(words, capture_output=True, text=True, check=False).stdout.splitlines()
    except OSError:
        return ""
    functions = said[::2]
    if len(said) < 2 or functions[0] == "??":
        return ""
    line = re.sub(r" \(discriminator \d+\)", "", said[1])
    into = f" in {functions[-1]}" if len(functions) > 1 else ""
    return functions[0] + ("" if line.startswith("??") else f" ({line})") + into


def _at(where: dict[str, Any], program: Path) -> str:
    if where["idle"]:
        return f"PE {where['pe']}, without a thread"
    named = place(where["pc"], program)
    call = "" if where["call"] is None else f", called by {place(where['call'], program)}"
    return f"PE {where['pe']}, thread {where['thread']}, pc {where['pc']:#010x}{named and ', ' + named}{call}"


def _trapped(told: dict[str, Any], program: Path) -> str:
    trap = told["trap"]
    address = "" if trap["address"] is None else f", address {trap['address']:#010x}"
    lines = [f"okosu: {trap['what']}", f"  at: {_at(trap, program)}{address}, cycle {told['cycles']}"]
    if trap["jump"] is not None:
        lines.append(f"  from: {place(trap['jump'], program)}")
    return "\n".join([*lines, f"  exit status: {told['status']}"])


def _unfinished(outcome: Outcome, program: Path, said: bytes) -> UnfinishedError:
    told = outcome.report
    where = "\n       ".join(_at(last, program) for last in told["last"])
    if outcome.end == "deadlock":
        waiting = "\n       ".join(f"{one['what']}: {_at(one, program)}" for one in told["waiting"]) or where
        what = f"deadlock: no PE has a thread to run, cycle {outcome.cycles}"
        return UnfinishedError(outcome, what, waiting, "--trace FILE shows what led there")
    if outcome.end == "max-cycles":
        what = f"the program has not ended after {outcome.cycles} cycles"
        return UnfinishedError(outcome, what, where, "--max-cycles with more, if it is to run longer")
    fault = "this is a fault of rtl/, not of the program"
    if outcome.end == "differs":
        what = f"the machine does not do what the golden simulator does, cycle {outcome.cycles}"
        return UnfinishedError(outcome, what, told["difference"].strip(), fault)
    lines = said.decode(errors="replace").strip().splitlines()
    asserted = next((line for line in lines if "%Error" in line), lines[-1] if lines else "")
    what = f"an assertion of the machine failed, cycle {outcome.cycles}"
    return UnfinishedError(outcome, what, f"{asserted}\n       {where}", "this is a fault of rtl/, not of the program")


def _no_report(ended: process.Ended, said: bytes) -> OkosuError:
    if ended.returncode is None:
        return OkosuError(f"the simulator hangs: no end after {ended.seconds:.0f} s", "", "", LAUNCHER_FAILED)
    lines = said.decode(errors="replace").strip().splitlines()
    if lines and lines[-1].startswith("okosu: "):
        return OkosuError(lines[-1].removeprefix("okosu: "), "", "", LAUNCHER_FAILED)
    why = lines[-1] if lines else "it said nothing"
    return OkosuError(f"the simulator ended with {ended.returncode}", why, "", LAUNCHER_FAILED)
