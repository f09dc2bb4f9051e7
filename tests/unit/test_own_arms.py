# SPDX-License-Identifier: Apache-2.0
"""Other command lines (--vs), values (--scan), and what runs around a trial (--setup, --cleanup, --warmup)."""

from __future__ import annotations

import argparse
import csv
import io
import shlex
from pathlib import Path

import pytest
from sim import SimRunner, trial

from okosu.cli import _arms, _options, _table
from okosu.errors import USAGE_ERROR, OkosuError
from okosu.records.types import Options
from okosu.report import commands, export
from okosu.trial.arms import described


def parse(*words: str) -> Options:
    parser = argparse.ArgumentParser()
    _options.add_arguments(parser)
    cut = words.index("--")
    args = parser.parse_args(words[:cut])
    args.command, args.stray, args.given = list(words[cut + 1 :]), [], []
    return _options.parse(args)


def test_each_value_and_each_command_is_an_arm() -> None:
    options = parse("--vs", "true -x 'a b'", "--scan", "SIZE=1,2,4", "--scan", "LANG=C", "--", "true", "--n={SIZE}")
    assert options.command == ["true", "--n=1"]
    assert options.levers == {}
    assert [(arm.name, arm.command, arm.env) for arm in described(options)] == [
        ("vs", ["true", "-x", "a b"], {}),
        ("SIZE=2", ["true", "--n=2"], {}),
        ("SIZE=4", ["true", "--n=4"], {}),
        ("LANG=C", [], {"LANG": "C"}),
    ]


def test_levers_stay_where_they_are_named_and_several_commands_are_numbered() -> None:
    options = parse("--levers", "pin", "--vs", "true 1", "--vs", "true 2", "--", "true")
    assert options.levers == {"pin": ""}
    assert [arm.name for arm in described(options)] == ["vs-1", "vs-2"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--vs", ""], "names no program"),
        (["--vs", "'"], "No closing quotation"),
        (["--vs", "/no/such --x"], "not a program that can be run"),
        (["--vs", "true", "--arm", "vs=A=1"], "cannot be called 'vs'"),
        (["--scan", "A"], "is not NAME=VALUE"),
        (["--scan", "A="], "is not NAME=VALUE"),
        (["--scan", "9=1"], "is not NAME=VALUE"),
        (["--scan", "A=1,2,1"], "stands there twice"),
        (["--scan", "P=1"], "has one value"),
        (["--warmup", "-1"], "whole number"),
        (["--export", "xml"], "is not known"),
        (["--export", "/no/such/folder/x.csv"], "cannot be written"),
        (["--export", "csv", "--export", "md"], "do not go together"),
        (["--export", "csv", "--json", "-"], "do not go together"),
    ],
)
def test_what_cannot_be_an_arm_is_refused(words: list[str], said: str) -> None:
    with pytest.raises(OkosuError) as refused:
        parse(*words, "--", "true", "{P}")
    assert refused.value.status == USAGE_ERROR
    assert said in str(refused.value)
    assert refused.value.fix


def test_the_command_line_that_measures_the_same_again_gives_the_same_arms() -> None:
    around = ["--warmup", "2", "--setup", "a", "--cleanup", "b"]
    words = ["--vs", "true 'a b'", "--scan", "N=1,2", "--scan", "LANG=C,en", *around, "--", "true", "{N}"]
    options = parse(*words)
    made, _ = trial(SimRunner(), [], command=["x"])
    made.plan.options = options
    again = parse(*shlex.split(commands.again(made.envelope))[2:])
    again.seed = options.seed
    assert again == options


def test_hyperfines_names_are_understood() -> None:
    options = parse("-w", "3", "-p", "a", "-C", "b", "-s", "c", "-c", "d", "-i", "--", "true")
    assert (options.warmup, options.prepare, options.conclude, options.setup, options.cleanup) == (
        3,
        "a",
        "b",
        "c",
        "d",
    )


def test_a_placeholder_that_no_option_names_stays() -> None:
    assert _arms.scan(["A=1,2"], ["x", "{B}{A}"]).command == ["x", "{B}1"]


@pytest.mark.unspaced
def test_a_faster_command_is_recommended_as_it_is(tmp_path: Path) -> None:
    log = tmp_path / "order"
    runner = SimRunner({"vs": 0.5, "N=2": 1.5})
    made, _ = trial(
        runner, [], versus=[["./other", "-x"]], scan={"N": ["1", "2"]}, template=["./app", "{N}"], warmup=2,
        setup=f"echo setup >> {log}", cleanup=f"echo cleanup >> {log}",
    )  # fmt: skip
    assert {v.arm: v.verdict for v in made.envelope.verdicts} == {"vs": "FASTER", "N=2": "SLOWER"}
    (best,) = (v for v in made.envelope.verdicts if v.headline)
    assert commands.use(made.envelope, best) == "./other -x"
    assert log.read_text() == "setup\ncleanup\n"
    # Two unmeasured runs of each command, then the pilot's.
    assert runner.ran[:10] == ["base"] * 4 + ["vs"] * 3 + ["N=2"] * 3
    assert {r.variant or r.lever for r in made.envelope.records} == {"base", "vs", "N=2"}


def test_a_command_that_prints_something_else_is_told_how_to_be_compared() -> None:
    made, _ = trial(SimRunner(wrong_from={"vs": 0}), [], versus=[["./other", "-x"]])
    said = " ".join(_table.render(made.envelope).split())
    assert "vs: runs: ./other -x" in said
    assert "vs: fix: --check true (any output will do) or --check CMD" in said


@pytest.mark.unspaced
def test_cleanup_runs_where_the_trial_fails(tmp_path: Path) -> None:
    log = tmp_path / "order"
    with pytest.raises(KeyboardInterrupt):
        trial(SimRunner(interrupt_at=3), [], versus=[["./other"]], cleanup=f"echo cleanup >> {log}")
    assert log.read_text() == "cleanup\n"
    with pytest.raises(OkosuError, match="--setup command exited with 3"):
        trial(SimRunner(), [], setup="exit 3")


def test_every_run_is_a_row_of_the_export() -> None:
    runner = SimRunner({"vs": 0.5})
    made, _ = trial(runner, [], versus=[["./other"]], max_rounds=6)
    rows = list(csv.DictReader(io.StringIO(export.as_csv(made.envelope))))
    assert [row["arm"] for row in rows] == runner.ran
    assert [row["order"] for row in rows] == [str(n) for n in range(len(rows))]
    assert {row["stage"] for row in rows} == {"pilot", "rounds"}
    assert rows[0].keys() >= {"wall_s", "user_s", "sys_s", "delay_s", "rss_mib", "minflt", "after"}
    assert all(float(row["wall_s"]) > 0 for row in rows)
