# SPDX-License-Identifier: Apache-2.0
"""The engines of okosu-zerod, the daemon that clears for the kernel and for all programs: which are really here."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from statistics import median
from typing import Any

import okosu
from okosu import native
from okosu.errors import OkosuError
from okosu.papers.base import Measured, Say
from okosu.records.types import Record

ROUNDS = 5
BYTES = "256M"
UNIT = 2 << 20
CPU = frozenset({"nt"})
"""Engines that are the CPU's own; any other is a device's."""
INSTEAD = {
    "cuda": "tested against a driver of the tests' own",
    "cuda-mailbox": "tested against a driver of the tests' own",
    "dsa": "tested against a mock",
}
"""What stood in for a device that is not here."""


def _ask(*words: str) -> list[dict[str, Any]]:
    command = [str(native.find("okosu-zerod")), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    if done.returncode != 0:
        raise OkosuError(f"{' '.join(command)} failed", done.stderr.strip(), "make build")
    return [json.loads(line) for line in done.stdout.splitlines()]


def _device(engine: str) -> str:
    """Return the name of the GPU behind an engine, "" where nobody here knows it."""
    if not engine.startswith("cuda") or not (tool := shutil.which("nvidia-smi")):
        return ""
    asked = [tool, "--query-gpu=name", "--format=csv,noheader"]
    return next(iter(subprocess.run(asked, capture_output=True, text=True, check=False).stdout.splitlines()), "")


def measure(say: Say) -> Iterator[Record]:
    """Yield two records for each engine: what clearing took, and what posting a unit did on the core that asks.

    Without a sample: why the engine does not serve here.
    """
    for engine in _ask("--list"):
        name = engine["engine"]
        clear, post = (_record(engine, metric, unit) for metric, unit in (("clear", "GB/s"), ("post", "ns")))
        yield clear
        yield post
        for number in range(ROUNDS if engine["serves"] else 0):
            say(f"okosu-zerod --once --engine={name} --high={BYTES}")
            (told,) = _ask("--once", f"--engine={name}", f"--high={BYTES}")
            if told["not_zero"]:
                raise OkosuError(f"the engine {name} left {told['not_zero']} bytes", "", "report this as a bug")
            clear.samples.append(told["bytes_per_second"] / 1e9)
            post.samples.append(told["posting_seconds"] * 1e9 / (told["bytes"] / UNIT))
            clear.rounds.append(number)
            post.rounds.append(number)


def _record(engine: dict[str, Any], metric: str, unit: str) -> Record:
    parameters: dict[str, str | float] = {"of": "engines", "doc": engine["doc"]}
    if device := _device(engine["engine"]):
        parameters["device"] = device
    return Record(
        tool=f"okosu {okosu.__version__}",
        machine="",
        subject="okosu-zerod",
        variant=engine["engine"],
        stage="bench",
        metric=metric,
        unit=unit,
        parameters=parameters,
        note="" if engine["serves"] else engine["why"],
    )


def _named(record: Record) -> str:
    device = f" on {record.parameters['device']}" if "device" in record.parameters else ""
    return f"{record.variant}{device} ({median(record.samples):.1f} GB/s)"


def told(measured: Measured) -> Iterator[tuple[str, float | None, str]]:
    """Yield how many kinds of device clear here, which, and which do not and what was tested in their place."""
    records = [one for one in measured.records.get("engines", []) if one.metric == "clear"]
    if not records:
        return
    here = [_named(one) for one in records if one.samples]
    away = [
        f"{one.variant}, {INSTEAD[one.variant]}" if one.variant in INSTEAD else one.variant
        for one in records
        if not one.samples
    ]
    devices = [one for one in records if one.samples and one.variant not in CPU]
    why = f"measured here: {', '.join(here) or 'none'}"
    if any(one.variant == "opencl" for one in devices):
        why += "; OpenCL's device is whatever this machine's driver offers, a CPU with PoCL"
    if away:
        why += f"; not here: {'; '.join(away)}"
    yield "2.device", float(len(devices)), why
