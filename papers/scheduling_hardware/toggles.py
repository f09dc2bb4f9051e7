# SPDX-License-Identifier: Apache-2.0
"""How many bits of registers change in an operation of threads, by hardware and by software: a proxy of its energy.

python -m papers.scheduling_hardware.toggles [--pes 1,2] [--isa SET,SET] [--json FILE]

sw/programs/toggles.c does an operation so many times, and twice as often; what is told of one is the difference of the
two runs, of all PEs, so that what the others do meanwhile is in it: with software a PE without a thread looks for one
in a loop. On one PE there is no other. Verilator counts the changes of each bit of each signal (--coverage-toggle).

This is no energy. A toggle of a flip-flop drives another load than one of its neighbour, wires between them are only as
long as a layout makes them, and what a clock takes in a cycle in which nothing changes is not in it: cycles stand
beside. Memories are not counted, among them the general registers, which are distributed memory on an FPGA. Registers
that only the simulation has, for counters and assertions, are left out.
"""

from __future__ import annotations

import argparse
import itertools
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.cache import Say, quiet
from lab.cli import _kernel_options
from okosu.errors import LAUNCHER_FAILED, OkosuError
from okosu.records import summary
from okosu.records.summary import Section
from papers.scheduling_hardware import ROOM, cross_compile, kernels, simulation, verilator
from papers.scheduling_hardware.machine import ISAS, Machine
from papers.scheduling_hardware.summaries import summary_of

OPERATIONS = {
    "create": ("a thread is created, runs, and is joined", 1),
    "yield": ("a thread yields to the next one", 8),
    "lock": ("a free mutex is locked and unlocked", 1),
    "contend": ("a mutex that four threads want is locked and unlocked", 4),
    "barrier": ("four threads meet at a barrier", 1),
}
"""The program's operations in words, and how many of each there are for each that is counted."""
COUNT = 40
PARTS = ("PEs", "SSH-s", "SSH-m and its bus", "memory bus", "rest")
_SHOWN = {"ssh": "hardware", "software": "software"}
# The first that is found in a hierarchical name; what is in the PE and in none of these is the PE's.
_PLACES = (
    (".u_ssh_s", "SSH-s"),
    (".u_pe", "PEs"),
    ("u_ssh_m", PARTS[2]),
    ("u_sched_bus", PARTS[2]),
    ("u_s*", PARTS[2]),
)
_MEMORY = ("u_mem_bus", "u_memory")
_SIMULATION_ONLY = ("u_counters", "u_checks")
_LINE = re.compile(r"^C '(.*)' (\d+)$")
# Register names end in _q (the house's style); behind it stands which bit, or which part of a structure.
_REGISTER = re.compile(r"_q(?:\[|\.|$)")
_CLOCK = "clk_i"


@dataclass(frozen=True)
class Measured:
    """What one operation takes: cycles, changes of registers' bits by part of the machine, and of all signals' bits."""

    operation: str
    backend: str
    pes: int
    cycles: float
    registers: Mapping[str, float]
    signals: float

    @property
    def all(self) -> float:
        return sum(self.registers.values())


def part(place: str) -> str | None:
    """Return the part of the machine in which a hierarchical name is; None for what only the simulation has."""
    if any(one in place for one in _SIMULATION_ONLY):
        return None
    if any(one in place for one in _MEMORY):
        return PARTS[3]
    return next((name for mark, name in _PLACES if mark in place), PARTS[4])


def read(text: str) -> tuple[Counter[str], int]:
    """Return the changes of registers by part, and those of all signals but the clock, of a file that Verilator wrote.

    A signal that goes through ports is counted in each block.
    """
    registers: Counter[str] = Counter()
    signals = 0
    for line in text.splitlines():
        found = _LINE.match(line)
        if not found:
            continue
        fields = dict(one.split("\x02", 1) for one in found[1].split("\x01") if one)
        name, where = fields["o"], part(fields["h"])
        if where is None or name == _CLOCK:
            continue
        signals += int(found[2])
        if _REGISTER.search(name):
            registers[where] += int(found[2])
    if not signals:
        raise OkosuError("no toggle was counted", "Verilator's file has none", "another Verilator", LAUNCHER_FAILED)
    return registers, signals


