# SPDX-License-Identifier: Apache-2.0
"""Bugs are planted where their text stands once, whatever white space and comments there are, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from okosu.errors import OkosuError
from papers.scheduling_hardware import ROOM, planting, proving
from papers.scheduling_hardware.dv.equivalent import EQUIVALENT
from papers.scheduling_hardware.planting import Bug

SOURCE = """\
module example (input logic a_i, output logic b_o);
  assign  b_o = a_i &&   // why
                !c_q;
  assign c_d = a_i ? c_q : a_i_q;
endmodule
"""


def planted(tmp_path: Path, *texts: str) -> str:
    (tmp_path / "files.f").write_text("a.sv\n")
    (tmp_path / "a.sv").write_text(SOURCE)
    bugs = [Bug(text, "a.sv", text) for text in texts]
    if len(bugs) == 1:
        planting.plant(tmp_path, bugs[0])
    else:
        planting.plant_all(tmp_path, bugs)
    return (tmp_path / "a.sv").read_text()


def test_white_space_and_comments_do_not_matter_and_stay(tmp_path: Path) -> None:
    text = planted(tmp_path, "b_o=a_i&&«!c_q → 1'b1»;")
    assert text == SOURCE.replace("!c_q", "1'b1")


def test_several_marks_are_one_bug_and_a_text_may_vanish(tmp_path: Path) -> None:
    text = planted(tmp_path, "assign c_d = «a_i → 1'b0» ? c_q «: a_i_q → »;")
    assert text == SOURCE.replace("a_i ? c_q : a_i_q", "1'b0 ? c_q ")


@pytest.mark.parametrize(
    "text",
    [
        "«a_i → 1'b0»",  # four times
        "«a_i || → a_i &&»",  # not there
        "b_o = a_i && «!c → 1'b1»",  # part of a name
        "assign b_o = a_i && !c_q;",  # nothing marked
        "a_i ? « → !» c_q",  # nothing to replace
    ],
)
def test_what_does_not_stand_there_once_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(OkosuError, match="cannot be planted"):
        planted(tmp_path, text)
    assert (tmp_path / "a.sv").read_text() == SOURCE


def test_all_bugs_in_one_model_are_chosen_by_number(tmp_path: Path) -> None:
    text = planted(tmp_path, "&& «!c_q → 1'b1»;", "c_d = «a_i → a_i ^ 1'b1» ?")
    assert "(mutant_pkg::number == 1 ? (1'b1) : (!c_q));" in text
    assert "c_d = (mutant_pkg::number == 2 ? (a_i ^ 1'b1) : (a_i)) ?" in text
    assert (tmp_path / "files.f").read_text().split() == ["mutants.vlt", "mutant_pkg.sv", "a.sv"]
    assert planting.VARIABLE in (tmp_path / "mutant_pkg.sv").read_text()
    assert "32'd2 == 2 ? (a_i ^ 1'b1)" in planting.settle(text, 2)


def test_bugs_in_the_same_text_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OkosuError, match="two bugs change the same text"):
        planted(tmp_path, "«a_i && !c_q → 1'b1»;", "&& «!c_q → 1'b1»;")


@pytest.mark.parametrize(
    "bugs",
    [planting.read(ROOM / "dv/sched_bugs.toml"), [planted.bug for planted in proving.bugs()]],
    ids=["sched", "formal"],
)
def test_every_bug_of_a_list_can_be_planted_and_changes_something(bugs: list[Bug]) -> None:
    assert len(bugs) > 20
    assert len({(bug.file, bug.says) for bug in bugs}) == len(bugs)
    for bug in bugs:
        source = (ROOM / bug.file).read_text()
        assert all(source[start:end] != wrong for start, end, wrong in bug.places(source)), bug.says


def test_every_mutant_that_no_program_can_tell_is_of_a_line_that_is_there() -> None:
    for file, text, _, _ in EQUIVALENT:
        assert any(planting.contains(line, text) for line in (ROOM / file).read_text().splitlines()), (file, text)


def test_a_copy_has_what_simulators_and_proofs_are_made_from(tmp_path: Path) -> None:
    room = planting.copy(tmp_path / "room")
    for name in ("files.f", "rtl/soc/machine.sv", "sim/model.cpp", "dv/core/core_top.sv", "formal/fifo.sby"):
        assert (room / name).read_bytes() == (ROOM / name).read_bytes()
