# SPDX-License-Identifier: Apache-2.0
"""The kinds of record files: each holds its own conclusions only, and is valid by its own schema only."""

from __future__ import annotations

import json

import jsonschema
import pytest

from okosu.records import files, schema
from okosu.records.types import (
    KINDS,
    BenchFile,
    BenchPlan,
    Compared,
    Options,
    Plan,
    Record,
    ReproduceFile,
    ReproducePlan,
    Tool,
    TryFile,
    Verdict,
)

CONCLUSIONS = {
    "okosu.try/3": ("verdicts", Verdict(arm="a", verdict="SAME")),
    "okosu.reproduce/2": ("compared", Compared(id="a", text="", kind="floor", source="", target=1.0)),
}


def empty(kind: type[files.File]) -> files.File:
    record = Record(tool="okosu 0", machine="", subject="x", variant="v", metric="call", unit="cycles", samples=[1.5])
    record.parameters = {"n": 64, "mode": "hot"}
    plans = {TryFile: Plan(options=Options(command=["x"])), BenchFile: BenchPlan(), ReproduceFile: ReproducePlan()}
    return kind(tool=Tool("okosu", "0", ""), machine={}, plan=plans[kind], records=[record])


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_written_is_valid_by_its_own_schema_alone(kind: type[files.File]) -> None:
    envelope = empty(kind)
    if envelope.schema in CONCLUSIONS:
        part, one = CONCLUSIONS[envelope.schema]
        setattr(envelope, part, [one])
    content = json.loads(files.encode(envelope))
    for other in KINDS:
        name = str(other.__struct_config__.tag).replace("/", "-") + ".json"
        judge = jsonschema.Draft202012Validator(json.loads(schema.generate()[f"product/{name}"]))
        assert judge.is_valid(content) == (other == kind)


def test_a_schema_defines_no_conclusion_that_its_files_lack() -> None:
    defined = {
        name: set(json.loads(schema.generate()[f"product/{name}.json"])["$defs"])
        for name in ("okosu.try-3", "okosu.bench-1")
    }
    assert "Verdict" in defined["okosu.try-3"]
    assert not defined["okosu.bench-1"] & {"Verdict", "Compared"}
    assert "Compared" not in defined["okosu.try-3"]
