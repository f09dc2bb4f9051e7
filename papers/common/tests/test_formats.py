# SPDX-License-Identifier: Apache-2.0
"""The JSON files of the lab and of the papers: each format has a schema, which its files obey."""

from __future__ import annotations

import json
import re

import jsonschema
import msgspec
import pytest

from lab.formats import CacheFile
from okosu.records import schema
from okosu.records.types import Record
from papers.simd_kernel.formats import BreakEvenCost, BreakEvenFile, ProfileFile

RECORD = Record(tool="t", machine="m", subject="s", variant="v", metric="wall", unit="s", samples=[1.0])
FILES: dict[str, msgspec.Struct] = {
    "lab/okosu.lab-cache-1.json": CacheFile("/tmp/cache", {"linux": 9}),
    "papers/okosu.lab-break-even-1.json": BreakEvenFile([BreakEvenCost("avx2", 64, 10, 20, 30)], {"movsb": None}, None),
    "papers/okosu.lab-profile-1.json": ProfileFile([RECORD]),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_obeys_its_schema(name: str) -> None:
    validator = jsonschema.Draft202012Validator(json.loads(schema.generate()[name]))
    content = json.loads(msgspec.json.encode(FILES[name]))
    validator.validate(content)
    assert list(validator.iter_errors({**content, "schema": "okosu.try/3"}))


def test_no_format_is_without_a_schema() -> None:
    root = schema.FOLDER.parent
    modules = [path for room in ("lab", "papers") for path in (root / room).rglob("*.py") if "tests" not in path.parts]
    named = {name for path in modules for name in re.findall(r'"(okosu[. ][\w-]+[/ ]\d+)"', path.read_text())}
    assert len(named) >= 15
    assert {name.replace("/", "-") + ".json" for name in named} <= {path.split("/")[-1] for path in schema.generate()}
