# SPDX-License-Identifier: Apache-2.0
"""The golden simulator in lockstep with every PE of the machine, on compiled programs; planted bugs are found."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from papers.scheduling_hardware import cross_compile, hardware

ROOT = Path(__file__).resolve().parents[4]
PROGRAMS = ROOT / "papers/scheduling_hardware/sw/programs"
LIMIT = 8_000_000
FAILED = 125

pytestmark = [
    pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it"),
    pytest.mark.skipif(
        not all(shutil.which(tool) for tool in ("verilator", "make", "g++", cross_compile.COMPILER)),
        reason="verilator, make, g++ or gcc-mipsel-linux-gnu is not installed (tools/lab-deps.sh)",
    ),
]

CONFORMANCE = tuple(str(path) for path in sorted(PROGRAMS.glob("conformance*.c")))
GRAIN = (str(ROOT / "examples/grain.c"), "10", "100", "2")
MATMUL = (str(PROGRAMS / "matmul.c"),)
PRIMITIVES = (str(PROGRAMS / "primitives.c"),)
TREE = (str(PROGRAMS / "tree.c"),)
DIRECTED = ROOT / "papers/scheduling_hardware/dv/programs"
FRESH = (str(DIRECTED / "fresh.c"),)
INCLUDED = f"-I{ROOT / 'papers/scheduling_hardware/sw/pthread'}"
FLOOD = (str(DIRECTED / "commands.c"), INCLUDED, "-Wl,--defsym=__okosu_policy=4", "flood")
MIXED = (str(DIRECTED / "mixed.c"), INCLUDED, "-Wl,--defsym=__okosu_policy=3", "2", "12", "6")
CROWD = (str(DIRECTED / "crowd.c"), INCLUDED, "4", "3")
# Few banks: contexts leave them often; two of them wait for that at the same time.
BANKED = hardware.Machine(pes=3, banks=3)
SOFT = hardware.Machine(pes=2, context="soft")
# Those that other tests build, too.
MEM = hardware.Machine(pes=2, context="mem", threads=16)
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
        hardware.Machine(pes=4, context="mem"),
        hardware.Machine(pes=4, context="local", contexts=2),
        hardware.Machine(pes=4),
        hardware.Machine(pes=4, dcache=1024),
        hardware.Machine(pes=4, bus="pipelined"),
    ]
    WAYS += [
        (machine, backend, words)
        for machine in OTHERS
        for backend in cross_compile.BACKENDS
        for words in (CONFORMANCE, GRAIN, MATMUL, PRIMITIVES, TREE)
    ]


class Bug(NamedTuple):
    """What is planted: the file, what is right in it, what stands instead (ON is true where this bug is chosen); the
    program that finds it, and how its run ends."""

    file: str
    right: str
    wrong: str
    words: tuple[str, ...] = CONFORMANCE
    ends: tuple[str, ...] = ("differs",)


BUGS = {
    "a branch on zero forgets zero": Bug("rtl/cpu/core.sv", "d_a[31] || d_a == '0", "d_a[31] || (!ON && d_a == '0)"),
    "a bank reads another one's register": Bug(
        "rtl/cpu/register_banks.sv",
        "written_q[bank_i][ra_i] ? regs_q[bank_i][ra_i] : '0",
        "written_q[bank_i][ra_i] ? regs_q[ON && ra_i == 5'd17 ? '0 : bank_i][ra_i] : '0",
    ),
    "a spilled context loses a register": Bug(
        "rtl/ssh/context_engine.sv",
        "job_q == JobSpill ? port_rdata_i",
        "job_q == JobSpill ? (ON && word_q == 6'd16 ? '0 : port_rdata_i)",
    ),
    "a load passes the posted store": Bug(
        "rtl/cpu/lsu.sv",
        "access_i != AccessNone && !posted_q",
        "access_i != AccessNone && (ON || !posted_q)",
    ),
    "a store leaves with another's bytes": Bug(
        "rtl/cpu/lsu.sv",
        "be: store_be",
        "be: ON ? {store_be[2:0], store_be[3]} : store_be",
    ),
    "an answer reaches the thread changed": Bug(
        "rtl/ssh/cpu_unit.sv",
        "result_res_o = reply_res_i",
        "result_res_o = ON ? '0 : reply_res_i",
    ),
    "a new thread begins with another's stack": Bug(
        "rtl/ssh/context_engine.sv",
        "{24'd0, tid_q} << stack_log2_i",
        "{24'd0, tid_q ^ 8'(ON)} << stack_log2_i",
    ),
    "a new thread sees the last one's HI and LO": Bug(
        "rtl/ssh/context_engine.sv",
        "port_we_o = 1'b1;\n          word_d    = word_q + 6'd1;",
        "port_we_o = !(ON && (word_q == 6'd5 || word_q == 6'd6));\n          word_d    = word_q + 6'd1;",
        FRESH,
    ),
    "a thread's first command goes before its START": Bug(
        "rtl/ssh/ssh_s.sv",
        "(out_ready && !start)",
        "(out_ready && (ON || !start))",
        FLOOD,
        ("assertion",),
    ),
    "a second EVICT makes a PE forget the first": Bug(
        "rtl/ssh/register_unit.sv",
        "else if (evict_i && used_q[n] && bank_tid_q[n] == heard_i.tid) marked_q[n] <= 1'b1;",
        "else if (evict_i && (ON || (used_q[n] && bank_tid_q[n] == heard_i.tid)))\n"
        "          marked_q[n] <= bank_tid_q[n] == heard_i.tid;",
        MIXED,
        ("deadlock",),
    ),
    "RELEASE starts who does not wait at the barrier": Bug(
        "rtl/ssh/register_unit.sv",
        "release_i && barrier_q &&",
        "release_i && (ON || barrier_q) &&",
        CROWD,
        ("assertion",),
    ),
    "a PE takes RELEASE though it has had another thread since": Bug(
        "rtl/ssh/register_unit.sv",
        "else if (dispatch0_i || released_here) barrier_q <= 1'b0;",
        "else if ((!ON && dispatch0_i) || released_here) barrier_q <= 1'b0;",
        CROWD,
        ("assertion",),
    ),
}
CHOICE = r"""// SPDX-License-Identifier: Apache-2.0
package planted_pkg;
  int number = $c32("(std::getenv(\"PLANTED\") ? std::atoi(std::getenv(\"PLANTED\")) : 0)");
