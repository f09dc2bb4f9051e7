# SPDX-License-Identifier: Apache-2.0
"""Programs whose cycles and counters are known to the last one: what they are, and how a run differs from the table.

python -m papers.scheduling_hardware.dv.cycles            runs them all and says which counters moved; 1 if any did
python -m papers.scheduling_hardware.dv.cycles --write    makes the table, cycles.json, anew: for a change that is meant

The machine is deterministic. Who is granted first, how long a wait lasts, which context is spilled: a change of any of
them moves a counter of some PE here, though the program still does what it should.
"""

from __future__ import annotations

import functools
import hashlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.kernel.build import compiler_version
from papers.scheduling_hardware import cross_compile, simulation, verilator
from papers.scheduling_hardware.machine import Machine

DV = Path(__file__).resolve().parent
TABLE = DV / "cycles.json"
PROGRAMS, DIRECTED = DV.parent / "sw" / "programs", DV / "programs"
# Small, and different from each other; all but the first are those of other tests.
MACHINES = {
    "banked": Machine(pes=3, banks=3),
    "soft": Machine(pes=2, context="soft"),
    "local": Machine(pes=2, context="local", contexts=2),
    "mem": Machine(pes=2, context="mem", threads=16),
    "cached": Machine(pes=4, dcache=256, bus="pipelined"),
    "wishbone": Machine(pes=2, context="mem", threads=16, bus="wishbone"),
    "staged": Machine(pes=3, banks=3, scheduler="staged"),
}
FIFO, RR, LIFO, PRIORITY, EDF, AFFINITY = range(6)
LIMIT = 2_000_000


@dataclass(frozen=True)
class Point:
    """A program on a machine: its source (or several by a pattern), arguments, back end, policy and quantum."""

    machine: str
    source: str
    arguments: tuple[str, ...] = ()
    backend: str = "ssh"
    policy: int = FIFO
    quantum: int = 0

    @property
    def name(self) -> str:
        settings = [f"policy {self.policy}"] * bool(self.policy) + [f"quantum {self.quantum}"] * bool(self.quantum)
        return ", ".join((" ".join((self.machine, self.source, *self.arguments)), *settings, self.backend))

    @property
    def is_long(self) -> bool:
        """Say whether it takes longer than all others together, for little that they do not show."""
        return self.source in ("misuse.c", "conformance*.c")

    def compiled(self) -> Path:
        found = sorted(DIRECTED.glob(self.source)) or sorted(PROGRAMS.glob(self.source))
        defined = {"policy": self.policy, "quantum": self.quantum}
        flags = [f"-Wl,--defsym=__okosu_{name}={value}" for name, value in defined.items() if value]
        words = [*map(str, found), f"-I{DV.parent / 'sw' / 'pthread'}", *flags, "--", *self.arguments]
        return cross_compile.compile_(cross_compile.parse(words), self.backend)


def _points() -> Iterator[Point]:
    yield Point("banked", "tree.c", ("5", "10"))
    yield Point("banked", "crowd.c", ("4", "3"))
    yield Point("banked", "preempted.c", ("5", "6"), policy=RR, quantum=60)
    for what in ("registers", "answers", "flags", "full", "burst", "goals"):
        yield Point("banked", "commands.c", (what,))
    yield Point("banked", "behind.c")
    for policy, what in ((LIFO, "order"), (FIFO, "ranks"), (EDF, "goals"), (AFFINITY, "woken"), (FIFO, "urgent")):
        yield Point("banked", "policies.c", (what,), policy=policy)
    yield Point("banked", "policies.c", ("turns",), policy=RR, quantum=500)
    yield Point("banked", "commands.c", ("flood",), policy=EDF)
    yield Point("banked", "contend.c", ("5", "12", "4", "10"))
    for seed, policy in enumerate((FIFO, LIFO, PRIORITY, PRIORITY, PRIORITY, EDF, EDF, AFFINITY), 1):
        yield Point("banked", "mixed.c", (str(seed), "16"), policy=policy)
    yield Point("banked", "mixed.c", ("9", "16"), policy=RR, quantum=150)
    yield Point("banked", "tree.c", ("5", "10"), "software")
    yield Point("banked", "producer.c")
    yield Point("banked", "primitives.c")
    yield Point("banked", "misuse.c")
    yield Point("banked", "conformance*.c")

    yield Point("soft", "tree.c", ("5", "10"))
    yield Point("soft", "crowd.c", ("4", "3"))
    for quantum in (90, 333):
        yield Point("soft", "preempted.c", ("5", "6"), policy=RR, quantum=quantum)
    for what in ("registers", "full", "ids"):
        yield Point("soft", "commands.c", (what,))
    yield Point("soft", "policies.c", ("urgent",))
    for seed, policy in enumerate((PRIORITY, LIFO, EDF), 1):
        yield Point("soft", "mixed.c", (str(seed), "16"), policy=policy, quantum=200)
    yield Point("soft", "producer.c")

    yield Point("local", "tree.c", ("5", "10"))
    yield Point("local", "crowd.c", ("4", "3"))
    yield Point("local", "preempted.c", ("5", "6"), policy=RR, quantum=60)
    for what in ("full", "burst", "ids"):
        yield Point("local", "commands.c", (what,))
    yield Point("local", "policies.c", ("urgent",))
    for seed, policy in enumerate((PRIORITY, AFFINITY), 1):
        yield Point("local", "mixed.c", (str(seed), "16"), policy=policy, quantum=200)
    yield Point("local", "producer.c")

    # A machine of few ids grants them only to PEs that have created threads.
    yield Point("mem", "tree.c", ("5", "10"))
    yield Point("mem", "crowd.c", ("3", "3"))
    for what in ("late", "burst", "ids"):
        yield Point("mem", "commands.c", (what,))
    for seed, policy in enumerate((PRIORITY, AFFINITY), 1):
        yield Point("mem", "mixed.c", (str(seed), "16", "3"), policy=policy, quantum=200)

    yield Point("cached", "tree.c", ("5", "10"))
    yield Point("cached", "commands.c", ("burst",))
    yield Point("cached", "crowd.c", ("6", "2"))
    yield Point("cached", "matmul.c")

    yield Point("wishbone", "tree.c", ("5", "10"))
    yield Point("wishbone", "crowd.c", ("3", "3"))
    for what in ("late", "burst", "ids"):
        yield Point("wishbone", "commands.c", (what,))
    yield Point("wishbone", "mixed.c", ("1", "16", "3"), policy=PRIORITY, quantum=200)
    yield Point("wishbone", "producer.c")

    yield Point("staged", "tree.c", ("5", "10"))
    yield Point("staged", "crowd.c", ("4", "3"))
    yield Point("staged", "preempted.c", ("5", "6"), policy=RR, quantum=60)
    for what in ("answers", "burst", "goals"):
        yield Point("staged", "commands.c", (what,))
    yield Point("staged", "policies.c", ("goals",), policy=EDF)
    yield Point("staged", "commands.c", ("flood",), policy=EDF)
    for seed, policy in enumerate((FIFO, PRIORITY, EDF, AFFINITY), 1):
        yield Point("staged", "mixed.c", (str(seed), "16"), policy=policy, quantum=150)
    yield Point("staged", "producer.c")
    yield Point("staged", "primitives.c")


