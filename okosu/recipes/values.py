# SPDX-License-Identifier: Apache-2.0
"""What a recipe's variables may hold of the machine: {cpus}, {quota}, {cores}, {free_mib}, {half_free_mib}."""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping

from okosu.machine.model import Machine
from okosu.records.recipe import Joined

NAMES = {"cpus", "quota", "cores", "free_mib", "half_free_mib"}
_PLACE = re.compile(r"\{(\w+)\}")
_WHEN = re.compile(r"\s*(\w+)\s*(<=|>=|==|!=|<|>)\s*(\w+)\s*")
_SIGNS = {
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


def computed(machine: Machine) -> dict[str, int]:
    """The numbers by name: CPUs that may be used, CPUs' worth of time of the cgroup's quota (rounded down, at least 1,
    at most the CPUs), cores, and MiB of memory that are available here.
    """
    cpus = max(1, len(machine.cpus_allowed))
    quota = machine.limits.cpu_max
    free = machine.memory.available_kb // 1024
    if machine.limits.memory_max is not None:
        free = min(free, machine.limits.memory_max >> 20)
    return {
        "cpus": cpus,
        "quota": cpus if quota is None else max(1, min(cpus, int(quota))),
        "cores": max(1, min(cpus, machine.cores)),
        "free_mib": free,
        "half_free_mib": free // 2,
    }


def placeholders(text: str) -> list[str]:
    return _PLACE.findall(text)


def condition(text: str) -> tuple[str, str, str] | None:
    """The parts of "quota < cpus"; None where it is no such text, or names what is not known."""
    found = _WHEN.fullmatch(text)
    if found is None or any(not side.isdecimal() and side not in NAMES for side in (found[1], found[3])):
        return None
    return found[1], found[2], found[3]


def holds(text: str, numbers: Mapping[str, int]) -> bool:
    """Say whether a condition that `condition` knows holds; "" always does."""
    parts = condition(text)
    if parts is None:
        return True
    left, right = (int(side) if side.isdecimal() else numbers[side] for side in (parts[0], parts[2]))
    return bool(_SIGNS[parts[1]](left, right))


def filled(env: Mapping[str, str | Joined], known: Mapping[str, object], present: Mapping[str, str]) -> dict[str, str]:
    """The variables with the values of `known` in the place of each {NAME}; what is to be joined is joined to the value
    that the variable has in `present`.
    """

    def fill(text: str) -> str:
        return _PLACE.sub(lambda place: str(known.get(place[1], place[0])), text)

    made = {}
    for name, text in env.items():
        if isinstance(text, str):
            made[name] = fill(text)
        else:
            parts = [fill(text.prepend), present.get(name, ""), fill(text.append)]
            made[name] = text.separator.join(part for part in parts if part)
    return made
