# SPDX-License-Identifier: Apache-2.0
"""The generated JSON Schemas: up to date, and checked by a validator that knows nothing of msgspec."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from okosu.records import schema
from okosu.records.types import Rate, SelftestFile

DATA = Path(__file__).parents[1] / "data"
CONTENT: dict[str, Any] = json.loads((DATA / "try-small.json").read_text())


def validator(name: str) -> jsonschema.Draft202012Validator:
    text = json.loads(schema.generate()[f"product/{name}"])
    jsonschema.Draft202012Validator.check_schema(text)
    return jsonschema.Draft202012Validator(text)


def test_the_schemas_in_the_repository_are_those_of_the_types() -> None:
    in_repository = {str(path.relative_to(schema.FOLDER)): path.read_text() for path in schema.FOLDER.rglob("*.json")}
    assert in_repository == schema.generate(), "python -m okosu.records.schema --write"


def test_stale_schemas_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(schema, "FOLDER", tmp_path / "schemas")
    assert schema.main([]) == 1
    assert capsys.readouterr().out.count("\n") == len(schema.generate())
    assert schema.main(["--write"]) == 0
    assert schema.main([]) == 0


@pytest.mark.parametrize("path", sorted(DATA.glob("try-*.json")), ids=lambda path: path.name)
def test_fixtures_are_valid(path: Path) -> None:
    content = json.loads(path.read_text())
    validator("okosu.try-3.json").validate(content)
    for record in content["records"]:
        validator("okosu.record-1.json").validate(record)


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        (["schema"], "okosu.bench/1"),
        (["tool", "version"], None),
        (["plan"], []),
        (["records", 0, "samples", 0], "1.5"),
        (["records", 0, "stage"], "warming up"),
        (["records", 0, "schema"], "okosu.record/2"),
        (["verdicts", 1, "interval"], [1.0]),
        (["verdicts", 1, "interval"], [1.0, 1.1, 1.2]),
        (["verdicts", 1, "ratio"], "fast"),
        (["finished"], 1),
    ],
)
def test_wrong_files_are_refused(keys: list[str | int], value: object) -> None:
    content = copy.deepcopy(CONTENT)
    place: Any = content
    for key in keys[:-1]:
        place = place[key]
    place[keys[-1]] = value
    assert list(validator("okosu.try-3.json").iter_errors(content))


def test_a_file_of_the_selftest_has_a_schema_that_it_obeys() -> None:
    file = SelftestFile([Rate("A/A", 5, 0, (0.0, 0.5), 0.0, "at most 3", True)])
    content = json.loads(msgspec.json.encode(file))
    validator("okosu.selftest-1.json").validate(content)
    assert list(validator("okosu.selftest-1.json").iter_errors({**content, "schema": "okosu.try/3"}))
