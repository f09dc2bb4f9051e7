# SPDX-License-Identifier: Apache-2.0
"""A sweep of the machine in rtl/ as a job array: the script, and what its tasks wrote put together."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
import warm_okosu

from lab.tests import obeys
from papers.scheduling_hardware import slurm_array, sweeps
from papers.scheduling_hardware.formats import SweepFile
from papers.scheduling_hardware.machine import Machine

ROOT = Path(__file__).resolve().parents[3]
GRAIN = str(ROOT / "examples/programs/grain.c")
SWEEP = ["--pes", "4", "--sweep", "load=1,2,3", "--", GRAIN, "8", "{load}"]


def okosu(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return warm_okosu.okosu("lab", "run", "rtl", *words, cwd=folder)


@pytest.fixture
def script(tmp_path: Path) -> str:
    (tmp_path / "with space").mkdir()
    done = okosu(tmp_path / "with space", "--slurm", "it's.sh", *SWEEP)
    assert done.returncode == 0, done.stderr
    return (tmp_path / "with space" / "it's.sh").read_text()


def points() -> list[sweeps.Point]:
    base = sweeps.Point(Machine(pes=4), "ssh", (GRAIN, "8", "{load}"))
    return sweeps.points(base, [("load", ("1", "2", "3"))])


def result(point: sweeps.Point, **more: Any) -> str:
    return msgspec.json.encode(SweepFile([sweeps.described(point, 0, **{"cycles": 7, **more})])).decode()


def test_the_script_is_a_shell_script_without_a_warning(script: str) -> None:
    for shell in (["bash", "-n"], ["sh", "-n"], ["shellcheck", "-"]):
        if shutil.which(shell[0]):
            done = subprocess.run(shell, input=script, text=True, check=False, capture_output=True)
            assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_script_has_a_task_for_every_point(script: str) -> None:
    assert "\n#SBATCH --array=0-2\n" in script
    # sbatch reads its options up to the first command.
    assert script.index("#SBATCH --cpus-per-task=1") < script.index("\nset -eu")


def test_each_task_runs_the_words_that_were_typed(tmp_path: Path, script: str) -> None:
    program = tmp_path / "show"
    program.write_text('#!/bin/sh\npwd\nprintf "[%s]" "$@"\n')
    program.chmod(0o755)
    shown = script.replace(shlex.quote(sys.executable), shlex.quote(str(program)))
    done = subprocess.run(
        ["sh"], input=shown, text=True, check=True, capture_output=True, env={"SLURM_ARRAY_TASK_ID": "2"}
    )
    where, words = done.stdout.split("\n")
    assert where == str(tmp_path / "with space")
    told = ["--point", "2", "--json", "it's.sh.points/point-2.json", *SWEEP]
    assert words == "".join(f"[{word}]" for word in ["-m", "okosu", "lab", "run", "rtl", *told])


def test_the_script_run_without_sbatch_says_so(script: str) -> None:
    done = subprocess.run(["sh"], input=script, text=True, check=False, capture_output=True, env={})
    assert done.returncode != 0
    assert "SLURM_ARRAY_TASK_ID: sbatch sets it" in done.stderr


def test_what_the_tasks_wrote_is_put_together_in_order(tmp_path: Path) -> None:
    for index, point in enumerate(points()):
        (tmp_path / f"point-{index}.json").write_text(result(point, cycles=100 + index))
    found = slurm_array.collect(points(), tmp_path)
    assert [one.cycles for one in found] == [100, 101, 102]
    assert [one.varied for one in found] == [{"load": "1"}, {"load": "2"}, {"load": "3"}]


def test_what_is_missing_broken_or_foreign_is_a_point_that_failed(tmp_path: Path) -> None:
    wanted = points()
    (tmp_path / "point-0.json").write_text(result(wanted[1]))
    (tmp_path / "point-1.json").write_text(result(wanted[1])[:-20])
    found = slurm_array.collect(wanted, tmp_path)
    assert [one.status for one in found] == [125] * 3
    for one, why in zip(found, ("another sweep", "not what a task", "No such file"), strict=True):
        assert one.error
        assert why in one.error


def test_collect_writes_what_there_is_and_fails_where_a_point_is_missing(tmp_path: Path) -> None:
    for index, point in enumerate(points()[:2]):
        (tmp_path / f"point-{index}.json").write_text(result(point))
    words = ["--collect", str(tmp_path), "--json", str(tmp_path / "all.json"), *SWEEP]
    done = okosu(tmp_path, *words)
    assert done.returncode == 125
    assert "load=1  7 cycles, exit status 0\n" in done.stdout
    assert "load=3  " in done.stdout
    assert "No such file" in done.stdout
    told = obeys.its_schema((tmp_path / "all.json").read_text())
    assert told["schema"] == "okosu.lab-sweep/2"
    assert [one.get("cycles") for one in told["points"]] == [7, 7, None]
    assert [one["machine"]["pes"] for one in told["points"]] == [4, 4, 4]
    (tmp_path / "point-2.json").write_text(result(points()[2]))
    assert okosu(tmp_path, *words).returncode == 0


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["--collect", "d", "--", GRAIN], "go with --sweep"),
        (["--collect", "d", "--point", "1", "--sweep", "pes=1,2", "--", GRAIN], "exclude each other"),
        (["--slurm", "-", "--collect", "d", "--sweep", "pes=1,2", "--", GRAIN], "exclude each other"),
        (["--sweep", "pes=1,2", "--json", "/nowhere/f.json", "--", GRAIN], "no such folder"),
    ],
)
def test_what_does_not_go_together_is_refused(tmp_path: Path, words: list[str], what: str) -> None:
    done = okosu(tmp_path, *words)
    assert done.returncode in (2, 125)
    assert what in done.stderr
    assert "Traceback" not in done.stderr
