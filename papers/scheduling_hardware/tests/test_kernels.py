# SPDX-License-Identifier: Apache-2.0
"""The kernels of sw/programs on this machine: any number of threads gives the same bits, and each finds a fault."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from okosu.errors import OkosuError
from okosu.records.types import Record
from papers.scheduling_hardware import ROOM, kernels
from papers.scheduling_hardware.plan import kernels as plan

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


def record(kernel: str, variant: str, pes: int, cycles: list[float], isa: str = "mips1") -> Record:
    return Record(
        tool="okosu",
        machine="",
        platform="verilator",
        subject=f"rtl {kernel}.c",
        variant=variant,
        stage="bench",
        metric="parallel",
        unit="cycles",
        samples=cycles,
        parameters={"pes": float(pes), "isa": isa},
    )


def test_speedups_are_against_the_fewest_pes() -> None:
    held = [record("fft", "ssh banked", pes, [1000.0 / pes]) for pes in (1, 2, 4)]
    held += [
        record("fft", "software", 1, [1200.0]),
        record("fft", "software", 2, []),
        record("fft", "software", 4, [400.0]),
        record("lu", "software", 1, [90.0]),
        record("fft", "ssh banked", 1, [800.0], "rv32"),
    ]
    table = kernels.on_machine(held)
    assert table.head == ["kernel", "ISA", "threads by", "cycles on 1 PE", "on 2", "on 4"]
    assert table.body == [
        ["`fft 9`", "mips1", "hardware", "1,000", "2.00", "4.00"],
        ["`fft 9`", "mips1", "software", "1,200", "–", "3.00"],
        ["`fft 9`", "rv32", "hardware", "800", "–", "–"],
        ["`lu 32 4`", "mips1", "software", "90", "–", "–"],
    ]


def test_each_kernel_runs_on_both_instruction_sets_with_both_back_ends() -> None:
    runs = plan.runs([1, 64])
    assert len(runs) == len({(one.program, one.machine, one.backend) for one in runs}) == 3 * 2 * 2 * 2
    assert all(one.arguments[-1] == str(one.machine.pes) and one.told["isa"] == one.machine.isa for one in runs)


def test_linux_is_measured_with_each_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    took = iter([4e6, 3e6, 8e6, 2e6] * 6)
    asked: list[list[str]] = []

    def run(words: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        if words[0] != "gcc":
            asked.append(words[1:])
        return subprocess.CompletedProcess(
            words, 0, f"digest 0\nparallel {next(took) if words[0] != 'gcc' else 0:.0f}\nok\n", ""
        )

    monkeypatch.setattr(subprocess, "run", run)
    table = kernels.on_linux((1, 2), rounds=2)
    assert table.head == ["kernel", "one thread", "2 threads"]
    assert table.body[:2] == [["`fft 9`", "4,000 µs", "2.00"], ["`fft 15`", "4,000 µs", "2.00"]]
    assert asked[:5] == [["9", "1"], ["9", "2"]] * 2 + [["15", "1"]]


def test_a_kernel_that_is_wrong_on_linux_is_no_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        subprocess, "run", lambda words, **_: subprocess.CompletedProcess(words, int(words[0] != "gcc"), "", "")
    )
    with pytest.raises(OkosuError, match="failed"):
        kernels.on_linux((1,))
