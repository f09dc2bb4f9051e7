# SPDX-License-Identifier: Apache-2.0
"""The tests of the RTL find faults: operators changed one at a time, a sample of them here and all of them in full."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from okosu.errors import OkosuError
from papers.scheduling_hardware import ROOM, foreign_core
from papers.scheduling_hardware.dv import cycles, mutants, mutation, suites
from papers.scheduling_hardware.tests.long.shared import NEEDS

pytestmark = NEEDS
FULL = os.environ.get("OKOSU_LAB") == "full"
full = pytest.mark.skipif(not FULL, reason="make test-lab-full runs it")
MODULE = """\
module example (
  input  logic [3:0] a_i,
  output logic       b_o
);
  localparam int unsigned Some = 1 + 1;
  logic [1:0] c;
  assign c = a_i[3-1:1] + 2'd1;
  always_comb begin
    b_o = 1'b0;
    if (a_i == 4'd3) b_o = !c[0] && c[1];
  end
`ifndef SYNTHESIS
  always_ff @(posedge a_i[0]) assert (a_i != 4'd5);
`endif
endmodule
"""


def test_each_operator_of_an_expression_is_changed_alone() -> None:
    text, made = mutants.mutate(MODULE, "example.sv", 7)
    assert [(one.number, one.line, one.was, one.becomes) for one in made] == [
        (7, 7, "+", "-"),
        (8, 9, "1'b0", "1'b1"),
        (9, 10, "condition", "its negation"),
        (10, 10, "==", "!="),
        (11, 10, "!", "nothing"),
        (12, 10, "&&", "||"),
    ]
    assert "if (((mutant_pkg::number == 9) ? (!(a_i == 4'd3)) : (mutant_pkg::number == 10) ? (a_i != 4'd3)" in text
    assert "localparam int unsigned Some = 1 + 1;" in text
    assert "assert (a_i != 4'd5)" in text


def examine(folder: Path, suite: str, sample: int) -> None:
    words = [sys.executable, "-m", "papers.scheduling_hardware.dv.mutation", suite, folder / "model"]
    thinned = [] if FULL else ["--thin", "--sample", str(sample)]
    done = subprocess.run([*words, *thinned], capture_output=True, text=True, check=False, cwd=ROOM.parents[1])
    print(done.stdout)
    # Exit status 1: fewer than nine in ten were found, or in a sample fewer than chance allows.
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_sample_is_judged_by_what_chance_gives() -> None:
    assert mutation.chance(50, 50) == pytest.approx(1)
    assert mutation.chance(49, 50) == pytest.approx(1 - 0.9**50)
    # In a sample of a hundred, 85 can be chance where nine in ten are found; 84 cannot.
    assert mutation.chance(85, 100) > mutation.CHANCE > mutation.chance(84, 100)


WHOLE = [pytest.param(suite, 0, marks=full) for suite in ("board", "foreign")]


# The sample is smaller where a mutant's tests take longer.
@pytest.mark.parametrize(
    ("suite", "sample"), [("core", 40), ("sched", 60), pytest.param("machine", 60, marks=full), *WHOLE]
)
def test_nine_in_ten_mutants_are_found(tmp_path: Path, suite: str, sample: int) -> None:
    if suite in ("sched", "machine") and cycles.compiler() != cycles.table()["compiler"]:
        pytest.skip(f"the programs whose cycles are known are {cycles.table()['compiler']}'s")
    if suite == "foreign":
        try:
            foreign_core.core()
        except OkosuError as error:
            pytest.skip(f"{error.what}: {error.why}")
    examine(tmp_path, suite, sample)


def test_every_file_of_the_hardware_is_in_a_suite_that_has_an_operator() -> None:
    listed = {*suites.CORE, *suites.OTHERS, *suites.SSH_M, *suites.BoardSuite.FILES, *suites.ForeignSuite.FILES}
    there = {str(path.relative_to(ROOM)) for path in (ROOM / "rtl").rglob("*.sv")}
    assert listed <= there
    for name in sorted(there - listed - {*suites.UNCHANGED}):
        assert "_pkg" in name or not mutants.mutate((ROOM / name).read_text(), name, 1)[1], name
