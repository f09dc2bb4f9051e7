# SPDX-License-Identifier: Apache-2.0
"""A machine's facts as records files keep them, and whether they still hold: a lever that wins on one machine, or in
one state of it, can lose in another."""

from __future__ import annotations

import os
from typing import Any

import msgspec

from okosu.machine.kinds import apart, stored
from okosu.machine.model import Machine
from okosu.machine.read import state


def facts(machine: Machine) -> dict[str, Any]:
    """The machine's facts in builtin types, with its present state as `state_before`."""
    built: dict[str, Any] = msgspec.to_builtins(machine)
    return {**built, "state_before": state()}


def differences(then: dict[str, Any], now: Machine) -> list[str]:
    """What has changed since `then` was stored, one line for each difference."""
    before = stored(then)
    lines = [f"measured with {label} {was}, this is {here}" for label, was, here in apart(before, now)]
    if "pools" in then and _sizes(before) != _sizes(now):
        lines.append("the huge page pools were set otherwise then")
    return lines


def _sizes(machine: Machine) -> dict[int, int]:
    return {pool.size_kb: pool.total for pool in machine.pools}


def notes(machine: Machine, warm: bool = True) -> list[str]:
    """What about the machine's present state makes measuring slow or uncertain, one line each; `warm` says whether
    memory is touched before each run.
    """
    said = []
    load, cpus = os.getloadavg()[0], len(os.sched_getaffinity(0))
    if load > 0.5 * cpus:
        said.append(f"note: the load is {load:.1f} on {cpus} CPUs: verdicts stay right, but need more rounds")
    if machine.virtual.lazy_memory and warm:
        why = machine.virtual.lazy_why
        said.append(f"note: memory is touched before each run ({why}); --no-warm turns it off")
    return said
