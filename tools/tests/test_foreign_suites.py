# SPDX-License-Identifier: Apache-2.0
"""Suites of others under each lever: what differs is found, and what changes by itself is blamed on no lever."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from okosu.records import summary

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools/foreign/suites.py"
DESCRIBED = """
name = "{name}"
fetch = "get {name}"
version = ["echo", "{name} 1.2"]
argv = ["sh", "{name}.sh"]
timeout_s = {timeout_s}
{more}
"""
LINES = """verdict = '^(?P<name>\\w+): (?P<verdict>\\w+)$'"""


def described(folder: Path, name: str, script: str, more: str = LINES, timeout_s: float = 60) -> None:
    (folder / f"{name}.toml").write_text(DESCRIBED.format(name=name, more=more, timeout_s=timeout_s))
    (folder / f"{name}.sh").write_text(script)


def run(folder: Path, *options: str, through: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    command = [*through, sys.executable, str(TOOL), str(folder), "--json", str(folder / "made.json"), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def sections(folder: Path) -> dict[str, list[list[str]]]:
    return {section.id: section.body for section in summary.read(folder / "made.json").sections}


@pytest.mark.preloads
def test_verdicts_that_are_the_same_under_a_lever_are_counted(tmp_path: Path) -> None:
    described(tmp_path, "plain", "echo a: ok; echo b: FAIL >&2; echo c: skipped; echo d: ok; exit 1")
    described(tmp_path, "status", "exit 0", more="")
    done = run(tmp_path, "--levers", "placebo,copy")
    assert (done.returncode, done.stderr) == (0, "")
    assert sections(tmp_path)["suites"] == [
        ["plain", "plain 1.2", "4", "2 / 1 / 1", "0", "0", "0"],
        ["status", "status 1.2", "1", "1 / 0 / 0", "0", "0", "0"],
    ]
    assert "| plain | plain 1.2 | 4 | 2 / 1 / 1 | 0 | 0 | 0 |" in done.stdout
    assert summary.read(tmp_path / "made.json").machine["glibc"]


@pytest.mark.preloads
def test_what_differs_under_a_lever_is_listed_with_both_verdicts(tmp_path: Path) -> None:
    described(
        tmp_path,
        "loaded",
        'echo a: ok; if [ "$LD_PRELOAD" ]; then echo b: FAIL; exit 1; fi; echo b: ok; echo c: ok',
    )
    done = run(tmp_path, "--levers", "placebo")
    assert done.returncode == 3
    assert sections(tmp_path)["suites"] == [["loaded", "loaded 1.2", "3", "3 / 0 / 0", "0", "3"]]
    assert sections(tmp_path)["differences"] == [
        ["loaded", "placebo", "`(how the suite ended)`", "passed", "exit status 1"],
        ["loaded", "placebo", "`b`", "passed", "failed"],
        ["loaded", "placebo", "`c`", "passed", "no verdict"],
    ]


@pytest.mark.preloads
def test_what_changes_without_okosu_is_blamed_on_no_lever(tmp_path: Path) -> None:
    described(
        tmp_path, "flaky", "echo >>runs; if [ $(($(wc -l <runs) % 2)) = 0 ]; then echo a: ok; else echo a: no; fi"
    )
    assert run(tmp_path, "--levers", "placebo").returncode == 0
    assert sections(tmp_path)["suites"] == [["flaky", "flaky 1.2", "1", "0 / 1 / 0", "1", "0"]]


@pytest.mark.preloads
@pytest.mark.parametrize(
    ("failing", "flaky", "differences"),
    [("3", "0", "0"), ("34", "0", "1"), ("345", "1", "0")],
    ids=["once under the lever", "twice under the lever", "under the lever and then without"],
)
def test_a_difference_is_run_again_with_the_lever_and_without(
    tmp_path: Path, failing: str, flaky: str, differences: str
) -> None:
    script = f'echo >>runs; case "{failing}" in *$(wc -l <runs)*) echo a: no;; *) echo a: ok;; esac'
    described(tmp_path, "late", script)
    done = run(tmp_path, "--levers", "placebo")
    assert done.returncode == (3 if differences == "1" else 0)
    assert sections(tmp_path)["suites"] == [["late", "late 1.2", "1", "1 / 0 / 0", flaky, differences]]
    assert ("under placebo differed in one of two runs: `a`" in done.stdout) == (failing == "3")


@pytest.mark.preloads
def test_a_suite_that_hangs_under_a_lever_is_ended_and_listed(tmp_path: Path) -> None:
    described(tmp_path, "hangs", '[ -z "$LD_PRELOAD" ] || sleep 600', more="", timeout_s=0.3)
    assert run(tmp_path, "--levers", "placebo").returncode == 3
    assert sections(tmp_path)["differences"] == [
        ["hangs", "placebo", "`(how the suite ended)`", "passed", "hung (0.3 s)"]
    ]


@pytest.mark.preloads
def test_a_suite_starts_with_the_signals_that_nohup_and_a_background_job_ignore(tmp_path: Path) -> None:
    described(tmp_path, "signals", "for one in INT QUIT HUP; do sh -c 'kill -'$one' $$' || echo $one: ok; done")
    ignoring = ("sh", "-c", 'trap "" INT QUIT HUP; exec "$@"', "sh")
    done = run(tmp_path, "--levers", "placebo", through=ignoring)
    assert done.returncode == 0, done.stderr
    assert sections(tmp_path)["suites"] == [["signals", "signals 1.2", "3", "3 / 0 / 0", "0", "0"]]


@pytest.mark.preloads
def test_a_record_keeps_the_suites_that_are_not_run_again(tmp_path: Path) -> None:
    described(tmp_path, "one", "echo a: ok; echo runs >>one.runs; [ $(wc -l <one.runs) != 2 ] || echo z: ok")
    described(tmp_path, "two", '[ -z "$LD_PRELOAD" ]', more="")
    assert run(tmp_path, "--levers", "placebo").returncode == 3
    first = summary.read(tmp_path / "made.json").sections
    assert first[0].notes == ["one: changed without okosu: `z`"]
    described(tmp_path, "two", "exit 0", more="")
    assert run(tmp_path, "--levers", "placebo", "--suite", "two").returncode == 0
    made = summary.read(tmp_path / "made.json").sections
    assert made[0].body == [first[0].body[0], ["two", "two 1.2", "1", "1 / 0 / 0", "0", "0"]]
    assert made[0].notes == first[0].notes
    assert (made[1].body, made[1].about) == ([], "No lever makes a difference.")
    done = run(tmp_path, "--levers", "copy", "--suite", "two")
    assert done.returncode == 1
    assert "the record cannot be added to" in done.stderr
    assert summary.read(tmp_path / "made.json").sections == made


def test_a_suite_that_is_not_fetched_is_named_with_the_command_that_fetches_it(tmp_path: Path) -> None:
    described(tmp_path, "gone", "exit 0", more="")
    (tmp_path / "gone.toml").write_text((tmp_path / "gone.toml").read_text().replace('"echo"', '"/nowhere"'))
    done = run(tmp_path)
    assert done.returncode == 1
    assert "gone is not here" in done.stderr
    assert "fix: get gone" in done.stderr


def test_the_committed_descriptions_can_be_read() -> None:
    sys.path.insert(0, str(TOOL.parent))
    try:
        import suites
    finally:
        sys.path.pop(0)
    names = [suite.name for suite in suites.read(ROOT / "tools/foreign")]
    assert {"cpython", "numpy"} <= set(names)
    assert len(names) == len(set(names))
