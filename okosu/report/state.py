# SPDX-License-Identifier: Apache-2.0
"""Whether the machine's state changed over the rounds of a trial: its load, its stalls and what the host took away."""

from __future__ import annotations

from typing import Any

from okosu.records.types import TryFile
from okosu.report import formats

TICKS = 100
"""USER_HZ: ticks of /proc/stat in a second."""
LOAD, STALL, STOLEN = 1.0, 10.0, 0.02
"""The least differences between two rounds that are told: processes that want to run, per cent of the time in which
something stalled, and the share of a round that the host took."""
_STALLS = {"cpu": "waiting for a CPU", "memory": "waiting for memory", "io": "waiting for I/O"}


def changes(file: TryFile) -> str:
    """What changed over the rounds, as one sentence; "" where nothing did or where it was not recorded."""
    steps = file.machine.get("state_rounds")
    rounds = [step for step in steps if isinstance(step, dict)] if isinstance(steps, list) else []
    said = [_load(rounds), *(_stalls(rounds, what) for what in _STALLS), _stolen(file, rounds)]
    found = "; ".join(filter(None, said))
    return f"The machine was not the same in all rounds: {found}." if found else ""


def _load(rounds: list[dict[str, Any]]) -> str:
    values = [_number(step.get("load"), 0) for step in rounds]
    return _range(values, LOAD, "load {low:.1f} to {high:.1f}, highest {when}")


def _stalls(rounds: list[dict[str, Any]], what: str) -> str:
    values = []
    for step in rounds:
        pressure = step.get("pressure")
        values.append(_number(pressure.get(what), "some_avg10") if isinstance(pressure, dict) else None)
    return _range(values, STALL, f"{_STALLS[what]} {{low:.0f}} to {{high:.0f}} % of the time, most {{when}}")


def _stolen(file: TryFile, rounds: list[dict[str, Any]]) -> str:
    """CPU time that the host gave to others, as a share of the time that the round's programs ran."""
    spent: dict[Any, float] = {}
    for record in file.records:
        if record.metric == "wall" and record.stage != "pilot":
            for place, seconds in zip(record.places(), record.samples, strict=True):
                spent[place.round + 1] = spent.get(place.round + 1, 0.0) + seconds
    shares: list[float | None] = [None] * len(rounds)
    for i in range(1, len(rounds)):
        ticks = [_number(rounds[at].get("steal_ticks")) for at in (i - 1, i)]
        seconds = spent.get(rounds[i].get("round"), 0.0)
        if ticks[0] is not None and ticks[1] is not None and seconds > 0:
            shares[i] = 100 * max(0.0, ticks[1] - ticks[0]) / TICKS / seconds
    return _range(shares, 100 * STOLEN, "the host took {low:.0f} to {high:.0f} % of a CPU's time, most {when}")


def _range(values: list[float | None], least: float, words: str) -> str:
    known = [(value, i) for i, value in enumerate(values, 1) if value is not None]
    if not known or max(known)[0] - min(known)[0] < least:
        return ""
    high, when = max(known, key=lambda pair: pair[0])
    return words.format(low=min(known)[0], high=high, when=f"after round {formats.count(when)}")


def _number(value: Any, *path: Any) -> float | None:
    for key in path:
        try:
            value = value[key]
        except (TypeError, KeyError, IndexError):
            return None
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
