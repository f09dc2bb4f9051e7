# SPDX-License-Identifier: Apache-2.0
"""Summaries keep what the records file and the tool's own output said."""

from __future__ import annotations

import argparse
import hashlib
import json
import statistics
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sim import FakeLever, SimRunner, trial

from okosu.cli import _summary, _table, report
from okosu.errors import OkosuError
from okosu.records import files, schema, summary
from okosu.records.types import TryFile
from okosu.report import view

RESULTS = sorted((Path(__file__).parents[2] / "results").glob("*/*.json"))
MOST = 400_000
"""Bytes of one summary; that of the largest sweep is a third of it."""

samples = st.lists(st.floats(1e-9, 1e12), min_size=1, max_size=40)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """The file of a trial in simulated time: one lever helps, one has no effect."""
    path = tmp_path / "trial.json"
    made, _ = trial(SimRunner({"good": 0.8}), [FakeLever("good"), FakeLever("idle")], path)
    made.write()
    return path


@given(samples)
def test_quantiles_are_those_of_the_samples(values: list[float]) -> None:
    made = summary.spread(values)
    assert made.count == len(values)
    assert made.median == pytest.approx(statistics.median(values), rel=1e-6)
    assert made.least == pytest.approx(min(values), rel=1e-6)
    assert made.greatest == pytest.approx(max(values), rel=1e-6)
    assert made.least <= made.lower <= made.median <= made.upper <= made.greatest


def test_a_trial_s_summary_says_what_the_trial_said(small: Path) -> None:
    envelope = files.read_as(TryFile, small)
    made = _summary.make([small])
    assert made.printed.startswith(_table.render(envelope))
    assert made.printed.endswith(view.of(envelope).headline.command)
    assert made.verdicts == envelope.verdicts
    assert made.sources[0].sha256 == hashlib.sha256(small.read_bytes()).hexdigest()
    assert made.command.startswith("okosu try ")
    kept = {(row.arm, row.stage, row.metric): row.samples for row in made.rows}
    for record in envelope.records:
        if record.samples and record.stage != "pilot":
            of = kept[record.arm, record.stage, record.metric]
            assert (of.count, of.median) == (
                len(record.samples),
                pytest.approx(statistics.median(record.samples), rel=1e-6),
            )


def test_a_summary_is_read_back_as_it_was_written(small: Path, tmp_path: Path) -> None:
    made = _summary.make([small])
    summary.write(made, tmp_path / "s.json")
    assert summary.read(tmp_path / "s.json") == made


def test_trials_of_one_program_are_one_summary(small: Path) -> None:
    made = _summary.make([small, small, small])
    arms = [verdict.arm for verdict in files.read_as(TryFile, small).verdicts]
    (section,) = made.sections
    assert [row[0] for row in section.body] == arms
    assert all(row[1].endswith(" 3") for row in section.body)
    assert len(made.sources) == 3


def test_trials_of_different_programs_are_refused(small: Path, tmp_path: Path) -> None:
    held = json.loads(small.read_text())
    held["plan"]["options"]["command"] = ["another"]
    other = tmp_path / "other.json"
    other.write_text(json.dumps(held))
    with pytest.raises(OkosuError, match="different programs"):
        _summary.make([small, other])


def test_the_command_writes_a_summary_and_spares_the_record(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = small.read_bytes()
    parser = argparse.ArgumentParser()
    report.add_arguments(parser)
    asked = parser.parse_args(["--summary", str(small)])
    asked.command = []
    assert report.run(asked) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'trial.summary.json'}\n"
    assert summary.read(tmp_path / "trial.summary.json").verdicts
    asked.output = str(small)
    with pytest.raises(OkosuError, match="one of the record files"):
        report.run(asked)
    assert small.read_bytes() == before


def test_a_full_record_is_no_summary(small: Path) -> None:
    with pytest.raises(OkosuError, match="is no summary"):
        summary.read(small)


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_results_hold_summaries_alone(path: Path) -> None:
    made = summary.read(path)
    assert files.laid_out(made) == path.read_bytes()
    jsonschema.validate(json.loads(path.read_text()), json.loads(schema.generate()["product/okosu.summary-1.json"]))
    assert path.stat().st_size < MOST
    assert made.command
    assert all(len(source.sha256) == 64 for source in made.sources)
