# SPDX-License-Identifier: Apache-2.0
"""The JSON that commands of the lab write, as types; schemas/ is generated from them."""

from __future__ import annotations

import msgspec


class CacheFile(msgspec.Struct, tag_field="schema", tag="okosu.lab-cache/1"):
    """What `okosu lab cache --json` writes: the folder, and the bytes of each thing in it."""

    folder: str
    bytes: dict[str, int]


def kinds() -> list[type[msgspec.Struct]]:
    """Return the types of all files, for okosu.records.schema."""
    return [CacheFile]