def measure(machine: Machine, say: Say = quiet, count: int = COUNT) -> Iterator[Measured]:
    """Measure each operation with each back end."""
    simulator = verilator.build(machine, toggles=True, say=say)
    for operation, (_, each) in OPERATIONS.items():
        for backend in _SHOWN:
            say(f"{operation}, {_SHOWN[backend]}")
            (cycles, few, signals), (twice, many, more) = (
                _run(simulator, machine, operation, backend, times) for times in (count, 2 * count)
            )
            number = count * each
            registers = {name: (many[name] - few[name]) / number for name in PARTS}
            yield Measured(
                operation, backend, machine.pes, (twice - cycles) / number, registers, (more - signals) / number
            )


def _run(
    simulator: verilator.Simulator, machine: Machine, operation: str, backend: str, times: int
) -> tuple[int, Counter[str], int]:
    command = cross_compile.parse([str(ROOM / "sw/programs/toggles.c"), "--", operation, str(times)])
    program = cross_compile.compile_(command, backend, isa=machine.isa)
    with tempfile.TemporaryDirectory(prefix="okosu-toggles-") as scratch:
        written = Path(scratch) / "toggles.dat"
        outcome = simulation.run(simulator, program, toggles=written)
        if outcome.status:
            raise OkosuError(f"toggles.c {operation} failed", f"status {outcome.status}", "", LAUNCHER_FAILED)
        return outcome.cycles, *read(written.read_text(errors="replace"))


def section(found: Sequence[Measured], isa: str) -> Section:
    """Return the table of what was measured."""
    software = {(one.operation, one.pes): one.all for one in found if one.backend == "software"}
    body = []
    for one in found:
        registers = [f"{one.registers[name]:,.0f}" for name in PARTS]
        times = software[one.operation, one.pes] / one.all
        row = [OPERATIONS[one.operation][0], str(one.pes), _SHOWN[one.backend], f"{one.cycles:,.1f}", *registers]
        body.append([*row, f"{one.all:,.0f}", f"{times:.1f}" if one.backend == "ssh" else "", f"{one.signals:,.0f}"])
    parts = [f"registers: {PARTS[0]}", *PARTS[1:], "all"]
    head = ["operation", "PEs", "threads by", "cycles", *parts, "times fewer", "all signals"]
    return Section(id=f"toggles-{isa}", head=head, body=body)


def main(arguments: Sequence[str]) -> int:
    """Measure, print the table, and write the summary; return the exit status."""
    parser = argparse.ArgumentParser(prog="toggles", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pes", type=kernels.numbers, default="1,2", metavar="N,N…", help="default %(default)s")
    parser.add_argument("--isa", default=",".join(ISAS), metavar="SET,SET", help="default %(default)s")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write a summary (okosu.summary/1) there")
    asked = parser.parse_args(arguments)
    started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    isas = asked.isa.split(",")
    machines = {isa: [Machine(pes=pes, threads=16, watches=4, isa=isa) for pes in asked.pes] for isa in isas}
    try:
        # An instruction set that there is not is refused before anything is measured.
        for machine in itertools.chain.from_iterable(machines.values()):
            machine.check()
        with _kernel_options.progress() as say:
            tables = [
                section([one for machine in of for one in measure(machine, say)], isa) for isa, of in machines.items()
            ]
        if asked.json:
            summary.write(summary_of("toggles", arguments, started, tables), asked.json)
    except OkosuError as error:
        print(error, file=sys.stderr)
        return 1
    print("\n\n".join(map(summary.markdown, tables)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
