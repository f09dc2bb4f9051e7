# SPDX-License-Identifier: Apache-2.0
"""The kernels of sw/programs on this machine: any number of threads gives the same bits, and each finds a fault."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from papers.scheduling_hardware import ROOM

PROGRAMS = ROOM / "sw/programs"
ARGUMENTS = {"fft": ("8",), "lu": ("24", "4"), "barnes": ("200",)}
FAULTS = [
    ("fft", "one.re - two.re", "one.re + two.re"),
    ("fft", "root.im = -root.im;", ";"),
    ("fft", "halved[power] : times", "halved[power] : (struct complex){0, UNIT}, times"),
    ("lu", "value -= *at(row, pivot)", "value += *at(row, pivot)"),
    ("lu", "turn < left * left", "turn + 1 < left * left"),
    ("lu", "turn % 2 == 0", "turn % 2 == 0 && round != 1"),
    ("barnes", "child == as_child(index))", "child == as_child(index) || child == as_child(5))"),
    ("barnes", "            squares[between].child[quarter_of(other, half)] = child;\n", ""),
    ("barnes", "            add(&squares[between], other);\n", ""),
    ("barnes", "visit(index, child, side / 2);", ";"),
]


def built(folder: Path, source: Path) -> Path:
    program = folder / source.stem
    words = ["gcc", "-O1", "-Wall", "-Wextra", "-D_GNU_SOURCE", f"-I{PROGRAMS}", "-o", program, source, "-pthread"]
    subprocess.run(words, check=True, capture_output=True)
    return program


def lines(program: Path, *arguments: str) -> list[str]:
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == (0 if done.stdout.endswith("\nok\n") else 1)
    return done.stdout.splitlines()


@pytest.mark.parametrize("name", ARGUMENTS)
def test_threads_change_no_bit(tmp_path: Path, name: str) -> None:
    program = built(tmp_path, PROGRAMS / f"{name}.c")
    told = {lines(program, *ARGUMENTS[name], str(threads))[1] for threads in (1, 2, 3, 8, 64)}
    assert len(told) == 1
    assert lines(program, *ARGUMENTS[name], "3")[-1] == "ok"


@pytest.mark.parametrize(("name", "right", "wrong"), FAULTS)
def test_a_fault_is_found(tmp_path: Path, name: str, right: str, wrong: str) -> None:
    text = (PROGRAMS / f"{name}.c").read_text()
    assert right in text
    (source := tmp_path / f"{name}.c").write_text(text.replace(right, wrong))
    assert lines(built(tmp_path, source), *ARGUMENTS[name], "2")[-1] == "WRONG"


@pytest.mark.parametrize("name", ARGUMENTS)
def test_a_size_that_cannot_be_is_refused(tmp_path: Path, name: str) -> None:
    program = built(tmp_path, PROGRAMS / f"{name}.c")
    for wrong in ("0", "x", "99999999"):
        done = subprocess.run([program, wrong], capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert "it has to be a number from" in done.stderr