POINTS = tuple(_points())


def table() -> dict[str, Any]:
    told: dict[str, Any] = json.loads(TABLE.read_text())
    return told


def shape(report: Mapping[str, Any], output: bytes, program: Path) -> dict[str, Any]:
    """Return what the table has of a run: how it ended, digests of its code and output, cycles, each PE's counters."""
    pes = [
        " ".join(
            map(str, (pe["idle"], *(pe[section][kind] for section in simulation.SECTIONS for kind in simulation.KINDS)))
        )
        for pe in report["counters"]
    ]
    told = {name: report[name] for name in ("end", "status", "cycles")}
    return {**told, "code": _code(program), "output": _digest(output), "counters": pes}


def differences(expected: Mapping[str, Any], here: Mapping[str, Any]) -> list[str]:
    """Return in words what a run did otherwise than the table says, the cycles first; [] if nothing."""
    if expected["code"] != here["code"]:
        return ["the program is another one: the compiler, sw or its source has changed, not the machine"]
    said = [
        f"{name}: {here[name]}, in the table {expected[name]}"
        for name in ("end", "status", "cycles", "output")
        if here[name] != expected[name]
    ]
    names = ["idle", *(f"{section}/{kind}" for section in simulation.SECTIONS for kind in simulation.KINDS)]
    for pe, (ours, theirs) in enumerate(zip(here["counters"], expected["counters"], strict=True)):
        moved = [
            f"{name} {now} ({int(now) - int(was):+})"
            for name, now, was in zip(names, ours.split(), theirs.split(), strict=True)
            if now != was
        ]
        if moved:
            said.append(f"PE {pe}: {', '.join(moved)}")
    return said


def run(point: Point) -> dict[str, Any]:
    """Return the shape of a point's run on its machine, as other tests have built it."""
    simulator = verilator.build(MACHINES[point.machine], checked=True)
    program = point.compiled()
    outcome = simulation.run(simulator, program, max_cycles=LIMIT)
    return shape(outcome.report, outcome.stdout, program)


def compiler() -> str:
    return compiler_version(cross_compile.COMPILER)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:12]


@functools.cache
def _code(program: Path) -> str:
    """Return a digest of what is loaded; debugging information has paths in it."""
    objcopy = cross_compile.COMPILER.replace("gcc", "objcopy")
    with tempfile.NamedTemporaryFile() as loaded:
        subprocess.run([objcopy, "-O", "verilog", str(program), loaded.name], check=True)
        return _digest(Path(loaded.name).read_bytes())


def main(arguments: list[str]) -> int:
    """Compare, or write the table; return the exit status."""
    if arguments == ["--write"]:
        rows = {point.name: run(point) for point in POINTS}
        TABLE.write_text(json.dumps({"compiler": compiler(), "points": rows}, indent=1) + "\n")
        return 0
    expected = table()["points"]
    moved = 0
    for point in POINTS:
        said = differences(expected[point.name], run(point))
        moved += bool(said)
        for line in said:
            print(f"{point.name}: {line}")
    print(f"{len(POINTS) - moved} of {len(POINTS)} as in the table")
    return int(moved > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
