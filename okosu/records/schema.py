# SPDX-License-Identifier: Apache-2.0
"""The JSON Schemas of the record files, generated from the types: `python -m okosu.records.schema --write`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import msgspec

from okosu.records.summary import SUMMARY_SCHEMA, Summary
from okosu.records.types import PARTS, RECORD_SCHEMA, Envelope, Record, foreign_parts

FOLDER = Path(__file__).resolve().parents[2] / "schemas"
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def generate() -> dict[str, str]:
    """Return the text of each schema by its file's name, e.g. "okosu.try-1.json"."""
    found = {_file(RECORD_SCHEMA): _text(RECORD_SCHEMA, msgspec.json.schema(Record))}
    found[_file(SUMMARY_SCHEMA)] = _text(SUMMARY_SCHEMA, msgspec.json.schema(Summary))
    return found | {_file(name): _text(name, _envelope(name)) for name in PARTS}


def _envelope(name: str) -> dict[str, Any]:
    """Return the schema of one kind of file: its own name only, and of the conclusions only those that it has."""
    schema = msgspec.json.schema(Envelope)
    fields = schema["$defs"]["Envelope"]["properties"]
    fields["schema"] = {"enum": [name]}
    for part in foreign_parts(name):
        kind = fields.pop(part)["items"]["$ref"].rpartition("/")[2]
        del schema["$defs"][kind]
    return schema


def _file(name: str) -> str:
    return name.replace("/", "-") + ".json"


def _text(name: str, schema: dict[str, Any]) -> str:
    identity = "urn:" + name.replace(".", ":").replace("/", ":")
    schema = {"$schema": _DIALECT, "$id": identity, "title": name, **schema}
    for definition in schema["$defs"].values():
        definition["description"] = " ".join(definition["description"].split())
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def main(argv: list[str] | None = None) -> int:
    """Write the schemas, or name on stdout those that are out of date (exit status 1)."""
    parser = argparse.ArgumentParser(description="Check or write the JSON Schemas of the record files.")
    parser.add_argument("--write", action="store_true", help="write schemas/ of this checkout")
    arguments = parser.parse_args(argv)
    stale = False
    for name, text in generate().items():
        path = FOLDER / name
        if arguments.write:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            print(path)
            stale = True
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
