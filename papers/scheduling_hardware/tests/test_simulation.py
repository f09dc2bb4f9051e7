# SPDX-License-Identifier: Apache-2.0
"""The platform rtl as far as it goes without Verilator and a cross compiler: options, commands, sweeps, messages."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
import warm_okosu

from lab.tests import obeys
from okosu.cli.main import dispatch
from okosu.errors import OkosuError
from papers.scheduling_hardware import ROOM, cross_compile, simulation, sweeps, verilator
from papers.scheduling_hardware.machine import Machine

GRAIN = "examples/programs/grain.c"
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def in_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def okosu(*words: str) -> subprocess.CompletedProcess[str]:
    return warm_okosu.okosu("lab", *words)


def test_sources_and_flags_come_before_the_arguments() -> None:
    wanted = cross_compile.parse([GRAIN, "-DN=3", "8", "1000", "-O"])
    assert wanted == cross_compile.Command((GRAIN,), ("-DN=3",), ("8", "1000", "-O"))
    assert cross_compile.parse([GRAIN, "--", "-DN=3"]).arguments == ("-DN=3",)
    assert wanted.elf is None


@pytest.mark.parametrize(
    ("words", "what", "status"),
    [
        ([], "no program", 2),
        (["8", GRAIN], "no program", 2),
        (["nothing.c"], "nothing.c: no such file", 127),
    ],
)
def test_a_command_without_a_program_is_refused(words: list[str], what: str, status: int) -> None:
    with pytest.raises(OkosuError, match=what) as caught:
        cross_compile.parse(words)
    assert caught.value.status == status


def test_a_finished_program_takes_no_arguments(tmp_path: Path) -> None:
    (elf := tmp_path / "a.elf").write_bytes(b"")
    assert cross_compile.parse([str(elf)]).elf == elf
    with pytest.raises(OkosuError, match="takes no arguments"):
        cross_compile.parse([str(elf), "1"])


def test_the_two_builds_differ_in_checks_only() -> None:
    folder = ROOM
    fast, checked = (verilator.command(folder, Machine(), one, waves=False) for one in (False, True))
    assert "--assert" in checked
    assert "--no-assert" in fast
    same = {"--assert", "--no-assert", "unique", "fast"}
    rest = [[word.replace("CHECKED=1", "CHECKED=0") for word in words if word not in same] for words in (fast, checked)]
    assert rest[0] == rest[1]


def test_a_simulator_is_made_from_files_that_are_there() -> None:
    found = verilator.sources(ROOM)
    assert all(path.is_file() for path in found)
    names = {path.name for path in found}
    assert {"machine.sv", "elf.h", "elf.cpp", "pe.vlt", "verilator_print.h"} <= names


def counters(pes: int) -> list[dict[str, Any]]:
    sections = {name: {"execute": 5, "memory": 1, "scheduler": 0} for name in simulation.SECTIONS}
    return [{"pe": pe, "idle": 64, **sections} for pe in range(pes)]


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[simulation.Outcome | simulation.UnfinishedError]:
    """What the next runs give, in the place of the compiler and the simulator."""
    given: list[simulation.Outcome | simulation.UnfinishedError] = []

    def run(*_: object, **__: object) -> simulation.Outcome:
        one = given.pop(0)
        if isinstance(one, simulation.UnfinishedError):
            raise one
        return one

    def build(machine: Machine, checked: bool = False, *_: object, **__: object) -> verilator.Simulator:
        return verilator.Simulator(tmp_path / "k/machine", machine, checked, False, "k", "Verilator 5.006")

    # The command would take SIGTERM from the process of the tests.
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(verilator, "build", build)
    monkeypatch.setattr(cross_compile, "compile_", lambda *_, **__: tmp_path / "program")
    monkeypatch.setattr(simulation, "run", run)
    return given


def test_what_was_built_is_written_by_its_schema(
    tmp_path: Path, simulated: list[simulation.Outcome | simulation.UnfinishedError]
) -> None:
    assert dispatch(["lab", "build", "rtl", "--pes", "3", "--checked", "--json", str(tmp_path / "b.json")]) == 0
    told = obeys.its_schema((tmp_path / "b.json").read_text())
    assert (told["schema"], told["machine"]["pes"], told["checked"]) == ("okosu.lab-rtl-build/1", 3, True)
    assert (told["key"], told["path"]) == ("k", str(tmp_path / "k"))


def test_a_run_is_written_by_its_schema_whether_it_ends_or_not(
    tmp_path: Path, simulated: list[simulation.Outcome | simulation.UnfinishedError]
) -> None:
    ended = simulation.Outcome(7, 100, 0.5, counters(2), b"out\xff", b"")
    loops = simulation.Outcome(125, 200, 0.5, counters(2), b"", b"", "max-cycles")
    simulated += [ended, simulation.UnfinishedError(loops, "no end", "PE 0", "")]
    words = ["lab", "run", "rtl", "--pes", "2", "--json", str(tmp_path / "r.json"), "--", GRAIN, "8"]
    assert dispatch(words) == 7
    told = obeys.its_schema((tmp_path / "r.json").read_text())
    assert (told["schema"], told["status"], told["cycles"]) == ("okosu.lab-rtl-run/1", 7, 100)
    assert (told["machine"]["pes"], told["built"]["machine"]["pes"], told["stdout"]) == (2, 2, "out\ufffd")
    assert told["counters"] == counters(2)
    assert "error" not in told
    with pytest.raises(simulation.UnfinishedError, match="no end"):
        dispatch(words)
    told = obeys.its_schema((tmp_path / "r.json").read_text())
    assert (told["status"], told["error"], told["end"], told["cycles"]) == (125, "no end: PE 0", "max-cycles", 200)


def test_counters_are_written_by_their_schema(
    tmp_path: Path, simulated: list[simulation.Outcome | simulation.UnfinishedError]
) -> None:
    simulated += [simulation.Outcome(0, 100, 0.5, counters(2), b"", b"")]
    words = ["lab", "run", "rtl", "--pes", "2", "--counters", str(tmp_path / "c.json"), "--", GRAIN, "8"]
    assert dispatch(words) == 0
    told = obeys.its_schema((tmp_path / "c.json").read_text())
    assert told == {"schema": "okosu.lab-rtl-counters/1", "cycles": 100, "counters": counters(2)}


def test_the_speed_is_written_by_its_schema(
    tmp_path: Path, simulated: list[simulation.Outcome | simulation.UnfinishedError]
) -> None:
    simulated += [simulation.Outcome(0, 8000, seconds, [], b"", b"") for seconds in (1.0, 2.0, 4.0)]
    assert dispatch(["lab", "speed", "rtl", "--pes", "4", "--json", str(tmp_path / "s.json")]) == 0
    told = obeys.its_schema((tmp_path / "s.json").read_text())
    schema = "okosu.lab-speed/2"
    assert told == {"schema": schema, "pes": 4, "context": "banked", "cycles": 8000, "khz": 4.0, "khz_pes": 16.0}


def test_a_sweep_is_every_combination() -> None:
    base = sweeps.Point(Machine(), "ssh", (GRAIN, "8", "{load}"))
    axes = [("pes", ("1", "2")), ("backend", ("ssh", "software")), ("load", ("10", "20"))]
    points = sweeps.points(base, axes)
    assert len(points) == 8
    assert len(set(points)) == 8
    last = points[-1]
    assert (last.machine.pes, last.backend, last.words) == (2, "software", (GRAIN, "8", "20"))
    assert last.varied == (("pes", "2"), ("backend", "software"), ("load", "20"))


@pytest.mark.parametrize(
    ("name", "value", "what"),
    [
        ("pes", "many", "no number"),
        ("pes", "65", "1 to 64 PEs"),
        ("backend", "magic", "no back end"),
        ("load", "1", "nothing to vary"),
    ],
)
def test_a_sweep_that_makes_no_sense_is_refused(name: str, value: str, what: str) -> None:
    with pytest.raises(OkosuError) as caught:
        sweeps.points(sweeps.Point(Machine(), "ssh", (GRAIN,)), [(name, (value,))])
    assert what in caught.value.what
    assert caught.value.status == 2


def test_a_dry_run_says_what_would_be_done() -> None:
    done = okosu("run", "rtl", "--dry-run", "--backend", "software", "--", GRAIN, "8", "1000")
    assert done.returncode == 0, done.stderr
    assert f"compile: {GRAIN} for software\nrun: 8 1000\n" in done.stdout
    done = okosu("run", "rtl", "--dry-run", "--sweep", "pes=1,2", "--", GRAIN)
    assert done.stdout == "0: pes=1\n1: pes=2\n"
    done = okosu("build", "rtl", "--dry-run", "--pes", "3")
    assert "-GNumPes=3" in done.stdout


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["run", "rtl", "--", "/bin/true"], "no program for the machine"),
        (["run", "rtl", "--pes", "0", "--", GRAIN], "--pes 0"),
        (["run", "rtl", "--backend", "magic", "--", GRAIN], "no back end"),
        (["run", "rtl", "--max-cycles", "0", "--", GRAIN], "--max-cycles 0"),
        (["run", "rtl", "--memory", "1G", "--", GRAIN], "--memory does not go with rtl"),
        (["run", "rtl", "--point", "1", "--", GRAIN], "--slurm, --point and --collect go with --sweep"),
        (["run", "rtl", "--sweep", "pes", "--", GRAIN], "--sweep pes"),
        (["run", "rtl", "--sweep", "pes=1", "--point", "1", "--", GRAIN], "--point 1"),
        (["run", "rtl", "--sweep", "pes=1", "--trace", "t", "--", GRAIN], "--trace does not go with --sweep"),
        (["run", "uml", "--pes", "2", "--", "true"], "--pes does not go with uml"),
        (["build", "uml", "--checked"], "--checked does not go with uml"),
        (["run", "rtl", "--cycles", "9", "--", GRAIN], "--cycles"),
        (["run", "rtl", "--pes", "many", "--", GRAIN], "--pes"),
        (["speed", "uml"], "no speed of uml"),
        (["speed", "rtl", "--runs", "0"], "--runs 0"),
        (["speed", "rtl", "--pes", "65"], "--pes 65"),
    ],
)
def test_options_that_do_not_fit_are_refused(words: list[str], what: str) -> None:
    done = okosu(*words)
    assert done.returncode == 2
    assert what in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("option", ["--json", "--counters", "--trace", "--trace-fst"])
def test_a_file_that_cannot_be_written_is_told_before_the_run(option: str) -> None:
    done = okosu("run", "rtl", option, "/nowhere/file", "--", GRAIN)
    assert done.returncode == 125
    assert "/nowhere/file cannot be written" in done.stderr
    assert "there is no such folder" in done.stderr


def test_missing_tools_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(OkosuError) as caught:
        verilator.build(Machine())
    assert "verilator, make, g++ missing" in caught.value.what
    with pytest.raises(OkosuError, match="gcc-mipsel-linux-gnu missing"):
        cross_compile.compile_(cross_compile.parse([GRAIN]), "ssh")


def test_an_address_outside_the_text_has_no_function(tmp_path: Path) -> None:
    assert simulation.place(0x1000, tmp_path / "none.elf") == "outside the program's text"
    assert simulation.place(0x80000000, tmp_path / "none.elf") == ""


def test_the_speed_of_a_run_that_took_no_time_is_no_error() -> None:
    assert simulation.Outcome(0, 100, 0.0, [], b"", b"").khz == 0.0
    assert simulation.Outcome(0, 5000, 0.5, [], b"", b"").khz == 10.0