endpackage
"""


def compiled(backend: str, words: tuple[str, ...]) -> Path:
    sources = [word for word in words if word.endswith(".c")]
    others = [word for word in words if not word.endswith(".c")]
    return cross_compile.compile_(cross_compile.parse([*sources, *others]), backend)


def run(simulator: Path, program: Path, report: Path, planted: int = 0) -> subprocess.CompletedProcess[str]:
    argv = [simulator, "--max-cycles", str(LIMIT), "--report", report, program]
    env = {**os.environ, "PLANTED": str(planted)}
    return subprocess.run(argv, env=env, capture_output=True, text=True, check=False, timeout=600)


@pytest.mark.parametrize(("machine", "backend", "words"), WAYS)
def test_every_pe_does_what_the_golden_simulator_says(
    tmp_path: Path, machine: hardware.Machine, backend: str, words: tuple[str, ...]
) -> None:
    simulator = hardware.build(machine, checked=True)
    done = run(simulator.program, compiled(backend, words), tmp_path / "report.json")
    told = json.loads((tmp_path / "report.json").read_text())
    assert (told["end"], told["difference"], done.returncode) == ("exit", "", 0), done.stdout[-500:]
    assert told["compared"] > 10_000


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a machine with all the bugs, of which one is chosen at run time."""
    rtl = tmp_path_factory.mktemp("planted") / "rtl"
    shutil.copytree(hardware.home(), rtl)
    for number, bug in enumerate(BUGS.values(), 1):
        text = (rtl / bug.file).read_text()
        assert text.count(bug.right) == 1, (bug.file, bug.right)
        chosen = re.sub(r"\bON\b", f"(planted_pkg::number == {number})", bug.wrong)
        (rtl / bug.file).write_text(text.replace(bug.right, chosen))
    (rtl / "planted_pkg.sv").write_text(CHOICE)
    design = (rtl / "files.f").read_text()
    (rtl / "files.f").write_text(design.replace("rtl/pkg/okosu_pkg.sv", "planted_pkg.sv\nrtl/pkg/okosu_pkg.sv"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OKOSU_RTL", str(rtl))
        return hardware.build(BANKED, checked=True).program


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


@pytest.mark.parametrize("name", BUGS)
def test_a_planted_bug_is_found(planted: Path, tmp_path: Path, name: str) -> None:
    bug = BUGS[name]
    done = run(planted, compiled("ssh", bug.words), tmp_path / "report.json", list(BUGS).index(name) + 1)
    told = json.loads((tmp_path / "report.json").read_text())
    assert told["end"] in bug.ends
    assert done.returncode == FAILED
    assert bool(told["difference"].strip()) == (told["end"] == "differs")
