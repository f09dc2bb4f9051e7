# SPDX-License-Identifier: Apache-2.0
"""The kinds of record files: each holds its own conclusions only, and is valid by its own schema only."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import msgspec
import pytest

from okosu.errors import OkosuError
from okosu.records import files, schema
from okosu.records.types import (
    BENCH_SCHEMA,
    PARTS,
    REPRODUCE_SCHEMA,
    TRY_SCHEMA,
    Compared,
    Envelope,
    Record,
    Tool,
    Verdict,
)

ONE = {
    "verdicts": Verdict(arm="a", verdict="SAME"),
    "compared": Compared(id="a", text="", kind="floor", source="", target=1.0),
}


def empty(kind: str) -> Envelope:
    record = Record(tool="okosu 0", machine="", subject="x", variant="v", metric="call", unit="cycles", samples=[1.5])
    record.parameters = {"n": 64, "mode": "hot"}
    return Envelope(schema=kind, tool=Tool("okosu", "0", ""), machine={}, plan={}, records=[record])  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", PARTS)
def test_what_is_written_is_valid_by_its_own_schema_alone(kind: str) -> None:
    envelope = empty(kind)
    for part in PARTS[kind]:
        setattr(envelope, part, [ONE[part]])
    content = json.loads(files.encode(envelope))
    for other in PARTS:
        name = other.replace("/", "-") + ".json"
        judge = jsonschema.Draft202012Validator(json.loads(schema.generate()[name]))
        assert judge.is_valid(content) == (other == kind)
    assert set(content) & set(ONE) == set(PARTS[kind])


def test_a_schema_defines_no_conclusion_that_its_files_lack() -> None:
    defined = {
        name: set(json.loads(schema.generate()[f"{name}-1.json"])["$defs"]) for name in ("okosu.try", "okosu.bench")
    }
    assert "Verdict" in defined["okosu.try"]
    assert not defined["okosu.bench"] & {"Verdict", "Compared"}
    assert "Compared" not in defined["okosu.try"]


@pytest.mark.parametrize(
    ("kind", "part"),
    [(BENCH_SCHEMA, "verdicts"), (BENCH_SCHEMA, "compared"), (TRY_SCHEMA, "compared"), (REPRODUCE_SCHEMA, "verdicts")],
)
def test_conclusions_of_another_kind_of_file_are_refused(kind: str, part: str, tmp_path: Path) -> None:
    envelope = empty(kind)
    setattr(envelope, part, [ONE[part]])
    with pytest.raises(OkosuError, match=r"bad.json not written") as caught:
        files.write(envelope, tmp_path / "bad.json")
    assert part in caught.value.why
    (tmp_path / "bad.json").write_bytes(msgspec.json.encode(envelope))
    with pytest.raises(OkosuError, match="schema says") as caught:
        files.read(tmp_path / "bad.json")
    assert part in caught.value.why
