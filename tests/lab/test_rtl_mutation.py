# SPDX-License-Identifier: Apache-2.0
"""The tests of the RTL find faults: operators changed one at a time, a sample of them here and all of them in full."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from okosu.lab import rtl_build

pytestmark = [
    pytest.mark.skipif("OKOSU_LAB" not in os.environ, reason="make test-lab runs it"),
    pytest.mark.skipif(
        not all(shutil.which(tool) for tool in ("verilator", "make", "g++", "mipsel-linux-gnu-gcc")),
        reason="what simulates is not installed",
    ),
]
DV = rtl_build.rtl_folder() / "dv"
FULL = os.environ.get("OKOSU_LAB") == "full"
KILLS = 0.9
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


@pytest.fixture(scope="module")
def mutate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("mutate", DV / "mutate.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["mutate"] = module
    spec.loader.exec_module(module)
    return module


def test_each_operator_of_an_expression_is_changed_alone(mutate: ModuleType) -> None:
    text, mutants = mutate.mutate(MODULE, "example.sv", 7)
    assert [(one.number, one.line, one.was, one.becomes) for one in mutants] == [
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


def examine(folder: Path, suite: str, sample: int) -> dict[str, object]:
    words = [sys.executable, "-B", DV / "mutation.py", suite, folder / "model", "--json", folder / "score.json"]
    thinned = [] if FULL else ["--sample", str(sample)]
    done = subprocess.run([*words, *thinned], capture_output=True, text=True, check=False, timeout=7200)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    told: dict[str, object] = json.loads((folder / "score.json").read_text())
    return told


def test_nine_in_ten_mutants_of_the_core_are_found(tmp_path: Path) -> None:
    told = examine(tmp_path, "core", 40)
    assert isinstance(told["share"], float)
    assert told["share"] >= KILLS


@pytest.mark.skipif(not FULL, reason="make test-lab-full runs it")
def test_nine_in_ten_mutants_of_the_machine_are_found(tmp_path: Path) -> None:
    told = examine(tmp_path, "machine", 0)
    assert isinstance(told["share"], float)
    assert told["share"] >= KILLS
