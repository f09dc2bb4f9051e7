# SPDX-License-Identifier: Apache-2.0
"""The JSON Schemas of all that okosu writes, generated from the types: `python -m okosu.records.schema --write`.

The lab and the papers register their types by entry points of the group `okosu.schemas`: each is a function that
returns structs, tagged with the name of their format in the field `schema`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from okosu import plugins
from okosu.records.collected import COLLECTED_SCHEMA, Collected
from okosu.records.recipe import RECIPE_SCHEMA, RecipeFile
from okosu.records.summary import SUMMARY_SCHEMA, Summary
from okosu.records.types import KINDS, RECORD_SCHEMA, Record, SelftestFile

FOLDER = Path(__file__).resolve().parents[2] / "schemas"
PRODUCT = "product"
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def generate() -> dict[str, str]:
    """The text of each schema by its path below schemas/, such as "product/okosu.try-3.json"; what the lab and the
    papers register has a folder of the entry point's name.
    """
    rooms: dict[str, Sequence[Any]] = {PRODUCT: [*KINDS, SelftestFile]}
    rooms |= {room: kinds() for room, kinds in plugins.load("okosu.schemas").items()}
    named = {(room, str(kind.__struct_config__.tag)): kind for room, kinds in rooms.items() for kind in kinds}
    named |= {
        (PRODUCT, RECORD_SCHEMA): Record,
        (PRODUCT, SUMMARY_SCHEMA): Summary,
        (PRODUCT, COLLECTED_SCHEMA): Collected,
        (PRODUCT, RECIPE_SCHEMA): RecipeFile,
    }
    return {
        f"{room}/{name.replace('/', '-')}.json": _text(name, msgspec.json.schema(kind))
        for (room, name), kind in sorted(named.items())
    }


def _text(name: str, schema: dict[str, Any]) -> str:
    identity = "urn:" + name.replace(".", ":").replace("/", ":")
    schema = {"$schema": _DIALECT, "$id": identity, "title": name, **schema}
    for definition in schema["$defs"].values():
        if "description" in definition:
            definition["description"] = " ".join(definition["description"].split())
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def main(argv: list[str] | None = None) -> int:
    """Write the schemas, or print the names of those that are out of date (exit status 1)."""
    parser = argparse.ArgumentParser(description="Check or write the JSON Schemas of the record files.")
    parser.add_argument("--write", action="store_true", help="write schemas/ of this checkout")
    arguments = parser.parse_args(argv)
    stale = False
    for name, text in generate().items():
        path = FOLDER / name
        if arguments.write:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            print(path)
            stale = True
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
