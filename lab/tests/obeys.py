# SPDX-License-Identifier: Apache-2.0
"""Files that commands of the lab and of the papers wrote, judged by the schemas that are in the repository."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import msgspec

from okosu.records import schema


def its_schema(file: str | bytes | msgspec.Struct) -> dict[str, Any]:
    """Return the content of `file`; jsonschema.ValidationError where it does not obey the schema that it names."""
    text = msgspec.json.encode(file) if isinstance(file, msgspec.Struct) else file
    content: dict[str, Any] = json.loads(text)
    (path,) = schema.FOLDER.rglob(content["schema"].replace("/", "-") + ".json")
    jsonschema.Draft202012Validator(json.loads(path.read_text())).validate(content)
    return content
