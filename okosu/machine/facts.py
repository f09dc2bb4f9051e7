# SPDX-License-Identifier: Apache-2.0
"""A machine's facts as records files keep them, and whether they still hold: a lever that wins on one machine, or in
one state of it, can lose in another."""

from __future__ import annotations

import os
from typing import Any

import msgspec

from okosu.machine.model import Machine
from okosu.machine.read import state

FACTS = {
    "id": "machine",
    "model": "CPU",
    "kernel": "kernel",
    "glibc": "glibc",
}


def facts(machine: Machine) -> dict[str, Any]:
    """The machine's facts in builtin types, with its present state as `state_before`."""
    built: dict[str, Any] = msgspec.to_builtins(machine)
    return {**built, "state_before": state()}


def differences(then: dict[str, Any], now: Machine) -> list[str]:
    """What has changed since `then` was stored, one line for each difference."""
    here: dict[str, Any] = msgspec.to_builtins(now)
    lines = []
    for key, label in FACTS.items():
        if key in then and key in here and then[key] != here[key]:
            lines.append(f"measured with {label} {then[key]}, this is {here[key]}")
    for key, label in (("thp", "transparent huge pages"), ("pools", "the huge page pools")):
        if key in then and key in here and then[key] != here[key]:
            lines.append(f"{label} were set otherwise then")
    if lines:
        lines.append("a lever can lose here what it won there: okosu try --revalidate FILE")
    return lines


def notes(machine: Machine) -> list[str]:
    """What about the machine's present state makes measuring slow or uncertain, one line each."""
    said = []
    load, cpus = os.getloadavg()[0], len(os.sched_getaffinity(0))
    if load > 0.5 * cpus:
        said.append(f"note: the load is {load:.1f} on {cpus} CPUs: verdicts stay right, but need more rounds")
    if machine.virtual.lazy_memory:
        why = machine.virtual.lazy_why
        said.append(f"note: memory is touched before each run ({why}); --no-warm turns it off")
    return said
