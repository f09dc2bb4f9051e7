# SPDX-License-Identifier: Apache-2.0
"""What can be saved of a records file that was cut in the middle or overwritten in part."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from okosu.records.types import Claim, Envelope, Record, Verdict

_DECODER = json.JSONDecoder(parse_constant=lambda name: name)
_SPACE = " \t\n\r"
_KINDS: dict[str, type[Record | Verdict | Claim]] = {"records": Record, "verdicts": Verdict, "claims": Claim}


def salvage_bytes(data: bytes) -> Envelope | None:
    """Return an unfinished envelope of all that is whole before the first damage, or None if the plan is not.

    The elements of `records`, `verdicts` and `claims` are taken one by one: a cut among them costs only what follows.
    """
    found: dict[str, Any] = {}
    text = whole_text(data)
    try:
        at = _expect(text, 0, "{")
        while True:
            key, at = _DECODER.raw_decode(text, _skip(text, at))
            at = _expect(text, at, ":")
            if key in _KINDS:
                found[key] = []
                at = _elements(text, at, found[key])
            else:
                found[key], at = _DECODER.raw_decode(text, _skip(text, at))
            at = _expect(text, at, ",")
    except (ValueError, TypeError, RecursionError):
        pass
    try:
        return msgspec.convert(
            {
                **{key: value for key, value in found.items() if key not in _KINDS},
                **{key: _whole(found.get(key, []), kind) for key, kind in _KINDS.items()},
                "finished": False,
            },
            Envelope,
        )
    except msgspec.ValidationError:
        return None


def whole_text(data: bytes) -> str:
    """Return the text up to the first byte that is not UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        return data[: error.start].decode()


def _elements(text: str, at: int, into: list[Any]) -> int:
    at = _expect(text, at, "[")
    at = _skip(text, at)
    if text[at : at + 1] == "]":
        return at + 1
    while True:
        value, at = _DECODER.raw_decode(text, _skip(text, at))
        into.append(value)
        at = _skip(text, at)
        if text[at : at + 1] == "]":
            return at + 1
        at = _expect(text, at, ",")


def _whole(values: list[Any], kind: type[Record | Verdict | Claim]) -> list[Any]:
    good = []
    for value in values:
        try:
            item = msgspec.convert(value, kind)
        except msgspec.ValidationError:
            continue
        if isinstance(item, Record) and not _aligned(item):
            continue
        good.append(item)
    return good


def _aligned(record: Record) -> bool:
    columns = (record.order, record.rounds, record.predecessor)
    one_name = bool(record.lever) != bool(record.variant)
    return one_name and all(len(column) in (0, len(record.samples)) for column in columns)


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def _expect(text: str, at: int, mark: str) -> int:
    at = _skip(text, at)
    if text[at : at + 1] != mark:
        raise ValueError(mark)
    return at + 1
