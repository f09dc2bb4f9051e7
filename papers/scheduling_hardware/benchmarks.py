# SPDX-License-Identifier: Apache-2.0
"""CoreMark and Dhrystone on one PE: cycles and instructions of a run, CPI, and the score for each MHz.

python -m papers.scheduling_hardware.benchmarks [--coremark FOLDER] [--dhrystone FOLDER] [--json FILE] [--compare FILE]

The sources are others'; without their folders, foreign.py fetches them. Each program runs twice, the second time with
twice the iterations, and what is told of one is the difference, in which start-up is not, and of printing only what
more digits take. Each instruction is executed by the golden simulator, too, which counts them. Both programs check what
they computed, and one that is wrong is no result. CoreMark wants ten seconds: its clock here is slow, for the score is
of each MHz anyway.

--compare names each number that is another one than in such a summary, and then the exit status is 3.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.cli import _kernel_options
from lab.kernel.build import compiler_version
from okosu.errors import LAUNCHER_FAILED, OkosuError
from okosu.records import summary
from okosu.records.summary import Section
from papers.scheduling_hardware import ROOM, cross_compile, foreign, simulation, verilator
from papers.scheduling_hardware.machine import Machine
from papers.scheduling_hardware.simulation import Outcome
from papers.scheduling_hardware.summaries import summary_of

MACHINES = [
    ("no data cache", Machine(pes=1)),
    ("a data cache of 4 KiB and the pipelined bus", Machine(pes=1, dcache=4096, bus="pipelined")),
    # RISC-V's PE has no other bus, and no data cache.
    ("no data cache", Machine(pes=1, isa="rv32")),
]
ITERATIONS, RUNS = 5, 500
VAX_DHRYSTONES = 1757
"""Dhrystones a second of a VAX-11/780, which is by definition 1 MIPS (Weicker's article of 1984 and what followed)."""
_PORT = ROOM / "sw/coremark"
_COREMARK = ("core_list_join.c", "core_main.c", "core_matrix.c", "core_state.c", "core_util.c")
_DHRYSTONE = ("dhry_1.c", "dhry_2.c")
# Flags of each, beside those of sw/build.sh (-O2 without builtins): procedures are not merged, which Dhrystone forbids.
_FLAGS = {
    "CoreMark": ("-fbuiltin", "-Wl,--defsym=__okosu_clock_hz=100000"),
    "Dhrystone": ("-fbuiltin", "-fno-inline", "-DTIME", "-Wl,--defsym=__okosu_clock_hz=100000"),
}
_VALID = "Correct operation validated."
_SHOULD_BE = re.compile(r"^ *(?P<name>[\w>\[\]-]+): +(?P<is>.+?) *\n +should be: +(?P<should>.+?) *$", re.MULTILINE)
_CHECKED = 22
"""Values of which Dhrystone tells what they should be; of two, which are pointers, that it depends."""


@dataclass(frozen=True)
class Told:
    """One iteration of a benchmark on a machine."""

    benchmark: str
    isa: str
    machine: str
    cycles: float
    instructions: float

    @property
    def score(self) -> str:
        """Return the score for each MHz."""
        a_second = 1e6 / self.cycles
        if self.benchmark == "CoreMark":
            return f"{a_second:.3f} CoreMark/MHz"
        return f"{a_second / VAX_DHRYSTONES:.3f} DMIPS/MHz"

    @property
    def row(self) -> list[str]:
        cpi = f"{self.cycles / self.instructions:.3f}"
        return [
            self.benchmark,
            self.isa,
            self.machine,
            f"{self.cycles:,.1f}",
            f"{self.instructions:,.1f}",
            cpi,
            self.score,
        ]


def programs(coremark: Path, dhrystone: Path, times: int) -> dict[str, list[str]]:
    """Return the words for cross_compile.parse() of both, with so many times the iterations."""
    port = [str(_PORT / "core_portme.c"), f"-I{_PORT}", f"-I{ROOM / 'sw/pthread'}", f"-I{coremark}"]
    seeds = ["0", "0", "0x66", str(ITERATIONS * times)]
    return {
        "CoreMark": [*(str(coremark / one) for one in _COREMARK), *port, *_FLAGS["CoreMark"], *seeds],
        "Dhrystone": [
            *(str(dhrystone / one) for one in _DHRYSTONE),
            *_FLAGS["Dhrystone"],
            f"-DDHRY_ITERS={RUNS * times}",
        ],
    }


def wrong(benchmark: str, said: str, runs: int) -> str:
    """Return in words why what a benchmark printed is no result; "" if it is one."""
    if benchmark == "CoreMark":
        return "" if _VALID in said else next((one for one in said.splitlines() if "ERROR" in one), "not validated")
    found = list(_SHOULD_BE.finditer(said))
    if len(found) < _CHECKED:
        return f"it told {len(found)} of {_CHECKED} values"
    for one in found:
        should = str(runs + 10) if one["should"] == "Number_Of_Runs + 10" else one["should"]
        if "implementation-dependent" not in should and one["is"] != should:
            return f"{one['name']} is {one['is']} and should be {should}"
    return ""


def measure(coremark: Path, dhrystone: Path) -> Iterator[Told]:
    """Yield what each benchmark gives on each machine."""
    once, twice = programs(coremark, dhrystone, 1), programs(coremark, dhrystone, 2)
    for name, built in MACHINES:
        simulator = verilator.build(built)
        for benchmark in once:
            first = _run(simulator, built.isa, benchmark, once[benchmark], RUNS)
            second = _run(simulator, built.isa, benchmark, twice[benchmark], 2 * RUNS)
            count = ITERATIONS if benchmark == "CoreMark" else RUNS
            instructions = second.report["compared"] - first.report["compared"]
            yield Told(benchmark, built.isa, name, (second.cycles - first.cycles) / count, instructions / count)


def _run(simulator: verilator.Simulator, isa: str, benchmark: str, words: Sequence[str], runs: int) -> Outcome:
    program = cross_compile.compile_(cross_compile.parse(words), "ssh", isa=isa)
    outcome = simulation.run(simulator, program, lockstep=True)
    why = outcome.message or wrong(benchmark, outcome.stdout.decode(errors="replace"), runs)
    if outcome.status or why:
        raise OkosuError(f"{benchmark} failed, exit status {outcome.status}", why, "", LAUNCHER_FAILED)
    return outcome


def section(told: Sequence[Told]) -> Section:
    """Return the table, with what it depends on beneath."""
    notes = [f"{name}: {foreign.SOURCES[name.lower()]}; `-O2 {' '.join(of)}`" for name, of in _FLAGS.items()]
    for isa in dict.fromkeys(one.isa for one in told):
        notes.append(f"Compiler for {isa}: {compiler_version(cross_compile.COMPILERS[isa])}")
    head = ["benchmark", "ISA", "one PE with", "cycles an iteration", "instructions", "CPI", "score"]
    return Section(id="benchmarks", head=head, body=[one.row for one in told], notes=notes)


def differences(here: Section, table: Section) -> list[str]:
    """Return in words where a table differs from one that is kept."""
    if here.notes != table.notes:
        return [f"not comparable: here {', '.join(here.notes)}; in the table {', '.join(table.notes)}"]
    kept = {tuple(row[:3]): row[3:] for row in table.body}
    gone = kept.keys() - {tuple(row[:3]) for row in here.body}
    return [f"{', '.join(one)}: not there" for one in sorted(gone)] + [
        f"{', '.join(row[:3])}: {' '.join(row[3:])}; in the table {' '.join(kept.get(tuple(row[:3]), ['nothing']))}"
        for row in here.body
        if kept.get(tuple(row[:3])) != row[3:]
    ]


def main(arguments: Sequence[str]) -> int:
    """Measure, print the table, and write or compare the summary; return the exit status."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--coremark", type=Path, metavar="FOLDER", help="CoreMark's source (default: fetched)")
    parser.add_argument("--dhrystone", type=Path, metavar="FOLDER", help="Dhrystone's source (default: fetched)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write a summary (okosu.summary/1) there")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="such a file, which has to be matched")
    asked = parser.parse_args(arguments)
    started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    try:
        with _kernel_options.progress() as say:
            coremark = asked.coremark or foreign.fetched("coremark", say)
            dhrystone = asked.dhrystone or foreign.fetched("dhrystone", say)
        here = section(list(measure(coremark, dhrystone)))
        kept = summary.read(asked.compare).sections if asked.compare else []
        if asked.json:
            made = summary_of("benchmarks", ["--json", str(asked.json)], started, [here])
            summary.write(made, asked.json)
    except OkosuError as error:
        print(error, file=sys.stderr)
        return 1
    print(summary.markdown(here))
    said = [line for one in kept for line in differences(here, one)]
    for line in said:
        print(line)
    return 3 if said else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
