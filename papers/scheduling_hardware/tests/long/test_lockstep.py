# SPDX-License-Identifier: Apache-2.0
"""The golden simulator in lockstep with every PE of the machine, on compiled programs; planted bugs are found."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from papers.scheduling_hardware import ROOM, cross_compile, planting, verilator
from papers.scheduling_hardware.machine import Machine
from papers.scheduling_hardware.tests.long.shared import NEEDS

ROOT = ROOM.parents[1]
PROGRAMS = ROOM / "sw/programs"
LIMIT = 8_000_000
FAILED = 125

pytestmark = NEEDS

CONFORMANCE = tuple(str(path) for path in sorted(PROGRAMS.glob("conformance*.c")))
GRAIN = (str(ROOT / "examples/programs/grain.c"), "10", "100", "2")
MATMUL = (str(PROGRAMS / "matmul.c"),)
PRIMITIVES = (str(PROGRAMS / "primitives.c"),)
TREE = (str(PROGRAMS / "tree.c"),)
DIRECTED = ROOM / "dv/programs"
FRESH = (str(DIRECTED / "fresh.c"),)
INCLUDED = f"-I{ROOM / 'sw/pthread'}"
FLOOD = (str(DIRECTED / "commands.c"), INCLUDED, "-Wl,--defsym=__okosu_policy=4", "flood")
MIXED = (str(DIRECTED / "mixed.c"), INCLUDED, "-Wl,--defsym=__okosu_policy=3", "6", "20", "8")
CROWD = (str(DIRECTED / "crowd.c"), INCLUDED, "4", "3")
# With few banks contexts leave them often, and two contexts wait for that at the same time.
BANKED = Machine(pes=3, banks=3)
SOFT = Machine(pes=2, context="soft")
# A machine that other tests build, too.
MEM = Machine(pes=2, context="mem", threads=16)
WAYS = [
    (SOFT, "ssh", CONFORMANCE),
    (SOFT, "ssh", PRIMITIVES),
    (SOFT, "ssh", ("-Wl,--defsym=__okosu_quantum=300", *GRAIN)),
    (SOFT, "software", CONFORMANCE),
    (SOFT, "software", MATMUL),
    (MEM, "ssh", GRAIN),
    (MEM, "ssh", MATMUL),
    (MEM, "software", GRAIN),
]
if os.environ.get("OKOSU_LAB") == "full":
    OTHERS = [
        Machine(pes=4, context="mem"),
        Machine(pes=4, context="local", contexts=2),
        Machine(pes=4),
        Machine(pes=4, dcache=1024),
        Machine(pes=4, bus="pipelined"),
        Machine(pes=4, context="mem", bus="wishbone"),
    ]
    WAYS += [
        (machine, backend, words)
        for machine in OTHERS
        for backend in cross_compile.BACKENDS
        for words in (CONFORMANCE, GRAIN, MATMUL, PRIMITIVES, TREE)
    ]


class Planted(NamedTuple):
    """A bug, the program that finds it, and how its run ends then."""

    bug: planting.Bug
    words: tuple[str, ...] = CONFORMANCE
    end: str = "differs"


PLANTED = [
    Planted(
        planting.Bug(
            "a branch on zero forgets zero",
            "rtl/cpu/core.sv",
            "BranchLez: {by_equal, by_sign} = «2'b11 → 2'b01»",
        )
    ),
    Planted(
        planting.Bug(
            "a bank reads another one's register",
            "rtl/cpu/register_banks.sv",
            "written_q[bank_i][ra_i] ? a_of[«bank_i → ra_i == 5'd17 ? '0 : bank_i»] : '0",
        )
    ),
    Planted(
        planting.Bug(
            "a spilled context loses a register",
            "rtl/ssh/context_engine.sv",
            "job_q == JobSpill ? «port_rdata_i → word_q == 6'd16 ? '0 : port_rdata_i»",
        )
    ),
    Planted(
        planting.Bug("a load passes the posted store", "rtl/cpu/lsu.sv", "access_i != AccessNone && «!posted_q → 1'b1»")
    ),
    Planted(
        planting.Bug(
            "a store leaves with another's bytes",
            "rtl/cpu/lsu.sv",
            "be: «store_be → {store_be[2:0], store_be[3]}»",
        )
    ),
    Planted(
        planting.Bug("an answer reaches the thread changed", "rtl/ssh/cpu_unit.sv", "result_res_o = «reply_res_i → '0»")
    ),
    Planted(
        planting.Bug(
            "a new thread begins with another's stack",
            "rtl/ssh/context_engine.sv",
            "{24'd0, «tid_q → tid_q ^ 8'd1»} << stack_log2_i",
        )
    ),
    Planted(
        planting.Bug(
            "a new thread sees the last one's HI and LO",
            "rtl/ssh/context_engine.sv",
            "port_we_o = «1'b1 → !(word_q == 6'd5 || word_q == 6'd6)»; word_d = word_q + 6'd1;",
        ),
        FRESH,
    ),
    Planted(
        planting.Bug(
            "a thread's first command goes before its START",
            "rtl/ssh/ssh_s.sv",
            "(out_ready && «!start → 1'b1»)",
        ),
        FLOOD,
        "assertion",
    ),
    Planted(
        planting.Bug(
            "a second EVICT makes a PE forget the first",
            "rtl/ssh/register_unit.sv",
            "else if (evict_i && «used_q[n] && bank_tid_q[n] == heard_i.tid → 1'b1») "
            "marked_q[n] <= «1'b1 → bank_tid_q[n] == heard_i.tid»;",
        ),
        MIXED,
        "deadlock",
    ),
    Planted(
        planting.Bug(
            "RELEASE starts who does not wait at the barrier",
            "rtl/ssh/register_unit.sv",
            "release_i && «barrier_q → 1'b1» &&",
        ),
        CROWD,
        "assertion",
    ),
    Planted(
        planting.Bug(
            "a PE takes RELEASE though it has had another thread since",
            "rtl/ssh/register_unit.sv",
            "else if («dispatch0_i → 1'b0» || released_here) barrier_q <= 1'b0;",
        ),
        CROWD,
        "assertion",
    ),
]


def compiled(backend: str, words: tuple[str, ...]) -> Path:
    sources = [word for word in words if word.endswith(".c")]
    others = [word for word in words if not word.endswith(".c")]
    return cross_compile.compile_(cross_compile.parse([*sources, *others]), backend)


def run(simulator: Path, program: Path, report: Path, planted: int = 0) -> subprocess.CompletedProcess[str]:
    argv = [simulator, "--max-cycles", str(LIMIT), "--report", report, program]
    env = {**os.environ, planting.VARIABLE: str(planted)}
    return subprocess.run(argv, env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("machine", "backend", "words"), WAYS)
def test_every_pe_does_what_the_golden_simulator_says(
    tmp_path: Path, machine: Machine, backend: str, words: tuple[str, ...]
) -> None:
    simulator = verilator.build(machine, checked=True)
    done = run(simulator.program, compiled(backend, words), tmp_path / "report.json")
    told = json.loads((tmp_path / "report.json").read_text())
    assert (told["end"], told["difference"], done.returncode) == ("exit", "", 0), done.stdout[-500:]
    assert told["compared"] > 10_000


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a machine with all the bugs, of which one is chosen at run time."""
    room = planting.copy(tmp_path_factory.mktemp("planted") / "room")
    planting.plant_all(room, [planted.bug for planted in PLANTED])
    return verilator.build(BANKED, checked=True, room=room).program


@pytest.mark.parametrize(
    "words",
    [CONFORMANCE, FRESH, FLOOD, MIXED, CROWD],
    ids=["conformance", "fresh", "flood", "mixed", "crowd"],
)
def test_without_a_bug_the_same_machine_does_it_right(planted: Path, tmp_path: Path, words: tuple[str, ...]) -> None:
    done = run(planted, compiled("ssh", words), tmp_path / "report.json")
    told = json.loads((tmp_path / "report.json").read_text())
    assert (told["end"], told["difference"], done.returncode) == ("exit", "", 0), done.stdout[-500:]
    assert told["compared"] > 1_000


@pytest.mark.parametrize("number", range(1, len(PLANTED) + 1), ids=lambda number: PLANTED[number - 1].bug.says)
def test_a_planted_bug_is_found(planted: Path, tmp_path: Path, number: int) -> None:
    wanted = PLANTED[number - 1]
    done = run(planted, compiled("ssh", wanted.words), tmp_path / "report.json", number)
    told = json.loads((tmp_path / "report.json").read_text())
    assert told["end"] == wanted.end
    assert done.returncode == FAILED
    assert bool(told["difference"].strip()) == (told["end"] == "differs")
